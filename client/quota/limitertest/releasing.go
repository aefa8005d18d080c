package limitertest

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/sellside-sdk/sellside-go/client/quota"
)

func heldPlaceCounts(t testing.TB, s suite) {
	limiter := s.items(10)
	release := acquire(t, limiter, 10)
	var calls log
	calls.queue(t, s, limiter, 1, "one who came after")
	<-time.After(s.window * 3 / 2)
	if went := calls.order(); len(went) > 0 {
		t.Error("a call went while the place that it needs was held: its request may arrive at the same time")
	}
	start := time.Now()
	release(quota.Sent)
	calls.all.Wait()
	due(t, s, start, s.window)
}

func notSentIsFree(t testing.TB, s suite) {
	limiter := s.items(10)
	release := acquire(t, limiter, 10)
	var calls log
	calls.queue(t, s, limiter, 10, "one who came after")
	start := time.Now()
	release(quota.NotSent)
	calls.all.Wait()
	atOnce(t, s, start)
}

func refusedReturnsItems(t testing.TB, s suite) {
	for what, outcomes := range map[string][]quota.Outcome{
		"refused":           {quota.Refused},
		"sent, but refused": {quota.Sent, quota.Refused},
	} {
		limiter := s.newLimiter(quota.Quota{RequestsPerDay: 2, ItemsPerWindow: 10, ItemsWindow: s.window})
		release := acquire(t, limiter, 10)
		var calls log
		calls.queue(t, s, limiter, 10, "one who came after")
		start := time.Now()
		for _, o := range outcomes {
			release(o)
		}
		calls.all.Wait()
		atOnce(t, s, start)

		ctx, cancel := context.WithTimeout(t.Context(), s.window)
		_, err := limiter.Acquire(ctx, 0)
		cancel()
		if refused, ok := errors.AsType[*quota.Error](err); !ok || refused.Unit != "requests" {
			t.Errorf("%s: the third request of a quota of 2 a day got the error %v: the refused one was a request", what, err)
		}
	}
}

func releaseIsFinal(t testing.TB, s suite) {
	for _, test := range []struct {
		outcomes []quota.Outcome
		used     int // Items of the window, afterwards.
		why      string
	}{
		{[]quota.Outcome{quota.Sent, quota.Sent}, 10, "a place is charged once"},
		{[]quota.Outcome{quota.Sent, quota.NotSent}, 10, "what may have arrived stays charged"},
		{[]quota.Outcome{quota.NotSent, quota.Sent}, 0, "a place that is free again is no call's"},
		{[]quota.Outcome{quota.NotSent, quota.Refused}, 0, "a place that is free again is no call's"},
		{[]quota.Outcome{quota.NotSent, quota.NotSent}, 0, "a place is freed once"},
		{[]quota.Outcome{quota.Refused, quota.Sent}, 0, "items that were returned stay so"},
		{[]quota.Outcome{quota.Refused, quota.Refused}, 0, "items are returned once"},
		{[]quota.Outcome{quota.Sent, quota.Refused, quota.Refused, quota.Sent}, 0, "items are returned once"},
		{[]quota.Outcome{"", ""}, 10, "an unknown outcome counts as sent"},
	} {
		limiter := s.items(30)
		other := acquire(t, limiter, 10) // so that what is freed too often shows
		release := acquire(t, limiter, 10)
		for _, o := range test.outcomes {
			release(o)
		}
		<-time.After(s.window / 10) // a limiter may write it in the background
		if got := used(t, limiter)[quota.ItemsPerWindow]; got != 10+test.used {
			t.Errorf("after %q %d items are used, want %d: %s", test.outcomes, got, 10+test.used, test.why)
		}
		other(quota.NotSent)
	}
}

// correctionLeavesTime is in simulated time because a second is too short for others.
func correctionLeavesTime(t testing.TB, s suite) {
	limiter := s.newLimiter(quota.Quota{RequestsPerSecond: 1})
	start := time.Now()
	release := acquire(t, limiter, 0)
	release(quota.Sent)
	time.AfterFunc(900*time.Millisecond, func() { release(quota.Refused) })
	acquire(t, limiter, 0)
	if took := time.Since(start); took < time.Second || took > time.Second*3/2 {
		t.Errorf("the next request went after %s, want a second after the place was released", took)
	}
}

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
	check := func(what string, want quota.WindowState) {
		t.Helper()
		states, err := limiter.Remaining(t.Context())
		if err != nil || len(states) != 1 {
			t.Fatalf("%s: Remaining() = %+v, %v, want one window", what, states, err)
		}
		got := states[0]
		if early := want.NextFree - got.NextFree; early < -s.slack || early > s.slack {
			t.Errorf("%s: NextFree is %s, want %s", what, got.NextFree, want.NextFree)
		}
		if got.NextFree = want.NextFree; got != want {
			t.Errorf("%s: Remaining() = %+v, want %+v", what, got, want)
		}
	}
	state := quota.WindowState{Window: quota.ItemsPerWindow, Limit: 10, Per: s.window}
	check("empty", state)

	release := acquire(t, limiter, 6)
	state.Used, state.NextFree = 6, s.window
	check("held", state)
	<-time.After(s.window / 2)
	check("held for longer", state)
	release(quota.Sent)
	<-time.After(s.window / 10)
	state.NextFree = s.window * 9 / 10
	check("released", state)
	<-time.After(s.window * 4 / 10)
	pass(t, s, limiter, 3)
	state.Used, state.NextFree = 9, s.window/2
	check("half a window later", state)
	if left := state.Left(); left != 1 {
		t.Errorf("Left() = %d, want 1", left)
	}
	<-time.After(s.window*3/2 + s.slack)
	state.Used, state.NextFree = 0, 0
	check("when all of it is over", state)
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
		t.Errorf("Remaining() = %+v, %v, want %+v", states, err, want)
	}
	if states, err = s.newLimiter(quota.Unlimited).Remaining(t.Context()); err != nil || len(states) > 0 {
		t.Errorf("Remaining() = %+v, %v for no quota", states, err)
	}
}

func predictionIsLowerBound(t testing.TB, s suite) {
	limiter := s.items(10)
	release := acquire(t, limiter, 10)
	var calls log
	calls.queue(t, s, limiter, 10, "one who came before")
	ctx, cancel := context.WithTimeout(t.Context(), s.window/20)
	defer cancel()
	_, err := limiter.Acquire(ctx, 10)
	refused, ok := errors.AsType[*quota.Error](err)
	if !ok {
		t.Fatalf("a call behind another one got the error %v, want a *quota.Error", err)
	}
	if refused.Wait < 2*s.window-s.slack {
		t.Errorf("refused with a wait of %s: the place that is held and the call before take two windows", refused.Wait)
	}
	start := time.Now()
	time.AfterFunc(s.window/2, func() { release(quota.Sent) }) // later than predicted
	acquire(t, limiter, 10)
	calls.all.Wait()
	if took := time.Since(start); took < refused.Wait {
		t.Errorf("went after %s, and was refused for a wait of at least %s", took, refused.Wait)
	}
}
