package quota_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client/quota"
)

// traced returns a context with a trace, and the windows that the trace was called with.
func traced(ctx context.Context) (context.Context, *[]quota.Window) {
	windows := new([]quota.Window)
	trace := &quota.Trace{WaitStart: func(w quota.Window) { *windows = append(*windows, w) }}
	return quota.WithTrace(ctx, trace), windows
}

func TestTrace_CallsInnerBeforeOuter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls []string
		trace := func(name string) *quota.Trace {
			return &quota.Trace{WaitStart: func(w quota.Window) {
				calls = append(calls, name+": "+string(w))
			}}
		}
		ctx := quota.WithTrace(t.Context(), trace("outer"))
		ctx = quota.WithTrace(ctx, &quota.Trace{}) // has no effect
		ctx = quota.WithTrace(ctx, nil)
		ctx = quota.WithTrace(ctx, trace("inner"))

		limiter := quota.NewLimiter(quota.Quota{RequestsPerDay: 1})
		send(t, limiter, 0)
		acquire(ctx, t, limiter, 0)
		assert.Equal(t, []string{"inner: requests per day", "outer: requests per day"}, calls)
	})
}

func TestContextTrace_HasNoNilFunctions(t *testing.T) {
	for name, trace := range map[string]*quota.Trace{"none": nil, "an empty one": {}} {
		assert.NotPanics(t, func() {
			quota.ContextTrace(t.Context()).WaitStart(quota.RequestsPerDay)
			quota.ContextTrace(quota.WithTrace(t.Context(), trace)).WaitStart(quota.RequestsPerDay)
		}, name)
	}
}

func TestTrace_ReportsWindowWithLongestWait(t *testing.T) {
	for name, tc := range map[string]struct {
		q      quota.Quota
		before int // Earlier calls, of one item each.
		want   []quota.Window
	}{
		"no wait":              {quota.Quota{RequestsPerSecond: 1}, 0, nil},
		"requests per second":  {quota.Quota{RequestsPerSecond: 1, RequestsPerDay: 9, ItemsPerDay: 9}, 1, []quota.Window{quota.RequestsPerSecond}},
		"requests per day":     {quota.Quota{RequestsPerSecond: 1, RequestsPerDay: 2}, 2, []quota.Window{quota.RequestsPerDay}},
		"items per window":     {quota.Quota{RequestsPerSecond: 1, ItemsPerWindow: 3}, 3, []quota.Window{quota.ItemsPerWindow}},
		"items per day":        {quota.Quota{RequestsPerSecond: 1, ItemsPerWindow: 9, ItemsPerDay: 3}, 3, []quota.Window{quota.ItemsPerDay}},
		"several, the longest": {quota.Quota{RequestsPerDay: 3, ItemsPerWindow: 3, ItemsPerDay: 9}, 3, []quota.Window{quota.RequestsPerDay}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				limiter := quota.NewLimiter(tc.q)
				for range tc.before {
					send(t, limiter, 1)
				}
				ctx, windows := traced(t.Context())
				acquire(ctx, t, limiter, 1)
				assert.Equal(t, tc.want, *windows)
			})
		})
	}
}

func TestTrace_ReportsEveryCallThatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limiter := quota.NewLimiter(quota.Quota{RequestsPerSecond: 3, ItemsPerWindow: 5})
		var all sync.WaitGroup
		call := func(items int, want ...quota.Window) {
			ctx, windows := traced(t.Context())
			all.Go(func() { acquire(ctx, t, limiter, items)(quota.Sent) })
			synctest.Wait()
			assert.Equal(t, want, *windows, "reported when the wait begins")
		}
		call(5)
		call(0)
		call(0)
		for range 6 { // admitted three at a time
			call(0, quota.RequestsPerSecond)
		}
		call(5, quota.ItemsPerWindow)
		call(1, quota.ItemsPerWindow)
		all.Wait()
	})
}

func TestTrace_PanicTakesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limiter := quota.NewLimiter(quota.Quota{RequestsPerDay: 1})
		release := acquire(t.Context(), t, limiter, 0)
		broken := &quota.Trace{WaitStart: func(quota.Window) { panic("broken trace") }}
		ctx := quota.WithTrace(t.Context(), broken)
		assert.Panics(t, func() { _, _ = limiter.Acquire(ctx, 0) })
		release(quota.NotSent)
		states, err := limiter.Remaining(t.Context())
		require.NoError(t, err)
		assert.Zero(t, states[0].Used)
	})
}
