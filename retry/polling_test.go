package retry

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var errPasses, errStays = errors.New("it passes"), errors.New("it stays")

func everySecond() Polling {
	return Polling{First: time.Second, Most: 4 * time.Second, MayPass: func(err error) bool { return errors.Is(err, errPasses) }}
}

func TestPollingGoesOnUntilItIsDone(t *testing.T) {
	for name, tc := range map[string]struct {
		errs  []error // Of the polls, one after the other; done after the last.
		asked time.Duration
		want  error
		least time.Duration
	}{
		"at once":                 {[]error{nil}, 0, nil, 0},
		"after failures":          {[]error{errPasses, errPasses, nil}, 0, nil, 2250 * time.Millisecond},
		"not after one for good":  {[]error{nil, errStays, nil}, 0, errStays, 900 * time.Millisecond},
		"later if it is asked to": {[]error{nil, nil}, time.Minute, nil, time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start, polls := time.Now(), 0
				err := everySecond().Until(t.Context(), func(context.Context) (bool, time.Duration, error) {
					polls++
					err := tc.errs[polls-1]
					return polls == len(tc.errs), tc.asked, err
				})
				require.ErrorIs(t, err, tc.want)
				assert.GreaterOrEqual(t, time.Since(start), tc.least)
				assert.LessOrEqual(t, time.Since(start), tc.least*5/4)
			})
		})
	}
}

func TestPollingEndsWithItsContext(t *testing.T) {
	for name, tc := range map[string]struct {
		ctx func(context.Context) (context.Context, context.CancelFunc)
		end time.Duration
		err error // Of every poll.
	}{
		"30 minutes if it has no deadline": {context.WithCancel, 30 * time.Minute, nil},
		"at its deadline": {func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, time.Minute)
		}, time.Minute, nil},
		"with the last failure": {context.WithCancel, 30 * time.Minute, errPasses},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				var last time.Duration
				ctx, cancel := tc.ctx(t.Context())
				defer cancel()
				err := everySecond().Until(ctx, func(context.Context) (bool, time.Duration, error) {
					last = time.Since(start)
					return false, 0, tc.err
				})
				require.ErrorIs(t, err, context.DeadlineExceeded)
				if tc.err != nil {
					require.ErrorIs(t, err, tc.err)
				}
				assert.Less(t, last, tc.end, "the last poll comes before the deadline")
				assert.GreaterOrEqual(t, last, tc.end-time.Second)
				assert.LessOrEqual(t, time.Since(start), tc.end)
			})
		})
	}
}

func TestPollingThatSaysNothingHasItsDefaults(t *testing.T) {
	for name, tc := range map[string]struct {
		polling     Polling
		first, most time.Duration
	}{
		"nothing":                 {Polling{}, time.Second, 30 * time.Second},
		"negative pauses":         {Polling{First: -time.Hour, Most: -1}, time.Second, 30 * time.Second},
		"only the first":          {Polling{First: 20 * time.Second}, 20 * time.Second, 30 * time.Second},
		"a long first one":        {Polling{First: 2 * time.Minute}, 2 * time.Minute, 2 * time.Minute},
		"longer than the longest": {Polling{First: time.Minute, Most: time.Second}, time.Minute, time.Minute},
		"only the longest":        {Polling{Most: 4 * time.Second}, time.Second, 4 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var at []time.Time
				require.NoError(t, tc.polling.Until(t.Context(), func(context.Context) (bool, time.Duration, error) {
					at = append(at, time.Now())
					return len(at) == 11, 0, nil
				}))
				assert.InDelta(t, tc.first, at[1].Sub(at[0]), float64(tc.first/10), "the first pause")
				assert.InDelta(t, tc.most, at[10].Sub(at[9]), float64(tc.most/10), "the longest pause")
			})
		})
	}
}

func TestPollingThatDoesNotSayWhatMayPassEndsWithAnyFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		polls := 0
		err := Polling{}.Until(t.Context(), func(context.Context) (bool, time.Duration, error) {
			polls++
			return false, 0, errPasses
		})
		require.ErrorIs(t, err, errPasses)
		assert.Equal(t, 1, polls)
	})
}
