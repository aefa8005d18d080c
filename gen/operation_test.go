package gen_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/gen"
)

func TestOperations_AreThoseOfTheSpec(t *testing.T) {
	var want []gen.Operation
	for route, item := range spec(t).Paths.Map() {
		for method, op := range item.Operations() {
			require.Len(t, op.Tags, 1)
			want = append(want, gen.Operation{
				ID: gen.OperationID(op.OperationID), Method: method, Route: route, Tag: op.Tags[0],
				RetrySafe: op.Extensions["x-retry-safe"] == true,
			})
		}
	}
	assert.ElementsMatch(t, want, gen.Operations(), "run make generate")
}

func TestOperations_ReturnsACopy(t *testing.T) {
	gen.Operations()[0] = gen.Operation{}
	assert.NotEmpty(t, gen.Operations()[0].ID)
}

func TestLookupOperation_FindsOperationsOfTheSpecOnly(t *testing.T) {
	for _, op := range gen.Operations() {
		found, ok := gen.LookupOperation(op.ID)
		assert.True(t, ok, op.ID)
		assert.Equal(t, op, found)
	}
	for _, id := range []gen.OperationID{"", "getlisting", "GetListings"} {
		_, ok := gen.LookupOperation(id)
		assert.False(t, ok, "%q", id)
	}
}

func TestMatchOperation_FindsEveryRoute(t *testing.T) {
	for _, op := range gen.Operations() {
		for _, id := range []string{"98e2e748-8000-45bf-a624-5531d6a68318", "02-L0QT6MRVSG", "a%2Fb", "...", "%2e%2e.", "ä"} {
			found, ok := gen.MatchOperation(op.Method, fillRoute(op.Route, id))
			require.True(t, ok, "%s with id %s", op.ID, id)
			assert.Equal(t, op, found, id)
		}
	}
}

func TestMatchOperation_PrefersLiterals(t *testing.T) {
	for _, tc := range []struct {
		path string
		want gen.OperationID
		why  string
	}{
		{"/selling/orders/active", gen.OpListActiveOrders, "it is not an order number"},
		{"/selling/orders/history", gen.OpListOrderHistory, "it is not an order number"},
		{"/selling/orders/Active", gen.OpGetOrder, "the case of a path matters"},
		{"/selling/orders/active/shipping-document", gen.OpGetShippingDocuments, "no longer route has this literal"},
		{"/catalog/products/variants/gtins/0195866137516", gen.OpGetVariantByGTIN, "variants is not a product id"},
		{"/catalog/products/variants/variants/gtins", gen.OpGetVariant, "here the third segment is a product id"},
		{"/catalog/products/market-data", gen.OpGetProduct, "a literal of a longer route is an id in a shorter one"},
	} {
		op, ok := gen.MatchOperation(http.MethodGet, tc.path)
		assert.True(t, ok, tc.path)
		assert.Equal(t, tc.want, op.ID, "%s: %s", tc.path, tc.why)
	}
}

func TestMatchOperation_RefusesIDsThatReachAnotherRoute(t *testing.T) {
	for _, op := range gen.Operations() {
		if !strings.Contains(op.Route, "{") {
			continue
		}
		for _, id := range []string{"", ".", "..", "a/b"} {
			_, ok := gen.MatchOperation(op.Method, fillRoute(op.Route, id))
			assert.False(t, ok, "%s with id %q", op.ID, id)
		}
	}
}

func TestMatchOperation_RefusesUnknownRoutes(t *testing.T) {
	for _, tc := range []struct{ method, path, why string }{
		{http.MethodGet, "", "no path"},
		{http.MethodGet, "/", "the root has no operation"},
		{http.MethodGet, "/selling/listings/", "an id is missing"},
		{http.MethodGet, "//selling/listings", "an empty segment is a segment"},
		{http.MethodGet, "selling/listings", "paths begin with a slash"},
		{http.MethodGet, "/v2/selling/listings", "the path is the one below the base URL"},
		{http.MethodGet, "/selling/listings?pageNumber=1", "a query is not part of the path"},
		{http.MethodHead, "/selling/listings", "another method is another operation"},
		{"get", "/selling/listings", "methods are upper case"},
		{http.MethodDelete, "/selling/listings", "there is no operation that deletes all listings"},
		{http.MethodPost, "/selling/orders/active", "the route exists for another method"},
	} {
		_, ok := gen.MatchOperation(tc.method, tc.path)
		assert.False(t, ok, "%s %s: %s", tc.method, tc.path, tc.why)
	}
}
