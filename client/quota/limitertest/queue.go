package limitertest

import (
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/sellside-sdk/sellside-go/client/quota"
)

// acquire acquires a place, without a deadline.
func acquire(t testing.TB, limiter quota.Limiter, items int) quota.Release {
	t.Helper()
	release, err := limiter.Acquire(t.Context(), items)
	if err != nil {
		t.Fatalf("acquire a place for %d items: %v", items, err)
	}
	return release
}

// sendNow sends requests that must be admitted at once.
func sendNow(t testing.TB, s suite, limiter quota.Limiter, items ...int) {
	t.Helper()
	start := time.Now()
	for _, n := range items {
		acquire(t, limiter, n)(quota.Sent)
	}
	checkAtOnce(t, s, start)
}

func checkAtOnce(t testing.TB, s suite, start time.Time) {
	t.Helper()
	if took := time.Since(start); took > s.slack {
		t.Errorf("took %s, want at most %s", took, s.slack)
	}
}

// checkDue checks that the time since start is want, within the slack. It may be less than want,
// because requests sent before start may have been admitted a moment earlier.
func checkDue(t testing.TB, s suite, start time.Time, want time.Duration) {
	t.Helper()
	if took := time.Since(start); took < want-s.slack || took > want+s.slack {
		t.Errorf("took %s, want %s", took, want)
	}
}

func admitsAtOnce(t testing.TB, s suite) {
	limiter := s.items(10)
	start := time.Now()
	sendNow(t, s, limiter, 4, 3, 3)
	acquire(t, limiter, 1)
	checkDue(t, s, start, s.window)
}

func zeroQuotaNeverWaits(t testing.TB, s suite) {
	for _, q := range []quota.Quota{{}, quota.Unlimited} {
		limiter := s.newLimiter(q)
		start := time.Now()
		var calls sync.WaitGroup
		for range 8 {
			calls.Go(func() {
				for range 100 {
					_, err := limiter.Acquire(t.Context(), 1_000_000) // never released
					if err != nil {
						t.Error(err)
					}
				}
			})
		}
		calls.Wait()
		checkAtOnce(t, s, start)
	}
}

func requestsPassBatches(t testing.TB, s suite) {
	limiter := s.items(10)
	sendNow(t, s, limiter, 10)
	var svc service
	svc.enqueue(t, s, limiter, 10, "batch")
	sendNow(t, s, limiter, 0, 0, 0)
	if got := svc.names(); len(got) != 0 {
		t.Errorf("admitted %v without room", got)
	}
	svc.calls.Wait()
}

func admitsInOrder(t testing.TB, s suite) {
	limiter := s.items(2)
	sendNow(t, s, limiter, 2)
	var svc service
	want := []string{"first", "second", "third", "fourth"}
	for _, name := range want {
		svc.enqueue(t, s, limiter, 2, name)
	}
	svc.calls.Wait()
	if got := svc.names(); !slices.Equal(got, want) {
		t.Errorf("admitted in the order %v, want %v", got, want)
	}
	svc.checkWindow(t, "items", 2, s.window-s.tolerance(), countItems)
}

func largeCallKeepsPosition(t testing.TB, s suite) {
	limiter := s.items(10)
	sendNow(t, s, limiter, 1) // leaves room for 9
	var svc service
	svc.enqueue(t, s, limiter, 10, "large")
	svc.enqueue(t, s, limiter, 1, "small")
	svc.calls.Wait()
	if got := svc.names(); got[0] != "large" {
		t.Errorf("admitted in the order %v: small calls would starve a large one", got)
	}
}

func batchKeepsPosition(t testing.TB, s suite) {
	limiter := s.newLimiter(quota.Quota{
		RequestsPerDay: 1, ItemsPerWindow: 10, ItemsWindow: s.window,
	})
	sendNow(t, s, limiter, 0)
	var svc service
	want := []string{"request", "batch", "later request"}
	for i, items := range []int{0, 10, 0} {
		svc.enqueue(t, s, limiter, items, want[i])
	}
	svc.calls.Wait()
	if got := svc.names(); !slices.Equal(got, want) {
		t.Errorf("admitted in the order %v, want %v: requests would starve a batch", got, want)
	}
}

func tracesWait(t testing.TB, s suite) {
	limiter := s.items(10)
	var mu sync.Mutex
	var traced []quota.Window
	ctx := quota.WithTrace(t.Context(), &quota.Trace{WaitStart: func(w quota.Window) {
		mu.Lock()
		defer mu.Unlock()
		traced = append(traced, w)
	}})
	read := func() []quota.Window {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(traced)
	}
	release, err := limiter.Acquire(ctx, 10)
	if err != nil {
		t.Fatal(err)
	}
	if got := read(); len(got) > 0 {
		t.Errorf("traced %q for a call that had room", got)
	}
	var calls sync.WaitGroup
	calls.Go(func() {
		if _, err := limiter.Acquire(ctx, 10); err != nil {
			t.Error(err)
		}
	})
	for range 100 {
		if <-time.After(s.window / 100); len(read()) > 0 {
			break
		}
	}
	want := []quota.Window{quota.ItemsPerWindow}
	if got := read(); !slices.Equal(got, want) {
		t.Errorf("traced %q while the call waits, want %q", got, want)
	}
	release(quota.Sent)
	calls.Wait()
	if got := read(); !slices.Equal(got, want) {
		t.Errorf("traced %q after the wait, want %q", got, want)
	}
}
