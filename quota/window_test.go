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

// listening is a context and what was told on it.
func listening(ctx context.Context) (context.Context, *[]quota.Window) {
	told := new([]quota.Window)
	return quota.WithTrace(ctx, &quota.Trace{Held: func(w quota.Window) { *told = append(*told, w) }}), told
}

func TestALimiterTellsWhichWindowItHeldACallBackFor(t *testing.T) {
	for name, tc := range map[string]struct {
		q      quota.Quota
		before int // Calls that go before, of one item each.
		want   []quota.Window
	}{
		"nothing holds it back":   {quota.Quota{RequestsPerSecond: 1}, 0, nil},
		"the second":              {quota.Quota{RequestsPerSecond: 1, RequestsPerDay: 9, ItemsPerWindow: 9, ItemsPerDay: 9}, 1, []quota.Window{quota.RequestsPerSecond}},
		"the day":                 {quota.Quota{RequestsPerSecond: 1, RequestsPerDay: 2}, 2, []quota.Window{quota.RequestsPerDay}},
		"the window of items":     {quota.Quota{RequestsPerSecond: 1, ItemsPerWindow: 3}, 3, []quota.Window{quota.ItemsPerWindow}},
		"the day's items":         {quota.Quota{RequestsPerSecond: 1, ItemsPerWindow: 9, ItemsPerDay: 3}, 3, []quota.Window{quota.ItemsPerDay}},
		"the one that opens last": {quota.Quota{RequestsPerDay: 3, ItemsPerWindow: 3, ItemsPerDay: 9}, 3, []quota.Window{quota.RequestsPerDay}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				limiter := quota.NewLimiter(tc.q)
				for range tc.before {
					require.NoError(t, limiter.Wait(t.Context(), 1))
				}
				ctx, told := listening(t.Context())
				require.NoError(t, limiter.Wait(ctx, 1))
				assert.Equal(t, tc.want, *told)
			})
		})
	}
}

func TestEveryoneInTheQueueIsToldWhatItWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limiter := quota.NewLimiter(quota.Quota{RequestsPerSecond: 3, ItemsPerWindow: 5})
		var all sync.WaitGroup
		call := func(items int, want ...quota.Window) {
			all.Go(func() {
				ctx, told := listening(t.Context())
				assert.NoError(t, limiter.Wait(ctx, items))
				assert.Equal(t, want, *told)
			})
			synctest.Wait()
		}
		call(5)
		call(0)
		call(0)
		for range 6 { // which go three at a time
			call(0, quota.RequestsPerSecond)
		}
		call(5, quota.ItemsPerWindow)
		call(5, quota.ItemsPerWindow)
		all.Wait()
	})
}

func TestThoseWhoGiveUpAndThoseBehindThemAreToldToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limiter := quota.NewLimiter(quota.Quota{RequestsPerSecond: 1, ItemsPerWindow: 10})
		require.NoError(t, limiter.Wait(t.Context(), 5))
		<-time.After(2 * time.Second) // so that no window of requests is full
		impatient, leave := context.WithCancel(t.Context())
		var all sync.WaitGroup
		first, firstTold := listening(impatient)
		all.Go(func() { assert.ErrorIs(t, limiter.Wait(first, 10), context.Canceled) })
		synctest.Wait()
		behind, behindTold := listening(t.Context())
		all.Go(func() { assert.NoError(t, limiter.Wait(behind, 5)) })
		synctest.Wait()
		start := time.Now()
		leave()
		all.Wait()

		assert.Zero(t, time.Since(start), "there was room for the one behind all along")
		assert.Equal(t, []quota.Window{quota.ItemsPerWindow}, *firstTold, "a wait that was given up was a wait")
		assert.Equal(t, []quota.Window{quota.ItemsPerWindow}, *behindTold, "it stood behind one that was held back for it")
	})
}
