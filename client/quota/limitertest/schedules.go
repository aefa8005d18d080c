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

// schedule is a set of calls on one limiter, whose requests and responses are delayed.
type schedule struct {
	seed  uint64
	q     quota.Quota
	calls []call

	// steady is true if all calls are sent: none is canceled, and none is refused. The predicted
	// waits must then be lower bounds.
	steady bool
}

// call is one call of a schedule.
type call struct {
	start    time.Duration
	items    int
	timeout  time.Duration // How long it waits for a place; zero for no limit.
	deadline bool          // The timeout is the deadline of its context.

	out, back time.Duration   // How long the request takes to arrive, and its response.
	outcomes  []quota.Outcome // The first is reported with the response, the others later.
	later     time.Duration   // How much later.
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
		c := call{
			start: upTo(4 * delay), out: upTo(delay), back: upTo(delay),
			outcomes: []quota.Outcome{quota.Sent},
		}
		if r.IntN(3) > 0 {
			c.items = 1 + r.IntN(largest)
		}
		if !s.steady {
			if r.IntN(5) == 0 {
				c.timeout, c.deadline = 1+upTo(10*delay), r.IntN(2) == 0
			}
			switch r.IntN(10) {
			case 0, 1:
				c.outcomes = []quota.Outcome{quota.NotSent}
			case 2:
				c.outcomes = []quota.Outcome{quota.Refused}
			case 3, 4:
				c.outcomes = append(c.outcomes, quota.Refused)
			}
			for range r.IntN(3) { // they have no effect, except Refused after Sent
				all := []quota.Outcome{quota.Sent, quota.NotSent, quota.Refused}
				c.outcomes = append(c.outcomes, all[r.IntN(3)])
			}
			c.later = upTo(3 * delay)
		}
		s.calls = append(s.calls, c)
	}
	return s
}

// run makes the calls, and checks the windows of the quota at the service.
func (s *schedule) run(t testing.TB, in suite) {
	t.Helper()
	limiter := in.newLimiter(s.q)
	defer closeLimiter(t, limiter)
	var svc service
	for _, c := range s.calls {
		svc.calls.Go(func() {
			<-time.After(c.start)
			if err := s.send(t.Context(), limiter, c, &svc); err != nil {
				t.Errorf("seed %d: %v", s.seed, err)
			}
		})
	}
	svc.calls.Wait()
	svc.checkWindows(t, fmt.Sprintf("seed %d: ", s.seed), s.q, in.tolerance())
	if in.simulated {
		<-time.After(25 * time.Hour)
		for window, n := range used(t, limiter) {
			if n != 0 {
				t.Errorf("seed %d: %d %s are used a day after the last call", s.seed, n, window)
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

// send makes a call, and sends its request to the service.
func (s *schedule) send(ctx context.Context, limiter quota.Limiter, c call, svc *service) error {
	release, err := s.acquire(ctx, limiter, c)
	if err != nil || release == nil {
		return err
	}
	if c.outcomes[0] != quota.NotSent {
		<-time.After(c.out)
		if slices.Contains(c.outcomes, quota.Refused) {
			svc.record(0, "")
		} else {
			svc.record(c.items, "")
		}
	}
	<-time.After(c.back)
	release(c.outcomes[0])
	<-time.After(c.later)
	for _, o := range c.outcomes[1:] {
		release(o)
	}
	return nil
}

// acquire acquires the place of a call; it returns nil if the call times out. In a steady schedule
// it first makes a call that cannot wait, to check the wait that the limiter predicts.
func (s *schedule) acquire(
	ctx context.Context, limiter quota.Limiter, c call,
) (quota.Release, error) {
	if c.timeout > 0 {
		var cancel context.CancelFunc
		if c.deadline {
			ctx, cancel = context.WithTimeout(ctx, c.timeout)
		} else {
			ctx, cancel = context.WithCancel(ctx)
			time.AfterFunc(c.timeout, cancel)
		}
		defer cancel()
	}
	start := time.Now()
	var atLeast time.Duration
	if s.steady {
		noWait, cancel := context.WithTimeout(ctx, 1)
		release, err := limiter.Acquire(noWait, c.items)
		cancel()
		if err == nil {
			return release, nil
		}
		if failed, ok := errors.AsType[*quota.Error](err); ok {
			atLeast = failed.Wait
		}
	}
	release, err := limiter.Acquire(ctx, c.items)
	_, tooLate := errors.AsType[*quota.Error](err)
	if tooLate && c.deadline || err != nil && ctx.Err() != nil {
		return nil, nil //nolint:nilnil // it timed out
	}
	if waited := time.Since(start); err == nil && waited < atLeast {
		return nil, fmt.Errorf("call of %d items: admitted after %s, predicted wait at least %s",
			c.items, waited, atLeast)
	}
	return release, err
}

// randomDelays runs a schedule that is short enough for real time.
func randomDelays(t testing.TB, in suite) {
	s := randomSchedule(0, in.delay)
	s.q = quota.Quota{ItemsPerWindow: 12, ItemsWindow: in.window}
	s.run(t, in)
}

// throughput makes more calls at once than there is room for. Each releases its place one round
// trip after it was admitted.
func throughput(t testing.TB, s suite) {
	const limit, rounds = 5, 4
	limiter := s.items(limit)
	r := rand.New(rand.NewPCG(1, 13))
	var svc service
	start := time.Now()
	for range limit * rounds {
		roundTrip := time.Duration(r.Int64N(int64(2*s.delay) + 1))
		svc.calls.Go(func() {
			release, err := limiter.Acquire(t.Context(), 1)
			if err != nil {
				t.Error(err)
				return
			}
			svc.record(1, "")
			<-time.After(roundTrip)
			release(quota.Sent)
		})
	}
	svc.calls.Wait()
	for i, a := range svc.arrivals {
		took, most := a.at.Sub(start), time.Duration(i/limit)*(s.window+2*s.delay)+s.slack
		if took > most {
			t.Errorf("call %d admitted after %s, want %s at most", i+1, took, most)
		}
	}
}
