package client_test

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/clienttest"
	"github.com/sellside-sdk/sellside-go/client/quota"
	"github.com/sellside-sdk/sellside-go/gen"
)

// refuse has a service answer so many requests 429, with a Retry-After if there is one.
func refuse(srv *clienttest.Server, n int, after string, arrivals *clock) {
	srv.Expect(aRead.op).Times(n).Check(arrivals.tick).RespondError(http.StatusTooManyRequests, "slow down").Header("Retry-After", after)
}

func serve(srv *clienttest.Server, n int, arrivals *clock) {
	srv.Expect(aRead.op).Times(n).Check(arrivals.tick).RespondExample()
}

func TestPausesAfterA429GrowAcrossCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var arrivals clock
		srv := clienttest.New(t, clienttest.InProcess())
		c := srv.Client(oneAttempt)
		refuse(srv, 8, "", &arrivals)
		for range 8 {
			require.ErrorIs(t, aRead.do(t.Context(), c), client.ErrRateLimited)
		}
		for i, ceiling := range []time.Duration{500 * time.Millisecond, time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 16 * time.Second, 30 * time.Second} {
			pause := arrivals.pauses()[i]
			assert.GreaterOrEqual(t, pause, ceiling/2, "the %dth", i+1)
			assert.LessOrEqual(t, pause, ceiling+ceiling/8, "the %dth", i+1)
		}
	})
}

func TestASuccessEndsTheGrowth(t *testing.T) {
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
			refuse(srv, script.refused, "", &arrivals)
			for range script.refused {
				require.ErrorIs(t, aRead.do(t.Context(), c), client.ErrRateLimited)
			}
			serve(srv, 1, &arrivals)
			require.NoError(t, aRead.do(t.Context(), c))
			pauses := arrivals.pauses()
			assert.LessOrEqual(t, pauses[len(pauses)-1], script.want, script.why)
			assert.GreaterOrEqual(t, pauses[len(pauses)-1], script.want/3, script.why)
		}
	})
}

func TestAnErrorIsNoSuccess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var arrivals clock
		srv := clienttest.New(t, clienttest.InProcess())
		c := srv.Client(oneAttempt)
		for range 4 {
			refuse(srv, 1, "", &arrivals)
			srv.Expect(aRead.op).RespondError(http.StatusServiceUnavailable, "busy")
			require.ErrorIs(t, aRead.do(t.Context(), c), client.ErrRateLimited)
			require.ErrorIs(t, aRead.do(t.Context(), c), client.ErrServer)
		}
		assert.GreaterOrEqual(t, arrivals.pauses()[2], time.Second, "the third pause, although there were other answers")
	})
}

func TestRetryAfterGoesBeforeTheGrowth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var arrivals clock
		srv := clienttest.New(t, clienttest.InProcess())
		c := srv.Client(oneAttempt)
		refuse(srv, 6, "2", &arrivals)
		for range 6 {
			require.ErrorIs(t, aRead.do(t.Context(), c), client.ErrRateLimited)
		}
		for _, pause := range arrivals.pauses() {
			assert.GreaterOrEqual(t, pause, 2*time.Second)
			assert.LessOrEqual(t, pause, 2250*time.Millisecond)
		}
	})
}

// together makes calls at the same moment and waits for all.
func together(t *testing.T, n int, do func(context.Context) error) {
	t.Helper()
	var calls sync.WaitGroup
	for range n {
		calls.Go(func() { assert.NoError(t, do(t.Context())) })
	}
	calls.Wait()
}

func TestThoseRefusedTogetherAreOneRefusal(t *testing.T) {
	for _, after := range []string{"", "20"} {
		t.Run("Retry-After: "+after, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var refused, served clock
				srv := clienttest.New(t, clienttest.InProcess())
				srv.Expect(aRead.op).Times(8).Check(refused.tick).RespondError(http.StatusTooManyRequests, "slow down").
					Header("Retry-After", after).Delay(time.Second) // so that all are under way when the first is refused
				serve(srv, 8, &served)
				c := srv.Client()
				start := time.Now()
				together(t, 8, func(ctx context.Context) error { return aRead.do(ctx, c) })

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
				assert.Greater(t, len(moments), 4, "they do not come back in lockstep")
			})
		})
	}
}

func TestAnAnswerFromBeforeDoesNotEndTheRow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var arrivals clock
		srv := clienttest.New(t, clienttest.InProcess())
		c := srv.Client(oneAttempt)
		srv.Expect(aWrite.op).RespondExample().Delay(100 * time.Millisecond) // under way when the gate closes
		slow := make(chan error)
		go func() { slow <- aWrite.do(t.Context(), c) }()
		synctest.Wait()
		refuse(srv, 3, "", &arrivals)
		for range 3 {
			require.ErrorIs(t, aRead.do(t.Context(), c), client.ErrRateLimited)
		}
		require.NoError(t, <-slow)
		assert.GreaterOrEqual(t, arrivals.pauses()[1], 500*time.Millisecond, "what was sent before says nothing about now")
	})
}

// waits collects what a client tells that it waited for.
type waits struct {
	mu  sync.Mutex
	all []client.Event
}

func (w *waits) observe(e client.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if e.Kind == client.EventWait {
		w.all = append(w.all, e)
	}
}

func TestTheObserverIsToldWhatACallWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var arrivals clock
		var w waits
		srv := clienttest.New(t, clienttest.InProcess())
		c := srv.Client(oneAttempt, client.WithQuota(quota.Quota{RequestsPerDay: 2}), client.WithObserver(w.observe))
		refuse(srv, 1, "40", &arrivals)
		serve(srv, 2, &arrivals)
		require.ErrorIs(t, aRead.do(t.Context(), c), client.ErrRateLimited)
		require.NoError(t, aRead.do(t.Context(), c))
		require.NoError(t, aRead.do(t.Context(), c))

		throttled, forQuota := w.all[0], w.all[1:]
		assert.Equal(t, client.ReasonThrottled, throttled.Reason)
		assert.GreaterOrEqual(t, throttled.Delay, 40*time.Second)
		assert.Empty(t, throttled.Window, "that is no window of the quota")
		var waited time.Duration
		for _, e := range forQuota {
			assert.Equal(t, []any{client.ReasonQuota, quota.RequestsPerDay, aRead.op}, []any{e.Reason, e.Window, e.Operation})
			waited += e.Delay
		}
		assert.Zero(t, forQuota[0].Delay, "the wait begins")
		assert.Equal(t, time.Minute, forQuota[1].Delay, "and is reported every minute")
		assert.Greater(t, waited, 23*time.Hour)
		assert.InDelta(t, waited.Minutes(), len(forQuota), 2)

		w.all = nil
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(20*time.Second, cancel)
		require.ErrorIs(t, aRead.do(ctx, c), context.Canceled)
		require.Len(t, w.all, 2)
		assert.Zero(t, w.all[0].Delay)
		assert.Equal(t, 20*time.Second, w.all[1].Delay, "a wait that was given up was a wait")
	})
}

func TestTheObserverIsToldWhichWindowWasFull(t *testing.T) {
	for want, q := range map[quota.Window]quota.Quota{
		quota.RequestsPerSecond: {RequestsPerSecond: 1, RequestsPerDay: 9, ItemsPerWindow: 9, ItemsPerDay: 9},
		quota.RequestsPerDay:    {RequestsPerSecond: 1, RequestsPerDay: 1, ItemsPerWindow: 9, ItemsPerDay: 9},
		quota.ItemsPerWindow:    {RequestsPerSecond: 1, RequestsPerDay: 9, ItemsPerWindow: 1, ItemsPerDay: 9},
		quota.ItemsPerDay:       {RequestsPerSecond: 1, RequestsPerDay: 9, ItemsPerWindow: 9, ItemsPerDay: 1},
	} {
		t.Run(string(want), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var w waits
				var lines bytes.Buffer
				srv := clienttest.New(t, clienttest.InProcess())
				srv.Expect(gen.OpDeleteListingsBatch).Times(2).RespondExample()
				c := srv.Client(client.WithQuota(q), client.WithObserver(w.observe),
					client.WithLogger(slog.New(slog.NewTextHandler(&lines, &slog.HandlerOptions{Level: slog.LevelDebug}))))
				for range 2 {
					require.NoError(t, failure(c.Batches.Delete(t.Context(), []string{listingID})))
				}
				require.GreaterOrEqual(t, len(w.all), 2)
				for _, e := range w.all {
					assert.Equal(t, []any{client.ReasonQuota, want}, []any{e.Reason, e.Window})
				}
				assert.Contains(t, lines.String(), `window="`+string(want)+`"`)
			})
		})
	}
}

func TestATraceOfTheCallsOwnHearsWhatTheQuotaHeldItBackFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w waits
		var told []quota.Window
		srv := clienttest.New(t, clienttest.InProcess())
		srv.Expect(aRead.op).Times(2).RespondExample()
		c := srv.Client(client.WithQuota(quota.Quota{RequestsPerDay: 1}), client.WithObserver(w.observe))
		ctx := quota.WithTrace(t.Context(), &quota.Trace{WaitStart: func(w quota.Window) { told = append(told, w) }})
		for range 2 {
			require.NoError(t, aRead.do(ctx, c))
		}
		assert.Equal(t, []quota.Window{quota.RequestsPerDay}, told)
		assert.Equal(t, quota.RequestsPerDay, w.all[0].Window, "and the observer as well")
	})
}

func TestTheQuotaHoldsWhenTheGateOpens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var arrivals clock
		srv := clienttest.New(t, clienttest.InProcess())
		c := srv.Client(client.WithQuota(quota.Quota{RequestsPerSecond: 1}))
		srv.Expect(aRead.op).Check(arrivals.tick).RespondError(http.StatusTooManyRequests, "slow down").
			Header("Retry-After", "30").Delay(500 * time.Millisecond) // so that the others wait for the quota when the gate closes
		serve(srv, 8, &arrivals)
		together(t, 8, func(ctx context.Context) error { return aRead.do(ctx, c) })
		pauses := arrivals.pauses()
		assert.GreaterOrEqual(t, pauses[0], 30*time.Second, "they do not go while it is closed")
		for _, pause := range pauses {
			assert.GreaterOrEqual(t, pause, time.Second)
		}
	})
}
