// Package limits limits what accounts do in sliding windows, as the service does. What is refused
// does not count, and no span of the length of a window has more than its limit.
package limits

import (
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/sellside-sdk/sellside-go/sandbox/internal/wire"
)

// Window allows at most Max in any span of Per. A Max of 0 sets no limit.
type Window struct {
	Max int
	Per time.Duration
}

// Config configures Limits.
type Config struct {
	Unit    string // what is counted, for messages: "requests" or "items"
	Windows []Window
	Now     func() time.Time
	// NoRetryAfter leaves the Retry-After header out of refusals.
	NoRetryAfter bool
}

// Limits has the usage of all accounts, in memory, and limits each to the same windows. It is safe
// for concurrent use.
type Limits struct {
	config Config

	mu    sync.Mutex
	usage map[int64][]*usage // by account, in the order of the windows
}

// New returns limits without usage.
func New(c Config) *Limits { return &Limits{config: c, usage: map[int64][]*usage{}} }

// Clear removes all usage.
func (l *Limits) Clear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	clear(l.usage)
}

// Take counts n for an account in every window. It refuses and counts nothing if one of them has no
// room: with 429 if there will be room later, with 400 if there never will.
func (l *Limits) Take(account int64, n int) *wire.Error {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := l.of(account)
	for _, u := range all {
		if n > u.Max {
			return wire.Invalidf("/items: must make %d listings at most, the quota in %s (%d)", u.Max, u.Per, n)
		}
	}
	now := l.config.Now()
	for _, u := range all {
		if wait := u.wait(now, n); wait > 0 {
			return l.tooMany(u.Window, wait)
		}
	}
	for _, u := range all {
		u.add(now, n)
	}
	return nil
}

// of returns the usage of an account. The caller holds mu.
func (l *Limits) of(account int64) []*usage {
	all, known := l.usage[account]
	if !known {
		for _, w := range l.config.Windows {
			if w.Max > 0 {
				all = append(all, &usage{Window: w})
			}
		}
		l.usage[account] = all
	}
	return all
}

func (l *Limits) tooMany(w Window, wait time.Duration) *wire.Error {
	e := &wire.Error{
		Status:  http.StatusTooManyRequests,
		Message: fmt.Sprintf("quota (%d %s in %s): used up", w.Max, l.config.Unit, w.Per),
	}
	if !l.config.NoRetryAfter {
		e.Header = http.Header{"Retry-After": {wire.RetryAfter(wait)}}
	}
	return e
}

// usage is what an account has taken within a window.
type usage struct {
	Window
	taken []taken // oldest first
	sum   int
}

type taken struct {
	at time.Time
	n  int
}

// wait returns how long it takes until there is room for n more; zero if there is.
func (u *usage) wait(now time.Time, n int) time.Duration {
	for len(u.taken) > 0 && now.Sub(u.taken[0].at) >= u.Per {
		u.sum -= u.taken[0].n
		u.taken = u.taken[1:]
	}
	left := u.sum
	for i := 0; left+n > u.Max; i++ {
		if left -= u.taken[i].n; left+n <= u.Max {
			return u.taken[i].at.Add(u.Per).Sub(now)
		}
	}
	return 0
}

func (u *usage) add(now time.Time, n int) {
	u.taken = append(u.taken, taken{now, n})
	u.sum += n
}
