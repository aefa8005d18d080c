package client_test

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/clienttest"
)

func TestRetryPauses_GrowWithJitter(t *testing.T) {
	for name, tc := range map[string]struct {
		policy   client.RetryPolicy
		ceilings []time.Duration
	}{
		"by default":         {client.RetryPolicy{}, []time.Duration{500 * time.Millisecond, time.Second, 2 * time.Second}},
		"up to the longest":  {client.RetryPolicy{MinDelay: time.Second, MaxDelay: 3 * time.Second}, []time.Duration{time.Second, 2 * time.Second, 3 * time.Second}},
		"two attempts":       {client.RetryPolicy{MaxAttempts: 2}, []time.Duration{500 * time.Millisecond}},
		"beyond Retry-After": {client.RetryPolicy{MinDelay: 10 * time.Second, MaxRetryAfter: time.Second}, []time.Duration{10 * time.Second, 20 * time.Second, 30 * time.Second}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				firsts := map[time.Duration]bool{}
				for range 10 {
					var arrivals clock
					srv := clienttest.New(t, clienttest.InProcess())
					srv.Expect(readCall.op).Times(len(tc.ceilings)+1).Check(arrivals.tick).
						RespondError(http.StatusServiceUnavailable, "busy")
					require.ErrorIs(t,
						readCall.do(t.Context(), srv.Client(client.WithRetry(tc.policy))),
						client.ErrServer)

					pauses := arrivals.pauses()
					require.Len(t, pauses, len(tc.ceilings))
					for i, ceiling := range tc.ceilings {
						assert.LessOrEqual(t, pauses[i], ceiling)
						assert.GreaterOrEqual(t, pauses[i], ceiling/2)
					}
					firsts[pauses[0]] = true
				}
				assert.Greater(t, len(firsts), 1, "pauses have jitter")
			})
		})
	}
}

func TestRetryAfter_IsObeyed(t *testing.T) {
	for _, tc := range []struct {
		call   testCall
		status int
		value  string
		want   time.Duration
		why    string
	}{
		{readCall, 503, "7", 7 * time.Second, "seconds"},
		{readCall, 503, "Sat, 01 Jan 2000 00:00:45 GMT", 45 * time.Second, "a date"},
		{readCall, 429, "7", 7 * time.Second, "a refused read"},
		{writeCall, 429, "60", time.Minute, "a refused write, as long as the policy allows"},
	} {
		synctest.Test(t, func(t *testing.T) {
			var arrivals clock
			srv := clienttest.New(t, clienttest.InProcess())
			srv.Expect(tc.call.op).Check(arrivals.tick).RespondError(tc.status, "later").
				Header("Retry-After", tc.value)
			srv.Expect(tc.call.op).Check(arrivals.tick).RespondExample()
			require.NoError(t, tc.call.do(t.Context(), srv.Client()))
			assert.Equal(t, []time.Duration{tc.want}, arrivals.pauses(), tc.why)
		})
	}
}

func TestRetryAfter_TooLongIsReturnedAtOnce(t *testing.T) {
	for _, tc := range []struct {
		value  string
		policy client.RetryPolicy
		ctx    time.Duration // Until its deadline; none if zero.
		want   time.Duration
		why    string
	}{
		{"61", client.RetryPolicy{}, 0, 61 * time.Second, "beyond the policy's bound"},
		{"20", client.RetryPolicy{MaxRetryAfter: 10 * time.Second}, 0, 20 * time.Second, "beyond a bound below MaxDelay"},
		{"Sat, 01 Jan 2000 01:00:00 GMT", client.RetryPolicy{}, 0, time.Hour, "a date"},
		{"10", client.RetryPolicy{}, 5 * time.Second, 10 * time.Second, "after the deadline"},
		{"10", client.RetryPolicy{}, 10 * time.Second, 10 * time.Second, "at the deadline"},
	} {
		for _, call := range []testCall{readCall, writeCall} {
			synctest.Test(t, func(t *testing.T) {
				srv := clienttest.New(t, clienttest.InProcess())
				srv.Expect(call.op).RespondError(http.StatusTooManyRequests, "slow down").
					Header("Retry-After", tc.value)
				ctx, cancel := context.WithTimeout(t.Context(), cmp.Or(tc.ctx, 24*time.Hour))
				defer cancel()
				start := time.Now()
				err := call.do(ctx, srv.Client(client.WithRetry(tc.policy)))

				assert.Zero(t, time.Since(start), tc.why)
				require.ErrorIs(t, err, client.ErrRateLimited, tc.why)
				assert.NotErrorIs(t, err, client.ErrOutcomeUnknown, "the request was refused")
				failed, ok := errors.AsType[*client.APIError](err)
				require.True(t, ok)
				assert.Equal(t, tc.want, failed.RetryAfter, tc.why)
			})
		}
	}
}

func TestRetryAfter_InvalidIsIgnored(t *testing.T) {
	for _, value := range []string{"0", "soon"} {
		synctest.Test(t, func(t *testing.T) {
			var arrivals clock
			srv := clienttest.New(t, clienttest.InProcess())
			srv.Expect(readCall.op).Check(arrivals.tick).
				RespondError(http.StatusServiceUnavailable, "busy").Header("Retry-After", value)
			srv.Expect(readCall.op).Check(arrivals.tick).RespondExample()
			require.NoError(t, readCall.do(t.Context(), srv.Client()))
			assert.GreaterOrEqual(t, arrivals.pauses()[0], 250*time.Millisecond,
				"%q: the pause of the policy", value)
			assert.LessOrEqual(t, arrivals.pauses()[0], 500*time.Millisecond,
				"%q: the pause of the policy", value)
		})
	}
}

func TestRetryPauses_EndBeforeDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := clienttest.New(t, clienttest.InProcess())
		srv.Expect(readCall.op).RespondError(http.StatusServiceUnavailable, "busy")
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer cancel()
		start := time.Now()
		err := readCall.do(ctx, srv.Client())
		require.ErrorIs(t, err, client.ErrServer, "the last response is the error")
		assert.Zero(t, time.Since(start))
	})
}

func TestRetry_429IsSentThreeTimesAtMost(t *testing.T) {
	for _, tc := range []struct {
		attempts, want int
		header         string
		why            string
	}{
		{0, 3, "", "by default"},
		{10, 3, "", "the policy allows more"},
		{10, 3, "1", "with Retry-After"},
		{2, 2, "", "the policy allows fewer"},
		{1, 1, "", "retries are off"},
	} {
		for _, call := range []testCall{readCall, writeCall} {
			t.Run(string(call.op)+strconv.Itoa(tc.attempts), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					srv := clienttest.New(t, clienttest.InProcess())
					srv.Expect(call.op).Times(tc.want).
						RespondError(http.StatusTooManyRequests, "slow down").Header("Retry-After", tc.header)
					err := call.do(t.Context(),
						srv.Client(client.WithRetry(client.RetryPolicy{MaxAttempts: tc.attempts})))
					require.ErrorIs(t, err, client.ErrRateLimited, tc.why)
					assert.NotErrorIs(t, err, client.ErrOutcomeUnknown, "each request was refused")
					assert.Equal(t, tc.want, infoOf(t, err).Attempts)
				})
			})
		}
	}
}

func TestRetry_CountsOnly429sAsThrottled(t *testing.T) {
	for what, before := range map[string][]int{"after other failures": {503, 502, 408, 503}, "between them": {503, 429, 502, 429, 500}} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := clienttest.New(t, clienttest.InProcess())
				c := srv.Client(client.WithRetry(client.RetryPolicy{MaxAttempts: 20}))
				throttled := 0
				for _, status := range before {
					srv.Expect(readCall.op).RespondError(status, "no")
					if status == http.StatusTooManyRequests {
						throttled++
					}
				}
				srv.Expect(readCall.op).Times(3-throttled).
					RespondError(http.StatusTooManyRequests, "slow down")
				err := readCall.do(t.Context(), c)
				require.ErrorIs(t, err, client.ErrRateLimited)
				assert.Equal(t, len(before)+3-throttled, infoOf(t, err).Attempts,
					"three 429s, besides other failures")
			})
		})
	}
}
