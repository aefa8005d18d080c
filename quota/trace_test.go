package quota_test

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/quota"
)

func TestTracesOfAContextAreAllCalledTheInnerOneFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []string
		trace := func(name string) *quota.Trace {
			return &quota.Trace{Held: func(w quota.Window) { told = append(told, name+": "+string(w)) }}
		}
		ctx := quota.WithTrace(t.Context(), trace("outer"))
		ctx = quota.WithTrace(ctx, &quota.Trace{}) // which says nothing, and hides nothing
		ctx = quota.WithTrace(ctx, nil)
		ctx = quota.WithTrace(ctx, trace("inner"))

		limiter := quota.NewLimiter(quota.Quota{RequestsPerDay: 1})
		require.NoError(t, limiter.Wait(ctx, 0))
		require.Empty(t, told, "nothing held it back")
		require.NoError(t, limiter.Wait(ctx, 0))
		assert.Equal(t, []string{"inner: requests per day", "outer: requests per day"}, told)
	})
}

func TestALimiterNeedNotAskWhetherThereIsATrace(t *testing.T) {
	for name, trace := range map[string]*quota.Trace{"none": nil, "an empty one": {}} {
		assert.NotPanics(t, func() {
			quota.ContextTrace(t.Context()).Held(quota.RequestsPerDay)
			quota.ContextTrace(quota.WithTrace(t.Context(), trace)).Held(quota.RequestsPerDay)
		}, name)
	}
}
