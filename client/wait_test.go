package client_test

import (
	"context"
	"errors"
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
	"golang.org/x/oauth2"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/clienttest"
	"github.com/sellside-sdk/sellside-go/client/quota"
	"github.com/sellside-sdk/sellside-go/client/token"
	"github.com/sellside-sdk/sellside-go/gen"
)

// pollService is a service of one batch or operation, which records when it is polled.
type pollService struct {
	respond func(poll int) canned // From 1.

	mu    sync.Mutex
	start time.Time
	times []time.Duration
}

func (p *pollService) RoundTrip(req *http.Request) (*http.Response, error) {
	if strings.HasSuffix(req.URL.Path, "/items") {
		return canned{status: 200, body: itemsJSON("COMPLETED")}.response(req)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.times = append(p.times, time.Since(p.start))
	return p.respond(len(p.times)).response(req)
}

// client makes a client of the service that does not retry.
func (p *pollService) client(t *testing.T, opts ...client.Option) *client.Client {
	t.Helper()
	return newTransportClient(t, p, append([]client.Option{oneAttempt}, opts...)...)
}

// waitTarget is a batch or an operation: its responses, and a wait that begins without a snapshot.
type waitTarget struct {
	kind                   string
	pending, unknown, done string
	wait                   func(context.Context, *client.Client, ...client.WaitOption) error
	last                   func(*client.WaitError) string // The status of the snapshot that the error keeps.
}

func operationJSON(status string) string {
	return fmt.Sprintf(`{"listingId":%q,"operationId":%q,"operationType":"UPDATE","operationStatus":%q,"error":null,
		"createdAt":"2026-11-02T09:14:05.812Z","updatedAt":"2026-11-02T09:14:05.812Z"}`, listingID, operationID, status)
}

func waitTargets() []waitTarget {
	return []waitTarget{
		{
			"batch", batchJSON("IN_PROGRESS", false, 1, `{}`), batchJSON("PAUSED", false, 1, `{}`), batchJSON("COMPLETED", true, 1, `{}`),
			func(ctx context.Context, c *client.Client, opts ...client.WaitOption) error {
				return failure(c.Batches.ResumeCreate(batchID).Wait(ctx, opts...))
			},
			func(e *client.WaitError) string { return string(e.Batch.Status) },
		},
		{
			"operation", operationJSON("PENDING"), operationJSON("PAUSED"), operationJSON("SUCCEEDED"),
			func(ctx context.Context, c *client.Client, opts ...client.WaitOption) error {
				return failure(c.Listings.Operation(listingID, operationID).Wait(ctx, opts...))
			},
			func(e *client.WaitError) string { return string(e.Operation.OperationStatus) },
		},
	}
}

// serve starts a service with these responses, and its client. Call it in a bubble.
func (w waitTarget) serve(t *testing.T, respond func(w waitTarget, poll int) canned) (*pollService, *client.Client) {
	t.Helper()
	service := &pollService{start: time.Now(), respond: func(poll int) canned { return respond(w, poll) }}
	return service, service.client(t)
}

func neverDone(w waitTarget, _ int) canned { return canned{status: 200, body: w.pending} }

func TestWait_PollsLessOften(t *testing.T) {
	respond := func(w waitTarget, poll int) canned {
		if poll == 13 {
			return canned{status: 200, body: w.done}
		}
		return neverDone(w, poll)
	}
	for _, w := range waitTargets() {
		t.Run(w.kind, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				service, c := w.serve(t, respond)
				require.NoError(t, w.wait(t.Context(), c))

				require.Zero(t, service.times[0], "the first poll comes at once")
				want := time.Second
				for i, at := range service.times[1:] {
					assert.LessOrEqual(t, (at - service.times[i] - want).Abs(), want/10,
						"pause %d: half as long again, with a jitter of a tenth", i+1)
					want = min(want+want/2, 30*time.Second)
				}
			})
		})
	}
}

func TestWait_LastPollIsBeforeDeadline(t *testing.T) {
	tests := map[string]struct {
		deadline time.Duration
		options  []client.WaitOption
		within   time.Duration // Of the deadline.
	}{
		"a minute":                          {time.Minute, nil, time.Second},
		"less than the first pause":         {500 * time.Millisecond, nil, 500 * time.Millisecond},
		"a deadline before the second poll": {20 * time.Second, []client.WaitOption{client.WithPollInterval(time.Minute, time.Hour)}, time.Second},
		"a short interval":                  {time.Second, []client.WaitOption{client.WithPollInterval(time.Millisecond, 10*time.Millisecond)}, 10 * time.Millisecond},
		"half an hour without a deadline":   {0, nil, time.Second},
		"half an hour with a long interval": {0, []client.WaitOption{client.WithPollInterval(time.Hour, time.Hour)}, time.Second},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			for _, w := range waitTargets() {
				t.Run(w.kind, func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						service, c := w.serve(t, neverDone)
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

func TestWait_UnknownStatusIsBounded(t *testing.T) {
	respond := func(w waitTarget, _ int) canned { return canned{status: 200, body: w.unknown} }
	for _, w := range waitTargets() {
		t.Run(w.kind, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				service, c := w.serve(t, respond)
				err := w.wait(t.Context(), c)

				var ended *client.WaitError
				require.ErrorAs(t, err, &ended)
				assert.Equal(t, w.kind, ended.What)
				assert.Equal(t, "PAUSED", w.last(ended), "the last snapshot is kept")
				assert.LessOrEqual(t, 30*time.Minute-time.Since(service.start), time.Second)
				assert.Less(t, len(service.times), 80, "about one poll every 30 seconds")
			})
		})
	}
}

func TestWait_ToleratesTransientErrors(t *testing.T) {
	tests := map[string]struct {
		fault canned
		ends  error // The wait ends with it; nil if it continues.
	}{
		"a gateway that fails":         {canned{status: 503, body: "<html>"}, nil},
		"a service that fails":         {canned{status: 500}, nil},
		"a connection that breaks":     {canned{}, nil},
		"a page":                       {canned{status: 200, body: "<html>"}, nil},
		"an empty object":              {canned{status: 200, body: "{}"}, nil},
		"too many requests":            {canned{status: 429}, nil},
		"a request that took too long": {canned{status: 408}, nil},
		"a gateway's own failure":      {canned{status: 524}, nil},
		"501":                          {canned{status: 501}, client.ErrServer},
		"505":                          {canned{status: 505}, client.ErrServer},
		"a body beyond 16 MiB":         {canned{status: 200, body: strings.Repeat(" ", 16<<20+1)}, client.ErrBodyTooLarge},
		"an unknown id":                {canned{status: 404}, client.ErrNotFound},
		"a token that has expired":     {canned{status: 401}, client.ErrUnauthorized},
		"a forbidden request":          {canned{status: 403}, client.ErrForbidden},
		"a bad request":                {canned{status: 400}, client.ErrBadRequest},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			respond := func(w waitTarget, poll int) canned {
				if poll == 2 || poll == 3 {
					return test.fault
				}
				return canned{status: 200, body: map[int]string{1: w.pending, 4: w.done}[poll]}
			}
			for _, w := range waitTargets() {
				t.Run(w.kind, func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						service, c := w.serve(t, respond)
						err := w.wait(t.Context(), c)

						if test.ends == nil {
							require.NoError(t, err)
							assert.Len(t, service.times, 4)
							return
						}
						ended := &client.WaitError{}
						require.ErrorAs(t, err, &ended)
						require.ErrorIs(t, err, test.ends)
						require.NotErrorIs(t, err, context.DeadlineExceeded)
						assert.Len(t, service.times, 2, "the wait does not poll again")
						assert.NotEmpty(t, w.last(ended), "the last snapshot is kept")
					})
				})
			}
		})
	}
}

func TestWait_ObeysRetryAfter(t *testing.T) {
	for name, status := range map[string]int{"200": 200, "429": 429, "503": 503} {
		t.Run(name, func(t *testing.T) {
			respond := func(w waitTarget, poll int) canned {
				if poll == 1 {
					return canned{status: status, retryAfter: "20", body: w.pending}
				}
				return canned{status: 200, body: w.done}
			}
			for _, w := range waitTargets() {
				t.Run(w.kind, func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						service, c := w.serve(t, respond)
						require.NoError(t, w.wait(t.Context(), c))

						require.Len(t, service.times, 2)
						assert.GreaterOrEqual(t, service.times[1], 20*time.Second)
						assert.Less(t, service.times[1], 30*time.Second)
					})
				})
			}
		})
	}
}

func TestWait_CanBeRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := clienttest.New(t, clienttest.InProcess())
		srv.Expect(gen.OpGetCreateListingsBatch).Times(2).Respond(200, batchJSON("IN_PROGRESS", false, 2, `{"completed":1}`))
		b := srv.Client().Batches.ResumeCreate(batchID)
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(1500*time.Millisecond, cancel)

		_, err := b.Wait(ctx)

		require.ErrorIs(t, err, context.Canceled)
		ended, ok := errors.AsType[*client.WaitError](err)
		require.True(t, ok)
		assert.Equal(t, 1, ended.Batch.ItemStatuses.Of("completed"), "the last snapshot is kept")
		srv.Expect(gen.OpGetCreateListingsBatch).Respond(200, batchJSON("COMPLETED", true, 2, `{"completed":2}`))
		srv.Expect(gen.OpListCreateListingsBatchItems).Respond(200, itemsJSON("COMPLETED", "COMPLETED"))
		require.NoError(t, failure(b.Wait(t.Context())))
	})
}

func TestWait_BatchIsDoneByStatusOrTime(t *testing.T) {
	for name, last := range map[string]string{
		"completedAt, under an unknown status":    batchJSON("WRAPPED_UP", true, 1, `{}`),
		"the status, when completedAt is missing": batchJSON("COMPLETED", false, 1, `{}`),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := clienttest.New(t, clienttest.InProcess())
				srv.Expect(gen.OpGetCreateListingsBatch).Respond(200, last)
				srv.Expect(gen.OpListCreateListingsBatchItems).Respond(200, itemsJSON("COMPLETED"))

				require.NoError(t, failure(srv.Client().Batches.ResumeCreate(batchID).Wait(t.Context())))
			})
		})
	}
}

func TestWait_ManyWaitersPollAsOne(t *testing.T) {
	tests := map[string]struct {
		responses []canned // Before the last one.
		least     time.Duration
	}{
		"the batch is in progress":     {[]canned{{status: 200}, {status: 200}, {status: 200}, {status: 200}}, 7300 * time.Millisecond},
		"the service fails":            {[]canned{{status: 503}, {}, {status: 503}, {status: 503}}, 7300 * time.Millisecond},
		"the service asks for a pause": {[]canned{{status: 200, retryAfter: "30"}, {status: 200, retryAfter: "30"}}, time.Minute},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				service := &pollService{start: time.Now(), respond: func(poll int) canned {
					if poll > len(test.responses) {
						return canned{status: 200, body: batchJSON("COMPLETED", true, 1, `{}`)}
					}
					a := test.responses[poll-1]
					a.body = batchJSON("IN_PROGRESS", false, 1, `{}`)
					return a
				}}
				b := service.client(t).Batches.ResumeCreate(batchID)
				var all sync.WaitGroup
				for range 20 {
					all.Go(func() { assert.NoError(t, failure(b.Wait(t.Context()))) })
				}
				all.Wait()

				require.Len(t, service.times, len(test.responses)+1)
				assert.GreaterOrEqual(t, service.times[len(test.responses)], test.least,
					"one waiter would not have polled sooner")
			})
		})
	}
}

func TestWait_ToleratesTransientTokenErrors(t *testing.T) {
	for name, test := range map[string]struct {
		why  error
		ends bool
	}{
		"endpoint that is down": {errors.New("503"), false},
		"transient code":        {&oauth2.RetrieveError{ErrorCode: "temporarily_unavailable"}, false},
		"refused refresh token": {&oauth2.RetrieveError{ErrorCode: "invalid_grant"}, true},
		"refused client":        {&oauth2.RetrieveError{ErrorCode: "invalid_client"}, true},
		"expired static token":  {token.ErrExpired, true},
	} {
		t.Run(name, func(t *testing.T) {
			for _, w := range waitTargets() {
				t.Run(w.kind, func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						service, _ := w.serve(t, func(w waitTarget, poll int) canned {
							return canned{status: 200, body: map[bool]string{true: w.pending, false: w.done}[poll == 1]}
						})
						asked := 0
						c := service.client(t, client.WithTokenSource(sourceFunc(func() (*oauth2.Token, error) {
							if asked++; asked == 2 || asked == 3 {
								return nil, test.why
							}
							return &oauth2.Token{AccessToken: "token"}, nil
						})))

						err := w.wait(t.Context(), c)

						if !test.ends {
							require.NoError(t, err)
							assert.Len(t, service.times, 2, "nothing was sent without a token")
							return
						}
						require.True(t, isA[*client.WaitError](err))
						require.True(t, isA[*token.Error](err))
						assert.Equal(t, 2, asked, "the wait does not ask again")
					})
				})
			}
		})
	}
}

func TestWait_ForgetsEarlierFailures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service := &pollService{start: time.Now(), respond: func(poll int) canned {
			if poll == 1 {
				return canned{status: 503, retryAfter: "600"}
			}
			return canned{status: 200, body: batchJSON("COMPLETED", true, 1, `{}`)}
		}}
		b := service.client(t).Batches.ResumeCreate(batchID)
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		require.ErrorIs(t, failure(b.Wait(ctx)), context.Canceled)

		hurried, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		require.NoError(t, failure(b.Wait(hurried)), "the second wait polls itself")
		assert.Equal(t, []time.Duration{0, time.Second}, service.times, "the second wait polls at once")
	})
}

func TestWait_WaitersShareFailures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service := &pollService{start: time.Now(), respond: func(poll int) canned {
			if poll <= 2 {
				return canned{status: 503, retryAfter: "20"}
			}
			return canned{status: 200, body: batchJSON("COMPLETED", true, 1, `{}`)}
		}}
		b := service.client(t).Batches.ResumeCreate(batchID)
		var all sync.WaitGroup
		all.Go(func() { assert.NoError(t, failure(b.Wait(t.Context()))) })
		<-time.After(5 * time.Second)
		all.Go(func() { assert.NoError(t, failure(b.Wait(t.Context()))) }) // polls at 5 s and gets a Retry-After, too
		all.Wait()
		require.Len(t, service.times, 3)
		assert.Equal(t, []time.Duration{0, 5 * time.Second}, service.times[:2])
	})
}

// hookedContext calls a function, which stands for another goroutine, when Err is called while
// armed.
type hookedContext struct {
	context.Context //nolint:containedctx // an implementation
	armed           *bool
	other           func()
}

func (c hookedContext) Err() error {
	if *c.armed {
		c.other()
	}
	return c.Context.Err()
}

func TestWait_EndsIfAnotherPollSawTheEnd(t *testing.T) {
	for kind, open := range map[string]func(*client.Client) (wait, poll func(context.Context) error){
		"batch": func(c *client.Client) (wait, poll func(context.Context) error) {
			b := c.Batches.ResumeCreate(batchID)
			return func(ctx context.Context) error { return failure(b.Wait(ctx)) }, func(ctx context.Context) error { return failure(b.Poll(ctx)) }
		},
		"operation": func(c *client.Client) (wait, poll func(context.Context) error) {
			o := c.Listings.Operation(listingID, operationID)
			return func(ctx context.Context) error { return failure(o.Wait(ctx)) }, func(ctx context.Context) error { return failure(o.Poll(ctx)) }
		},
	} {
		t.Run(kind, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				armed := false
				done := waitTargets()[map[string]int{"batch": 0, "operation": 1}[kind]].done
				service := &pollService{start: time.Now(), respond: func(poll int) canned {
					if armed = poll == 1; armed {
						return canned{status: 404}
					}
					return canned{status: 200, body: done}
				}}
				wait, poll := open(service.client(t))
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				require.NoError(t, wait(hookedContext{ctx, &armed, func() {
					turn, cancel := context.WithTimeout(t.Context(), time.Second)
					defer cancel()
					armed = poll(turn) != nil // the wait may be polling itself
				}}))
				require.Len(t, service.times, 2)
			})
		})
	}
}

func TestWait_NilOptionIsRefused(t *testing.T) {
	for want, opt := range map[string]client.WaitOption{"options[0]": nil, "WithProgress": client.WithProgress(nil)} {
		c := clienttest.New(t, clienttest.InProcess()).Client() // which fails the test if a request comes
		for _, err := range []error{
			failure(c.Batches.ResumeCreate(batchID).Wait(t.Context(), opt)),
			failure(c.Listings.Operation(listingID, operationID).Wait(t.Context(), opt)),
		} {
			var refused *client.ArgumentError
			require.ErrorAs(t, err, &refused)
			assert.Equal(t, want, refused.Field)
			var wait *client.WaitError
			assert.NotErrorAs(t, err, &wait, "no wait began")
		}
	}
}

func TestWait_UsesOptionsOfClient(t *testing.T) {
	for name, test := range map[string]struct {
		client, wait client.WaitOption
		want         time.Duration // The second poll.
	}{
		"of the client":         {client.WithPollInterval(5*time.Second, time.Minute), client.WithProgress(func(gen.Batch) {}), 5 * time.Second},
		"replaced for one wait": {client.WithPollInterval(5*time.Second, time.Minute), client.WithPollInterval(10*time.Second, time.Minute), 10 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			for _, w := range waitTargets() {
				t.Run(w.kind, func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						service := &pollService{start: time.Now(), respond: func(poll int) canned {
							return canned{status: 200, body: map[int]string{1: w.pending, 2: w.done}[poll]}
						}}
						c := service.client(t, client.WithWaitOptions(test.client))

						require.NoError(t, w.wait(t.Context(), c, test.wait))

						require.Len(t, service.times, 2)
						assert.LessOrEqual(t, (service.times[1] - test.want).Abs(), test.want/10)
					})
				})
			}
		})
	}
}

func TestWait_KeepsLastFailureAtDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &batchService{batch: func(int) canned { return canned{status: 503} }}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err := s.client(t).Batches.ResumeCreate(batchID).Wait(ctx)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorIs(t, err, client.ErrServer)
		assert.NotContains(t, err.Error(), "\n")
	})
}

func TestIsTransient(t *testing.T) {
	for _, test := range []struct {
		err  error
		want bool
		why  string
	}{
		{nil, false, "no failure"},
		{&client.APIError{StatusCode: 503}, true, "the service may recover"},
		{&client.APIError{StatusCode: 429}, true, "the rate limit ends"},
		{&client.APIError{StatusCode: 501}, false, "the retry table does not retry it"},
		{&client.APIError{StatusCode: 404}, false, "a final response"},
		{&client.TransportError{Err: io.ErrUnexpectedEOF}, true, "another connection may work"},
		{&client.DecodeError{Err: io.ErrUnexpectedEOF}, true, "the next body may be complete"},
		{&client.DecodeError{Err: client.ErrBodyTooLarge}, false, "the next body is as large"},
		{fmt.Errorf("page 2: %w", client.ErrPagingStuck), true, "the list may have grown by a page"},
		{&token.Error{Err: token.ErrRefused}, false, "the configuration is wrong"},
		{&token.Error{Err: token.ErrExpired}, false, "only the user has another token"},
		{&token.Error{Err: &oauth2.RetrieveError{ErrorCode: "invalid_grant"}}, false, "only the user can reauthenticate"},
		{&token.Error{Err: io.ErrUnexpectedEOF}, true, "the token endpoint may recover"},
		{&quota.Error{Wait: time.Hour}, true, "there is a place later"},
		{&quota.Error{}, false, "larger than the quota"},
		{&client.ThrottledError{}, true, "the cooldown ends"},
		{&client.ArgumentError{}, false, "invalid"},
		{client.ErrClosed, false, "closed for good"},
	} {
		assert.Equal(t, test.want, client.IsTransient(test.err), test.why)
	}
}
