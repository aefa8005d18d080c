package client_test

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/clienttest"
	"github.com/sellside-sdk/sellside-go/client/quota"
)

// throttle has a client get one 429 with a Retry-After of ten seconds.
func throttle(t *testing.T, srv *clienttest.Server, c *client.Client) {
	t.Helper()
	srv.Expect(writeCall.op).RespondError(http.StatusTooManyRequests, "slow down").
		Header("Retry-After", "10")
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second) // so that this call does not wait
	defer cancel()
	require.ErrorIs(t, writeCall.do(ctx, c), client.ErrRateLimited)
}

func TestCooldown_HoldsForEveryGoroutine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := clienttest.New(t, clienttest.InProcess())
		var mu sync.Mutex
		waits := 0
		c := srv.Client(client.WithObserver(func(_ context.Context, e client.Event) {
			mu.Lock()
			defer mu.Unlock()
			if e.Kind == client.EventWait {
				waits++
			}
		}))
		start := time.Now()
		throttle(t, srv, c)

		var arrivals clock
		srv.Expect(readCall.op).Times(8).Check(arrivals.tick).RespondExample()
		var calls sync.WaitGroup
		for range 8 {
			calls.Go(func() { assert.NoError(t, readCall.do(t.Context(), c)) })
		}
		calls.Wait()
		together := true
		for _, at := range arrivals.at {
			assert.GreaterOrEqual(t, at.Sub(start), 10*time.Second, "not before Retry-After has passed")
			assert.LessOrEqual(t, at.Sub(start), 12*time.Second, "soon after")
			together = together && at.Equal(arrivals.at[0])
		}
		assert.False(t, together, "not all at once")
		assert.Equal(t, 8, waits, "each wait is reported")
	})
}

func TestCooldown_IsNotSharedByClients(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := clienttest.New(t, clienttest.InProcess())
		throttle(t, srv, srv.Client())
		srv.Expect(readCall.op).RespondExample()
		start := time.Now()
		require.NoError(t, readCall.do(t.Context(), srv.Client()))
		assert.Zero(t, time.Since(start))
	})
}

func TestCooldown_LastsAsLongAsRetryAfter(t *testing.T) {
	for _, tc := range []struct {
		asked, want time.Duration
		why         string
	}{
		{10 * time.Second, 10 * time.Second, "seconds"},
		{2 * time.Hour, 2 * time.Hour, "longer than a call waits"},
		{48 * time.Hour, 24 * time.Hour, "at most a day"},
	} {
		synctest.Test(t, func(t *testing.T) {
			srv := clienttest.New(t, clienttest.InProcess())
			c := srv.Client()
			srv.Expect(writeCall.op).RespondError(http.StatusTooManyRequests, "slow down").
				Header("Retry-After", strconv.Itoa(int(tc.asked.Seconds())))
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second) // so that this call does not wait
			defer cancel()
			require.ErrorIs(t, writeCall.do(ctx, c), client.ErrRateLimited)
			ends := time.Now().Add(tc.want)

			<-time.After(tc.want - 2*time.Second)
			short, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			throttled, ok := errors.AsType[*client.ThrottledError](readCall.do(short, c))
			require.True(t, ok, tc.why)
			assert.Equal(t, ends, throttled.Until, tc.why)

			srv.Expect(readCall.op).RespondExample()
			require.NoError(t, readCall.do(t.Context(), c),
				"the rest of the cooldown is short enough to wait for: %s", tc.why)
			assert.False(t, time.Now().Before(ends), tc.why)
		})
	}
}

func TestCooldown_LongerThanMaxRetryAfterFailsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := clienttest.New(t, clienttest.InProcess())
		c := srv.Client(client.WithRetry(client.RetryPolicy{MaxRetryAfter: 8 * time.Second}))
		start := time.Now()
		throttle(t, srv, c)
		throttled, ok := errors.AsType[*client.ThrottledError](readCall.do(t.Context(), c))
		require.True(t, ok)
		assert.Equal(t, start.Add(10*time.Second), throttled.Until)
		assert.Zero(t, time.Since(start), "the call does not wait, although it has no deadline")
	})
}

func TestCooldown_WaitEndsWithContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := clienttest.New(t, clienttest.InProcess())
		c := srv.Client()
		throttle(t, srv, c)
		for _, call := range []testCall{readCall, writeCall} {
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(500*time.Millisecond, cancel)
			err := call.do(ctx, c)
			require.ErrorIs(t, err, context.Canceled)
			require.True(t, isA[*client.TransportError](err), "%T", err)
			assert.NotErrorIs(t, err, client.ErrOutcomeUnknown, "nothing was sent")
			assert.Zero(t, infoOf(t, err).Attempts)
		}
	})
}

// expect429s expects n requests, and responds with 429 and a Retry-After, unless that is empty.
func expect429s(srv *clienttest.Server, n int, after string, arrivals *clock) {
	srv.Expect(readCall.op).Times(n).Check(arrivals.tick).
		RespondError(http.StatusTooManyRequests, "slow down").Header("Retry-After", after)
}

// expectExamples expects n requests, and responds with the example.
func expectExamples(srv *clienttest.Server, n int, arrivals *clock) {
	srv.Expect(readCall.op).Times(n).Check(arrivals.tick).RespondExample()
}

func TestCooldown_GrowsWithEvery429(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var arrivals clock
		srv := clienttest.New(t, clienttest.InProcess())
		c := srv.Client(oneAttempt)
		expect429s(srv, 8, "", &arrivals)
		for range 8 {
			require.ErrorIs(t, readCall.do(t.Context(), c), client.ErrRateLimited)
		}
		for i, ceiling := range []time.Duration{500 * time.Millisecond, time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 16 * time.Second, 30 * time.Second} {
			pause := arrivals.pauses()[i]
			assert.GreaterOrEqual(t, pause, ceiling/2, "the %dth", i+1)
			assert.LessOrEqual(t, pause, ceiling+ceiling/8, "the %dth", i+1)
		}
	})
}

func TestCooldown_SuccessEndsGrowth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var arrivals clock
		srv := clienttest.New(t, clienttest.InProcess())
		c := srv.Client(oneAttempt)
		for _, script := range []struct {
			refused int
			want    time.Duration // the pause after the last 429, at most
			why     string
		}{
			{5, 9 * time.Second, "the fifth in a row: 8 seconds and jitter"},
			{1, 563 * time.Millisecond, "the first in a row again"},
		} {
			expect429s(srv, script.refused, "", &arrivals)
			for range script.refused {
				require.ErrorIs(t, readCall.do(t.Context(), c), client.ErrRateLimited)
			}
			expectExamples(srv, 1, &arrivals)
			require.NoError(t, readCall.do(t.Context(), c))
			pauses := arrivals.pauses()
			assert.LessOrEqual(t, pauses[len(pauses)-1], script.want, script.why)
			assert.GreaterOrEqual(t, pauses[len(pauses)-1], script.want/3, script.why)
		}
	})
}

func TestCooldown_ErrorDoesNotEndGrowth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var arrivals clock
		srv := clienttest.New(t, clienttest.InProcess())
		c := srv.Client(oneAttempt)
		for range 4 {
			expect429s(srv, 1, "", &arrivals)
			srv.Expect(readCall.op).RespondError(http.StatusServiceUnavailable, "busy")
			require.ErrorIs(t, readCall.do(t.Context(), c), client.ErrRateLimited)
			require.ErrorIs(t, readCall.do(t.Context(), c), client.ErrServer)
		}
		assert.GreaterOrEqual(t, arrivals.pauses()[2], time.Second,
			"the third pause, despite other responses")
	})
}

func TestCooldown_RetryAfterReplacesGrowth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var arrivals clock
		srv := clienttest.New(t, clienttest.InProcess())
		c := srv.Client(oneAttempt)
		expect429s(srv, 6, "2", &arrivals)
		for range 6 {
			require.ErrorIs(t, readCall.do(t.Context(), c), client.ErrRateLimited)
		}
		for _, pause := range arrivals.pauses() {
			assert.GreaterOrEqual(t, pause, 2*time.Second)
			assert.LessOrEqual(t, pause, 2250*time.Millisecond)
		}
	})
}

// together makes n calls at once and waits for all.
func together(t *testing.T, n int, do func(context.Context) error) {
	t.Helper()
	var calls sync.WaitGroup
	for range n {
		calls.Go(func() { assert.NoError(t, do(t.Context())) })
	}
	calls.Wait()
}

func TestCooldown_429sAtOnceCountAsOne(t *testing.T) {
	for _, after := range []string{"", "20"} {
		t.Run("Retry-After: "+after, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var refused, served clock
				srv := clienttest.New(t, clienttest.InProcess())
				srv.Expect(readCall.op).Times(8).Check(refused.tick).RespondError(http.StatusTooManyRequests, "slow down").
					Header("Retry-After", after).Delay(time.Second) // so that all are in flight when the first one is refused
				expectExamples(srv, 8, &served)
				c := srv.Client()
				start := time.Now()
				together(t, 8, func(ctx context.Context) error { return readCall.do(ctx, c) })

				least, most := 250*time.Millisecond, 563*time.Millisecond // as after one 429, not after eight
				if after != "" {
					least, most = 20*time.Second, 22500*time.Millisecond
				}
				moments := map[time.Time]bool{}
				for _, at := range served.at {
					assert.GreaterOrEqual(t, at.Sub(start), time.Second+least)
					assert.LessOrEqual(t, at.Sub(start), time.Second+most)
					moments[at] = true
				}
				assert.Greater(t, len(moments), 4, "not all at once")
			})
		})
	}
}

func TestCooldown_EarlierRequestDoesNotEndGrowth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var arrivals clock
		srv := clienttest.New(t, clienttest.InProcess())
		c := srv.Client(oneAttempt)
		srv.Expect(writeCall.op).RespondExample().Delay(100 * time.Millisecond) // in flight when the cooldown begins
		slow := make(chan error)
		go func() { slow <- writeCall.do(t.Context(), c) }()
		synctest.Wait()
		expect429s(srv, 3, "", &arrivals)
		for range 3 {
			require.ErrorIs(t, readCall.do(t.Context(), c), client.ErrRateLimited)
		}
		require.NoError(t, <-slow)
		assert.GreaterOrEqual(t, arrivals.pauses()[1], 500*time.Millisecond,
			"the response is to a request from before the cooldown")
	})
}

func TestCooldown_QuotaAppliesWhenItEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var arrivals clock
		srv := clienttest.New(t, clienttest.InProcess())
		c := srv.Client(client.WithQuota(quota.Quota{RequestsPerSecond: 1}))
		srv.Expect(readCall.op).Check(arrivals.tick).RespondError(http.StatusTooManyRequests, "slow down").
			Header("Retry-After", "30").Delay(500 * time.Millisecond) // so that the others wait for the quota when the cooldown begins
		expectExamples(srv, 8, &arrivals)
		together(t, 8, func(ctx context.Context) error { return readCall.do(ctx, c) })
		pauses := arrivals.pauses()
		assert.GreaterOrEqual(t, pauses[0], 30*time.Second, "no request is sent in the cooldown")
		for _, pause := range pauses {
			assert.GreaterOrEqual(t, pause, time.Second)
		}
	})
}

// throttleForAMinute has a client get a 429 with a Retry-After of a minute. No other call notices
// it.
func throttleForAMinute(t *testing.T, srv *clienttest.Server, c *client.Client) (until time.Time) {
	t.Helper()
	srv.Expect(writeCall.op).RespondError(http.StatusTooManyRequests, "slow down").
		Header("Retry-After", "60")
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second) // so that this call does not wait
	defer cancel()
	require.ErrorIs(t, writeCall.do(ctx, c), client.ErrRateLimited)
	return time.Now().Add(time.Minute)
}

func TestCooldown_RefusedRetryKeepsLastError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := clienttest.New(t, clienttest.InProcess())
		c := srv.Client(client.WithRetry(client.RetryPolicy{MinDelay: 2 * time.Second, MaxDelay: 2 * time.Second}))
		srv.Expect(readCall.op).RespondError(http.StatusServiceUnavailable, "busy")
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		start, failed := time.Now(), make(chan error)
		go func() { failed <- readCall.do(ctx, c) }()
		synctest.Wait() // until the pause after the 503
		until := throttleForAMinute(t, srv, c)

		err := <-failed
		require.ErrorIs(t, err, client.ErrServer)
		var refused *client.ThrottledError
		require.ErrorAs(t, err, &refused)
		assert.Equal(t, until, refused.Until)
		require.NotErrorIs(t, err, client.ErrRateLimited, "the 429 was the response to another call")
		assert.Equal(t, 1, infoOf(t, err).Attempts)
		assert.LessOrEqual(t, time.Since(start), 2*time.Second, "the call does not wait for its deadline")
	})
}

func TestCooldown_LongerThanDeadlineFailsAtOnce(t *testing.T) {
	for _, call := range []testCall{readCall, writeCall} {
		synctest.Test(t, func(t *testing.T) {
			srv := clienttest.New(t, clienttest.InProcess())
			var last client.Event
			c := srv.Client(client.WithObserver(func(_ context.Context, e client.Event) { last = e }))
			until, start := throttleForAMinute(t, srv, c), time.Now()
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			defer cancel()

			err := call.do(ctx, c)

			var refused *client.ThrottledError
			require.ErrorAs(t, err, &refused)
			assert.Equal(t, until, refused.Until)
			assert.Zero(t, time.Since(start))
			require.NotErrorIs(t, err, client.ErrRateLimited, "there was no response")
			require.NotErrorIs(t, err, client.ErrOutcomeUnknown, "nothing was sent")
			assert.Equal(t, []any{client.EventDone, err}, []any{last.Kind, last.Err},
				"the error is reported")
		})
	}
}

func TestCooldown_WaitsLastLongerThanIt(t *testing.T) {
	for _, target := range waitTargets() {
		t.Run(target.kind, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				service := &pollService{start: time.Now(), respond: func(poll int) canned {
					if poll == 1 {
						return canned{status: 429, header: http.Header{"Retry-After": {"120"}}}
					}
					return canned{status: 200, body: target.done}
				}}
				c := service.client(t)
				require.ErrorIs(t, readCall.do(t.Context(), c), client.ErrRateLimited)

				short, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				start := time.Now()
				require.ErrorAs(t, target.wait(short, c), new(*client.ThrottledError))
				assert.Zero(t, time.Since(start), "no poll is possible before the deadline")

				require.NoError(t, target.wait(t.Context(), c))
				assert.GreaterOrEqual(t, time.Since(start), 2*time.Minute)
			})
		})
	}
}
