package client_test

import (
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
			srv.Expect(aRead.op).Times(requests).AnswerError(http.StatusServiceUnavailable, "busy")
			err := aRead.do(t.Context(), c)
			require.ErrorIs(t, err, client.ErrServer, "the last answer is returned: %s", why)
			assert.Equal(t, requests, infoOf(t, err).Attempts, why)
		}
		busy(21, "20 retries in a burst")
		busy(1, "they are spent, and a call is still sent once")
		<-time.After(5 * time.Second)
		busy(6, "one retry comes back each second")

		other := srv.Client(client.WithRetry(client.RetryPolicy{MaxAttempts: 3, MinDelay: 1, MaxDelay: 1}))
		srv.Expect(aRead.op).Times(3).AnswerError(http.StatusServiceUnavailable, "busy")
		require.ErrorIs(t, aRead.do(t.Context(), other), client.ErrServer, "the budget is the client's own")
	})
}

func TestFirstAttemptsSpendNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := clienttest.New(t, clienttest.InProcess())
		c := srv.Client()
		srv.Expect(aRead.op).Times(100).AnswerExample()
		for range 100 {
			require.NoError(t, aRead.do(t.Context(), c))
		}
		srv.Expect(aRead.op).AnswerError(http.StatusServiceUnavailable, "busy")
		srv.Expect(aRead.op).AnswerExample()
		require.NoError(t, aRead.do(t.Context(), c), "calls that succeed at once leave the budget alone")
	})
}

func TestOneAttemptTurnsRetriesOff(t *testing.T) {
	for _, call := range []aCall{aRead, aWrite} {
		for _, status := range []int{http.StatusUnauthorized, http.StatusRequestTimeout, http.StatusTooManyRequests, http.StatusServiceUnavailable} {
			srv := clienttest.New(t, clienttest.InProcess())
			srv.Expect(call.op).AnswerError(status, "no")
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
			srv.Expect(aRead.op).Times(2).AnswerError(http.StatusServiceUnavailable, "busy")
			srv.Expect(aRead.op).AnswerExample()
			require.NoError(t, aRead.do(t.Context(), c), "scattered faults never use the budget up")
		}
	})
}
