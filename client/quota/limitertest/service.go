package limitertest

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/sellside-sdk/sellside-go/client/quota"
)

// service is the service that the calls of a test reach. It records when requests arrive.
type service struct {
	calls sync.WaitGroup

	mu       sync.Mutex
	arrivals []arrival
}

// arrival is a request as the service observes it.
type arrival struct {
	at    time.Time
	items int // Zero if the request was refused.
	name  string
}

func (svc *service) record(items int, name string) {
	svc.mu.Lock()
	defer svc.mu.Unlock()
	svc.arrivals = append(svc.arrivals, arrival{time.Now(), items, name})
}

// send makes a call whose request arrives, and is responded to, as soon as the call has a place.
func (svc *service) send(ctx context.Context, limiter quota.Limiter, items int, name string) error {
	release, err := limiter.Acquire(ctx, items)
	if err == nil {
		svc.record(items, name)
		release(quota.Sent)
	}
	return err
}

// enqueue sends in a new goroutine, and returns once the call waits or has ended. It waits a tenth
// of a window for limiters that do not trace waits.
func (svc *service) enqueue(t testing.TB, s suite, limiter quota.Limiter, items int, name string) {
	t.Helper()
	waits, ended := make(chan struct{}), make(chan struct{})
	var once sync.Once
	ctx := quota.WithTrace(t.Context(), &quota.Trace{WaitStart: func(quota.Window) {
		once.Do(func() { close(waits) })
	}})
	svc.calls.Go(func() {
		defer close(ended)
		if err := svc.send(ctx, limiter, items, name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	})
	select {
	case <-waits:
	case <-ended:
	case <-time.After(s.window / 10):
	}
}

// names returns the names of the calls in order of arrival.
func (svc *service) names() []string {
	svc.mu.Lock()
	defer svc.mu.Unlock()
	var names []string
	for _, a := range svc.arrivals {
		names = append(names, a.name)
	}
	return names
}

// checkWindow checks that every span of length per has at most limit of what count counts.
func (svc *service) checkWindow(
	t testing.TB, what string, limit int, per time.Duration, count func(arrival) int,
) {
	t.Helper()
	svc.mu.Lock()
	defer svc.mu.Unlock()
	arrivals := slices.SortedFunc(slices.Values(svc.arrivals), func(a, b arrival) int {
		return a.at.Compare(b.at)
	})
	sum, first := 0, 0
	for _, a := range arrivals {
		for ; a.at.Sub(arrivals[first].at) >= per; first++ {
			sum -= count(arrivals[first])
		}
		if sum += count(a); sum > limit {
			span := a.at.Sub(arrivals[first].at)
			t.Errorf("%d %s arrived within %s, want %d in %s at most", sum, what, span, limit, per)
			return
		}
	}
}

// checkWindows checks every window of a quota.
func (svc *service) checkWindows(
	t testing.TB, what string, q quota.Quota, tolerance time.Duration,
) {
	t.Helper()
	const day = 24 * time.Hour
	for _, w := range []struct {
		name  quota.Window
		limit int
		per   time.Duration
		count func(arrival) int
	}{
		{quota.RequestsPerSecond, q.RequestsPerSecond, time.Second, countRequest},
		{quota.RequestsPerDay, q.RequestsPerDay, day, countRequest},
		{quota.ItemsPerWindow, q.ItemsPerWindow, cmp.Or(q.ItemsWindow, 5*time.Minute), countItems},
		{quota.ItemsPerDay, q.ItemsPerDay, day, countItems},
	} {
		if w.limit > 0 {
			svc.checkWindow(t, what+string(w.name), w.limit, w.per-tolerance, w.count)
		}
	}
}

// tolerance returns how much shorter than a window a full span may be, for the resolution of the
// limiter's clock. It is zero in simulated time.
func (s suite) tolerance() time.Duration {
	if s.simulated {
		return 0
	}
	return s.window / 100
}

func countRequest(arrival) int { return 1 }

func countItems(a arrival) int { return a.items }
