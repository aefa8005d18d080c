package client_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/quota"
)

// pollAnswer is what a poll is answered; a status of 0 breaks the connection.
type pollAnswer struct {
	status     int
	retryAfter string
	body       string
}

// polling is a service that is polled as often as the client likes, and keeps when that was.
type polling struct {
	answer func(poll int) pollAnswer // From 1.

	mu    sync.Mutex
	start time.Time
	times []time.Duration
}

func (p *polling) RoundTrip(req *http.Request) (*http.Response, error) {
	if strings.HasSuffix(req.URL.Path, "/items") {
		return reply(req, pollAnswer{status: 200, body: itemAnswer("COMPLETED")}), nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.times = append(p.times, time.Since(p.start))
	a := p.answer(len(p.times))
	if a.status == 0 {
		return nil, io.ErrUnexpectedEOF
	}
	return reply(req, a), nil
}

// client makes a client of the service that does not retry.
func (p *polling) client(t *testing.T, opts ...client.Option) *client.Client {
	t.Helper()
	c, err := client.New(append([]client.Option{client.WithDefaults(
		client.WithBaseURL("https://polled.invalid/v2"), client.WithAPIKey("key"), client.WithToken("token"),
		client.WithHTTPClient(&http.Client{Transport: p}), client.WithQuota(quota.Unlimited), oneAttempt,
	)}, opts...)...)
	require.NoError(t, err)
	return c
}

func reply(req *http.Request, a pollAnswer) *http.Response {
	header := http.Header{}
	if a.retryAfter != "" {
		header.Set("Retry-After", a.retryAfter)
	}
	return &http.Response{StatusCode: a.status, Header: header, Body: io.NopCloser(strings.NewReader(a.body)), Request: req}
}

// waitable is what can be waited for: its answers, and a wait for it that begins without a snapshot.
type waitable struct {
	kind                   string
	pending, unknown, done string
	wait                   func(context.Context, *client.Client, ...client.WaitOption) error
	last                   func(*client.WaitError) string // The status of the snapshot that the error keeps.
}

func operationAnswer(status string) string {
	return fmt.Sprintf(`{"listingId":%q,"operationId":%q,"operationType":"UPDATE","operationStatus":%q,"error":null,
		"createdAt":"2026-11-02T09:14:05.812Z","updatedAt":"2026-11-02T09:14:05.812Z"}`, listingID, operationID, status)
}

func waitables() []waitable {
	return []waitable{
		{
			"batch", batchAnswer("IN_PROGRESS", false, 1, `{}`), batchAnswer("PAUSED", false, 1, `{}`), batchAnswer("COMPLETED", true, 1, `{}`),
			func(ctx context.Context, c *client.Client, opts ...client.WaitOption) error {
				return failure(c.Batches.ResumeCreate(batchID).Wait(ctx, opts...))
			},
			func(e *client.WaitError) string { return string(e.Batch.Status) },
		},
		{
			"operation", operationAnswer("PENDING"), operationAnswer("PAUSED"), operationAnswer("SUCCEEDED"),
			func(ctx context.Context, c *client.Client, opts ...client.WaitOption) error {
				return failure(c.Listings.Operation(listingID, operationID).Wait(ctx, opts...))
			},
			func(e *client.WaitError) string { return string(e.Operation.OperationStatus) },
		},
	}
}

// serve makes a service that gives these answers, and its client. It belongs into a bubble.
func (w waitable) serve(t *testing.T, answer func(w waitable, poll int) pollAnswer) (*polling, *client.Client) {
	t.Helper()
	service := &polling{start: time.Now(), answer: func(poll int) pollAnswer { return answer(w, poll) }}
	return service, service.client(t)
}

func forever(w waitable, _ int) pollAnswer { return pollAnswer{status: 200, body: w.pending} }

func TestPollsComeLessOftenAsTimeGoesOn(t *testing.T) {
	answer := func(w waitable, poll int) pollAnswer {
		if poll == 13 {
			return pollAnswer{status: 200, body: w.done}
		}
		return forever(w, poll)
	}
	for _, w := range waitables() {
		t.Run(w.kind, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				service, c := w.serve(t, answer)
				require.NoError(t, w.wait(t.Context(), c))

				require.Zero(t, service.times[0], "the first poll comes at once")
				want := time.Second
				for i, at := range service.times[1:] {
					assert.LessOrEqual(t, (at - service.times[i] - want).Abs(), want/10, "pause %d: half as long again, give or take a tenth", i+1)
					want = min(want+want/2, 30*time.Second)
				}
			})
		})
	}
}

func TestTheLastPollLandsBeforeTheDeadline(t *testing.T) {
	tests := map[string]struct {
		deadline time.Duration
		options  []client.WaitOption
		within   time.Duration // Of the deadline.
	}{
		"a minute":                              {time.Minute, nil, time.Second},
		"less than the first pause":             {500 * time.Millisecond, nil, 500 * time.Millisecond},
		"a deadline before the second poll":     {20 * time.Second, []client.WaitOption{client.WithPollInterval(time.Minute, time.Hour)}, time.Second},
		"a program that polls all the time":     {time.Second, []client.WaitOption{client.WithPollInterval(time.Millisecond, 10*time.Millisecond)}, 10 * time.Millisecond},
		"half an hour without a deadline":       {0, nil, time.Second},
		"half an hour of a very patient caller": {0, []client.WaitOption{client.WithPollInterval(time.Hour, time.Hour)}, time.Second},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			for _, w := range waitables() {
				t.Run(w.kind, func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						service, c := w.serve(t, forever)
						ctx, deadline := t.Context(), 30*time.Minute
						if test.deadline > 0 {
							var cancel context.CancelFunc
							ctx, cancel = context.WithTimeout(ctx, test.deadline)
							defer cancel()
							deadline = test.deadline
						}

						err := w.wait(ctx, c, test.options...)

						var ended *client.WaitError
						require.ErrorAs(t, err, &ended)
						require.ErrorIs(t, err, context.DeadlineExceeded)
						last := service.times[len(service.times)-1]
						assert.Less(t, last, deadline)
						assert.GreaterOrEqual(t, last, deadline-test.within)
						assert.LessOrEqual(t, time.Since(service.start), deadline)
					})
				})
			}
		})
	}
}

func TestAnUnknownStatusIsNoEndButDoesNotHang(t *testing.T) {
	answer := func(w waitable, _ int) pollAnswer { return pollAnswer{status: 200, body: w.unknown} }
	for _, w := range waitables() {
		t.Run(w.kind, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				service, c := w.serve(t, answer)
				err := w.wait(t.Context(), c)

				var ended *client.WaitError
				require.ErrorAs(t, err, &ended)
				assert.Equal(t, w.kind, ended.What)
				assert.Equal(t, "PAUSED", w.last(ended), "the last snapshot is kept")
				assert.Contains(t, err.Error(), "PAUSED")
				assert.LessOrEqual(t, 30*time.Minute-time.Since(service.start), time.Second)
				assert.Less(t, len(service.times), 80, "about one poll in 30 seconds")
			})
		})
	}
}
