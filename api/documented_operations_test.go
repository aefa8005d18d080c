package api_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	currency  = "string of AUD CAD CHF EUR GBP HKD JPY KRW MXN NZD SGD USD"
	inventory = "string of STANDARD DIRECT"
)

// documentedOperations transcribes the endpoint tables of the service's document. The spec may add
// to them, but the additions are public or assumed.
var documentedOperations = []struct {
	key      string
	query    map[string]string
	response string // The schema of status 200.
	errors   string
	why      string
}{
	{
		"GET /selling/listings",
		map[string]string{
			"pageNumber": "integer", "pageSize": "integer",
			"productIds": "string", "variantIds": "string", "batchIds": "string",
			"listingStatuses": "string", "inventoryTypes": "string", "fromDate": "string", "toDate": "string",
		},
		"ListingPage", "400 401 500", "no bounds are stated for this list: those in the spec are public",
	},
	{"GET /selling/listings/{listingId}", nil, "Listing", "400 401 404 500", ""},
	{"DELETE /selling/listings/{listingId}", nil, "ListingOperation", "400 401 500", "no 404 is declared, though one can occur"},
	{"PUT /selling/listings/{listingId}/deactivate", nil, "ListingOperation", "400 401 404 500", "it takes no body"},
	{
		"GET /selling/listings/{listingId}/operations",
		map[string]string{"pageSize": "integer", "cursor": "string"},
		"ListingOperationPage", "400 401 500", "a cursor takes the place of a page number",
	},
	{"GET /selling/listings/{listingId}/operations/{operationId}", nil, "ListingOperation", "400 401 404 500", ""},

	{"GET /selling/batch/create-listing/{batchId}", nil, "Batch", "401 500", "no 404 is declared for an unknown batch"},
	{
		"GET /selling/batch/create-listing/{batchId}/items",
		map[string]string{"status": "string"},
		"CreateBatchItemList", "401 500", "the filter is a free string: item statuses are an open set",
	},
	{"GET /selling/batch/delete-listing/{batchId}", nil, "Batch", "401 500", "all batches share one shape"},
	{
		"GET /selling/batch/delete-listing/{batchId}/items",
		map[string]string{"status": "string"},
		"DeleteBatchItemList", "401 500", "",
	},
	{"GET /selling/batch/update-listing/{batchId}", nil, "Batch", "401 500", "its items endpoint is not documented"},

	{"GET /selling/orders/{orderNumber}", nil, "Order", "401 500", "no 404 is declared for an unknown order"},
	{
		"GET /selling/orders/history",
		map[string]string{
			"fromDate": "string date", "toDate": "string date",
			"pageNumber": "integer int32 1.. default 1", "pageSize": "integer int32 1..100 default 10",
			"orderStatus": "string of AUTHFAILED DIDNOTSHIP CANCELED COMPLETED RETURNED",
			"productId":   "string", "variantId": "string",
		},
		"OrderPage", "400 401 500", "dates are YYYY-MM-DD, and only this filter's statuses are a closed set",
	},

	{
		"GET /catalog/search",
		map[string]string{
			"query":      "required string 1..100 characters",
			"pageNumber": "integer int32 1.. default 1", "pageSize": "integer int32 1..50",
		},
		"ProductPage", "401 500", "half the page size of the order lists, and no default for it",
	},
	{"GET /catalog/products/{productId}", nil, "Product", "401 404 500", ""},
	{
		"GET /catalog/products/{productId}/variants/{variantId}/market-data",
		map[string]string{"currencyCode": currency + " default USD", "country": "deprecated string"},
		"MarketData", "401 500", "the 400 of live services is public",
	},
}

func TestDocumentedOperations_MatchDocument(t *testing.T) {
	spec := operations(load(t))
	for _, want := range documentedOperations {
		op, ok := spec[want.key]
		if !assert.True(t, ok, want.key) {
			continue
		}
		assert.Equal(t, "documented", provenance(op.Extensions, ""), want.key)
		assert.Nil(t, op.RequestBody, "%s: no documented operation takes a body", want.key)
		assert.Equal(t, want.query, documentedQuery(op), "%s: %s", want.key, want.why)
		assert.Equal(t, want.errors, documentedErrors(t, op), "%s: %s", want.key, want.why)
		require.NotNil(t, op.Responses.Value("200"), want.key)
		response := op.Responses.Value("200").Value.Content["application/json"].Schema
		assert.Equal(t, want.response, strings.TrimPrefix(response.Ref, "#/components/schemas/"), want.key)
	}
}

func TestDocumentedOperations_AreAllTranscribed(t *testing.T) {
	documented := 0
	for _, op := range operations(load(t)) {
		if provenance(op.Extensions, "") == "documented" {
			documented++
		}
	}
	assert.Len(t, documentedOperations, documented)
}

// documentedQuery describes the query parameters that are documented by the spec. If the schema of
// one is not documented, it describes the type only.
func documentedQuery(op operation) map[string]string {
	var found map[string]string
	for _, ref := range op.Parameters {
		inherited := provenance(op.Extensions, "")
		if ref.Ref != "" {
			inherited = ""
		}
		p := ref.Value
		level := provenance(p.Extensions, inherited)
		if p.In != openapi3.ParameterInQuery || level != "documented" {
			continue
		}
		text := describe(p.Schema)
		if provenance(p.Schema.Value.Extensions, level) != "documented" && p.Schema.Ref == "" {
			text, _, _ = strings.Cut(text, " ")
		}
		if p.Required {
			text = "required " + text
		}
		if p.Deprecated {
			text = "deprecated " + text
		}
		if found == nil {
			found = map[string]string{}
		}
		found[p.Name] = text
	}
	return found
}

func documentedErrors(t *testing.T, op operation) string {
	t.Helper()
	var statuses []string
	for status, ref := range op.Responses.Map() {
		require.False(t, strings.HasPrefix(status, "2") && status != "200", "documented success is 200")
		if status != "200" && provenance(ref.Value.Extensions, "") == "documented" {
			statuses = append(statuses, status)
		}
	}
	slices.Sort(statuses)
	return strings.Join(statuses, " ")
}
