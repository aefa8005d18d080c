package client_test

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/clienttest"
)

func TestAContextThatEndsIsTheError(t *testing.T) {
	canceled := func(after time.Duration) func(context.Context) (context.Context, context.CancelFunc) {
		return func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(ctx)
			if after == 0 {
				cancel()
			}
			time.AfterFunc(after, cancel)
			return ctx, cancel
		}
	}
	expired := func(after time.Duration) func(context.Context) (context.Context, context.CancelFunc) {
		return func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, after)
		}
	}
	type script = func(*clienttest.Expectation)
	slow := func(e *clienttest.Expectation) { e.RespondExample().Delay(10 * time.Second) }
	throttled := func(e *clienttest.Expectation) {
		e.RespondError(http.StatusTooManyRequests, "slow down").Header("Retry-After", "30")
	}
	for _, tc := range []struct {
		what     string
		end      func(context.Context) (context.Context, context.CancelFunc)
		script   script // nil if nothing may be sent
		want     error
		attempts int
		doubtful bool // of a write
		text     string
	}{
		{"canceled before", canceled(0), nil, context.Canceled, 0, false, "not sent: context canceled"},
		{"expired before", expired(-time.Second), nil, context.DeadlineExceeded, 0, false, "not sent: context deadline exceeded"},
		{"canceled while the answer is awaited", canceled(time.Second), slow, context.Canceled, 1, true, "no answer: context canceled"},
		{"expired while the answer is awaited", expired(time.Second), slow, context.DeadlineExceeded, 1, true, "no answer: context deadline exceeded"},
		{"canceled during the pause after a 429", canceled(time.Second), throttled, context.Canceled, 1, false, "429 slow down (retry after 30s); it was not sent again: context canceled"},
	} {
		for kind, call := range map[string]aCall{"read": aRead, "write": aWrite} {
			t.Run(tc.what+", "+kind, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					srv := clienttest.New(t, clienttest.InProcess())
					if tc.script != nil {
						tc.script(srv.Expect(call.op))
					}
					ctx, cancel := tc.end(t.Context())
					defer cancel()
					start := time.Now()
					err := call.do(ctx, srv.Client())
					require.ErrorIs(t, err, tc.want)
					require.ErrorContains(t, err, string(call.op)+": "+tc.text)
					assert.Equal(t, tc.text[0] == 'n', isA[*client.TransportError](err), "%T: an answer that came is kept", err)
					assert.Equal(t, tc.attempts, infoOf(t, err).Attempts)
					assert.Equal(t, tc.doubtful && kind == "write", infoOf(t, err).OutcomeUnknown)
					if tc.doubtful && kind == "write" {
						assert.ErrorIs(t, err, client.ErrOutcomeUnknown)
					} else {
						assert.NotErrorIs(t, err, client.ErrOutcomeUnknown)
					}
					assert.LessOrEqual(t, time.Since(start), time.Second, "it returns when the context ends")
				})
			})
		}
	}
}

func TestAContextThatEndsWithinTheBodyIsTheError(t *testing.T) {
	for kind, call := range map[string]aCall{"read": aRead, "write": aWrite} {
		t.Run(kind, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := drippingClient(t, http.StatusOK, time.Second)
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				defer cancel()
				err := call.do(ctx, c)
				require.ErrorIs(t, err, context.DeadlineExceeded)
				assert.Equal(t, kind == "write", infoOf(t, err).OutcomeUnknown)
				assert.Equal(t, 1, infoOf(t, err).Attempts, "a caller that is gone is not served again")
			})
		})
	}
}

func TestAttemptTimeout_HasASentinel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := clienttest.New(t, clienttest.InProcess())
		srv.Expect(aWrite.op).RespondExample().Delay(time.Hour)
		start := time.Now()
		err := aWrite.do(t.Context(), srv.Client(client.WithRetry(client.RetryPolicy{AttemptTimeout: 5 * time.Second})))
		require.ErrorIs(t, err, client.ErrOutcomeUnknown)
		require.ErrorIs(t, err, client.ErrAttemptTimeout)
		require.ErrorIs(t, err, context.DeadlineExceeded, "a timeout, as net/http's own are")
		assert.NotErrorIs(t, err, context.Canceled)
		assert.Equal(t, 5*time.Second, time.Since(start))
	})
}

func TestAttemptTimeout_IsNotTheCallersDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := clienttest.New(t, clienttest.InProcess())
		srv.Expect(aWrite.op).RespondExample().Delay(time.Hour)
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		err := aWrite.do(ctx, srv.Client())
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.NotErrorIs(t, err, client.ErrAttemptTimeout)
	})
}

func TestCall_WithoutDeadlineEndsAfter30Minutes(t *testing.T) {
	for _, tc := range []struct {
		policy client.RetryPolicy
		script func(*clienttest.Expectation)
		why    string
	}{
		{client.RetryPolicy{MaxAttempts: 99, AttemptTimeout: 4 * time.Minute}, func(e *clienttest.Expectation) { e.RespondExample().Delay(time.Hour) }, "attempts"},
		{client.RetryPolicy{AttemptTimeout: 4 * time.Hour}, func(e *clienttest.Expectation) { e.RespondExample().Delay(5 * time.Hour) }, "one attempt"},
		{client.RetryPolicy{MaxAttempts: 99, MinDelay: 10 * time.Minute, MaxDelay: 10 * time.Minute}, func(e *clienttest.Expectation) { e.RespondError(503, "busy") }, "pauses"},
		{client.RetryPolicy{MaxAttempts: 99, MaxRetryAfter: time.Hour}, func(e *clienttest.Expectation) {
			e.RespondError(429, "slow down").Header("Retry-After", "960")
		}, "waiting after a 429"},
	} {
		synctest.Test(t, func(t *testing.T) {
			srv := clienttest.New(t, clienttest.InProcess())
			requests := 0
			c := srv.Client(client.WithRetry(tc.policy), withTransport(srv, func(inner http.RoundTripper) transportFunc {
				return func(r *http.Request) (*http.Response, error) {
					tc.script(srv.Expect(aRead.op))
					requests++
					return inner.RoundTrip(r)
				}
			}))
			start := time.Now()
			require.Error(t, aRead.do(t.Context(), c))
			assert.LessOrEqual(t, time.Since(start), 30*time.Minute, tc.why)
			assert.GreaterOrEqual(t, time.Since(start), 14*time.Minute, "it is given its time: %s", tc.why)
		})
	}
}
