package limitertest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/sellside-sdk/sellside-go/client/quota"
)

const (
	schedules        = 10_000
	schedulesPerTest = 250
)

// schedule is a number of calls on one limiter, whose requests take their time to arrive.
type schedule struct {
	seed  uint64
	q     quota.Quota
	calls []call

	// steady schedules have all calls sent: none leaves, and none returns what it has taken. A prediction made in one
	// has to hold.
	steady bool
}

// call is one call of a schedule.
type call struct {
	comes    time.Duration
	items    int
	leaves   time.Duration // How long it waits for a place; zero if as long as it takes.
	deadline bool          // It says so beforehand.

	out, back time.Duration   // How long the request takes to arrive, and its response.
	outcomes  []quota.Outcome // What is reported one after the other, beginning when the response is there.
	status    time.Duration   // How much later than the first outcome the others are reported.
}

// randomSchedule returns the schedule of a seed.
func randomSchedule(seed uint64, delay time.Duration) *schedule {
	r := rand.New(rand.NewPCG(seed, 13))
	upTo := func(d time.Duration) time.Duration { return time.Duration(r.Int64N(int64(d) + 1)) }
	s := &schedule{seed: seed, steady: r.IntN(4) == 0}
	s.q = quota.Quota{ItemsWindow: time.Second + upTo(20*time.Second)}
	for s.q.RequestsPerSecond+s.q.RequestsPerDay+s.q.ItemsPerWindow+s.q.ItemsPerDay == 0 {
		s.q.RequestsPerSecond = r.IntN(2) * (1 + r.IntN(3))
		s.q.RequestsPerDay = r.IntN(2) * (3 + r.IntN(6))
		s.q.ItemsPerWindow = r.IntN(2) * (4 + r.IntN(9))
		s.q.ItemsPerDay = r.IntN(2) * (8 + r.IntN(20))
	}
	largest := 10
	for _, limit := range []int{s.q.ItemsPerWindow, s.q.ItemsPerDay} {
		if limit > 0 {
			largest = min(largest, limit)
		}
	}
	for range 6 + r.IntN(8) {
		c := call{comes: upTo(4 * delay), out: upTo(delay), back: upTo(delay), outcomes: []quota.Outcome{quota.Sent}}
		if r.IntN(3) > 0 {
			c.items = 1 + r.IntN(largest)
		}
		if !s.steady {
			if r.IntN(5) == 0 {
				c.leaves, c.deadline = 1+upTo(10*delay), r.IntN(2) == 0
			}
			switch r.IntN(10) {
			case 0, 1:
				c.outcomes = []quota.Outcome{quota.NotSent}
			case 2:
				c.outcomes = []quota.Outcome{quota.Refused}
			case 3, 4:
				c.outcomes = append(c.outcomes, quota.Refused)
			}
			for range r.IntN(3) { // which have no effect, but for one that makes Sent Refused
				c.outcomes = append(c.outcomes, []quota.Outcome{quota.Sent, quota.NotSent, quota.Refused}[r.IntN(3)])
			}
			c.status = upTo(3 * delay)
		}
		s.calls = append(s.calls, c)
	}
	return s
}

// run makes the calls, and checks at the far end that every window was kept.
func (s *schedule) run(t testing.TB, in suite) {
	t.Helper()
	limiter := in.newLimiter(s.q)
	var l log
	for _, c := range s.calls {
		l.all.Go(func() {
			<-time.After(c.comes)
			if err := s.send(t.Context(), limiter, c, &l); err != nil {
				t.Errorf("seed %d: %v", s.seed, err)
			}
		})
	}
	l.all.Wait()
	l.keepsAll(t, fmt.Sprintf("seed %d: ", s.seed), s.q, in.tolerance())
	if in.simulated {
		<-time.After(25 * time.Hour)
		for window, n := range used(t, limiter) {
			if n != 0 {
				t.Errorf("seed %d: %d %s are still used a day after all calls", s.seed, n, window)
			}
		}
	}
	if t.Failed() {
		t.Logf("seed %d: %+v, steady: %t", s.seed, s.q, s.steady)
		for _, c := range s.calls {
			t.Logf("\t%+v", c)
		}
	}
}

// send makes a call, and sends its request to the far end.
func (s *schedule) send(ctx context.Context, limiter quota.Limiter, c call, l *log) error {
	release, err := s.acquire(ctx, limiter, c)
	if err != nil || release == nil {
		return err
	}
	if c.outcomes[0] != quota.NotSent {
		<-time.After(c.out)
		if slices.Contains(c.outcomes, quota.Refused) {
			l.arrived(0, "")
		} else {
			l.arrived(c.items, "")
		}
	}
	<-time.After(c.back)
	release(c.outcomes[0])
	<-time.After(c.status)
	for _, o := range c.outcomes[1:] {
		release(o)
	}
	return nil
}

// acquire gets the place of a call, or nil if the call leaves first. In a steady schedule it has itself refused
// before, to hold the limiter to its prediction.
func (s *schedule) acquire(ctx context.Context, limiter quota.Limiter, c call) (quota.Release, error) {
	if c.leaves > 0 {
		var cancel context.CancelFunc
		if c.deadline {
			ctx, cancel = context.WithTimeout(ctx, c.leaves)
		} else {
			ctx, cancel = context.WithCancel(ctx)
			time.AfterFunc(c.leaves, cancel)
		}
		defer cancel()
	}
	came := time.Now()
	var atLeast time.Duration
	if s.steady {
		hurried, cancel := context.WithTimeout(ctx, 1)
		release, err := limiter.Acquire(hurried, c.items)
		cancel()
		if err == nil {
			return release, nil
		}
		if refused, ok := errors.AsType[*quota.Error](err); ok {
			atLeast = refused.Wait
		}
	}
	release, err := limiter.Acquire(ctx, c.items)
	if _, refused := errors.AsType[*quota.Error](err); refused && c.deadline || err != nil && ctx.Err() != nil {
		return nil, nil //nolint:nilnil // it has left, as it was to
	}
	if waited := time.Since(came); err == nil && waited < atLeast {
		return nil, fmt.Errorf("a call of %d items went after %s, and was refused for a wait of at least %s", c.items, waited, atLeast)
	}
	return release, err
}

// randomDelaysKeepItems is a schedule that passes in real time as well.
func randomDelaysKeepItems(t testing.TB, in suite) {
	s := randomSchedule(0, in.delay)
	s.q = quota.Quota{ItemsPerWindow: 12, ItemsWindow: in.window}
	s.run(t, in)
}

// throughput has more calls at once than fit, each of which frees its place one round trip after it got it.
func throughput(t testing.TB, s suite) {
	const limit, rounds = 5, 4
	limiter := s.items(limit)
	r := rand.New(rand.NewPCG(1, 13))
	var l log
	start := time.Now()
	for range limit * rounds {
		roundTrip := time.Duration(r.Int64N(int64(2*s.delay) + 1))
		l.all.Go(func() {
			release, err := limiter.Acquire(t.Context(), 1)
			if err != nil {
				t.Error(err)
				return
			}
			l.arrived(1, "")
			<-time.After(roundTrip)
			release(quota.Sent)
		})
	}
	l.all.Wait()
	for i, a := range l.arrivals {
		if took, most := a.at.Sub(start), time.Duration(i/limit)*(s.window+2*s.delay)+s.slack; took > most {
			t.Errorf("call %d went after %s, want %s at most: %d in a window of %s and a round trip of %s", i+1, took, most, limit, s.window, 2*s.delay)
		}
	}
}
