package quota_test

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/sellside-sdk/sellside-go/client/quota"
	"github.com/sellside-sdk/sellside-go/client/quota/limitertest"
)

const day = 24 * time.Hour

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestLimiter_KeepsContract(t *testing.T) {
	limitertest.Run(t, quota.NewLimiter)
}

// acquire acquires a place, without a deadline.
func acquire(ctx context.Context, t *testing.T, limiter quota.Limiter, items int) quota.Release {
	t.Helper()
	release, err := limiter.Acquire(ctx, items)
	if !assert.NoError(t, err) {
		return func(quota.Outcome) {}
	}
	return release
}

// send acquires a place for a request that arrives at once.
func send(t *testing.T, limiter quota.Limiter, items int) {
	t.Helper()
	acquire(t.Context(), t, limiter, items)(quota.Sent)
}

func TestLimiter_KeepsThroughput(t *testing.T) {
	const roundTrip = 100 * time.Millisecond
	for name, tc := range map[string]struct {
		q         quota.Quota
		calls     int
		items     int
		roundTrip time.Duration
		took      time.Duration
	}{
		"requests per second":             {quota.Quota{RequestsPerSecond: 5}, 80, 0, 0, 15 * time.Second},
		"one request per second":          {quota.Quota{RequestsPerSecond: 1}, 40, 0, 0, 39 * time.Second},
		"requests per day":                {quota.Quota{RequestsPerDay: 20}, 80, 0, 0, 3 * day},
		"items per window":                {quota.Quota{ItemsPerWindow: 500}, 40, 100, 0, 35 * time.Minute},
		"items per day":                   {quota.Quota{ItemsPerDay: 100}, 24, 50, 0, 11 * day},
		"items per window of 5 min":       {quota.Quota{ItemsPerWindow: 500}, 8, 500, 0, 35 * time.Minute},
		"with a round trip, 1 per second": {quota.Quota{RequestsPerSecond: 1}, 40, 0, roundTrip, 39*(time.Second+roundTrip) + roundTrip},
		"with a round trip, 5 per second": {quota.Quota{RequestsPerSecond: 5}, 40, 0, roundTrip, 7*(time.Second+roundTrip) + roundTrip},
		"with a round trip, 500 items":    {quota.Quota{ItemsPerWindow: 500}, 40, 100, roundTrip, 7*(5*time.Minute+roundTrip) + roundTrip},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				limiter, start := quota.NewLimiter(tc.q), time.Now()
				var calls sync.WaitGroup
				for range tc.calls {
					calls.Go(func() {
						release := acquire(t.Context(), t, limiter, tc.items)
						<-time.After(tc.roundTrip)
						release(quota.Sent)
					})
				}
				calls.Wait()
				assert.Equal(t, tc.took, time.Since(start), "a window and a round trip for each limit")
			})
		})
	}
}

func TestLimiter_CountsNegativeItemsAsNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limiter := quota.NewLimiter(quota.Quota{RequestsPerSecond: 1, ItemsPerWindow: 10})
		send(t, limiter, 10)
		send(t, limiter, -10)
		start := time.Now()
		send(t, limiter, 1)
		assert.Equal(t, 5*time.Minute-time.Second, time.Since(start), "a negative number returns no items")
	})
}

// lateContext ends when Done is first called, which takes so long that the call was admitted too.
type lateContext struct {
	context.Context //nolint:containedctx // it implements Context
	cancel          context.CancelFunc
	after           time.Duration
}

func (c lateContext) Done() <-chan struct{} {
	<-time.After(c.after)
	c.cancel()
	return c.Context.Done()
}

func TestLimiter_GrantsPlaceOrTakesNothing(t *testing.T) {
	for range 64 { // a select chooses between two ready channels at random
		synctest.Test(t, func(t *testing.T) {
			limiter := quota.NewLimiter(quota.Quota{ItemsPerWindow: 10})
			send(t, limiter, 10)
			ctx, cancel := context.WithCancel(t.Context())
			release, err := limiter.Acquire(lateContext{ctx, cancel, 6 * time.Minute}, 10)
			if err == nil {
				release(quota.Sent)
			}
			start := time.Now()
			send(t, limiter, 10)
			if took := time.Since(start); took == 0 {
				require.ErrorIs(t, err, context.Canceled)
			} else {
				assert.Equal(t, 5*time.Minute, took)
				require.NoError(t, err, "the items were taken by a call that failed")
			}
		})
	}
}

// TestLimiter_IsSafeForConcurrentUse is for the race detector.
func TestLimiter_IsSafeForConcurrentUse(t *testing.T) {
	limiter := quota.NewLimiter(quota.Quota{
		RequestsPerSecond: 500, ItemsPerWindow: 300, ItemsWindow: 10 * time.Millisecond,
	})
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			for range 50 {
				timeout := time.Duration(rand.N(20)) * time.Millisecond
				ctx, cancel := context.WithTimeout(t.Context(), timeout)
				release, err := limiter.Acquire(ctx, rand.N(4))
				cancel()
				if err != nil {
					continue
				}
				all.Go(func() { release(quota.Refused) })
				release([]quota.Outcome{quota.Sent, quota.NotSent, quota.Refused}[rand.N(3)])
				_, err = limiter.Remaining(t.Context())
				assert.NoError(t, err)
			}
		})
	}
	all.Wait()
	states, err := limiter.Remaining(t.Context())
	require.NoError(t, err)
	for _, state := range states {
		assert.GreaterOrEqual(t, state.Used, 0, state.Window)
		assert.LessOrEqual(t, state.Used, state.Limit, state.Window)
	}
}

// TestLimiter_PredictsWait has calls with a short deadline fail: the error has the predicted wait.
func TestLimiter_PredictsWait(t *testing.T) {
	const minute, second = time.Minute, time.Second
	items := func(limit int) quota.Quota { return quota.Quota{ItemsPerWindow: limit} }
	for name, tc := range map[string]struct {
		q        quota.Quota
		released []int // Items of the calls that were released two minutes ago.
		inUse    []int // Items of the calls whose places are in use.
		queue    []int // Items of the calls that wait.
		call     int
		want     time.Duration
		per      time.Duration // 5 minutes if zero.
	}{
		"a released place is free at a known time":         {q: items(10), released: []int{10}, call: 1, want: 3 * minute},
		"a place in use is released now at the earliest":   {q: items(10), inUse: []int{10}, call: 1, want: 5 * minute},
		"the oldest place is free first":                   {q: items(10), released: []int{5}, inUse: []int{5}, call: 5, want: 3 * minute},
		"a call needs more than the oldest place":          {q: items(10), released: []int{5}, inUse: []int{5}, call: 6, want: 5 * minute},
		"an earlier call takes what is free first":         {q: items(10), released: []int{5}, inUse: []int{5}, queue: []int{5}, call: 5, want: 5 * minute},
		"an earlier call takes the whole window":           {q: items(10), released: []int{10}, queue: []int{10}, call: 10, want: 8 * minute},
		"a long queue":                                     {q: items(10), released: []int{10}, queue: []int{10, 10, 10, 10}, call: 10, want: 23 * minute},
		"the bound may be lower than the wait, 13 minutes": {q: items(10), released: []int{9}, queue: []int{10, 10}, call: 1, want: 10 * minute},
		"a batch waits for earlier requests":               {q: quota.Quota{RequestsPerDay: 1, ItemsPerWindow: 9}, inUse: []int{0}, queue: []int{0, 0}, call: 1, want: 3 * day, per: day},
		"a request does not wait for earlier batches":      {q: quota.Quota{RequestsPerDay: 1, ItemsPerWindow: 9}, inUse: []int{0}, queue: []int{1, 1}, call: 0, want: day, per: day},
		"it does if no items are limited":                  {q: quota.Quota{RequestsPerDay: 1}, inUse: []int{0}, queue: []int{1, 1}, call: 0, want: 3 * day, per: day},
		"the longest wait of several windows": {
			q: quota.Quota{RequestsPerSecond: 1, RequestsPerDay: 9, ItemsPerWindow: 9, ItemsPerDay: 9}, inUse: []int{9}, call: 9,
			want: day, per: day,
		},
		"the second is the longest": {q: quota.Quota{RequestsPerSecond: 1, RequestsPerDay: 9, ItemsPerWindow: 9}, inUse: []int{3}, call: 3, want: second, per: second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				limiter := quota.NewLimiter(tc.q)
				var all sync.WaitGroup
				for _, n := range tc.released {
					send(t, limiter, n)
				}
				<-time.After(2 * minute)
				var releases []quota.Release
				for _, n := range tc.inUse {
					releases = append(releases, acquire(t.Context(), t, limiter, n))
				}
				for _, n := range tc.queue {
					all.Go(func() { send(t, limiter, n) })
					synctest.Wait()
				}
				start := time.Now()
				ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
				defer cancel()
				_, err := limiter.Acquire(ctx, tc.call)
				refused, ok := errors.AsType[*quota.Error](err)
				require.True(t, ok, "%v", err)
				assert.Equal(t, tc.want, refused.Wait)
				assert.Equal(t, cmp.Or(tc.per, 5*minute), refused.Per)
				assert.Zero(t, time.Since(start), "the call fails at once")

				for _, release := range releases {
					release(quota.Sent)
				}
				send(t, limiter, tc.call)
				assert.GreaterOrEqual(t, time.Since(start), tc.want, "the prediction is a lower bound")
				all.Wait()
			})
		})
	}
}
