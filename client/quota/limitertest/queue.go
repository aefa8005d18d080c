package limitertest

import (
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/sellside-sdk/sellside-go/client/quota"
)

// acquire gets a place, however long that takes.
func acquire(t testing.TB, limiter quota.Limiter, items int) quota.Release {
	t.Helper()
	release, err := limiter.Acquire(t.Context(), items)
	if err != nil {
		t.Fatalf("acquire a place for %d items: %v", items, err)
	}
	return release
}

// pass sends calls that have room.
func pass(t testing.TB, s suite, limiter quota.Limiter, items ...int) {
	t.Helper()
	start := time.Now()
	for _, n := range items {
		acquire(t, limiter, n)(quota.Sent)
	}
	atOnce(t, s, start)
}

func atOnce(t testing.TB, s suite, start time.Time) {
	t.Helper()
	if took := time.Since(start); took > s.slack {
		t.Errorf("took %s, want it at once", took)
	}
}

// due checks that something happens when it is due, counted from start: not before, and not much later.
func due(t testing.TB, s suite, start time.Time, after time.Duration) {
	t.Helper()
	// What passed before start may have been let go a moment before that.
	if took := time.Since(start); took < after-s.slack || took > after+s.slack {
		t.Errorf("took %s, want %s", took, after)
	}
}

func fitsGoesAtOnce(t testing.TB, s suite) {
	limiter := s.items(10)
	start := time.Now()
	pass(t, s, limiter, 4, 3, 3)
	acquire(t, limiter, 1)
	due(t, s, start, s.window)
}

func zeroQuotaNeverWaits(t testing.TB, s suite) {
	for _, q := range []quota.Quota{{}, quota.Unlimited} {
		limiter := s.newLimiter(q)
		start := time.Now()
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				for range 100 {
					if _, err := limiter.Acquire(t.Context(), 1_000_000); err != nil { // and never releases it
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
		atOnce(t, s, start)
	}
}

func requestsPassBatches(t testing.TB, s suite) {
	limiter := s.items(10)
	pass(t, s, limiter, 10)
	var calls log
	calls.queue(t, s, limiter, 10, "batch")
	pass(t, s, limiter, 0, 0, 0)
	if went := calls.order(); len(went) != 0 {
		t.Errorf("%v went, for which there was no room", went)
	}
	calls.all.Wait()
}

func callsGoInOrder(t testing.TB, s suite) {
	limiter := s.items(2)
	pass(t, s, limiter, 2)
	var calls log
	want := []string{"first", "second", "third", "fourth"}
	for _, name := range want {
		calls.queue(t, s, limiter, 2, name)
	}
	calls.all.Wait()
	if got := calls.order(); !slices.Equal(got, want) {
		t.Errorf("the calls went in the order %v, and came in the order %v", got, want)
	}
	calls.keeps(t, "items", 2, s.window-s.tolerance(), items)
}

func largeCallKeepsItsTurn(t testing.TB, s suite) {
	limiter := s.items(10)
	pass(t, s, limiter, 1) // there is room for 9 more
	var calls log
	calls.queue(t, s, limiter, 10, "large")
	calls.queue(t, s, limiter, 1, "small")
	calls.all.Wait()
	if got := calls.order(); got[0] != "large" {
		t.Errorf("the calls went in the order %v: a stream of small calls would keep a large one waiting for ever", got)
	}
}

func batchKeepsItsTurn(t testing.TB, s suite) {
	limiter := s.newLimiter(quota.Quota{RequestsPerDay: 1, ItemsPerWindow: 10, ItemsWindow: s.window})
	pass(t, s, limiter, 0)
	var calls log
	calls.queue(t, s, limiter, 0, "request")
	calls.queue(t, s, limiter, 10, "batch")
	calls.queue(t, s, limiter, 0, "later request")
	calls.all.Wait()
	if got := calls.order(); !slices.Equal(got, []string{"request", "batch", "later request"}) {
		t.Errorf("the calls went in the order %v: requests would keep a batch waiting for ever", got)
	}
}

func waitIsTraced(t testing.TB, s suite) {
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
	var waiting sync.WaitGroup
	waiting.Go(func() {
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
	waiting.Wait()
	if got := read(); !slices.Equal(got, want) {
		t.Errorf("traced %q after the call waited, want %q", got, want)
	}
}
