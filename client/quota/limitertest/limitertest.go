// Package limitertest tests that an implementation of [quota.Limiter] keeps its contract, such as
// one that the processes of an account share:
//
//	func TestLimiter(t *testing.T) {
//		limitertest.Run(t, func(q quota.Quota) quota.Limiter { return newLimiter(q) })
//	}
//
// [Run] uses simulated time, in which days pass at once. [RunInRealTime] is for limiters that do
// I/O: simulated time does not wait for that.
package limitertest

import (
	"fmt"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sellside-sdk/sellside-go/client/quota"
)

// Run tests a limiter in simulated time, also with 10,000 random schedules. newLimiter must return
// a limiter with empty windows. It is called inside a bubble of testing/synctest, and from parallel
// tests. A limiter that is an [io.Closer] is closed at the end of its test, inside the bubble.
func Run(t *testing.T, newLimiter func(quota.Quota) quota.Limiter) {
	t.Helper()
	RunSchedules(t, newLimiter, schedules)
}

// RunSchedules is [Run] with another number of random schedules, for limiters that take
// milliseconds for each call.
func RunSchedules(t *testing.T, newLimiter func(quota.Quota) quota.Limiter, schedules uint64) {
	t.Helper()
	s := suite{
		newLimiter: newLimiter,
		window:     5 * time.Minute,
		slack:      time.Second,
		delay:      time.Second,
		simulated:  true,
	}
	for name, rule := range rules {
		t.Run(name, func(t *testing.T) { synctest.Test(t, func(t *testing.T) { rule(t, s.closing(t)) }) })
	}
	for name, rule := range simulatedRules {
		t.Run(name, func(t *testing.T) { synctest.Test(t, func(t *testing.T) { rule(t, s.closing(t)) }) })
	}
	for first := uint64(0); first < schedules; first += schedulesPerTest {
		last := min(first+schedulesPerTest, schedules) - 1
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

// RunInRealTime tests a limiter with windows of the given length, except for the rules about
// seconds and days. It takes ten to twenty windows. A wait may be half a window too long, so choose
// a window many times longer than the delays of the limiter and of the scheduler.
func RunInRealTime(t *testing.T, newLimiter func(quota.Quota) quota.Limiter, window time.Duration) {
	t.Helper()
	runInRealTime(t, suite{newLimiter: newLimiter, window: window, slack: window / 2, delay: window / 10})
}

func runInRealTime(t *testing.T, s suite) {
	t.Helper()
	for name, rule := range rules {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rule(t, s.closing(t))
		})
	}
}

// suite is the settings of a run.
type suite struct {
	newLimiter func(quota.Quota) quota.Limiter
	window     time.Duration // ItemsWindow of every quota.
	slack      time.Duration // How much too long a wait may be.
	delay      time.Duration // The longest delay of a request, and of its response.
	simulated  bool
}

// closing returns a suite whose limiters are closed when a test ends.
func (s suite) closing(t testing.TB) suite {
	newLimiter := s.newLimiter
	s.newLimiter = func(q quota.Quota) quota.Limiter {
		limiter := newLimiter(q)
		t.Cleanup(func() { closeLimiter(t, limiter) })
		return limiter
	}
	return s
}

func closeLimiter(t testing.TB, limiter quota.Limiter) {
	t.Helper()
	if c, ok := limiter.(io.Closer); ok {
		if err := c.Close(); err != nil {
			t.Errorf("close the limiter: %v", err)
		}
	}
}

// items returns a limiter of items only, with the window of the suite.
func (s suite) items(limit int) quota.Limiter {
	return s.newLimiter(quota.Quota{ItemsPerWindow: limit, ItemsWindow: s.window})
}

// rule is one rule of the contract.
type rule func(testing.TB, suite)

// rules apply to windows of any length.
var rules = map[string]rule{
	"a call with room is admitted at once":              admitsAtOnce,
	"eight goroutines never exceed the item window":     concurrentItems,
	"the zero quota never waits":                        zeroQuotaNeverWaits,
	"requests do not wait for batches":                  requestsPassBatches,
	"calls are admitted in order of arrival":            admitsInOrder,
	"small calls do not overtake a large one":           largeCallKeepsPosition,
	"a call larger than a window fails":                 largerThanWindowFails,
	"a wait past the deadline fails at once":            waitPastDeadlineFails,
	"the deadline check counts queued calls":            deadlineCountsQueue,
	"a wait ends with its context":                      waitEndsWithContext,
	"canceled calls take nothing":                       canceledTakesNothing,
	"the queue advances when a call is canceled":        canceledAdvancesQueue,
	"an ended context fails and takes nothing":          endedContextTakesNothing,
	"CountsItems reports whether items are limited":     countsItems,
	"a place counts until one window after its release": countsUntilWindowAfterRelease,
	"a place that was not sent is free at once":         notSentIsFree,
	"a refused request is charged without its items":    refusedReturnsItems,
	"a release can only change from sent to refused":    correctsOnlySentToRefused,
	"a wait is traced when it begins":                   tracesWait,
	"Remaining counts places in use and released":       remainingCounts,
	"Error.Wait is a lower bound":                       waitIsLowerBound,
	"a limit takes one window and one round trip":       throughput,
	"random delays never exceed the item window":        randomDelays,
}

// simulatedRules take days, or need the windows of one second.
var simulatedRules = map[string]rule{
	"eight goroutines never exceed any window":    concurrentWindows,
	"the windows of a day slide":                  daySlides,
	"requests do not overtake a batch":            batchKeepsPosition,
	"an error names the full window":              errorNamesWindow,
	"a correction keeps the time of the release":  correctionKeepsTime,
	"Remaining reports every window with a limit": remainingReportsWindows,
}
