package client_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/clienttest"
	"github.com/sellside-sdk/sellside-go/gen"
	"github.com/sellside-sdk/sellside-go/internal/faultproxy"
)

// meetFault makes the typed call of every operation meet a fault: once, so that a repeated call succeeds, and
// each time, so that its error is seen. The calls of a stalling row wait together, not one after the other.
func meetFault(t *testing.T, row wireRow) {
	t.Helper()
	calls := wholeCalls(t)
	var wg sync.WaitGroup
	for _, op := range gen.Operations() {
		want := row.write
		switch {
		case op.ID == gen.OpGetShippingDocument && row.streamed != nil:
			want = *row.streamed
		case op.RetrySafe:
			want = row.read
		}
		for _, times := range []int{1, 2} {
			meet := func() { assertOnTheWire(t, op, calls[op.ID], row.fault, times, want) }
			if row.fault.Kind == faultproxy.Stall {
				wg.Go(meet)
			} else {
				meet()
			}
		}
	}
	wg.Wait()
}

func assertOnTheWire(t *testing.T, op gen.Operation, call func(context.Context, *client.Client) error, fault faultproxy.Fault, times int, want wireEnd) {
	t.Helper()
	var seen atomic.Int32
	p, err := faultproxy.Start(examples(), func(*http.Request) faultproxy.Fault {
		if int(seen.Add(1)) <= times {
			return fault
		}
		return faultproxy.Fault{}
	})
	if !assert.NoError(t, err) {
		return
	}
	defer p.Close()
	timeout := 30 * time.Second
	if fault.Kind == faultproxy.Stall {
		timeout = time.Second
	}
	c, done := wireClient(t, p.URL(), patience(timeout))
	defer done()

	err = call(t.Context(), c)

	sent := 1
	if want.retried {
		sent = 2
	}
	assert.Equal(t, sent, p.Requests(), "%s: requests on the wire", op.ID)
	if want.retried && times == 1 {
		assert.NoError(t, err, "%s: the second answer is whole", op.ID)
		return
	}
	if !assert.Error(t, err, op.ID) {
		return
	}
	assert.True(t, want.failure(err), "%s: %T: %v", op.ID, err, err)
	assert.Equal(t, want.unknown, errors.Is(err, client.ErrOutcomeUnknown), "%s: %v", op.ID, err)
	if answered, ok := errors.AsType[*client.APIError](err); ok {
		assert.Equal(t, client.CallInfo{Operation: op.ID, Method: op.Method, Route: op.Route, Attempts: sent, OutcomeUnknown: want.unknown}, answered.CallInfo)
		assert.Equal(t, fault.Status, answered.StatusCode, op.ID)
		assert.Equal(t, want.retryAfter, answered.RetryAfter, op.ID)
	}
}

// examples is the service as its spec's examples answer.
func examples() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		op, ok := gen.MatchOperation(r.Method, strings.TrimPrefix(r.URL.EscapedPath(), "/v2"))
		if !ok {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write(clienttest.ExampleOf(op.ID))
	})
}

// wireClient returns a client with connections of its own, and what closes them.
func wireClient(t *testing.T, serverURL string, policy client.RetryPolicy, opts ...client.Option) (*client.Client, func()) {
	t.Helper()
	transport := &http.Transport{MaxIdleConnsPerHost: 8}
	c, err := client.New(append([]client.Option{
		client.WithBaseURL(serverURL + "/v2"), client.WithAPIKey(clienttest.APIKey), client.WithToken(clienttest.Token),
		client.WithQuota(client.Unlimited), client.WithHTTPClient(&http.Client{Transport: transport}), client.WithRetry(policy),
	}, opts...)...)
	require.NoError(t, err)
	return c, transport.CloseIdleConnections
}

// wholeCalls is typedCalls with a document that is read to its end.
func wholeCalls(t *testing.T) map[gen.OperationID]func(context.Context, *client.Client) error {
	t.Helper()
	calls := typedCalls(t)
	calls[gen.OpGetShippingDocument] = func(ctx context.Context, c *client.Client) error {
		document, err := c.Orders.ShippingDocument(ctx, orderID, "SHP-2041")
		if err != nil {
			return err
		}
		defer document.Close()
		_, err = io.Copy(io.Discard, document)
		return err
	}
	return calls
}
