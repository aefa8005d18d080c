package limitertest

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/sellside-sdk/sellside-go/quota"
)

func aCallLargerThanAWindowIsRefused(t *testing.T, s suite) {
	limiter := s.items(10)
	start := time.Now()
	err := limiter.Wait(t.Context(), 11)
	atOnce(t, s, start)
	want := quota.Error{Limit: 10, Per: s.window, Unit: "items"}
	if refused, ok := errors.AsType[*quota.Error](err); !ok || *refused != want {
		t.Errorf("refused with %v, want %+v: no wait would help", err, want)
	}
	pass(t, s, limiter, 10) // it has taken nothing
}

func aWaitBeyondTheDeadlineIsRefused(t *testing.T, s suite) {
	limiter := s.items(10)
	pass(t, s, limiter, 10)
	start := time.Now()
	refusedBeforeItsDeadline(t, s, limiter, 1, s.window-s.slack/2)
	atOnce(t, s, start)
	if err := limiter.Wait(t.Context(), 10); err != nil {
		t.Fatal(err)
	}
	due(t, s, start, s.window) // the refused call has taken nothing
}

// refusedBeforeItsDeadline checks that a call with so much time left is refused for want of time.
func refusedBeforeItsDeadline(t *testing.T, s suite, limiter quota.Limiter, items int, left time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), left)
	defer cancel()
	err := limiter.Wait(ctx, items)
	refused, ok := errors.AsType[*quota.Error](err)
	if !ok {
		t.Fatalf("a call that could not go before its deadline was answered %v, want a *quota.Error", err)
	}
	if refused.Wait <= left-s.slack || refused.Limit != 10 || refused.Per != s.window || refused.Unit != "items" {
		t.Errorf("refused with %+v, which does not say what it would wait for, and how long", refused)
	}
}

func theDeadlineCountsTheQueue(t *testing.T, s suite) {
	limiter := s.items(10)
	pass(t, s, limiter, 10)
	var calls log
	calls.arrive(t, s, limiter, 10, "one who came before")
	start := time.Now()
	refusedBeforeItsDeadline(t, s, limiter, 10, s.window*3/2)
	atOnce(t, s, start)
	calls.all.Wait()
}

func aWaiterLeaves(t *testing.T, s suite) {
	limiter := s.items(10)
	pass(t, s, limiter, 10)
	ctx, cancel := context.WithCancel(t.Context())
	var waiting sync.WaitGroup
	for range 8 {
		waiting.Go(func() {
			if err := limiter.Wait(ctx, 10); !errors.Is(err, context.Canceled) {
				t.Errorf("a waiter whose context was cancelled was answered %v", err)
			}
		})
	}
	<-time.After(s.window / 10)
	start := time.Now()
	cancel()
	waiting.Wait()
	atOnce(t, s, start)
}

func thoseWhoLeftTakeNothing(t *testing.T, s suite) {
	limiter := s.items(10)
	start := time.Now()
	pass(t, s, limiter, 10)
	ctx, cancel := context.WithCancel(t.Context())
	var waiting sync.WaitGroup
	for range 3 {
		waiting.Go(func() { _ = limiter.Wait(ctx, 10) })
	}
	<-time.After(s.window / 10)
	var calls log
	calls.arrive(t, s, limiter, 10, "one who came after them")
	cancel()
	waiting.Wait()
	calls.all.Wait()
	due(t, s, start, s.window)
}

func thoseBehindMoveUp(t *testing.T, s suite) {
	limiter := s.items(10)
	pass(t, s, limiter, 5)
	ctx, cancel := context.WithCancel(t.Context())
	var waiting sync.WaitGroup
	waiting.Go(func() { _ = limiter.Wait(ctx, 10) })
	<-time.After(s.window / 50)
	var calls log
	calls.arrive(t, s, limiter, 5, "one for whom there is room")
	start := time.Now()
	cancel()
	waiting.Wait()
	calls.all.Wait()
	atOnce(t, s, start)
}

func anEndedContextTakesNothing(t *testing.T, s suite) {
	limiter := s.items(10)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := limiter.Wait(ctx, 10); !errors.Is(err, context.Canceled) {
		t.Errorf("a call whose context has ended was answered %v", err)
	}
	pass(t, s, limiter, 10)
}

func countsItems(t *testing.T, s suite) {
	for _, test := range []struct {
		q    quota.Quota
		want bool
		why  string
	}{
		{quota.Unlimited, false, "nothing is limited"},
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
