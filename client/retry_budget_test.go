package client_test

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/clienttest"
	"github.com/sellside-sdk/sellside-go/client/quota"
	"github.com/sellside-sdk/sellside-go/client/token"
)

func TestRetryBudget_BoundsRetriesOfClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := clienttest.New(t, clienttest.InProcess())
		// The pauses are short, so that nothing is refilled.
		c := srv.Client(client.WithRetry(client.RetryPolicy{MaxAttempts: 100, MinDelay: 1, MaxDelay: 1}))
		busy := func(requests int, why string) {
			srv.Expect(readCall.op).Times(requests).RespondError(http.StatusServiceUnavailable, "busy")
			err := readCall.do(t.Context(), c)
			require.ErrorIs(t, err, client.ErrServer, "the last response is returned: %s", why)
			assert.Equal(t, requests, infoOf(t, err).Attempts, why)
		}
		busy(21, "20 retries in a burst")
		busy(1, "no retry is left")
		<-time.After(5 * time.Second)
		busy(6, "one retry comes back each second")

		other := srv.Client(client.WithRetry(client.RetryPolicy{MaxAttempts: 3, MinDelay: 1, MaxDelay: 1}))
		srv.Expect(readCall.op).Times(3).RespondError(http.StatusServiceUnavailable, "busy")
		require.ErrorIs(t, readCall.do(t.Context(), other), client.ErrServer,
			"another client has its own budget")
	})
}

func TestRetryBudget_FirstAttemptsTakeNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := clienttest.New(t, clienttest.InProcess())
		c := srv.Client()
		srv.Expect(readCall.op).Times(100).RespondExample()
		for range 100 {
			require.NoError(t, readCall.do(t.Context(), c))
		}
		srv.Expect(readCall.op).RespondError(http.StatusServiceUnavailable, "busy")
		srv.Expect(readCall.op).RespondExample()
		require.NoError(t, readCall.do(t.Context(), c), "calls that succeed at once take nothing")
	})
}

func TestRetryBudget_OneAttemptTurnsRetriesOff(t *testing.T) {
	for _, call := range []testCall{readCall, writeCall} {
		for _, status := range []int{http.StatusUnauthorized, http.StatusRequestTimeout, http.StatusTooManyRequests, http.StatusServiceUnavailable} {
			srv := clienttest.New(t, clienttest.InProcess())
			srv.Expect(call.op).RespondError(status, "no")
			err := call.do(t.Context(), srv.Client(oneAttempt, client.WithTokenSource(&countingSource{})))
			assert.Equal(t, 1, infoOf(t, err).Attempts, "%s %d", call.op, status)
		}
	}
}

func TestRetryBudget_FinalResponseReturnsRetries(t *testing.T) {
	type script = func(*clienttest.Expectation)
	status := func(status int) script {
		return func(e *clienttest.Expectation) {
			e.Raw(status, nil, []byte(`{"message":"no"}`), "the response after the 503s")
		}
	}
	for what, respond := range map[string]script{
		"a success": func(e *clienttest.Expectation) { e.RespondExample() },
		"404":       status(404),
		"501":       status(501),
		"a redirect": func(e *clienttest.Expectation) {
			e.Raw(302, http.Header{"Location": {"https://elsewhere.invalid/"}}, nil, "elsewhere")
		},
		"a 400": status(400),
		"a 401": status(401),
		"too large": func(e *clienttest.Expectation) {
			e.Raw(200, nil, bytes.Repeat([]byte(" "), 16<<20+1), "one byte too many")
		},
	} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := clienttest.New(t, clienttest.InProcess())
				c := srv.Client(client.WithRetry(client.RetryPolicy{MinDelay: 1, MaxDelay: 1, MaxAttempts: 8}))
				for range 4 { // 28 retries, of 20
					srv.Expect(readCall.op).Times(7).RespondError(http.StatusServiceUnavailable, "busy")
					respond(srv.Expect(readCall.op))
					_ = readCall.do(t.Context(), c)
				}
				assert.Len(t, srv.Requests(readCall.op), 4*8)
			})
		})
	}
}

func TestRetryBudget_Replayed401ReturnsItsRetry(t *testing.T) {
	for what, status := range map[string]int{"refused again": http.StatusUnauthorized, "accepted": http.StatusNotFound} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := clienttest.New(t, clienttest.InProcess())
				c := srv.Client(client.WithTokenSource(&countingSource{}))
				for range 21 {
					srv.Expect(readCall.op).RespondError(http.StatusUnauthorized, "expired")
					srv.Expect(readCall.op).RespondError(status, "no")
					err := readCall.do(t.Context(), c)
					assert.Equal(t, 2, infoOf(t, err).Attempts)
				}
			})
		})
	}
}

func TestRetryBudget_SameTokenTakesNoRetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := clienttest.New(t, clienttest.InProcess())
		c := srv.Client()
		srv.Expect(readCall.op).Times(21).RespondError(http.StatusUnauthorized, "expired")
		for range 21 {
			require.ErrorIs(t, readCall.do(t.Context(), c), client.ErrUnauthorized)
		}
		srv.Expect(readCall.op).RespondError(http.StatusServiceUnavailable, "busy")
		srv.Expect(readCall.op).RespondExample()
		require.NoError(t, readCall.do(t.Context(), c))
	})
}

func TestRetryBudget_CanceledPauseReturnsItsRetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := clienttest.New(t, clienttest.InProcess())
		c := srv.Client()
		for range 21 {
			srv.Expect(readCall.op).RespondError(http.StatusServiceUnavailable, "busy")
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(time.Millisecond, cancel) // so that little is refilled
			require.ErrorIs(t, readCall.do(ctx, c), context.Canceled, "the retry was not made")
		}
		srv.Expect(readCall.op).RespondError(http.StatusServiceUnavailable, "busy")
		srv.Expect(readCall.op).RespondExample()
		require.NoError(t, readCall.do(t.Context(), c))
	})
}

// TestRetryBudget_RefusedRetryReturnsItselfOnly has every call fail twice and be refused before its
// third attempt, which takes nothing from the budget. The second attempt was made and failed, so
// its retry is not returned.
func TestRetryBudget_RefusedRetryReturnsItselfOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := clienttest.New(t, clienttest.InProcess())
		asked := 0
		tokens := client.WithTokenSource(sourceFunc(func() (*oauth2.Token, error) {
			if asked++; asked%3 == 0 {
				return nil, errors.New("down")
			}
			return &oauth2.Token{AccessToken: clienttest.Token}, nil
		}))
		c := srv.Client(client.WithRetry(client.RetryPolicy{MinDelay: 1, MaxDelay: 1}), tokens)
		for i := range 19 { // The last call takes the 19th retry for good, and the 20th for a moment.
			srv.Expect(readCall.op).Times(2).RespondError(http.StatusServiceUnavailable, "busy")
			require.True(t, isA[*token.Error](readCall.do(t.Context(), c)),
				"there were two retries left after %d calls", i)
		}
		srv.Expect(readCall.op).Times(2).RespondError(http.StatusServiceUnavailable, "busy")
		err := readCall.do(t.Context(), c)
		require.ErrorIs(t, err, client.ErrServer)
		assert.False(t, isA[*token.Error](err), "one retry was left")
	})
}

func TestRetryBudget_UnmadeAttemptReturnsItsRetry(t *testing.T) {
	briskly := client.WithRetry(client.RetryPolicy{MinDelay: 1, MaxDelay: 1})
	for what, option := range map[string]client.Option{
		"no token":                           tokenOnceIn(2, errors.New("down")),
		"ctx ends in the wait for the quota": client.WithLimiter(&blockingLimiter{Limiter: quota.NewLimiter(quota.Quota{})}),
		"the quota refuses":                  client.WithLimiter(&refusingLimiter{Limiter: quota.NewLimiter(quota.Quota{})}),
	} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := clienttest.New(t, clienttest.InProcess())
				c := srv.Client(briskly, option)
				for i := range 100 {
					srv.Expect(readCall.op).RespondError(http.StatusServiceUnavailable, "busy")
					ctx, cancel := context.WithCancel(t.Context())
					time.AfterFunc(time.Millisecond, cancel) // so that little is refilled
					err := readCall.do(ctx, c)
					cancel()
					require.ErrorIs(t, err, client.ErrServer)
					refused := isA[*token.Error](err) || isA[*quota.Error](err) || errors.Is(err,
						context.Canceled)
					require.True(t, refused, "a retry was left after %d calls: %v", i, err)
				}
			})
		})
	}
}

// blockingLimiter is a limiter that blocks every second request until its context ends.
type blockingLimiter struct {
	quota.Limiter
	asked int
}

func (l *blockingLimiter) Acquire(ctx context.Context, _ int) (quota.Release, error) {
	if l.asked++; l.asked%2 == 0 {
		<-ctx.Done()
	}
	return func(quota.Outcome) {}, ctx.Err()
}

// refusingLimiter is a limiter that refuses every second request.
type refusingLimiter struct {
	quota.Limiter
	asked int
}

func (l *refusingLimiter) Acquire(context.Context, int) (quota.Release, error) {
	if l.asked++; l.asked%2 == 0 {
		return nil, &quota.Error{Limit: 1, Per: time.Hour, Unit: "requests", Wait: time.Hour}
	}
	return func(quota.Outcome) {}, nil
}
