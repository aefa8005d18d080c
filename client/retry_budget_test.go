package client_test

import (
	"bytes"
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

func TestRetriesOfAClientHaveABudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := clienttest.New(t, clienttest.InProcess())
		// Pauses of nothing, so that nothing is refilled meanwhile.
		c := srv.Client(client.WithRetry(client.RetryPolicy{MaxAttempts: 100, MinDelay: 1, MaxDelay: 1}))
		busy := func(requests int, why string) {
			srv.Expect(aRead.op).Times(requests).RespondError(http.StatusServiceUnavailable, "busy")
			err := aRead.do(t.Context(), c)
			require.ErrorIs(t, err, client.ErrServer, "the last answer is returned: %s", why)
			assert.Equal(t, requests, infoOf(t, err).Attempts, why)
		}
		busy(21, "20 retries in a burst")
		busy(1, "they are spent, and a call is still sent once")
		<-time.After(5 * time.Second)
		busy(6, "one retry comes back each second")

		other := srv.Client(client.WithRetry(client.RetryPolicy{MaxAttempts: 3, MinDelay: 1, MaxDelay: 1}))
		srv.Expect(aRead.op).Times(3).RespondError(http.StatusServiceUnavailable, "busy")
		require.ErrorIs(t, aRead.do(t.Context(), other), client.ErrServer, "the budget is the client's own")
	})
}

func TestFirstAttemptsSpendNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := clienttest.New(t, clienttest.InProcess())
		c := srv.Client()
		srv.Expect(aRead.op).Times(100).RespondExample()
		for range 100 {
			require.NoError(t, aRead.do(t.Context(), c))
		}
		srv.Expect(aRead.op).RespondError(http.StatusServiceUnavailable, "busy")
		srv.Expect(aRead.op).RespondExample()
		require.NoError(t, aRead.do(t.Context(), c), "calls that succeed at once leave the budget alone")
	})
}

func TestOneAttemptTurnsRetriesOff(t *testing.T) {
	for _, call := range []aCall{aRead, aWrite} {
		for _, status := range []int{http.StatusUnauthorized, http.StatusRequestTimeout, http.StatusTooManyRequests, http.StatusServiceUnavailable} {
			srv := clienttest.New(t, clienttest.InProcess())
			srv.Expect(call.op).RespondError(status, "no")
			err := call.do(t.Context(), srv.Client(oneAttempt, client.WithTokenSource(&turnstile{})))
			assert.Equal(t, 1, infoOf(t, err).Attempts, "%s %d", call.op, status)
		}
	}
}

func TestCallsThatAreAnsweredAfterAllGiveTheirRetriesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := clienttest.New(t, clienttest.InProcess())
		c := srv.Client(client.WithRetry(client.RetryPolicy{MinDelay: 1, MaxDelay: 1}))
		for range 100 {
			srv.Expect(aRead.op).Times(2).RespondError(http.StatusServiceUnavailable, "busy")
			srv.Expect(aRead.op).RespondExample()
			require.NoError(t, aRead.do(t.Context(), c), "scattered faults never use the budget up")
		}
	})
}

func TestWhateverIsAnAnswerGivesTheRetriesBack(t *testing.T) {
	type script = func(*clienttest.Expectation)
	status := func(status int) script {
		return func(e *clienttest.Expectation) {
			e.Raw(status, nil, []byte(`{"message":"no"}`), "the answer after the 503")
		}
	}
	for what, answer := range map[string]script{
		"404": status(404),
		"501": status(501),
		"a redirect": func(e *clienttest.Expectation) {
			e.Raw(302, http.Header{"Location": {"https://elsewhere.invalid/"}}, nil, "elsewhere")
		},
		"a refused id": status(400),
		"a 401":        status(401),
		"too large": func(e *clienttest.Expectation) {
			e.Raw(200, nil, bytes.Repeat([]byte(" "), 16<<20+1), "one byte too many")
		},
	} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := clienttest.New(t, clienttest.InProcess())
				c := srv.Client(client.WithRetry(client.RetryPolicy{MinDelay: 1, MaxDelay: 1, MaxAttempts: 8}))
				for range 4 { // which would be 28 retries of 20
					srv.Expect(aRead.op).Times(7).RespondError(http.StatusServiceUnavailable, "busy")
					answer(srv.Expect(aRead.op))
					err := aRead.do(t.Context(), c)
					assert.Equal(t, 8, infoOf(t, err).Attempts)
				}
			})
		})
	}
}

func TestAReplayedTokenGivesItsRetryBack(t *testing.T) {
	for what, status := range map[string]int{"and is refused too": http.StatusUnauthorized, "and is answered": http.StatusNotFound} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := clienttest.New(t, clienttest.InProcess())
				c := srv.Client(client.WithTokenSource(&turnstile{}))
				for range 21 {
					srv.Expect(aRead.op).RespondError(http.StatusUnauthorized, "expired")
					srv.Expect(aRead.op).RespondError(status, "no")
					err := aRead.do(t.Context(), c)
					assert.Equal(t, 2, infoOf(t, err).Attempts)
				}
			})
		})
	}
}

func TestATokenThatStaysTakesNoRetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := clienttest.New(t, clienttest.InProcess())
		c := srv.Client()
		srv.Expect(aRead.op).Times(21).RespondError(http.StatusUnauthorized, "expired")
		for range 21 {
			require.ErrorIs(t, aRead.do(t.Context(), c), client.ErrUnauthorized)
		}
		srv.Expect(aRead.op).RespondError(http.StatusServiceUnavailable, "busy")
		srv.Expect(aRead.op).RespondExample()
		require.NoError(t, aRead.do(t.Context(), c))
	})
}

func TestAPauseThatIsGivenUpGivesItsRetryBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := clienttest.New(t, clienttest.InProcess())
		c := srv.Client()
		for range 21 {
			srv.Expect(aRead.op).RespondError(http.StatusServiceUnavailable, "busy")
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(time.Millisecond, cancel) // so that a second brings back but a few
			require.ErrorIs(t, aRead.do(ctx, c), context.Canceled, "no request was made, and none is missing")
		}
		srv.Expect(aRead.op).RespondError(http.StatusServiceUnavailable, "busy")
		srv.Expect(aRead.op).RespondExample()
		require.NoError(t, aRead.do(t.Context(), c))
	})
}
