package limitertest

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/sellside-sdk/sellside-go/client/quota"
)

func largerThanWindowFails(t testing.TB, s suite) {
	limiter := s.items(10)
	start := time.Now()
	_, err := limiter.Acquire(t.Context(), 11)
	checkAtOnce(t, s, start)
	want := quota.Error{Limit: 10, Per: s.window, Unit: "items"}
	if got, ok := errors.AsType[*quota.Error](err); !ok || *got != want {
		t.Errorf("got error %+v, want %+v", err, want)
	}
	sendNow(t, s, limiter, 10) // the failed call took nothing
}

func waitPastDeadlineFails(t testing.TB, s suite) {
	limiter := s.items(10)
	sendNow(t, s, limiter, 10)
	start := time.Now()
	checkFails(t, s, limiter, 1, s.window-min(s.slack, s.window/2)/2)
	checkAtOnce(t, s, start)
	acquire(t, limiter, 10)
	checkDue(t, s, start, s.window) // the failed call took nothing
}

// checkFails checks that a call with this timeout fails with a [quota.Error] whose Wait is longer.
func checkFails(t testing.TB, s suite, limiter quota.Limiter, items int, timeout time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	_, err := limiter.Acquire(ctx, items)
	got, ok := errors.AsType[*quota.Error](err)
	if !ok {
		t.Fatalf("got error %v, want a *quota.Error", err)
	}
	want := quota.Error{Limit: 10, Per: s.window, Unit: "items", Wait: got.Wait}
	if *got != want || got.Wait <= timeout-s.slack {
		t.Errorf("got error %+v, want %+v with a Wait of more than %s", *got, want, timeout-s.slack)
	}
}

func deadlineCountsQueue(t testing.TB, s suite) {
	limiter := s.items(10)
	sendNow(t, s, limiter, 10)
	var svc service
	svc.enqueue(t, s, limiter, 10, "earlier call")
	start := time.Now()
	checkFails(t, s, limiter, 10, s.window*3/2)
	checkAtOnce(t, s, start)
	svc.calls.Wait()
}

func waitEndsWithContext(t testing.TB, s suite) {
	limiter := s.items(10)
	sendNow(t, s, limiter, 10)
	ctx, cancel := context.WithCancel(t.Context())
	var calls sync.WaitGroup
	for range 8 {
		calls.Go(func() {
			release, err := limiter.Acquire(ctx, 10)
			if !errors.Is(err, context.Canceled) || release != nil {
				t.Errorf("got error %v, want context.Canceled", err)
			}
		})
	}
	<-time.After(s.window / 10)
	start := time.Now()
	cancel()
	calls.Wait()
	checkAtOnce(t, s, start)
}

func canceledTakesNothing(t testing.TB, s suite) {
	limiter := s.items(10)
	start := time.Now()
	sendNow(t, s, limiter, 10)
	ctx, cancel := context.WithCancel(t.Context())
	var canceled sync.WaitGroup
	for range 3 {
		canceled.Go(func() { _, _ = limiter.Acquire(ctx, 10) })
	}
	<-time.After(s.window / 10)
	var svc service
	svc.enqueue(t, s, limiter, 10, "later call")
	cancel()
	canceled.Wait()
	svc.calls.Wait()
	checkDue(t, s, start, s.window)
}

func canceledAdvancesQueue(t testing.TB, s suite) {
	limiter := s.items(10)
	sendNow(t, s, limiter, 5)
	ctx, cancel := context.WithCancel(t.Context())
	var canceled sync.WaitGroup
	canceled.Go(func() { _, _ = limiter.Acquire(ctx, 10) })
	<-time.After(s.window / 50)
	var svc service
	svc.enqueue(t, s, limiter, 5, "later call with room")
	start := time.Now()
	cancel()
	canceled.Wait()
	svc.calls.Wait()
	checkAtOnce(t, s, start)
}

func endedContextTakesNothing(t testing.TB, s suite) {
	limiter := s.items(10)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := limiter.Acquire(ctx, 10); !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v, want context.Canceled", err)
	}
	sendNow(t, s, limiter, 10)
}

func countsItems(t testing.TB, s suite) {
	for _, tc := range []struct {
		q    quota.Quota
		want bool
		why  string
	}{
		{quota.Quota{}, false, "no limit"},
		{quota.Unlimited, false, "no limit, explicitly"},
		{quota.Quota{RequestsPerSecond: 1, RequestsPerDay: 1}, false, "limits of requests"},
		{quota.Quota{ItemsWindow: time.Minute}, false, "a window without a limit"},
		{quota.Quota{ItemsPerWindow: 1}, true, "a limit of a window"},
		{quota.Quota{ItemsPerDay: 1}, true, "a limit of a day"},
		{quota.Public, true, "the default of a client"},
	} {
		if got := s.newLimiter(tc.q).CountsItems(); got != tc.want {
			t.Errorf("%s: CountsItems() = %t", tc.why, got)
		}
	}
}
