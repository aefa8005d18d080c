package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/clienttest"
	"github.com/sellside-sdk/sellside-go/client/quota"
	"github.com/sellside-sdk/sellside-go/gen"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The ids that the examples of the spec use.
const (
	listingID   = "98e2e748-8000-45bf-a624-5531d6a68318"
	operationID = "9b2f6b3e-6d64-4a4e-8f0f-4c7f0d9f7f3a"
	batchID     = "5ee0ab0e-2a2b-4a3e-9a46-bd8d4ee8c54f"
	productID   = "0c7b0a0e-5a0c-4a0b-9c39-4b1d7a6f9f10"
	variantID   = "8f4d2c4e-9d57-4a87-8a34-6b2f5d6d1e21"
	orderID     = "323314425-323214184"
)

// testCall is one of the two kinds of calls that the retry table distinguishes.
type testCall struct {
	op gen.OperationID
	do func(context.Context, *client.Client) error
}

var (
	readCall = testCall{gen.OpGetListing, func(ctx context.Context, c *client.Client) error {
		return failure(c.Listings.Get(ctx, listingID))
	}}
	writeCall = testCall{gen.OpCreateListing, func(ctx context.Context, c *client.Client) error {
		return failure(c.Listings.Create(ctx, gen.CreateListingRequest{VariantID: variantID, Amount: "162"}))
	}}
)

// oneAttempt turns retries off.
var oneAttempt = client.WithRetry(client.RetryPolicy{MaxAttempts: 1})

// twoAttempts is the policy of most tests over sockets: one retry shows whether calls are retried.
// A Retry-After of 7 s is longer than it allows, so that the response is returned at once.
func twoAttempts(attemptTimeout time.Duration) client.RetryPolicy {
	return client.RetryPolicy{
		MaxAttempts: 2, MinDelay: time.Millisecond, MaxDelay: time.Millisecond, MaxRetryAfter: time.Second, AttemptTimeout: attemptTimeout,
	}
}

// newClient returns a client of the service at an address. It has the credentials of package
// clienttest, no quota and short pauses; options replace these.
func newClient(t *testing.T, address string, opts ...client.Option) *client.Client {
	t.Helper()
	c, err := client.New(append([]client.Option{client.WithDefaults(
		client.WithBaseURL(address+"/v2"), client.WithAPIKey(clienttest.APIKey), client.WithToken(clienttest.Token),
		client.WithQuota(quota.Unlimited), client.WithRetry(client.RetryPolicy{MinDelay: time.Millisecond, MaxDelay: time.Millisecond}),
	)}, opts...)...)
	require.NoError(t, err)
	return c
}

// newServerClient returns a client of a server.
func newServerClient(t *testing.T, srv *httptest.Server, opts ...client.Option) *client.Client {
	t.Helper()
	return newClient(t, srv.URL, append([]client.Option{client.WithHTTPClient(srv.Client())}, opts...)...)
}

const fakeHost = "service.invalid"

// newTransportClient returns a client whose requests go to a transport.
func newTransportClient(t *testing.T, transport http.RoundTripper, opts ...client.Option) *client.Client {
	t.Helper()
	return newClient(t, "https://"+fakeHost, append([]client.Option{
		client.WithHTTPClient(&http.Client{Transport: transport}),
	}, opts...)...)
}

// canned is a response of a fake service. Status 0 stands for a connection that breaks.
type canned struct {
	status     int
	retryAfter string
	header     http.Header
	body       string
}

func (c canned) response(r *http.Request) (*http.Response, error) {
	if c.status == 0 {
		return nil, io.ErrUnexpectedEOF
	}
	header := c.header.Clone()
	if header == nil {
		header = http.Header{}
	}
	if c.retryAfter != "" {
		header.Set("Retry-After", c.retryAfter)
	}
	return &http.Response{
		StatusCode: c.status, Header: header, Body: io.NopCloser(strings.NewReader(c.body)), ContentLength: -1,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r,
	}, nil
}

// newCannedClient returns a client without a socket, for thousands of calls. It waits at most a
// millisecond between two attempts.
func newCannedClient(t *testing.T, respond func(*http.Request) canned, opts ...client.Option) *client.Client {
	t.Helper()
	return newTransportClient(t, transportFunc(func(r *http.Request) (*http.Response, error) {
		if trace := httptrace.ContextClientTrace(r.Context()); trace != nil && trace.WroteHeaders != nil {
			trace.WroteHeaders()
		}
		return respond(r).response(r)
	}), append([]client.Option{client.WithRetry(client.RetryPolicy{
		MaxAttempts: 2, MinDelay: 1, MaxDelay: 1, MaxRetryAfter: time.Millisecond,
	})}, opts...)...)
}

// transportFunc is a transport of one function.
type transportFunc func(*http.Request) (*http.Response, error)

// RoundTrip implements [http.RoundTripper].
func (f transportFunc) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// withTransport puts a transport around that of a server.
func withTransport(srv *clienttest.Server, wrap func(inner http.RoundTripper) transportFunc) client.Option {
	return client.WithHTTPClient(&http.Client{Transport: wrap(srv.HTTPClient().Transport)})
}

// isA reports whether there is an E in the tree of err.
func isA[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// infoOf finds the CallInfo of an error.
func infoOf(t *testing.T, err error) client.CallInfo {
	t.Helper()
	if e, ok := errors.AsType[*client.APIError](err); ok {
		return e.CallInfo
	}
	if e, ok := errors.AsType[*client.TransportError](err); ok {
		return e.CallInfo
	}
	e, ok := errors.AsType[*client.DecodeError](err)
	require.True(t, ok, "%T: %v", err, err)
	return e.CallInfo
}

// clock records when requests arrive.
type clock struct {
	mu sync.Mutex
	at []time.Time
}

// tick is for Expectation.Check.
func (c *clock) tick(testing.TB, *http.Request, []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = append(c.at, time.Now())
}

// pauses returns the times between the requests.
func (c *clock) pauses() []time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	var between []time.Duration
	for i := 1; i < len(c.at); i++ {
		between = append(between, c.at[i].Sub(c.at[i-1]))
	}
	return between
}

// failure returns the error of a call. A call without an error must return a value.
func failure[T any](value T, err error) error {
	if v := reflect.ValueOf(value); err == nil && v.Kind() == reflect.Pointer && v.IsNil() {
		return errNothing
	}
	return err
}

var errNothing = errors.New("the call returned neither a value nor an error")

// requestOf is the example of an operation's body in the spec.
func requestOf[T any](t *testing.T, op gen.OperationID) (body T) {
	t.Helper()
	require.NoError(t, json.Unmarshal(clienttest.RequestExampleOf(op), &body))
	return body
}

func mustMarshal(t *testing.T, v any) []byte {
	t.Helper()
	data, err := json.Marshal(v)
	require.NoError(t, err)
	return data
}
