package client_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
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

func TestObserver_ReportsCallToItsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := clienttest.New(t, clienttest.InProcess())
		srv.Expect(readCall.op).RespondError(http.StatusServiceUnavailable, "busy").
			Header("Retry-After", "2").Delay(time.Second)
		srv.Expect(readCall.op).Disconnect(clienttest.BeforeHeaders, "the network fails")
		srv.Expect(readCall.op).Raw(http.StatusOK, nil, []byte(`{"listingId":"`+listingID+`","payout":"none"}`), "a payout of another kind")
		var events []client.Event
		var lines bytes.Buffer
		c := srv.Client(client.WithObserver(func(_ context.Context, e client.Event) { events = append(events, e) }),
			client.WithLogger(slog.New(slog.NewJSONHandler(&lines, &slog.HandlerOptions{Level: slog.LevelDebug}))))
		start := time.Now()
		require.NoError(t, readCall.do(t.Context(), c))
		took := time.Since(start)

		require.Len(t, events, 4)
		busy, broken, done, warning := events[0], events[1], events[2], events[3]
		want := client.Event{Kind: client.EventRetry, Operation: readCall.op, Method: "GET", Route: "/selling/listings/{listingId}", Attempt: 1, StatusCode: 503, Delay: 2 * time.Second}
		assert.Equal(t, want, busy)
		assert.Equal(t, []any{client.EventRetry, 2, 0},
			[]any{broken.Kind, broken.Attempt, broken.StatusCode})
		assert.True(t, isA[*client.TransportError](broken.Err))
		assert.Equal(t,
			client.Event{Kind: client.EventDone, Operation: readCall.op, Method: "GET", Route: want.Route, Attempt: 3, StatusCode: 200, Duration: took},
			done)
		assert.Equal(t, []any{client.EventDecodeWarning, 3}, []any{warning.Kind, warning.Attempt})
		assert.Error(t, warning.Err)

		var levels []string
		for line := range strings.Lines(lines.String()) {
			var entry struct{ Level, Event, Operation, Route string }
			require.NoError(t, json.Unmarshal([]byte(line), &entry))
			levels = append(levels, entry.Level+" "+entry.Event)
			assert.Equal(t, "GetListing", entry.Operation)
			assert.Equal(t, "GET /selling/listings/{listingId}", entry.Route)
			assert.NotContains(t, line, "98e2e748-8000", "ids are left out")
		}
		assert.Equal(t,
			[]string{"WARN retry", "WARN retry", "DEBUG done", "WARN " + string(client.EventDecodeWarning)},
			levels)
	})
}

func TestObserver_ReportsFailedCallOnce(t *testing.T) {
	for status, why := range map[int]string{http.StatusNotFound: "a response is no error of the event", http.StatusServiceUnavailable: "nor is the last response"} {
		srv := clienttest.New(t, clienttest.InProcess())
		srv.Expect(readCall.op).RespondError(status, "no")
		var events []client.Event
		require.Error(t,
			readCall.do(t.Context(), srv.Client(oneAttempt, client.WithObserver(func(_ context.Context, e client.Event) { events = append(events, e) }))))
		require.Len(t, events, 1)
		assert.Equal(t, client.EventDone, events[0].Kind)
		assert.Equal(t, status, events[0].StatusCode)
		assert.NoError(t, events[0].Err, why)
	}
}

func TestObserver_LogsNoZeroValues(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := clienttest.New(t, clienttest.InProcess())
		srv.Expect(readCall.op).RespondError(http.StatusServiceUnavailable, "busy").
			Header("Retry-After", "2")
		srv.Expect(readCall.op).RespondExample().Delay(time.Second)
		var lines bytes.Buffer
		c := srv.Client(client.WithQuota(quota.Quota{RequestsPerSecond: 1}),
			client.WithLogger(slog.New(slog.NewJSONHandler(&lines, &slog.HandlerOptions{Level: slog.LevelDebug}))))
		require.NoError(t, readCall.do(t.Context(), c))
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		require.Error(t, readCall.do(ctx, c))

		var got []string
		for line := range strings.Lines(lines.String()) {
			var attrs map[string]any
			require.NoError(t, json.Unmarshal([]byte(line), &attrs))
			for _, always := range []string{"time", "level", "msg", "operation", "route"} {
				assert.Contains(t, attrs, always)
				delete(attrs, always)
			}
			event := attrs["event"]
			delete(attrs, "event")
			got = append(got,
				fmt.Sprintf("%s: %s", event, strings.Join(slices.Sorted(maps.Keys(attrs)), " ")))
		}
		assert.Equal(t,
			[]string{"retry: attempt delay status", "done: attempt duration status", "done: error"},
			got)
	})
}

// waitEvents collects the EventWaits of a client.
type waitEvents struct {
	mu  sync.Mutex
	all []client.Event
}

func (w *waitEvents) observe(_ context.Context, e client.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if e.Kind == client.EventWait {
		w.all = append(w.all, e)
	}
}

func TestObserver_ReportsWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var arrivals clock
		var w waitEvents
		srv := clienttest.New(t, clienttest.InProcess())
		c := srv.Client(oneAttempt, client.WithQuota(quota.Quota{RequestsPerDay: 2}),
			client.WithObserver(w.observe))
		expect429s(srv, 1, "40", &arrivals)
		expectExamples(srv, 2, &arrivals)
		require.ErrorIs(t, readCall.do(t.Context(), c), client.ErrRateLimited)
		require.NoError(t, readCall.do(t.Context(), c))
		require.NoError(t, readCall.do(t.Context(), c))

		throttled, forQuota := w.all[0], w.all[1:]
		assert.Equal(t, client.ReasonThrottled, throttled.Reason)
		assert.GreaterOrEqual(t, throttled.Delay, 40*time.Second)
		assert.Empty(t, throttled.Window, "a cooldown is no window")
		var waited time.Duration
		for _, e := range forQuota {
			assert.Equal(t, []any{client.ReasonQuota, quota.RequestsPerDay, readCall.op},
				[]any{e.Reason, e.Window, e.Operation})
			waited += e.Delay
		}
		assert.Zero(t, forQuota[0].Delay, "the wait begins")
		assert.Equal(t, time.Minute, forQuota[1].Delay, "each minute is reported")
		assert.Greater(t, waited, 23*time.Hour)
		assert.InDelta(t, waited.Minutes(), len(forQuota), 2)

		w.all = nil
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(20*time.Second, cancel)
		require.ErrorIs(t, readCall.do(ctx, c), context.Canceled)
		require.Len(t, w.all, 2)
		assert.Zero(t, w.all[0].Delay)
		assert.Equal(t, 20*time.Second, w.all[1].Delay, "a canceled wait is reported")
	})
}

func TestObserver_ReportsFullWindow(t *testing.T) {
	for want, q := range map[quota.Window]quota.Quota{
		quota.RequestsPerSecond: {RequestsPerSecond: 1, RequestsPerDay: 9, ItemsPerWindow: 9, ItemsPerDay: 9},
		quota.RequestsPerDay:    {RequestsPerSecond: 1, RequestsPerDay: 1, ItemsPerWindow: 9, ItemsPerDay: 9},
		quota.ItemsPerWindow:    {RequestsPerSecond: 1, RequestsPerDay: 9, ItemsPerWindow: 1, ItemsPerDay: 9},
		quota.ItemsPerDay:       {RequestsPerSecond: 1, RequestsPerDay: 9, ItemsPerWindow: 9, ItemsPerDay: 1},
	} {
		t.Run(string(want), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var w waitEvents
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

func TestObserver_LeavesTraceOfCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w waitEvents
		var windows []quota.Window
		srv := clienttest.New(t, clienttest.InProcess())
		srv.Expect(readCall.op).Times(2).RespondExample()
		c := srv.Client(client.WithQuota(quota.Quota{RequestsPerDay: 1}), client.WithObserver(w.observe))
		ctx := quota.WithTrace(t.Context(),
			&quota.Trace{WaitStart: func(w quota.Window) { windows = append(windows, w) }})
		for range 2 {
			require.NoError(t, readCall.do(ctx, c))
		}
		assert.Equal(t, []quota.Window{quota.RequestsPerDay}, windows)
		assert.Equal(t, quota.RequestsPerDay, w.all[0].Window, "the event is reported, too")
	})
}

// slowLimiter is a limiter that makes calls wait without a trace.
type slowLimiter struct {
	quota.Limiter
	wait time.Duration
}

func (s *slowLimiter) Acquire(ctx context.Context, items int) (quota.Release, error) {
	select {
	case <-time.After(s.wait):
		return s.Limiter.Acquire(ctx, items)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func TestObserver_ReportsWaitsOfLimiterWithoutTrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, limiter := clienttest.New(t, clienttest.InProcess()), &slowLimiter{Limiter: quota.NewLimiter(quota.Unlimited)}
		var w waitEvents
		c := srv.Client(client.WithLimiter(limiter), client.WithObserver(w.observe))
		for _, wait := range []time.Duration{0, 30 * time.Second, 150 * time.Second} {
			limiter.wait = wait
			srv.Expect(readCall.op).RespondExample()
			require.NoError(t, readCall.do(t.Context(), c))
		}
		var delays []time.Duration
		for _, e := range w.all {
			assert.Equal(t, client.ReasonQuota, e.Reason)
			assert.Empty(t, e.Window)
			delays = append(delays, e.Delay)
		}
		assert.Equal(t,
			[]time.Duration{30 * time.Second, time.Minute, time.Minute, 30 * time.Second}, delays)
	})
}
