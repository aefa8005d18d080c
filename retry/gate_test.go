package retry

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// closed is a gate that is closed for so long.
func closed(d time.Duration) *Gate {
	g := &Gate{}
	g.Close(func(int) time.Duration { return d })
	return g
}

func TestAGateThatOpensInTimeIsWaitedFor(t *testing.T) {
	for left, why := range map[time.Duration]string{
		0:                     "there is no deadline",
		time.Hour:             "there is much time left",
		61 * time.Second:      "there is less left than the jitter may take",
		60*time.Second + 1000: "there is next to nothing left",
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, gate, start := t.Context(), closed(time.Minute), time.Now()
			if left > 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, left)
				defer cancel()
			}
			require.NoError(t, gate.Wait(ctx, time.Hour), why)
			assert.GreaterOrEqual(t, time.Since(start), time.Minute, why)
			assert.LessOrEqual(t, time.Since(start), time.Minute*9/8, why)
			assert.NoError(t, ctx.Err(), why)
		})
	}
}

func TestAGateThatOpensTooLateRefusesAtOnce(t *testing.T) {
	for _, left := range []time.Duration{1, 5 * time.Second, time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			gate, start := closed(time.Minute), time.Now()
			ctx, cancel := context.WithTimeout(t.Context(), left)
			defer cancel()
			var refused *ThrottledError
			require.ErrorAs(t, gate.Wait(ctx, time.Hour), &refused)
			assert.Equal(t, start.Add(time.Minute), refused.Until)
			assert.Zero(t, time.Since(start))
			assert.ErrorContains(t, refused, "2000-01-01T00:01:00Z")
		})
	}
}

func TestAGateThatIsClosedForLongerRefusesThoseWhoWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate, start := closed(time.Second), time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		time.AfterFunc(500*time.Millisecond, func() { gate.Close(func(int) time.Duration { return time.Minute }) })
		var refused *ThrottledError
		require.ErrorAs(t, gate.Wait(ctx, time.Hour), &refused)
		assert.Equal(t, start.Add(time.Minute+500*time.Millisecond), refused.Until)
		assert.Less(t, time.Since(start), 2*time.Second, "as soon as it looks again")
	})
}

func TestWhoWaitsAtAGateLeavesWhenItsContextEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate, start := closed(time.Minute), time.Now()
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		require.ErrorIs(t, gate.Wait(ctx, time.Hour), context.Canceled)
		assert.Equal(t, time.Second, time.Since(start))

		late, cancel := context.WithDeadline(t.Context(), start)
		defer cancel()
		require.ErrorIs(t, gate.Wait(late, time.Hour), context.DeadlineExceeded, "it has ended, and needs no other reason")
	})
}
