// Package limitertest is the contract of [quota.Limiter] as a test, for those who write another one, such as
// one that the processes of an account share:
//
//	func TestLimiter(t *testing.T) {
//		limitertest.Run(t, func(q quota.Quota) quota.Limiter { return newLimiter(q) })
//	}
//
// [Run] takes simulated time, days of it in a moment; [RunInRealTime] is for a limiter that waits on more
// than package time and channels, such as a socket, which simulated time does not wait for.
package limitertest

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sellside-sdk/sellside-go/client/quota"
)

// Run holds a limiter to the contract in simulated time, 10,000 random schedules among it. newLimiter returns a
// limiter whose windows are empty. It is called inside a bubble of testing/synctest, and from parallel tests.
func Run(t *testing.T, newLimiter func(quota.Quota) quota.Limiter) {
	t.Helper()
	s := suite{newLimiter: newLimiter, window: 5 * time.Minute, slack: time.Second, delay: time.Second, simulated: true}
	for name, rule := range rules {
		t.Run(name, func(t *testing.T) { synctest.Test(t, func(t *testing.T) { rule(t, s) }) })
	}
	for name, rule := range simulatedRules {
		t.Run(name, func(t *testing.T) { synctest.Test(t, func(t *testing.T) { rule(t, s) }) })
	}
	for first := uint64(0); first < schedules; first += schedulesPerTest {
		last := first + schedulesPerTest - 1
		t.Run(fmt.Sprintf("schedules %d to %d", first, last), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				for seed := first; seed <= last && !t.Failed(); seed++ {
					randomSchedule(seed, s.delay).run(t, s)
				}
			})
		})
	}
}

// RunInRealTime holds a limiter to the contract with windows of the given length, but for the rules about
// seconds and days. It takes ten to twenty windows. Half a window is tolerated for what the limiter and the
// scheduler add to a wait, so it should be many times that.
func RunInRealTime(t *testing.T, newLimiter func(quota.Quota) quota.Limiter, window time.Duration) {
	t.Helper()
	s := suite{newLimiter: newLimiter, window: window, slack: window / 2, delay: window / 10}
	for name, rule := range rules {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rule(t, s)
		})
	}
}

// suite is what the rules are tried with.
type suite struct {
	newLimiter func(quota.Quota) quota.Limiter
	window     time.Duration // ItemsWindow of every quota.
	slack      time.Duration // How much later than due a call may go, and how long "at once" may take.
	delay      time.Duration // The longest delay of a request on its way, and of its response.
	simulated  bool
}

// items returns a limiter of items only, whose window is that of the suite.
func (s suite) items(limit int) quota.Limiter {
	return s.newLimiter(quota.Quota{ItemsPerWindow: limit, ItemsWindow: s.window})
}

// rule is one rule of the contract.
type rule func(testing.TB, suite)

// rules hold whatever the length of the window.
var rules = map[string]rule{
	"what fits goes at once, and the next when the window has slid": fitsGoesAtOnce,
	"eight goroutines never exceed the window of items":             eightGoroutinesKeepItems,
	"the zero quota never waits":                                    zeroQuotaNeverWaits,
	"requests without items do not queue behind batches":            requestsPassBatches,
	"calls go in the order they came":                               callsGoInOrder,
	"a large call is not overtaken by small ones":                   largeCallKeepsItsTurn,
	"a call larger than a window is refused":                        tooLargeIsRefused,
	"a wait that would outlast the deadline is refused at once":     beyondDeadlineIsRefused,
	"the deadline counts those who came before":                     deadlineCountsQueue,
	"a waiter leaves when its context ends":                         waiterLeaves,
	"those who left take nothing with them":                         leavingTakesNothing,
	"when one leaves those behind move up":                          leavingMovesQueueUp,
	"an ended context is refused and takes nothing":                 endedContextTakesNothing,
	"CountsItems reports whether items are limited":                 countsItems,
	"a place counts until one window after its release":             heldPlaceCounts,
	"what was not sent is free at once":                             notSentIsFree,
	"what was refused is charged as a request only":                 refusedReturnsItems,
	"a release is final, but for sent to refused":                   releaseIsFinal,
	"a call that waits is traced when it begins to wait":            waitIsTraced,
	"Remaining counts what is held and what was used":               remainingCounts,
	"a prediction is a lower bound":                                 predictionIsLowerBound,
	"a window's places pass in a window and a round trip":           throughput,
	"random delays never exceed the window of items":                randomDelaysKeepItems,
}

// simulatedRules take days, or windows whose length a quota does not let one choose.
var simulatedRules = map[string]rule{
	"eight goroutines never exceed any window": eightGoroutinesKeepEveryWindow,
	"a day slides":                               daySlides,
	"a batch is not overtaken by requests":       batchKeepsItsTurn,
	"a refusal names the full window":            refusalNamesWindow,
	"a correction leaves the time of a release":  correctionLeavesTime,
	"Remaining reports every window that limits": remainingReportsWindows,
}
