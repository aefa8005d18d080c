package client_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/clienttest"
	"github.com/sellside-sdk/sellside-go/gen"
)

// noResponse is a middleware that returns neither a response nor an error, before or after the
// call.
func noResponse(sends bool) client.Middleware {
	return func(next client.Doer) client.Doer {
		return client.DoerFunc(func(r *http.Request) (*http.Response, error) {
			if sends {
				resp, err := next.Do(r)
				if err != nil {
					return nil, err
				}
				_ = resp.Body.Close()
			}
			return nil, nil
		})
	}
}

func TestMiddleware_WithoutResponseIsTransportError(t *testing.T) {
	rawWrite := testCall{writeCall.op, func(ctx context.Context, c *client.Client) error {
		_, err := c.Raw().CreateListing(ctx, gen.CreateListingRequest{VariantID: "8f4d2c4e", Amount: "162"}) //nolint:bodyclose // there is no response
		return err
	}}
	rawRead := testCall{readCall.op, func(ctx context.Context, c *client.Client) error {
		_, err := c.Raw().GetListing(ctx, listingID) //nolint:bodyclose // there is no response
		return err
	}}
	for _, tc := range []struct {
		call    testCall
		sends   bool
		unknown bool
		why     string
	}{
		{readCall, true, false, "a read changes nothing"},
		{readCall, false, false, "the read was not sent"},
		{writeCall, true, true, "a write that was sent may have been applied"},
		{writeCall, false, false, "the write was not sent"},
		{rawRead, true, false, "a raw read"},
		{rawWrite, true, true, "a raw write"},
		{rawWrite, false, true, "a raw write; whether it was sent is not known"},
	} {
		srv := clienttest.New(t, clienttest.InProcess())
		if tc.sends {
			srv.Expect(tc.call.op).RespondExample()
		}
		err := tc.call.do(t.Context(), srv.Client(client.WithMiddleware(passOn, noResponse(tc.sends))))
		var failed *client.TransportError
		require.ErrorAs(t, err, &failed, tc.why)
		assert.Equal(t, tc.unknown, failed.OutcomeUnknown, tc.why)
		if tc.unknown {
			assert.ErrorIs(t, err, client.ErrOutcomeUnknown, tc.why)
		}
	}
}

func TestMiddleware_ResponseMayLackBody(t *testing.T) {
	bare := func(client.Doer) client.Doer {
		return client.DoerFunc(func(r *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: http.StatusNotFound, Request: r}, nil
		})
	}
	c := clienttest.New(t, clienttest.InProcess()).Client(client.WithMiddleware(bare))
	for _, call := range []testCall{readCall, writeCall} {
		require.ErrorIs(t, call.do(t.Context(), c), client.ErrNotFound)
	}
}

// passOn is a middleware that does nothing.
func passOn(next client.Doer) client.Doer { return next }
