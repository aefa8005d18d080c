package limitertest

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/sellside-sdk/sellside-go/client/quota"
)

// arrival is a request as the service sees it.
type arrival struct {
	at    time.Time
	items int // Zero if it was refused.
	name  string
}

// log is the far end: it notes when requests arrive.
type log struct {
	mu       sync.Mutex
	arrivals []arrival
	all      sync.WaitGroup
}

func (l *log) arrived(items int, name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.arrivals = append(l.arrivals, arrival{time.Now(), items, name})
}

// send makes a call whose request arrives, and is responded to, the moment it has a place.
func (l *log) send(ctx context.Context, limiter quota.Limiter, items int, name string) error {
	release, err := limiter.Acquire(ctx, items)
	if err == nil {
		l.arrived(items, name)
		release(quota.Sent)
	}
	return err
}

// queue sends in a new goroutine, and returns once the call waits or has gone. A limiter that does not trace its waits
// is given some time.
func (l *log) queue(t testing.TB, s suite, limiter quota.Limiter, items int, name string) {
	t.Helper()
	waits, gone := make(chan struct{}), make(chan struct{})
	var once sync.Once
	ctx := quota.WithTrace(t.Context(), &quota.Trace{WaitStart: func(quota.Window) { once.Do(func() { close(waits) }) }})
	l.all.Go(func() {
		defer close(gone)
		if err := l.send(ctx, limiter, items, name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	})
	select {
	case <-waits:
	case <-gone:
	case <-time.After(s.window / 10):
	}
}

// order returns the names of the calls in the order they arrived.
func (l *log) order() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var names []string
	for _, a := range l.arrivals {
		names = append(names, a.name)
	}
	return names
}

// keeps checks that no span of a length, however it lies, holds more than it may.
func (l *log) keeps(t testing.TB, what string, limit int, per time.Duration, count func(arrival) int) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	arrivals := slices.SortedFunc(slices.Values(l.arrivals), func(a, b arrival) int { return a.at.Compare(b.at) })
	sum, first := 0, 0
	for _, a := range arrivals {
		for ; a.at.Sub(arrivals[first].at) >= per; first++ {
			sum -= count(arrivals[first])
		}
		if sum += count(a); sum > limit {
			t.Errorf("%d %s arrived within %s, where the limit is %d in %s", sum, what, a.at.Sub(arrivals[first].at), limit, per)
			return
		}
	}
}

// keepsAll checks every window of a quota.
func (l *log) keepsAll(t testing.TB, what string, q quota.Quota, tolerance time.Duration) {
	t.Helper()
	const day = 24 * time.Hour
	itemsWindow := q.ItemsWindow
	if itemsWindow == 0 {
		itemsWindow = 5 * time.Minute
	}
	for _, w := range []struct {
		name  quota.Window
		limit int
		per   time.Duration
		count func(arrival) int
	}{
		{quota.RequestsPerSecond, q.RequestsPerSecond, time.Second, requests},
		{quota.RequestsPerDay, q.RequestsPerDay, day, requests},
		{quota.ItemsPerWindow, q.ItemsPerWindow, itemsWindow, items},
		{quota.ItemsPerDay, q.ItemsPerDay, day, items},
	} {
		if w.limit > 0 {
			l.keeps(t, what+string(w.name), w.limit, w.per-tolerance, w.count)
		}
	}
}

// tolerance is how much closer than allowed requests may be seen to arrive: the grain of a limiter's clock. In
// simulated time there is none.
func (s suite) tolerance() time.Duration {
	if s.simulated {
		return 0
	}
	return s.window / 100
}

func requests(arrival) int { return 1 }

func items(a arrival) int { return a.items }
