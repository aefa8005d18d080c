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

// endsLate is a context that has ended when a limiter looks for the first time whether it ends, and makes it look so
// late that the call has been let go as well.
type endsLate struct {
	context.Context //nolint:containedctx // it is one
	cancel          context.CancelFunc
	after           time.Duration
}

func (c endsLate) Done() <-chan struct{} {
	<-time.After(c.after)
	c.cancel()
	return c.Context.Done()
}

func TestACallIsEitherLetGoOrTakesNothing(t *testing.T) {
	for range 64 { // of two things that have happened, a select sees either
		synctest.Test(t, func(t *testing.T) {
			limiter := quota.NewLimiter(quota.Quota{ItemsPerWindow: 10})
			require.NoError(t, limiter.Wait(t.Context(), 10))
			ctx, cancel := context.WithCancel(t.Context())
			err := limiter.Wait(endsLate{ctx, cancel, 6 * time.Minute}, 10)

			start := time.Now()
			require.NoError(t, limiter.Wait(t.Context(), 10))
			if took := time.Since(start); took == 0 {
				require.ErrorIs(t, err, context.Canceled)
			} else {
				assert.Equal(t, 4*time.Minute, took)
				require.NoError(t, err, "it has taken the window's items, and was told that it did not")
			}
		})
	}
}
