package limitertest

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/sellside-sdk/sellside-go/client/quota"
)

func tooLargeIsRefused(t testing.TB, s suite) {
	limiter := s.items(10)
	start := time.Now()
	_, err := limiter.Acquire(t.Context(), 11)
	atOnce(t, s, start)
	want := quota.Error{Limit: 10, Per: s.window, Unit: "items"}
	if refused, ok := errors.AsType[*quota.Error](err); !ok || *refused != want {
		t.Errorf("refused with %v, want %+v: no wait would help", err, want)
	}
	pass(t, s, limiter, 10) // the refused call took nothing
}

func beyondDeadlineIsRefused(t testing.TB, s suite) {
	limiter := s.items(10)
	pass(t, s, limiter, 10)
	start := time.Now()
	refusedFor(t, s, limiter, 1, s.window-s.slack/2)
	atOnce(t, s, start)
	acquire(t, limiter, 10)
	due(t, s, start, s.window) // the refused call took nothing
}

// refusedFor checks that a call with so much time left is refused because that is too little.
func refusedFor(t testing.TB, s suite, limiter quota.Limiter, items int, left time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), left)
	defer cancel()
	_, err := limiter.Acquire(ctx, items)
	refused, ok := errors.AsType[*quota.Error](err)
	if !ok {
		t.Fatalf("a call that could not go before its deadline got %v, want a *quota.Error", err)
	}
	if refused.Wait <= left-s.slack || refused.Limit != 10 || refused.Per != s.window || refused.Unit != "items" {
		t.Errorf("refused with %+v, which does not say what it would wait for, and how long", refused)
	}
}

func deadlineCountsQueue(t testing.TB, s suite) {
	limiter := s.items(10)
	pass(t, s, limiter, 10)
	var calls log
	calls.queue(t, s, limiter, 10, "one who came before")
	start := time.Now()
	refusedFor(t, s, limiter, 10, s.window*3/2)
	atOnce(t, s, start)
	calls.all.Wait()
}

func waiterLeaves(t testing.TB, s suite) {
	limiter := s.items(10)
	pass(t, s, limiter, 10)
	ctx, cancel := context.WithCancel(t.Context())
	var waiting sync.WaitGroup
	for range 8 {
		waiting.Go(func() {
			if release, err := limiter.Acquire(ctx, 10); !errors.Is(err, context.Canceled) || release != nil {
				t.Errorf("a waiter whose context was cancelled got the error %v", err)
			}
		})
	}
	<-time.After(s.window / 10)
	start := time.Now()
	cancel()
	waiting.Wait()
	atOnce(t, s, start)
}

func leavingTakesNothing(t testing.TB, s suite) {
	limiter := s.items(10)
	start := time.Now()
	pass(t, s, limiter, 10)
	ctx, cancel := context.WithCancel(t.Context())
	var waiting sync.WaitGroup
	for range 3 {
		waiting.Go(func() { _, _ = limiter.Acquire(ctx, 10) })
	}
	<-time.After(s.window / 10)
	var calls log
	calls.queue(t, s, limiter, 10, "one who came after them")
	cancel()
	waiting.Wait()
	calls.all.Wait()
	due(t, s, start, s.window)
}

func leavingMovesQueueUp(t testing.TB, s suite) {
	limiter := s.items(10)
	pass(t, s, limiter, 5)
	ctx, cancel := context.WithCancel(t.Context())
	var waiting sync.WaitGroup
	waiting.Go(func() { _, _ = limiter.Acquire(ctx, 10) })
	<-time.After(s.window / 50)
	var calls log
	calls.queue(t, s, limiter, 5, "one for whom there is room")
	start := time.Now()
	cancel()
	waiting.Wait()
	calls.all.Wait()
	atOnce(t, s, start)
}

func endedContextTakesNothing(t testing.TB, s suite) {
	limiter := s.items(10)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := limiter.Acquire(ctx, 10); !errors.Is(err, context.Canceled) {
		t.Errorf("a call whose context has ended got the error %v", err)
	}
	pass(t, s, limiter, 10)
}

func countsItems(t testing.TB, s suite) {
	for _, test := range []struct {
		q    quota.Quota
		want bool
		why  string
	}{
		{quota.Quota{}, false, "nothing is limited"},
		{quota.Unlimited, false, "nor is it here"},
		{quota.Quota{RequestsPerSecond: 1, RequestsPerDay: 1}, false, "requests alone"},
		{quota.Quota{ItemsWindow: time.Minute}, false, "a window without a limit is none"},
		{quota.Quota{ItemsPerWindow: 1}, true, "a window"},
		{quota.Quota{ItemsPerDay: 1}, true, "a day"},
		{quota.Public, true, "the default of a client"},
	} {
		if got := s.newLimiter(test.q).CountsItems(); got != test.want {
			t.Errorf("%s: CountsItems() = %t", test.why, got)
		}
	}
}
