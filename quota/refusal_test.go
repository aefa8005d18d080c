package quota_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/quota"
)

func TestAWaitBeyondTheDeadlineIsRefusedAtOnce(t *testing.T) {
	for name, tc := range map[string]struct {
		q     quota.Quota
		items int
		want  quota.Error
	}{
		"second": {quota.Quota{RequestsPerSecond: 1}, 0, quota.Error{Limit: 1, Per: time.Second, Unit: "requests", Wait: time.Second}},
		"day":    {quota.Quota{RequestsPerDay: 1}, 0, quota.Error{Limit: 1, Per: day, Unit: "requests", Wait: day}},
		"window": {quota.Quota{ItemsPerWindow: 9}, 9, quota.Error{Limit: 9, Per: 5 * time.Minute, Unit: "items", Wait: 5 * time.Minute}},
		"the longest wait decides": {
			quota.Quota{RequestsPerSecond: 1, RequestsPerDay: 9, ItemsPerWindow: 9, ItemsPerDay: 9},
			9,
			quota.Error{Limit: 9, Per: day, Unit: "items", Wait: day},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				limiter := quota.NewLimiter(tc.q)
				require.NoError(t, limiter.Wait(t.Context(), tc.items))
				start := time.Now()
				ctx, cancel := context.WithTimeout(t.Context(), 999*time.Millisecond)
				defer cancel()
				var refused *quota.Error
				require.ErrorAs(t, limiter.Wait(ctx, tc.items), &refused)
				assert.Equal(t, tc.want, *refused)
				assert.Zero(t, time.Since(start))

				require.NoError(t, limiter.Wait(t.Context(), tc.items))
				assert.Equal(t, tc.want.Wait, time.Since(start), "what was refused has taken no room")
			})
		})
	}
}

func TestACallLargerThanItsWindowIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limiter := quota.NewLimiter(quota.Quota{RequestsPerDay: 1, ItemsPerWindow: 500, ItemsPerDay: 50_000})
		var refused *quota.Error
		require.ErrorAs(t, limiter.Wait(t.Context(), 501), &refused)
		assert.Equal(t, quota.Error{Limit: 500, Per: 5 * time.Minute, Unit: "items"}, *refused, "no wait would help")
		start := time.Now()
		require.NoError(t, limiter.Wait(t.Context(), 500), "it is large, not too large")
		assert.Zero(t, time.Since(start), "what was refused has taken no room")
	})
}

func TestAQueueBeyondTheDeadlineIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limiter := quota.NewLimiter(quota.Quota{RequestsPerSecond: 10, ItemsPerWindow: 5})
		require.NoError(t, limiter.Wait(t.Context(), 5))
		waiting, leave := context.WithCancel(t.Context())
		gone := make(chan error)
		go func() { gone <- limiter.Wait(waiting, 5) }()
		synctest.Wait()

		ctx, cancel := context.WithTimeout(t.Context(), 6*time.Minute)
		defer cancel()
		var refused *quota.Error
		require.ErrorAs(t, limiter.Wait(ctx, 5), &refused, "a batch is before it")
		assert.Equal(t, quota.Error{Limit: 5, Per: 5 * time.Minute, Unit: "items", Wait: 10 * time.Minute}, *refused)
		require.NoError(t, limiter.Wait(ctx, 0), "a request alone does not stand behind it")

		leave()
		require.ErrorIs(t, <-gone, context.Canceled)
		start := time.Now()
		require.NoError(t, limiter.Wait(ctx, 5), "it left, and there is room again")
		assert.Equal(t, 5*time.Minute, time.Since(start))
	})
}

func TestADayHasAnyTwentyFourHours(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limiter, start := quota.NewLimiter(quota.Quota{RequestsPerDay: 2}), time.Now()
		<-time.After(23 * time.Hour)
		require.NoError(t, limiter.Wait(t.Context(), 0))
		require.NoError(t, limiter.Wait(t.Context(), 0))
		require.NoError(t, limiter.Wait(t.Context(), 0))
		assert.Equal(t, 47*time.Hour, time.Since(start), "midnight alone gives no new quota")
	})
}
