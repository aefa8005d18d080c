package limitertest

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/sellside-sdk/sellside-go/quota"
)

// passed is a call that was let go.
type passed struct {
	at    time.Time
	items int
	name  string
}

// log notes when calls were let go.
type log struct {
	mu    sync.Mutex
	calls []passed
	all   sync.WaitGroup
}

// wait makes a call, notes it if it is let go, and returns what the limiter said.
func (l *log) wait(ctx context.Context, limiter quota.Limiter, items int, name string) error {
	err := limiter.Wait(ctx, items)
	if err == nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.calls = append(l.calls, passed{time.Now(), items, name})
	}
	return err
}

// arrive makes a call in a goroutine of its own, and returns when it waits, as far as one can tell.
func (l *log) arrive(t *testing.T, s suite, limiter quota.Limiter, items int, name string) {
	t.Helper()
	calling := make(chan struct{})
	l.all.Go(func() {
		close(calling)
		if err := l.wait(t.Context(), limiter, items, name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	})
	<-calling
	<-time.After(s.window / 50)
}

// order returns the names of the calls in the order they went.
func (l *log) order() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var names []string
	for _, c := range l.calls {
		names = append(names, c.name)
	}
	return names
}

// keeps checks that no span of a length, however it lies, holds more than it may.
func (l *log) keeps(t *testing.T, what string, most int, per time.Duration, count func(passed) int) {
	t.Helper()
	calls := slices.SortedFunc(slices.Values(l.calls), func(a, b passed) int { return a.at.Compare(b.at) })
	sum, first := 0, 0
	for _, c := range calls {
		for ; c.at.Sub(calls[first].at) >= per; first++ {
			sum -= count(calls[first])
		}
		if sum += count(c); sum > most {
			t.Errorf("%d %s went within %s, where %s may hold %d", sum, what, c.at.Sub(calls[first].at), per, most)
			return
		}
	}
}

func requests(passed) int { return 1 }

func items(c passed) int { return c.items }
