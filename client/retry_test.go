package client_test

import (
	"context"
	"crypto/x509"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"syscall"
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

// ending is how a call ends whose first attempt fails, and whose second attempt, if there is one,
// succeeds.
type ending struct {
	retried bool
	failure func(error) bool
	unknown bool
}

func TestRetry_FollowsTableForEveryOperation(t *testing.T) {
	var (
		retried    = ending{retried: true}
		refused    = ending{failure: isA[*client.APIError]}
		doubtful   = ending{failure: isA[*client.APIError], unknown: true}
		lost       = ending{failure: isA[*client.TransportError], unknown: true}
		unreadable = ending{failure: isA[*client.DecodeError]}
		unreadDone = ending{failure: isA[*client.DecodeError], unknown: true}
	)
	type script = func(*clienttest.Expectation)
	respond := func(status int, header http.Header, body string) script {
		return func(e *clienttest.Expectation) { e.Raw(status, header, []byte(body), "the row of the table") }
	}
	status := func(status int) script { return respond(status, nil, `{"message":"no"}`) }
	calls := wholeCalls(t)
	const cutBody = "2xx whose body was cut"
	for _, row := range []struct {
		what        string
		first       script
		read, write ending
	}{
		{"reset before the headers", func(e *clienttest.Expectation) { e.Disconnect(clienttest.BeforeHeaders, "reset") }, retried, lost},
		{"attempt timeout", func(e *clienttest.Expectation) { e.RespondExample().Delay(time.Minute) }, retried, lost},
		{"429", status(429), retried, retried},
		{"429 with Retry-After", respond(429, http.Header{"Retry-After": {"2"}}, ""), retried, retried},
		{"429 with a long Retry-After", respond(429, http.Header{"Retry-After": {"61"}}, ""), refused, refused},
		{"408", status(408), retried, doubtful},
		{"500", status(500), retried, doubtful},
		{"502", respond(502, nil, "<html>Bad Gateway</html>"), retried, doubtful},
		{"503", status(503), retried, doubtful},
		{"503 with Retry-After", respond(503, http.Header{"Retry-After": {"2"}}, ""), retried, doubtful},
		{"503 with a long Retry-After", respond(503, http.Header{"Retry-After": {"61"}}, ""), refused, doubtful},
		{"504", status(504), retried, doubtful},
		{"524 of a gateway", status(524), retried, doubtful},
		{"501: nothing was tried", status(501), refused, refused},
		{"505: nothing was tried", status(505), refused, refused},
		{"401 with a token that stays the same", status(401), refused, refused},
		{"302 to another host", respond(302, http.Header{"Location": {"https://elsewhere.invalid/"}}, ""), refused, doubtful},
		{"304 without a condition", respond(304, nil, ""), refused, doubtful},
		{"400", status(400), refused, refused},
		{"403", respond(403, nil, "<html>blocked</html>"), refused, refused},
		{"404", status(404), refused, refused},
		{"409", status(409), refused, refused},
		{"413", status(413), refused, refused},
		{"422", status(422), refused, refused},
		{cutBody, func(e *clienttest.Expectation) { e.Disconnect(clienttest.MidBody, "cut") }, retried, unreadDone},
		{"2xx with no body", respond(200, nil, ""), unreadable, unreadDone},
		{"2xx with a page", respond(200, nil, "<html>Welcome</html>"), unreadable, unreadDone},
		{"2xx with null", respond(200, nil, "null"), unreadable, unreadDone},
		{"2xx with text", respond(200, nil, `"text"`), unreadable, unreadDone},
	} {
		t.Run(row.what, func(t *testing.T) {
			for id, call := range calls {
				op, _ := gen.LookupOperation(id)
				want := row.write
				if op.RetrySafe {
					want = row.read
				}
				if op.ID == gen.OpGetShippingDocument && row.what == cutBody {
					continue // The document streams; see TestDocument_CutIsErrorOfRead.
				}
				t.Run(string(op.ID),
					func(t *testing.T) { assertEnding(t, testCall{op.ID, call}, row.first, want) })
			}
		})
	}
}

func assertEnding(t *testing.T, call testCall, first func(*clienttest.Expectation), want ending) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		srv := clienttest.New(t, clienttest.InProcess())
		first(srv.Expect(call.op))
		if want.retried {
			srv.Expect(call.op).RespondExample()
		}
		err := call.do(t.Context(), srv.Client())
		assert.Equal(t, want.unknown, errors.Is(err, client.ErrOutcomeUnknown), "%v", err)
		if want.retried {
			require.NoError(t, err)
			return
		}
		require.Error(t, err)
		assert.True(t, want.failure(err), "%T: %v", err, err)
		assert.Equal(t, want.unknown, infoOf(t, err).OutcomeUnknown, "the field agrees with errors.Is")
		assert.Equal(t, 1, infoOf(t, err).Attempts)
		assert.Len(t, srv.Requests(call.op), 1)
	})
}

func TestRetry_UnsentRequestIsRetried(t *testing.T) {
	for name, call := range map[string]testCall{"read": readCall, "write": writeCall} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := clienttest.New(t, clienttest.InProcess())
				srv.Expect(call.op).RespondExample()
				failures := 0
				c := srv.Client(withTransport(srv, func(inner http.RoundTripper) transportFunc {
					return func(r *http.Request) (*http.Response, error) {
						if failures++; failures <= 3 {
							return nil, syscall.ECONNREFUSED // without a trace
						}
						return inner.RoundTrip(r)
					}
				}))
				require.NoError(t, call.do(t.Context(), c))
				assert.Equal(t, 4, failures, "four attempts by default")
			})
		})
	}
}

func TestRetry_SendsWholeBodyAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := clienttest.New(t, clienttest.InProcess())
		const body = `{"variantId":"8f4d2c4e-9d57-4a87-8a34-6b2f5d6d1e21","amount":"162"}`
		srv.Expect(writeCall.op).BodyJSON(body).
			RespondError(http.StatusTooManyRequests, "slow down").Times(2)
		srv.Expect(writeCall.op).BodyJSON(body).RespondExample()
		require.NoError(t, writeCall.do(t.Context(), srv.Client()))
	})
}

func TestRetry_RefusedConnectionIsRetried(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // it is closed at once
	require.NoError(t, err)
	require.NoError(t, listener.Close())
	for _, call := range []testCall{readCall, writeCall} {
		err := call.do(t.Context(), newClient(t, "http://"+listener.Addr().String()))
		require.ErrorIs(t, err, syscall.ECONNREFUSED)
		assert.NotErrorIs(t, err, client.ErrOutcomeUnknown, "nothing was sent")
		assert.Equal(t, 4, infoOf(t, err).Attempts)
	}
}

func TestRetry_FailedHandshakeIsRetried(t *testing.T) {
	srv := httptest.NewUnstartedServer(http.NotFoundHandler())
	srv.Config.ErrorLog = log.New(io.Discard, "", 0)
	srv.StartTLS()
	defer srv.Close()
	for _, call := range []testCall{readCall, writeCall} {
		err := call.do(t.Context(), newClient(t, srv.URL)) // without the certificate
		require.True(t, isA[x509.UnknownAuthorityError](err), "%v", err)
		assert.NotErrorIs(t, err, client.ErrOutcomeUnknown, "the request was not written")
		assert.Equal(t, 4, infoOf(t, err).Attempts)
	}
}

func TestRetry_CanceledCallEndsRequest(t *testing.T) {
	for _, call := range []testCall{readCall, writeCall} {
		arrived, ended := make(chan struct{}), make(chan struct{})
		srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			close(arrived)
			<-r.Context().Done()
			close(ended)
		}))
		defer srv.Close()
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			<-arrived
			cancel()
		}()
		err := call.do(ctx, newServerClient(t, srv))
		require.ErrorIs(t, err, context.Canceled)
		assert.Equal(t, call.op == writeCall.op, errors.Is(err, client.ErrOutcomeUnknown))
		<-ended
	}
}

func TestRetry_WriteThroughUntracedTransportIsNotRepeated(t *testing.T) {
	sent := 0
	c := newTransportClient(t, transportFunc(func(r *http.Request) (*http.Response, error) {
		sent++
		_, _ = io.Copy(io.Discard, r.Body)
		return nil, errors.New("connection reset after send")
	}))

	_, err := c.Batches.Create(t.Context(), []gen.CreateItem{{VariantID: "v", Amount: "162", Quantity: 1}})

	require.ErrorIs(t, err, client.ErrOutcomeUnknown)
	assert.Equal(t, 1, sent)
}

func TestRetry_ContextThatEndsIsTheError(t *testing.T) {
	canceled := func(after time.Duration) func(context.Context) (context.Context, context.CancelFunc) {
		return func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(ctx)
			if after == 0 {
				cancel()
			}
			time.AfterFunc(after, cancel)
			return ctx, cancel
		}
	}
	expired := func(after time.Duration) func(context.Context) (context.Context, context.CancelFunc) {
		return func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, after)
		}
	}
	type script = func(*clienttest.Expectation)
	slow := func(e *clienttest.Expectation) { e.RespondExample().Delay(10 * time.Second) }
	throttled := func(e *clienttest.Expectation) {
		e.RespondError(http.StatusTooManyRequests, "slow down").Header("Retry-After", "30")
	}
	for _, tc := range []struct {
		what     string
		end      func(context.Context) (context.Context, context.CancelFunc)
		script   script // nil if nothing may be sent
		want     error
		attempts int
		doubtful bool // of a write
		response bool // Whether the service responded before.
	}{
		{"canceled before", canceled(0), nil, context.Canceled, 0, false, false},
		{"expired before", expired(-time.Second), nil, context.DeadlineExceeded, 0, false, false},
		{"canceled before the response", canceled(time.Second), slow, context.Canceled, 1, true, false},
		{"expired before the response", expired(time.Second), slow, context.DeadlineExceeded, 1, true, false},
		{"canceled during the pause after a 429", canceled(time.Second), throttled, context.Canceled, 1, false, true},
	} {
		for kind, call := range map[string]testCall{"read": readCall, "write": writeCall} {
			t.Run(tc.what+", "+kind, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					srv := clienttest.New(t, clienttest.InProcess())
					if tc.script != nil {
						tc.script(srv.Expect(call.op))
					}
					ctx, cancel := tc.end(t.Context())
					defer cancel()
					start := time.Now()
					err := call.do(ctx, srv.Client())
					require.ErrorIs(t, err, tc.want)
					assert.Equal(t, !tc.response, isA[*client.TransportError](err),
						"%T: the last response is kept", err)
					assert.Equal(t, tc.attempts, infoOf(t, err).Attempts)
					assert.Equal(t, tc.doubtful && kind == "write", infoOf(t, err).OutcomeUnknown)
					if tc.doubtful && kind == "write" {
						assert.ErrorIs(t, err, client.ErrOutcomeUnknown)
					} else {
						assert.NotErrorIs(t, err, client.ErrOutcomeUnknown)
					}
					assert.LessOrEqual(t, time.Since(start), time.Second,
						"the call returns when the context ends")
				})
			})
		}
	}
}

func TestRetry_ContextThatEndsInBodyIsTheError(t *testing.T) {
	for kind, call := range map[string]testCall{"read": readCall, "write": writeCall} {
		t.Run(kind, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newSlowBodyClient(t, http.StatusOK, time.Second)
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				defer cancel()
				err := call.do(ctx, c)
				require.ErrorIs(t, err, context.DeadlineExceeded)
				assert.Equal(t, kind == "write", infoOf(t, err).OutcomeUnknown)
				assert.Equal(t, 1, infoOf(t, err).Attempts, "the call is not retried")
			})
		})
	}
}

func TestRetry_AttemptTimeoutHasSentinel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := clienttest.New(t, clienttest.InProcess())
		srv.Expect(writeCall.op).RespondExample().Delay(time.Hour)
		start := time.Now()
		err := writeCall.do(t.Context(),
			srv.Client(client.WithRetry(client.RetryPolicy{AttemptTimeout: 5 * time.Second})))
		require.ErrorIs(t, err, client.ErrOutcomeUnknown)
		require.ErrorIs(t, err, client.ErrAttemptTimeout)
		require.ErrorIs(t, err, context.DeadlineExceeded, "as timeouts of net/http are")
		assert.NotErrorIs(t, err, context.Canceled)
		assert.Equal(t, 5*time.Second, time.Since(start))
	})
}

func TestRetry_DeadlineIsNoAttemptTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := clienttest.New(t, clienttest.InProcess())
		srv.Expect(writeCall.op).RespondExample().Delay(time.Hour)
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		err := writeCall.do(ctx, srv.Client())
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.NotErrorIs(t, err, client.ErrAttemptTimeout)
	})
}

func TestRetry_EndsAfter30MinutesWithoutDeadline(t *testing.T) {
	for _, tc := range []struct {
		policy client.RetryPolicy
		script func(*clienttest.Expectation)
		why    string
	}{
		{client.RetryPolicy{MaxAttempts: 99, AttemptTimeout: 4 * time.Minute}, func(e *clienttest.Expectation) { e.RespondExample().Delay(time.Hour) }, "attempts"},
		{client.RetryPolicy{AttemptTimeout: 4 * time.Hour}, func(e *clienttest.Expectation) { e.RespondExample().Delay(5 * time.Hour) }, "one attempt"},
		{client.RetryPolicy{MaxAttempts: 99, MinDelay: 10 * time.Minute, MaxDelay: 10 * time.Minute}, func(e *clienttest.Expectation) { e.RespondError(503, "busy") }, "pauses"},
		{client.RetryPolicy{MaxAttempts: 99, MaxRetryAfter: time.Hour}, func(e *clienttest.Expectation) {
			e.RespondError(429, "slow down").Header("Retry-After", "960")
		}, "waiting after a 429"},
	} {
		synctest.Test(t, func(t *testing.T) {
			srv := clienttest.New(t, clienttest.InProcess())
			requests := 0
			c := srv.Client(client.WithRetry(tc.policy), withTransport(srv, func(inner http.RoundTripper) transportFunc {
				return func(r *http.Request) (*http.Response, error) {
					tc.script(srv.Expect(readCall.op))
					requests++
					return inner.RoundTrip(r)
				}
			}))
			start := time.Now()
			require.Error(t, readCall.do(t.Context(), c))
			assert.LessOrEqual(t, time.Since(start), 30*time.Minute, tc.why)
			assert.GreaterOrEqual(t, time.Since(start), 14*time.Minute,
				"the call is given its time: %s", tc.why)
		})
	}
}

// tokenOnceIn is a source that returns a token once in n times, beginning with the first.
func tokenOnceIn(n int, why error) client.Option {
	asked := 0
	return client.WithTokenSource(sourceFunc(func() (*oauth2.Token, error) {
		if asked++; asked%n == 1 {
			return &oauth2.Token{AccessToken: clienttest.Token}, nil
		}
		return nil, why
	}))
}

func TestRetry_RefusedRetryKeepsLastError(t *testing.T) {
	noToken := errors.New("the token endpoint is down")
	aDay := client.WithQuota(quota.Quota{RequestsPerDay: 1})
	overQuota, tokenless := isA[*quota.Error], func(err error) bool { return isA[*token.Error](err) && errors.Is(err, noToken) }
	responded := func(status int) func(*clienttest.Expectation) {
		return func(e *clienttest.Expectation) { e.RespondError(status, "not now") }
	}
	for _, tc := range []struct {
		what    string
		call    testCall
		first   func(*clienttest.Expectation)
		option  client.Option
		refusal func(error) bool
		before  func(error) bool
	}{
		{"quota after 503", readCall, responded(503), aDay, overQuota, isA[*client.APIError]},
		{"quota after 429", writeCall, responded(429), aDay, overQuota, isA[*client.APIError]},
		{"quota after a reset", readCall, func(e *clienttest.Expectation) { e.Disconnect(clienttest.BeforeHeaders, "reset") }, aDay, overQuota, isA[*client.TransportError]},
		{"quota after a cut body", readCall, func(e *clienttest.Expectation) { e.Disconnect(clienttest.MidBody, "cut") }, aDay, overQuota, isA[*client.DecodeError]},
		{"token after 503", readCall, responded(503), tokenOnceIn(100, noToken), tokenless, isA[*client.APIError]},
		{"token after 429", writeCall, responded(429), tokenOnceIn(100, noToken), tokenless, isA[*client.APIError]},
		{"token after a reset", readCall, func(e *clienttest.Expectation) { e.Disconnect(clienttest.BeforeHeaders, "reset") }, tokenOnceIn(100, noToken), tokenless, isA[*client.TransportError]},
	} {
		t.Run(tc.what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := clienttest.New(t, clienttest.InProcess())
				tc.first(srv.Expect(tc.call.op))
				var last client.Event
				c := srv.Client(tc.option, client.WithObserver(func(_ context.Context, e client.Event) { last = e }))
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				err := tc.call.do(ctx, c)

				assert.True(t, tc.before(err), "%T: %v", err, err)
				assert.True(t, tc.refusal(err), "%T: %v", err, err)
				assert.Equal(t, 1, infoOf(t, err).Attempts)
				assert.NotErrorIs(t, err, client.ErrOutcomeUnknown, "the write was not applied")
				assert.Equal(t, client.EventDone, last.Kind)
				assert.True(t, tc.refusal(last.Err), "the refusal is reported")
			})
		})
	}
}

func TestRetry_RefusedFirstAttemptHasItsErrorOnly(t *testing.T) {
	srv := clienttest.New(t, clienttest.InProcess())
	err := writeCall.do(t.Context(),
		srv.Client(client.WithTokenSource(sourceFunc(func() (*oauth2.Token, error) { return nil, errors.New("no disk") }))))
	require.True(t, isA[*token.Error](err), "%T", err)
	assert.False(t, isA[*client.APIError](err) || isA[*client.TransportError](err))
}

func TestRetry_UnsentWriteKeepsItsError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := clienttest.New(t, clienttest.InProcess())
		c := srv.Client(tokenOnceIn(100, errors.New("down")), withTransport(srv, func(http.RoundTripper) transportFunc {
			return func(*http.Request) (*http.Response, error) { return nil, syscall.ECONNREFUSED }
		}))
		err := writeCall.do(t.Context(), c)
		require.ErrorIs(t, err, syscall.ECONNREFUSED)
		require.True(t, isA[*token.Error](err), "%v", err)
		assert.NotErrorIs(t, err, client.ErrOutcomeUnknown)
	})
}
