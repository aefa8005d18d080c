package limitertest

import (
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/sellside-sdk/sellside-go/quota"
)

// pass makes calls that may go at once.
func pass(t *testing.T, s suite, limiter quota.Limiter, items ...int) {
	t.Helper()
	start := time.Now()
	for _, n := range items {
		if err := limiter.Wait(t.Context(), n); err != nil {
			t.Fatalf("a call of %d items, for which there is room: %v", n, err)
		}
	}
	atOnce(t, s, start)
}

func atOnce(t *testing.T, s suite, start time.Time) {
	t.Helper()
	if took := time.Since(start); took > s.slack {
		t.Errorf("it took %s, want it at once", took)
	}
}

// due checks that something happens when it is due, counted from start: not before, and not much later.
func due(t *testing.T, s suite, start time.Time, after time.Duration) {
	t.Helper()
	// What was passed before start may have been let go a moment before that.
	if took := time.Since(start); took < after-s.slack || took > after+s.slack {
		t.Errorf("it went after %s, want %s", took, after)
	}
}

func whatFitsGoesAtOnce(t *testing.T, s suite) {
	limiter := s.items(10)
	start := time.Now()
	pass(t, s, limiter, 4, 3, 3)
	if err := limiter.Wait(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	due(t, s, start, s.window)
}

func theZeroQuotaNeverWaits(t *testing.T, s suite) {
	limiter := s.newLimiter(quota.Unlimited)
	start := time.Now()
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 100 {
				if err := limiter.Wait(t.Context(), 1_000_000); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	atOnce(t, s, start)
}

func requestsDoNotStandBehindBatches(t *testing.T, s suite) {
	limiter := s.items(10)
	pass(t, s, limiter, 10)
	var calls log
	calls.arrive(t, s, limiter, 10, "batch")
	pass(t, s, limiter, 0, 0, 0)
	if went := calls.order(); len(went) != 0 {
		t.Errorf("%v went, for which there was no room", went)
	}
	calls.all.Wait()
}

func callsGoInOrder(t *testing.T, s suite) {
	limiter := s.items(2)
	pass(t, s, limiter, 2)
	var calls log
	want := []string{"first", "second", "third", "fourth"}
	for _, name := range want {
		calls.arrive(t, s, limiter, 2, name)
	}
	calls.all.Wait()
	if got := calls.order(); !slices.Equal(got, want) {
		t.Errorf("the calls went in the order %v, and came in the order %v", got, want)
	}
	calls.keeps(t, "items", 2, s.window-s.tolerance(), items)
}

func aLargeCallIsNotOvertaken(t *testing.T, s suite) {
	limiter := s.items(10)
	pass(t, s, limiter, 1) // there is room for 9 more
	var calls log
	calls.arrive(t, s, limiter, 10, "large")
	calls.arrive(t, s, limiter, 1, "small")
	calls.all.Wait()
	if got := calls.order(); got[0] != "large" {
		t.Errorf("the calls went in the order %v: a stream of small calls would hold a large one back for ever", got)
	}
}
