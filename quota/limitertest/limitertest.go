// Package limitertest is the contract of [quota.Limiter] as a test, for whoever writes another one, such as
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
	"testing"
	"testing/synctest"
	"time"

	"github.com/sellside-sdk/sellside-go/quota"
)

// Run holds a limiter to the contract in simulated time. newLimiter returns a limiter whose windows are empty,
// and is called inside a bubble of testing/synctest.
func Run(t *testing.T, newLimiter func(quota.Quota) quota.Limiter) {
	t.Helper()
	s := suite{newLimiter: newLimiter, window: 5 * time.Minute, slack: time.Second}
	for name, rule := range rules {
		t.Run(name, func(t *testing.T) { synctest.Test(t, func(t *testing.T) { rule(t, s) }) })
	}
	for name, rule := range rulesOfDays {
		t.Run(name, func(t *testing.T) { synctest.Test(t, func(t *testing.T) { rule(t, s) }) })
	}
}

// RunInRealTime holds a limiter to the contract with windows of the given length, but for the rules about
// seconds and days. It takes about ten windows. Half a window is tolerated for what the limiter and the
// scheduler add to a wait, so it should be many times that.
func RunInRealTime(t *testing.T, newLimiter func(quota.Quota) quota.Limiter, window time.Duration) {
	t.Helper()
	s := suite{newLimiter: newLimiter, window: window, slack: window / 2}
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
}

// items returns a limiter of items only, whose window is that of the suite.
func (s suite) items(most int) quota.Limiter {
	return s.newLimiter(quota.Quota{ItemsPerWindow: most, ItemsWindow: s.window})
}

// rules hold whatever the length of the window. Their names say them.
var rules = map[string]func(*testing.T, suite){
	"what fits goes at once, and the next when the window has slid": whatFitsGoesAtOnce,
	"eight goroutines never exceed the window of items":             eightGoroutinesKeepTheItems,
	"the zero quota never waits":                                    theZeroQuotaNeverWaits,
	"requests without items do not stand behind batches":            requestsDoNotStandBehindBatches,
	"calls go in the order they came":                               callsGoInOrder,
	"a large call is not overtaken by small ones":                   aLargeCallIsNotOvertaken,
	"a call larger than a window is refused":                        aCallLargerThanAWindowIsRefused,
	"a wait that would outlast the deadline is refused at once":     aWaitBeyondTheDeadlineIsRefused,
	"the deadline counts those who came before":                     theDeadlineCountsTheQueue,
	"a waiter leaves when its context ends":                         aWaiterLeaves,
	"those who left take nothing with them":                         thoseWhoLeftTakeNothing,
	"when one leaves those behind move up":                          thoseBehindMoveUp,
	"an ended context is refused and takes nothing":                 anEndedContextTakesNothing,
	"CountsItems tells whether items are limited":                   countsItems,
}

// rulesOfDays take days, or windows whose length a quota does not let one choose.
var rulesOfDays = map[string]func(*testing.T, suite){
	"eight goroutines never exceed any window": eightGoroutinesKeepEveryWindow,
	"a day slides":                         aDaySlides,
	"a batch is not overtaken by requests": aBatchIsNotOvertaken,
	"a refusal names the full window":      aRefusalNamesTheWindow,
}
