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
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/clienttest"
	"github.com/sellside-sdk/sellside-go/client/quota"
)

func TestACallIsToldFromItsFirstAttemptToItsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := clienttest.New(t, clienttest.InProcess())
		srv.Expect(aRead.op).RespondError(http.StatusServiceUnavailable, "busy").Header("Retry-After", "2").Delay(time.Second)
		srv.Expect(aRead.op).Disconnect(clienttest.BeforeHeaders, "the network fails")
		srv.Expect(aRead.op).Raw(http.StatusOK, nil, []byte(`{"listingId":"`+listingID+`","payout":"none"}`), "a payout that is none")
		var events []client.Event
		var lines bytes.Buffer
		c := srv.Client(client.WithObserver(func(e client.Event) { events = append(events, e) }),
			client.WithLogger(slog.New(slog.NewJSONHandler(&lines, &slog.HandlerOptions{Level: slog.LevelDebug}))))
		start := time.Now()
		require.NoError(t, aRead.do(t.Context(), c))
		took := time.Since(start)

		require.Len(t, events, 4)
		busy, broken, done, odd := events[0], events[1], events[2], events[3]
		want := client.Event{Kind: client.EventRetry, Operation: aRead.op, Method: "GET", Route: "/selling/listings/{listingId}", Attempt: 1, StatusCode: 503, Delay: 2 * time.Second}
		assert.Equal(t, want, busy)
		assert.Equal(t, []any{client.EventRetry, 2, 0}, []any{broken.Kind, broken.Attempt, broken.StatusCode})
		assert.True(t, isA[*client.TransportError](broken.Err))
		assert.Equal(t, client.Event{Kind: client.EventDone, Operation: aRead.op, Method: "GET", Route: want.Route, Attempt: 3, StatusCode: 200, Duration: took}, done)
		assert.Equal(t, []any{client.EventDecodeWarning, 3}, []any{odd.Kind, odd.Attempt})
		assert.ErrorContains(t, odd.Err, "/payout: a string")

		var levels []string
		for line := range strings.Lines(lines.String()) {
			var entry struct{ Level, Event, Operation, Route string }
			require.NoError(t, json.Unmarshal([]byte(line), &entry))
			levels = append(levels, entry.Level+" "+entry.Event)
			assert.Equal(t, "GetListing", entry.Operation)
			assert.Equal(t, "GET /selling/listings/{listingId}", entry.Route)
			assert.NotContains(t, line, "98e2e748-8000", "ids are left out")
		}
		assert.Equal(t, []string{"WARN retry", "WARN retry", "DEBUG done", "WARN oddity"}, levels)
	})
}

func TestACallThatFailsIsToldOnce(t *testing.T) {
	for status, why := range map[int]string{http.StatusNotFound: "an answer is no error of the event", http.StatusServiceUnavailable: "nor is one that gave up"} {
		srv := clienttest.New(t, clienttest.InProcess())
		srv.Expect(aRead.op).RespondError(status, "no")
		var events []client.Event
		require.Error(t, aRead.do(t.Context(), srv.Client(oneAttempt, client.WithObserver(func(e client.Event) { events = append(events, e) }))))
		require.Len(t, events, 1)
		assert.Equal(t, client.EventDone, events[0].Kind)
		assert.Equal(t, status, events[0].StatusCode)
		assert.NoError(t, events[0].Err, why)
	}
}

func TestAHeldBackCallIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := clienttest.New(t, clienttest.InProcess())
		srv.Expect(aRead.op).RespondExample().Times(2)
		var events []client.Event
		c := srv.Client(client.WithQuota(quota.Quota{RequestsPerSecond: 1}), client.WithObserver(func(e client.Event) { events = append(events, e) }))
		require.NoError(t, aRead.do(t.Context(), c))
		require.NoError(t, aRead.do(t.Context(), c))
		require.Len(t, events, 4, "the first call did not wait")
		for i, waited := range []time.Duration{0, time.Second} {
			assert.Equal(t, client.EventWait, events[1+i].Kind)
			assert.Equal(t, waited, events[1+i].Delay)
			assert.Zero(t, events[1+i].Attempt, "nothing was sent yet")
		}
	})
}

func TestObserver_LogsOnlyWhatSaysSomething(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := clienttest.New(t, clienttest.InProcess())
		srv.Expect(aRead.op).RespondError(http.StatusServiceUnavailable, "busy").Header("Retry-After", "2")
		srv.Expect(aRead.op).RespondExample().Delay(time.Second)
		var lines bytes.Buffer
		c := srv.Client(client.WithQuota(quota.Quota{RequestsPerSecond: 1}),
			client.WithLogger(slog.New(slog.NewJSONHandler(&lines, &slog.HandlerOptions{Level: slog.LevelDebug}))))
		require.NoError(t, aRead.do(t.Context(), c))
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		require.Error(t, aRead.do(ctx, c))

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
			got = append(got, fmt.Sprintf("%s: %s", event, strings.Join(slices.Sorted(maps.Keys(attrs)), " ")))
		}
		assert.Equal(t, []string{"retry: attempt delay status", "done: attempt duration status", "done: error"}, got)
	})
}
