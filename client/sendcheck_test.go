package client_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/quota"
)

// receiver is a service that counts requests by whether they arrived whole.
type receiver struct {
	address       string
	transport     http.RoundTripper
	dial          func() // Runs before each connection.
	whole, broken atomic.Int32
}

func (s *receiver) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if _, err := io.ReadAll(r.Body); err != nil {
		s.broken.Add(1)
		return
	}
	s.whole.Add(1)
	serveExample(w, r)
}

// client returns a client with a quota of one request a day.
func (s *receiver) client(t *testing.T, opts ...client.Option) *client.Client {
	t.Helper()
	return newClient(t, s.address, append([]client.Option{
		client.WithHTTPClient(&http.Client{Transport: s.transport}), client.WithQuota(quota.Quota{RequestsPerDay: 1}),
	}, opts...)...)
}

// requireFree fails the test unless the client's whole quota is left.
func requireFree(t *testing.T, c *client.Client) {
	t.Helper()
	states, err := c.RemainingQuota(t.Context())
	require.NoError(t, err)
	for _, state := range states {
		require.Zero(t, state.Used, "%s", state.Window)
	}
}

// withoutTrace hides the requests of a transport from httptrace.
func withoutTrace(inner http.RoundTripper) http.RoundTripper {
	return transportFunc(func(r *http.Request) (*http.Response, error) {
		ctx, cancel := context.WithCancel(context.Background())
		context.AfterFunc(r.Context(), cancel)
		return inner.RoundTrip(r.WithContext(ctx))
	})
}

// overAll runs a test over every kind of transport, each in a bubble.
func overAll(t *testing.T, test func(t *testing.T, s *receiver)) {
	t.Helper()
	for _, tc := range []struct {
		name       string
		tls, http2 bool
		wrap       func(http.RoundTripper) http.RoundTripper
	}{
		{name: "HTTP1"},
		{name: "HTTP1OverTLS", tls: true},
		{name: "HTTP2", tls: true, http2: true},
		{name: "WithoutTrace", wrap: withoutTrace},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &receiver{dial: func() {}}
				service := startPipeService(t, tc.tls, s.ServeHTTP)
				transport := service.transport()
				transport.ForceAttemptHTTP2 = tc.http2
				t.Cleanup(transport.CloseIdleConnections)
				connect := transport.DialContext
				transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
					s.dial()
					return connect(ctx, network, address)
				}
				s.address, s.transport = service.URL, transport
				if tc.wrap != nil {
					s.transport = tc.wrap(transport)
				}
				test(t, s)
			})
		})
	}
}

var errFenced = errors.New("another process has a higher fencing number")

// TestWithSendCheck_RefusalProvesNothingWasSent lets every run of the check be the first that fails.
func TestWithSendCheck_RefusalProvesNothingWasSent(t *testing.T) {
	for what, call := range map[string]testCall{"a read": readCall, "a write": writeCall} {
		t.Run(what, func(t *testing.T) {
			overAll(t, func(t *testing.T, s *receiver) {
				for passes := int32(0); ; passes++ {
					require.Less(t, passes, int32(20), "a call has few checks")
					c := s.client(t, oneAttempt)
					var runs atomic.Int32
					ctx := client.WithSendCheck(t.Context(), func() error {
						if runs.Add(1) > passes {
							return errFenced
						}
						return nil
					})
					err := call.do(ctx, c)
					synctest.Wait()
					if err == nil {
						assert.GreaterOrEqual(t, passes, int32(2), "before the quota and before the connection at least")
						assert.Equal(t, int32(1), s.whole.Load())
						return
					}
					require.ErrorIs(t, err, errFenced)
					require.Zero(t, s.whole.Load(), "refused after %d checks: %v", passes, err)
					if refused, ok := errors.AsType[*client.SendCheckError](err); ok {
						require.Equal(t, call.op, refused.Operation)
						require.False(t, client.IsTransient(err))
						require.NotErrorIs(t, err, client.ErrOutcomeUnknown)
						require.Zero(t, s.broken.Load(), "not even headers arrived")
						requireFree(t, c)
						continue
					}
					require.ErrorIs(t, err, client.ErrOutcomeUnknown, "the headers were sent before the body was refused")
					require.Equal(t, writeCall.op, call.op)
				}
			})
		})
	}
}

func TestWithSendCheck_IsCheckedForBothKindsOfConnections(t *testing.T) {
	overAll(t, func(t *testing.T, s *receiver) {
		c := s.client(t, client.WithQuota(quota.Unlimited))
		require.NoError(t, writeCall.do(t.Context(), c))
		s.dial = func() { t.Error("the connection is reused") }
		require.NoError(t, writeCall.do(t.Context(), c))
	})
}

func TestWithNotAfter_ChecksOnceThereIsAConnection(t *testing.T) {
	overAll(t, func(t *testing.T, s *receiver) {
		c := s.client(t)
		s.dial = func() { <-time.After(10 * time.Second) }
		err := writeCall.do(client.WithNotAfter(t.Context(), time.Now().Add(5*time.Second)), c)
		synctest.Wait()
		require.ErrorIs(t, err, client.ErrTooLate)
		require.Zero(t, s.whole.Load())
		if isA[*client.SendCheckError](err) {
			require.NotErrorIs(t, err, client.ErrOutcomeUnknown)
			requireFree(t, c)
		} else { // its transport reports no connection, so only the body was checked in time
			require.ErrorIs(t, err, client.ErrOutcomeUnknown)
			require.Equal(t, int32(1), s.broken.Load())
			c = s.client(t)
		}
		s.dial = func() {}
		require.NoError(t, writeCall.do(client.WithNotAfter(t.Context(), time.Now()), c), "the time itself is not after it")
	})
}

func TestWithNotAfter_DoesNotEndACallThatWasSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCannedClient(t, func(*http.Request) canned {
			<-time.After(10 * time.Second)
			return canned{status: http.StatusOK, body: `{"listingId":"` + listingID + `","operationId":"` + operationID + `"}`}
		})
		require.NoError(t, writeCall.do(client.WithNotAfter(t.Context(), time.Now().Add(time.Second)), c))
	})
}

func TestWithNotAfter_IsCheckedAfterTheQuota(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sent := 0
		c := newCannedClient(t, func(*http.Request) canned {
			sent++
			return canned{status: http.StatusOK, body: `{"listingId":"` + listingID + `"}`}
		}, client.WithQuota(quota.Quota{RequestsPerDay: 1}))
		require.NoError(t, readCall.do(t.Context(), c))
		err := writeCall.do(client.WithNotAfter(t.Context(), time.Now().Add(time.Hour)), c)
		require.ErrorIs(t, err, client.ErrTooLate)
		assert.Equal(t, 1, sent)
		requireFree(t, c)
	})
}

func TestWithNotAfter_EndsRetries(t *testing.T) {
	for _, tc := range []struct {
		status  int
		want    error
		unknown bool
		why     string
	}{
		{http.StatusTooManyRequests, client.ErrRateLimited, false, "refused, so nothing was applied"},
		{http.StatusServiceUnavailable, client.ErrServer, true, "never retried, so not checked again"},
	} {
		synctest.Test(t, func(t *testing.T) {
			sent := 0
			c := newCannedClient(t, func(*http.Request) canned {
				sent++
				return canned{status: tc.status, retryAfter: "10"}
			}, client.WithRetry(client.RetryPolicy{MaxAttempts: 4}))
			err := writeCall.do(client.WithNotAfter(t.Context(), time.Now().Add(5*time.Second)), c)
			assert.Equal(t, 1, sent, tc.why)
			require.ErrorIs(t, err, tc.want, tc.why)
			assert.Equal(t, tc.unknown, errors.Is(err, client.ErrOutcomeUnknown), tc.why)
			assert.Equal(t, !tc.unknown, isA[*client.SendCheckError](err), tc.why)
			assert.Equal(t, 1, infoOf(t, err).Attempts, tc.why)
		})
	}
}

func TestWithSendCheck_Composes(t *testing.T) {
	errPanic, list := errors.New("any"), []error{}
	pass, fail := func() error { return nil }, func() error { return errFenced }
	late := func(ctx context.Context) context.Context { return client.WithNotAfter(ctx, time.Unix(1, 0)) }
	check := func(check func() error) func(context.Context) context.Context {
		return func(ctx context.Context) context.Context { return client.WithSendCheck(ctx, check) }
	}
	for _, tc := range []struct {
		layers []func(context.Context) context.Context
		want   error
		why    string
	}{
		{[]func(context.Context) context.Context{check(nil), check(pass)}, nil, "a nil check has no effect"},
		{[]func(context.Context) context.Context{func(ctx context.Context) context.Context {
			return client.WithNotAfter(ctx, time.Time{})
		}}, nil, "the zero time is no limit"},
		{[]func(context.Context) context.Context{check(fail), check(pass)}, errFenced, "an inner check does not replace an outer one"},
		{[]func(context.Context) context.Context{late, check(fail)}, client.ErrTooLate, "the outer check runs first"},
		{[]func(context.Context) context.Context{check(fail), late}, errFenced, "the outer check runs first"},
		{[]func(context.Context) context.Context{late, func(ctx context.Context) context.Context {
			return client.WithNotAfter(ctx, time.Now().Add(time.Hour))
		}}, client.ErrTooLate, "the earliest time counts"},
		{[]func(context.Context) context.Context{check(func() error { panic("secret") })}, errPanic, "a panic refuses"},
		{[]func(context.Context) context.Context{check(func() error { return list[len(list)] })}, errPanic, "so does the runtime's"},
	} {
		sent := 0
		c := newCannedClient(t, func(*http.Request) canned {
			sent++
			return canned{status: http.StatusOK, body: `{"listingId":"` + listingID + `","operationId":"` + operationID + `"}`}
		})
		ctx := t.Context()
		for _, layer := range tc.layers {
			ctx = layer(ctx) //nolint:fatcontext // the layers are what is tested
		}
		for _, err := range []error{writeCall.do(ctx, c), rawGet(ctx, c)} {
			switch {
			case tc.want == nil:
				require.NoError(t, err, tc.why)
				continue
			case tc.want != errPanic: //nolint:errorlint // the marker itself
				require.ErrorIs(t, err, tc.want, tc.why)
			}
			assert.True(t, isA[*client.SendCheckError](err), tc.why)
			assert.NotContains(t, err.Error(), "secret", tc.why)
			assert.Zero(t, sent, tc.why)
		}
	}
}

func rawGet(ctx context.Context, c *client.Client) error {
	resp, err := c.Raw().GetListing(ctx, listingID)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}
