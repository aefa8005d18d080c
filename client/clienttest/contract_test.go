package clienttest_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client/clienttest"
	"github.com/sellside-sdk/sellside-go/gen"
)

func TestExampleOf_EveryOperationHasValidExamples(t *testing.T) {
	for _, op := range gen.Operations() {
		t.Run(string(op.ID), func(t *testing.T) {
			tb := &fakeTB{TB: t}
			clienttest.New(tb).Expect(op.ID).RespondExample()
			require.Empty(t, tb.failures)
			require.Len(t, tb.end(), 1, "the unmet expectation")

			if op.ID != gen.OpGetShippingDocument {
				assert.True(t, json.Valid(clienttest.ExampleOf(op.ID)))
			}
			body := clienttest.RequestExampleOf(op.ID)
			hasNone := op.Method == http.MethodGet || op.Method == http.MethodDelete || op.ID == gen.OpDeactivateListing
			assert.Equal(t, hasNone, body == nil, "%s", body)
		})
	}
	assert.Panics(t, func() { clienttest.ExampleOf("SellEverything") })
}

func TestServer_RefusesRequestsThatBreakTheSpec(t *testing.T) {
	for _, tc := range []struct {
		name               string
		op                 gen.OperationID
		method, path, body string
		change             func(http.Header)
		want               []string
	}{
		{
			"no api key", gen.OpGetListing, http.MethodGet, listing, "",
			func(h http.Header) { h.Del("X-Api-Key") },
			[]string{"header x-api-key is missing"},
		},
		{
			"no token", gen.OpGetListing, http.MethodGet, listing, "",
			func(h http.Header) { h.Del("Authorization") },
			[]string{"header Authorization has no bearer token"},
		},
		{
			"an empty token", gen.OpGetListing, http.MethodGet, listing, "",
			func(h http.Header) { h.Set("Authorization", "Bearer ") },
			[]string{"header Authorization has no bearer token"},
		},
		{
			"a page size out of bounds", gen.OpListListings, http.MethodGet, "/selling/listings?pageSize=101", "",
			nil,
			[]string{"pageSize", "100"},
		},
		{
			"a missing required parameter", gen.OpSearchProducts, http.MethodGet, "/catalog/search", "",
			nil,
			[]string{"query", "required"},
		},
		{
			"an unknown parameter", gen.OpListListings, http.MethodGet, "/selling/listings?page=2", "",
			nil,
			[]string{`query parameter "page" is not in the spec`},
		},
		{
			"a parameter sent twice", gen.OpListListings, http.MethodGet, "/selling/listings?batchIds=a&batchIds=b", "",
			nil,
			[]string{`query parameter "batchIds" is sent 2 times`},
		},
		{
			"a member of the wrong kind", gen.OpCreateListing, http.MethodPost, "/selling/listings",
			`{"amount":162,"variantId":"8f4d2c4e"}`, nil,
			[]string{"/amount: value must be a string"},
		},
		{
			"a missing required member", gen.OpCreateListing, http.MethodPost, "/selling/listings",
			`{"amount":"162"}`, nil,
			[]string{`property "variantId" is missing`},
		},
		{
			"a member that the schema forbids", gen.OpCreateListingsBatch, http.MethodPost, "/selling/batch/create-listing",
			`{"items":[],"dryRun":true}`, nil,
			[]string{`property "dryRun" is unsupported`},
		},
		{
			"a currency that listings cannot have", gen.OpCreateListingsBatch, http.MethodPost, "/selling/batch/create-listing",
			`{"items":[{"variantId":"8f4d2c4e","amount":"162","quantity":1,"currencyCode":"XXX"}]}`, nil,
			[]string{"/items/0/currencyCode: doesn't match schema due to: value is not one of the allowed values"},
		},
		{
			"a missing body", gen.OpActivateListing, http.MethodPut, listing + "/activate", "", nil,
			[]string{"value is required but missing"},
		},
		{
			"a body of an operation without one", gen.OpDeactivateListing, http.MethodPut, listing + "/deactivate", "{}", nil,
			[]string{"request body not allowed"},
		},
		{
			"a body of another media type", gen.OpUpdateListing, http.MethodPatch, listing, `{}`,
			func(h http.Header) { h.Set("Content-Type", "text/plain") },
			[]string{`Content-Type has unexpected value "text/plain"`},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tb := &fakeTB{TB: t}
			srv := clienttest.New(tb)
			srv.Expect(tc.op).RespondExample()
			r := request(t, srv, tc.method, tc.path, tc.body)
			if tc.change != nil {
				tc.change(r.Header)
			}

			got := send(t, srv, r)

			assert.Equal(t, http.StatusNotImplemented, got.status)
			failures := tb.end()
			require.Len(t, failures, 1, "one failure: the expectation counts as met")
			for _, want := range tc.want {
				assert.Contains(t, failures[0], want)
			}
			assert.NotContains(t, failures[0], clienttest.Token)
			assert.NotContains(t, failures[0], "\n", "one line")
		})
	}
}

func TestRespond_ChecksTheResponseAtOnce(t *testing.T) {
	batch := func(change string) string {
		return `{"batchId":"5ee0ab0e-2a2b-4a3e-9a46-bd8d4ee8c54f","status":"QUEUED","completedAt":null,` +
			`"createdAt":"2026-11-02T09:14:05.812Z","updatedAt":"2026-11-02T09:14:05.812Z","totalItems":1,"itemStatuses":{}` + change + `}`
	}
	var paused gen.ListingOperation
	require.NoError(t, json.Unmarshal(clienttest.ExampleOf(gen.OpGetListingOperation), &paused))
	paused.OperationStatus = "PAUSED"
	for _, tc := range []struct {
		name   string
		op     gen.OperationID
		status int
		body   any
		want   string // A part of the failure, empty if the response is valid.
	}{
		{"a declared error", gen.OpGetListing, 404, gen.PublicAPIError{StatusCode: 404, Message: "gone"}, ""},
		{"an error under default", gen.OpGetListing, 429, gen.PublicAPIError{StatusCode: 429, Message: "slow down"}, ""},
		{"an error whose body has another status", gen.OpGetListing, 502, gen.PublicAPIError{StatusCode: 500, Message: "broken"}, ""},
		{"JSON text", gen.OpGetCreateListingsBatch, 200, batch(""), ""},
		{"JSON bytes", gen.OpGetCreateListingsBatch, 200, []byte(batch("")), ""},
		{"raw JSON", gen.OpGetCreateListingsBatch, 200, json.RawMessage(batch("")), ""},
		{"an unknown status", gen.OpGetListingOperation, 200, paused, ""},
		{"an unknown member", gen.OpGetProduct, 200, `{"productId":"1","weight":3}`, ""},
		{"an empty bare list", gen.OpListVariants, 200, "[]", ""},
		{"a document", gen.OpGetShippingDocument, 200, []byte("%PDF-1.4 not a JSON text"), ""},

		{"another success", gen.OpGetListing, 201, clienttest.ExampleOf(gen.OpGetListing), "status 201 is not declared"},
		{"a redirect", gen.OpGetListing, 302, "{}", "status 302 is not declared"},
		{"an error of another shape", gen.OpGetListing, 500, `{"error":"broken"}`, `property "message" is missing`},
		{"an error with a surplus member", gen.OpGetListing, 500, `{"statusCode":500,"message":"m","code":7}`, `property "code" is unsupported`},
		{"an error that is not JSON", gen.OpGetListing, 503, "<html>", "failed to decode response body"},
		{"a member that the schema forbids", gen.OpGetCreateListingsBatch, 200, batch(`,"owner":"me"`), `property "owner" is unsupported`},
		{"missing required members", gen.OpGetListing, 200, "{}", `property "listingId" is missing`},
		{"a member of the wrong kind", gen.OpGetProduct, 200, `{"productId":1}`, "/productId: value must be a string"},
		{"no body", gen.OpGetListing, 200, nil, "not nullable"},
		{"a value that cannot be marshalled", gen.OpGetListing, 200, func() {}, "marshal body"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tb := &fakeTB{TB: t}
			clienttest.New(tb).Expect(tc.op).Respond(tc.status, tc.body)
			failures := tb.failures
			_ = tb.end()
			if tc.want == "" {
				assert.Empty(t, failures)
				return
			}
			require.Len(t, failures, 1)
			assert.Contains(t, failures[0], tc.want)
			assert.NotContains(t, failures[0], "\n", "one line")
		})
	}
}
