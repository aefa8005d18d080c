package quota_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/quota"
)

const day = 24 * time.Hour

// passage is a call that a limiter let go.
type passage struct {
	at    time.Time
	items int
}

// assertKept checks every span of the window's length that begins with a passage: a span that holds more would
// hold as much when it is moved to its first passage.
func assertKept(t *testing.T, passages []passage, most int, per time.Duration, cost func(passage) int) {
	t.Helper()
	for _, first := range passages {
		sum := 0
		for _, p := range passages {
			if since := p.at.Sub(first.at); since >= 0 && since < per {
				sum += cost(p)
			}
		}
		assert.LessOrEqual(t, sum, most, "within %s from %s on", per, first.at)
	}
}

func oneRequest(passage) int         { return 1 }
func itsItems(p passage) (items int) { return p.items }

func TestNoSpanOfAWindowEverHoldsMore(t *testing.T) {
	for name, tc := range map[string]struct {
		q     quota.Quota
		calls int   // of each goroutine
		items []int // in turn
		took  time.Duration
	}{
		"requests per second":    {quota.Quota{RequestsPerSecond: 5}, 10, []int{0}, 15 * time.Second},
		"one request per second": {quota.Quota{RequestsPerSecond: 1}, 5, []int{0}, 39 * time.Second},
		"requests per day":       {quota.Quota{RequestsPerDay: 20}, 10, []int{0}, 3 * day},
		"items per window":       {quota.Quota{ItemsPerWindow: 500}, 5, []int{100}, 35 * time.Minute},
		"items of any number":    {quota.Quota{ItemsPerWindow: 100, ItemsWindow: time.Minute}, 6, []int{7, 100, 1, 64}, 0},
		"items per day":          {quota.Quota{ItemsPerDay: 100}, 3, []int{60, 40, 10}, 0},
		"all of them":            {quota.Quota{RequestsPerSecond: 2, RequestsPerDay: 100, ItemsPerWindow: 50, ItemsWindow: time.Minute, ItemsPerDay: 500}, 15, []int{0, 10, 0, 25}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				limiter := quota.NewLimiter(tc.q)
				var mu sync.Mutex
				var passages []passage
				start := time.Now()
				var goroutines sync.WaitGroup
				for g := range 8 {
					goroutines.Go(func() {
						for i := range tc.calls {
							items := tc.items[(g+i)%len(tc.items)]
							assert.NoError(t, limiter.Wait(t.Context(), items))
							mu.Lock()
							passages = append(passages, passage{time.Now(), items})
							mu.Unlock()
						}
					})
				}
				goroutines.Wait()
				require.Len(t, passages, 8*tc.calls)
				for _, w := range []struct {
					most int
					per  time.Duration
					cost func(passage) int
				}{
					{tc.q.RequestsPerSecond, time.Second, oneRequest},
					{tc.q.RequestsPerDay, day, oneRequest},
					{tc.q.ItemsPerWindow, max(tc.q.ItemsWindow, time.Minute), itsItems},
					{tc.q.ItemsPerDay, day, itsItems},
				} {
					if w.most > 0 {
						assertKept(t, passages, w.most, w.per, w.cost)
					}
				}
				if tc.took > 0 {
					assert.Equal(t, tc.took, time.Since(start), "and no time is given away")
				}
			})
		})
	}
}

func TestTheItemWindowIsFiveMinutesByDefault(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limiter, start := quota.NewLimiter(quota.Quota{ItemsPerWindow: 500}), time.Now()
		for _, want := range []time.Duration{0, 5 * time.Minute, 10 * time.Minute} {
			require.NoError(t, limiter.Wait(t.Context(), 500))
			assert.Equal(t, want, time.Since(start))
		}
	})
}

func TestAWindowSlides(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limiter, start := quota.NewLimiter(quota.Quota{RequestsPerSecond: 2}), time.Now()
		arrive := func(at time.Duration) time.Duration {
			<-time.After(at - time.Since(start))
			require.NoError(t, limiter.Wait(t.Context(), 0))
			return time.Since(start)
		}
		ms := time.Millisecond
		assert.Equal(t, 0*ms, arrive(0))
		assert.Equal(t, 900*ms, arrive(900*ms))
		assert.Equal(t, 1000*ms, arrive(950*ms), "the first one has left the window")
		assert.Equal(t, 1900*ms, arrive(1100*ms), "a token bucket, or a new second, would let two go at once")
	})
}

func TestCallsGoInTheOrderTheyCame(t *testing.T) {
	for name, tc := range map[string]struct {
		items []int
		order []int
	}{
		"requests alone":         {[]int{0, 0, 0, 0, 0}, []int{0, 1, 2, 3, 4}},
		"batches":                {[]int{10, 10, 1, 10, 9}, []int{0, 1, 2, 3, 4}},
		"requests among batches": {[]int{10, 10, 0, 1, 10, 0}, []int{0, 2, 5, 1, 3, 4}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				limiter := quota.NewLimiter(quota.Quota{RequestsPerSecond: 1, ItemsPerWindow: 10, ItemsWindow: time.Minute})
				var mu sync.Mutex
				var order []int
				var calls sync.WaitGroup
				for i, items := range tc.items {
					calls.Go(func() {
						assert.NoError(t, limiter.Wait(t.Context(), items))
						mu.Lock()
						defer mu.Unlock()
						order = append(order, i)
					})
					synctest.Wait()
				}
				calls.Wait()
				assert.Equal(t, tc.order, order, "a small batch does not overtake a large one, and reads do not stand behind batches")
			})
		})
	}
}

func TestUnlimitedNeverWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limiter, start := quota.NewLimiter(quota.Unlimited), time.Now()
		for range 1000 {
			require.NoError(t, limiter.Wait(t.Context(), 1_000_000))
		}
		assert.Zero(t, time.Since(start))
	})
}

func TestLessThanNothingIsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limiter := quota.NewLimiter(quota.Quota{RequestsPerSecond: 1, ItemsPerWindow: 10})
		for _, items := range []int{10, -10} {
			require.NoError(t, limiter.Wait(t.Context(), items))
		}
		start := time.Now()
		require.NoError(t, limiter.Wait(t.Context(), 1))
		assert.Equal(t, 5*time.Minute-time.Second, time.Since(start), "a negative number gives no items back")
	})
}

func TestAWaitEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limiter := quota.NewLimiter(quota.Quota{RequestsPerDay: 1})
		require.NoError(t, limiter.Wait(t.Context(), 0))
		start := time.Now()

		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Minute, cancel)
		require.ErrorIs(t, limiter.Wait(ctx, 0), context.Canceled)
		assert.Equal(t, time.Minute, time.Since(start))
		require.NoError(t, limiter.Wait(t.Context(), 0))
		assert.Equal(t, day, time.Since(start), "whoever left has taken no room")
		require.ErrorIs(t, limiter.Wait(ctx, 0), context.Canceled, "a context that has ended waits for nothing")
		require.ErrorIs(t, quota.NewLimiter(quota.Unlimited).Wait(ctx, 0), context.Canceled, "not even for an open door")
	})
}
