package client_test

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/clienttest"
	"github.com/sellside-sdk/sellside-go/gen"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// aCall is one of the two kinds of calls that the retry table tells apart.
type aCall struct {
	op gen.OperationID
	do func(context.Context, *client.Client) error
}

var (
	aRead = aCall{gen.OpGetListing, func(ctx context.Context, c *client.Client) error {
		_, err := c.Listings.Get(ctx, "98e2e748-8000-45bf-a624-5531d6a68318")
		return err
	}}
	aWrite = aCall{gen.OpCreateListing, func(ctx context.Context, c *client.Client) error {
		_, err := c.Listings.Create(ctx, gen.CreateListingRequest{VariantID: "8f4d2c4e-9d57-4a87-8a34-6b2f5d6d1e21", Amount: "162"})
		return err
	}}
)

// brisk is a policy for tests that retry over real sockets, where every pause is real.
var brisk = client.WithRetry(client.RetryPolicy{MinDelay: time.Millisecond, MaxDelay: time.Millisecond})

// oneAttempt turns retries off.
var oneAttempt = client.WithRetry(client.RetryPolicy{MaxAttempts: 1})

// isA reports whether there is an E in the tree of err.
func isA[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// transportFunc is a transport of one function.
type transportFunc func(*http.Request) (*http.Response, error)

func (f transportFunc) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// withTransport puts a transport around that of a server.
func withTransport(srv *clienttest.Server, wrap func(inner http.RoundTripper) transportFunc) client.Option {
	return client.WithHTTPClient(&http.Client{Transport: wrap(srv.HTTPClient().Transport)})
}

// clock notes when requests arrive.
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
