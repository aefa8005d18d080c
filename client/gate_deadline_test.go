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

// closeFor has a client answered 429 with a Retry-After of a minute, by which nobody else was called.
func closeFor(t *testing.T, srv *clienttest.Server, c *client.Client) (until time.Time) {
	t.Helper()
	srv.Expect(aWrite.op).RespondError(http.StatusTooManyRequests, "slow down").Header("Retry-After", "60")
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second) // so that it does not wait itself
	defer cancel()
	require.ErrorIs(t, aWrite.do(ctx, c), client.ErrRateLimited)
	return time.Now().Add(time.Minute)
}

func TestARepeatedCallThatTheGateRefusesKeepsTheAnswerBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := clienttest.New(t, clienttest.InProcess())
		c := srv.Client(client.WithRetry(client.RetryPolicy{MinDelay: 2 * time.Second, MaxDelay: 2 * time.Second}))
		srv.Expect(aRead.op).RespondError(http.StatusServiceUnavailable, "busy")
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		start, failed := time.Now(), make(chan error)
		go func() { failed <- aRead.do(ctx, c) }()
		synctest.Wait() // it was answered 503, and pauses
		until := closeFor(t, srv, c)

		err := <-failed
		require.ErrorIs(t, err, client.ErrServer)
		var refused *client.ThrottledError
		require.ErrorAs(t, err, &refused)
		assert.Equal(t, until, refused.Until)
		assert.NotContains(t, err.Error(), "no answer")
		require.NotErrorIs(t, err, client.ErrRateLimited, "it was not this call that was answered 429")
		assert.Equal(t, 1, infoOf(t, err).Attempts)
		assert.LessOrEqual(t, time.Since(start), 2*time.Second, "it does not wait for its deadline")
	})
}

func TestAFirstAttemptThatTheGateWouldHoldTooLongIsRefusedAtOnce(t *testing.T) {
	for _, call := range []aCall{aRead, aWrite} {
		synctest.Test(t, func(t *testing.T) {
			srv := clienttest.New(t, clienttest.InProcess())
			var last client.Event
			c := srv.Client(client.WithObserver(func(e client.Event) { last = e }))
			until, start := closeFor(t, srv, c), time.Now()
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			defer cancel()

			err := call.do(ctx, c)

			var refused *client.ThrottledError
			require.ErrorAs(t, err, &refused)
			assert.Equal(t, until, refused.Until)
			assert.Zero(t, time.Since(start))
			assert.NotContains(t, err.Error(), "no answer")
			require.NotErrorIs(t, err, client.ErrRateLimited, "nothing was answered")
			require.NotErrorIs(t, err, client.ErrOutcomeUnknown, "nothing was sent")
			assert.Equal(t, []any{client.EventDone, err}, []any{last.Kind, last.Err}, "the observer is told")
		})
	}
}

func TestACallWithTimeEnoughWaitsForTheGate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := clienttest.New(t, clienttest.InProcess())
		c := srv.Client()
		closeFor(t, srv, c)
		srv.Expect(aRead.op).RespondExample()
		ctx, cancel := context.WithTimeout(t.Context(), 61*time.Second)
		defer cancel()
		require.NoError(t, aRead.do(ctx, c), "the jitter does not use up what time is left")
	})
}
