package limitertest

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/sellside-sdk/sellside-go/client/quota"
)

func countsUntilWindowAfterRelease(t testing.TB, s suite) {
	limiter := s.items(10)
	release := acquire(t, limiter, 10)
	var svc service
	svc.enqueue(t, s, limiter, 1, "later call")
	<-time.After(s.window * 3 / 2)
	if got := svc.names(); len(got) > 0 {
		t.Error("admitted a call while the place that it needs was in use")
	}
	start := time.Now()
	release(quota.Sent)
	svc.calls.Wait()
	checkDue(t, s, start, s.window)
}

func notSentIsFree(t testing.TB, s suite) {
	limiter := s.items(10)
	release := acquire(t, limiter, 10)
	var svc service
	svc.enqueue(t, s, limiter, 10, "later call")
	start := time.Now()
	release(quota.NotSent)
	svc.calls.Wait()
	checkAtOnce(t, s, start)
}

func refusedReturnsItems(t testing.TB, s suite) {
	for _, outcomes := range [][]quota.Outcome{
		{quota.Refused},
		{quota.Sent, quota.Refused},
	} {
		limiter := s.newLimiter(quota.Quota{
			RequestsPerDay: 2, ItemsPerWindow: 10, ItemsWindow: s.window,
		})
		release := acquire(t, limiter, 10)
		var svc service
		svc.enqueue(t, s, limiter, 10, "later call")
		start := time.Now()
		for _, o := range outcomes {
			release(o)
		}
		svc.calls.Wait()
		checkAtOnce(t, s, start)

		ctx, cancel := context.WithTimeout(t.Context(), s.window)
		_, err := limiter.Acquire(ctx, 0)
		cancel()
		if got, ok := errors.AsType[*quota.Error](err); !ok || got.Unit != "requests" {
			t.Errorf("%q: third request of 2 a day: got error %v, want a *quota.Error of requests",
				outcomes, err)
		}
	}
}

func correctsOnlySentToRefused(t testing.TB, s suite) {
	for _, tc := range []struct {
		outcomes []quota.Outcome
		used     int // Items of the window, afterwards.
		why      string
	}{
		{[]quota.Outcome{quota.Sent, quota.Sent}, 10, "a place is charged once"},
		{[]quota.Outcome{quota.Sent, quota.NotSent}, 10, "a sent request stays charged"},
		{[]quota.Outcome{quota.NotSent, quota.Sent}, 0, "a free place is not charged"},
		{[]quota.Outcome{quota.NotSent, quota.Refused}, 0, "a free place is not charged"},
		{[]quota.Outcome{quota.NotSent, quota.NotSent}, 0, "a place is freed once"},
		{[]quota.Outcome{quota.Refused, quota.Sent}, 0, "returned items are not charged"},
		{[]quota.Outcome{quota.Refused, quota.Refused}, 0, "items are returned once"},
		{
			[]quota.Outcome{quota.Sent, quota.Refused, quota.Refused, quota.Sent},
			0,
			"items are returned once",
		},
		{[]quota.Outcome{"", ""}, 10, "an unknown outcome counts as sent"},
	} {
		limiter := s.items(30)
		other := acquire(t, limiter, 10) // so that Used shows what is freed twice
		release := acquire(t, limiter, 10)
		for _, o := range tc.outcomes {
			release(o)
		}
		<-time.After(s.window / 10) // a limiter may write in the background
		if got := used(t, limiter)[quota.ItemsPerWindow]; got != 10+tc.used {
			t.Errorf("%q: %d items are used, want %d: %s", tc.outcomes, got, 10+tc.used, tc.why)
		}
		other(quota.NotSent)
	}
}

// correctionKeepsTime is in simulated time because a second is too short for remote limiters.
func correctionKeepsTime(t testing.TB, s suite) {
	limiter := s.newLimiter(quota.Quota{RequestsPerSecond: 1})
	start := time.Now()
	release := acquire(t, limiter, 0)
	release(quota.Sent)
	time.AfterFunc(900*time.Millisecond, func() { release(quota.Refused) })
	acquire(t, limiter, 0)
	if took := time.Since(start); took < time.Second || took > time.Second*3/2 {
		t.Errorf("next request admitted after %s, want one second after the release", took)
	}
}

// used returns what is used of each window.
func used(t testing.TB, limiter quota.Limiter) map[quota.Window]int {
	t.Helper()
	states, err := limiter.Remaining(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	used := map[quota.Window]int{}
	for _, state := range states {
		used[state.Window] = state.Used
	}
	return used
}

func remainingCounts(t testing.TB, s suite) {
	limiter := s.items(10)
	check := func(when string, want quota.WindowState) {
		t.Helper()
		states, err := limiter.Remaining(t.Context())
		if err != nil || len(states) != 1 {
			t.Fatalf("%s: Remaining() = %+v, %v, want one window", when, states, err)
		}
		got := states[0]
		if early := want.NextFree - got.NextFree; early < -s.slack || early > s.slack {
			t.Errorf("%s: NextFree is %s, want %s", when, got.NextFree, want.NextFree)
		}
		if got.NextFree = want.NextFree; got != want {
			t.Errorf("%s: Remaining() = %+v, want %+v", when, got, want)
		}
	}
	state := quota.WindowState{Window: quota.ItemsPerWindow, Limit: 10, Per: s.window}
	check("at first", state)

	release := acquire(t, limiter, 6)
	state.Used, state.NextFree = 6, s.window
	check("in use", state)
	<-time.After(s.window / 2)
	check("in use for half a window", state)
	release(quota.Sent)
	<-time.After(s.window / 10)
	state.NextFree = s.window * 9 / 10
	check("after the release", state)
	<-time.After(s.window * 4 / 10)
	sendNow(t, s, limiter, 3)
	state.Used, state.NextFree = 9, s.window/2
	check("half a window later", state)
	if left := state.Left(); left != 1 {
		t.Errorf("Left() = %d, want 1", left)
	}
	<-time.After(s.window*3/2 + s.slack)
	state.Used, state.NextFree = 0, 0
	check("after the window", state)
}

func remainingReportsWindows(t testing.TB, s suite) {
	states, err := s.newLimiter(quota.Public).Remaining(t.Context())
	want := []quota.WindowState{
		{Window: quota.RequestsPerSecond, Limit: 1, Per: time.Second},
		{Window: quota.RequestsPerDay, Limit: 25_000, Per: 24 * time.Hour},
		{Window: quota.ItemsPerWindow, Limit: 500, Per: 5 * time.Minute},
		{Window: quota.ItemsPerDay, Limit: 50_000, Per: 24 * time.Hour},
	}
	if err != nil || !slices.Equal(states, want) {
		t.Errorf("quota.Public: Remaining() = %+v, %v, want %+v", states, err, want)
	}
	states, err = s.newLimiter(quota.Unlimited).Remaining(t.Context())
	if err != nil || len(states) > 0 {
		t.Errorf("quota.Unlimited: Remaining() = %+v, %v, want no window", states, err)
	}
}

func waitIsLowerBound(t testing.TB, s suite) {
	limiter := s.items(10)
	release := acquire(t, limiter, 10)
	var svc service
	svc.enqueue(t, s, limiter, 10, "earlier call")
	ctx, cancel := context.WithTimeout(t.Context(), s.window/20)
	defer cancel()
	_, err := limiter.Acquire(ctx, 10)
	failed, ok := errors.AsType[*quota.Error](err)
	if !ok {
		t.Fatalf("got error %v, want a *quota.Error", err)
	}
	if failed.Wait < 2*s.window-s.slack {
		t.Errorf("Wait is %s, want two windows: one place in use and one call before", failed.Wait)
	}
	start := time.Now()
	time.AfterFunc(s.window/2, func() { release(quota.Sent) }) // later than predicted
	acquire(t, limiter, 10)
	svc.calls.Wait()
	if took := time.Since(start); took < failed.Wait {
		t.Errorf("admitted after %s, Wait was %s", took, failed.Wait)
	}
}
