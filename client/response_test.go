package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/clienttest"
	"github.com/sellside-sdk/sellside-go/gen"
)

// noResponses are bodies under status 200 that are no response to any operation.
func noResponses() map[string]string {
	return map[string]string{
		"a gateway that throttles":     `{"message":"Too many requests"}`,
		"the error body":               `{"statusCode":429,"message":"Rate limit exceeded"}`,
		"another error body":           `{"errors":[{"message":"slow down"}],"requestId":"7f3a"}`,
		"a problem of RFC 7807":        `{"type":"about:blank","title":"Too Many Requests","detail":"slow down"}`,
		"an object without members":    `{}`,
		"members of another operation": `{"data":{"listingId":"` + listingID + `","listings":[]}}`,
		"a bot filter's page":          "<!DOCTYPE html>\n<html><body>Checking your browser</body></html>",
		"a page without a doctype":     "<html>",
		"text":                         "Too many requests",
		"JSON text":                    `"Too many requests"`,
		"null":                         `null`,
		"nothing":                      ``,
		"white space":                  " \r\n",
	}
}

// TestResponse_IsNotAnyBodyUnder200 answers every operation with each of the bodies.
func TestResponse_IsNotAnyBodyUnder200(t *testing.T) {
	for why, body := range noResponses() {
		c := cannedClient(t, func(*http.Request) canned { return canned{status: 200, body: []byte(body)} })
		calls := typedCalls(t)
		for _, op := range gen.Operations() {
			err := calls[op.ID](t.Context(), c)

			failed, ok := errors.AsType[*client.DecodeError](err)
			if !assert.True(t, ok, "%s for %s: %v", why, op.ID, err) {
				continue
			}
			assert.Equal(t, 200, failed.StatusCode)
			assert.Equal(t, client.CallInfo{Operation: op.ID, Method: op.Method, Route: op.Route, Attempts: 1, OutcomeUnknown: !op.RetrySafe}, failed.CallInfo)
			assert.Equal(t, body, string(failed.Body), "%s for %s", why, op.ID)
			assert.Equal(t, !op.RetrySafe, errors.Is(err, client.ErrOutcomeUnknown), op.ID)
		}
	}
}

func TestResponse_ListsDoNotEndByABodyThatIsNoPage(t *testing.T) {
	for why, body := range noResponses() {
		c := cannedClient(t, func(*http.Request) canned { return canned{status: 200, body: []byte(body)} })
		for _, p := range pagedLists() {
			got, errs := collect(p.list(t.Context(), c))
			assert.Empty(t, got)
			if assert.Len(t, errs, 1, "%s for %s", why, p.op) {
				assert.True(t, isA[*client.DecodeError](errs[0]), "%s for %s: %v", why, p.op, errs[0])
			}
		}
	}
}

// objects are the operations that respond with one object whose id the caller knows, and the members that have it.
func objects() map[gen.OperationID][]string {
	return map[gen.OperationID][]string{
		gen.OpGetListing: {"listingId"}, gen.OpGetListingOperation: {"listingId", "operationId"},
		gen.OpUpdateListing: {"listingId"}, gen.OpDeleteListing: {"listingId"}, gen.OpActivateListing: {"listingId"}, gen.OpDeactivateListing: {"listingId"},
		gen.OpGetCreateListingsBatch: {"batchId"}, gen.OpGetUpdateListingsBatch: {"batchId"}, gen.OpGetDeleteListingsBatch: {"batchId"},
		gen.OpGetOrder: {"orderNumber"}, gen.OpGetProduct: {"productId"}, gen.OpGetVariant: {"variantId"}, gen.OpGetVariantMarketData: {"variantId"},
	}
}

func TestResponse_OfAnotherObjectIsRefused(t *testing.T) {
	calls := typedCalls(t)
	for op, members := range objects() {
		for _, member := range members {
			for _, tc := range []struct {
				change func(string) string
				ok     bool
				why    string
			}{
				{func(id string) string { return id }, true, "the id that was asked for"},
				{strings.ToUpper, true, "in another case"},
				{func(id string) string { return id[:len(id)-1] + "x" }, false, "another id"},
				{func(id string) string { return id + " " }, false, "a longer one"},
			} {
				body := edit(t, clienttest.ExampleOf(op), func(object map[string]any) { object[member] = tc.change(object[member].(string)) })
				c := cannedClient(t, func(*http.Request) canned { return canned{status: 200, body: body} })

				err := calls[op](t.Context(), c)

				assert.Equal(t, tc.ok, err == nil, "%s of %s: %s: %v", member, op, tc.why, err)
				assert.Equal(t, tc.ok, !isA[*client.DecodeError](err), "%s of %s: %v", member, op, err)
			}
		}
	}
}

// TestResponse_WhoseIDIsNotKnownBefore needs an id of any kind.
func TestResponse_WhoseIDIsNotKnownBefore(t *testing.T) {
	calls := typedCalls(t)
	for op, members := range map[gen.OperationID][]string{
		gen.OpCreateListing: {"listingId", "operationId"}, gen.OpUpdateListing: {"operationId"}, gen.OpIngestProducts: {"ingestionId"},
		gen.OpCreateListingsBatch: {"batchId"}, gen.OpUpdateListingsBatch: {"batchId"}, gen.OpDeleteListingsBatch: {"batchId"},
		gen.OpGetVariantByGTIN: {"variantId"},
	} {
		for _, member := range members {
			for id, ok := range map[any]bool{"any id": true, "": false, nil: false, 7: false} {
				body := edit(t, clienttest.ExampleOf(op), func(object map[string]any) { object[member] = id })
				c := cannedClient(t, func(*http.Request) canned { return canned{status: 200, body: body} })

				err := calls[op](t.Context(), c)

				assert.Equal(t, ok, err == nil, "%s of %s is %v: %v", member, op, id, err)
			}
		}
	}
}

func TestResponse_ElementsOfPagesMayLackAnything(t *testing.T) {
	calls := typedCalls(t)
	for op, body := range map[gen.OperationID]string{
		gen.OpListListings: `{"listings":[{},null],"hasNextPage":false}`, gen.OpListActiveOrders: `{"orders":[{}],"hasNextPage":false}`,
		gen.OpSearchProducts: `{"products":[{}],"hasNextPage":false}`, gen.OpListListingOperations: `{"operations":[{}],"nextCursor":null}`,
		gen.OpListCreateListingsBatchItems: `{"items":[{}]}`, gen.OpGetIngestion: `{"items":[{}]}`,
		gen.OpListVariants: `[{}]`, gen.OpListProductMarketData: `[{}]`,
	} {
		c := cannedClient(t, func(*http.Request) canned { return canned{status: 200, body: []byte(body)} })
		require.NoError(t, calls[op](t.Context(), c), op)
	}
}

func TestResponse_MarketDataNeedsOneKnownMember(t *testing.T) {
	for body, ok := range map[string]bool{
		`{"lowestAskAmount":null}`:        true,
		`{"flexMarketData":"none"}`:       true,
		`{"currencyCode":"USD","more":1}`: true,
		`{"more":{"lowestAskAmount":1}}`:  false,
	} {
		c := cannedClient(t, func(*http.Request) canned { return canned{status: 200, body: []byte(body)} })
		_, err := c.Catalog.GetMarketData(t.Context(), productID, variantID, "")
		assert.Equal(t, ok, err == nil, "%s: %v", body, err)
	}
}

func TestResponse_DocumentIsAPDF(t *testing.T) {
	for _, tc := range []struct {
		body, contentType string
		ok                bool
		why               string
	}{
		{"%PDF-1.7\n", "application/pdf", true, "a PDF"},
		{"%PDF-1.7\n", "text/html", true, "the Content-Type decides nothing"},
		{"%", "", true, "the first byte is enough, so that a document is not waited for"},
		{"\ufeff\n" + strings.Repeat(" ", 1000) + "%PDF-1.7\n", "", true, "its header may come late"},
		{strings.Repeat(" ", 1024) + "%PDF-1.7\n", "", false, "but not as late"},
		{"<html>%PDF</html>", "application/pdf", false, "a page"},
		{"", "application/pdf", false, "nothing"},
	} {
		c := cannedClient(t, func(*http.Request) canned {
			return canned{status: 200, header: http.Header{"Content-Type": {tc.contentType}}, body: []byte(tc.body)}
		})
		document, err := c.Orders.DownloadShippingDocument(t.Context(), orderID, "label")
		if !tc.ok {
			failed, isDecode := errors.AsType[*client.DecodeError](err)
			if assert.True(t, isDecode, "%s: %v", tc.why, err) {
				assert.Equal(t, tc.body[:min(len(tc.body), 1024)], string(failed.Body), tc.why)
			}
			continue
		}
		require.NoError(t, err, tc.why)
		got := make([]byte, len(tc.body))
		n, err := document.Read(got)
		require.NoError(t, err, tc.why)
		assert.Equal(t, tc.body, string(got[:n]), "every byte is there")
		require.NoError(t, document.Close())
	}
}

func TestResponse_TooManyElementsAreADecodeError(t *testing.T) {
	c := cannedClient(t, func(*http.Request) canned {
		return canned{status: 200, body: []byte(`{"listings":[` + strings.Repeat(`{},`, 50_000) + `{}],"hasNextPage":false}`)}
	})
	_, err := c.Listings.ListPage(t.Context(), client.ListingFilter{})
	failed, ok := errors.AsType[*client.DecodeError](err)
	require.True(t, ok, "%v", err)
	assert.Len(t, failed.Body, 64<<10, "the body of an error is bounded")
}

func TestResponse_DecodingEndsWithTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	c := cannedClient(t, func(*http.Request) canned {
		cancel() // After the request was sent: the fake transport hands the body through all the same.
		return canned{status: 200, body: []byte(`{"listings":[{"condition":"` + strings.Repeat("x", 1<<20) + `"}],"hasNextPage":false}`)}
	})
	_, err := c.Listings.ListPage(ctx, client.ListingFilter{})
	require.ErrorIs(t, err, context.Canceled)
}

// edit changes a JSON object.
func edit(t *testing.T, document []byte, change func(map[string]any)) []byte {
	t.Helper()
	var object map[string]any
	require.NoError(t, json.Unmarshal(document, &object))
	change(object)
	return mustMarshal(t, object)
}
