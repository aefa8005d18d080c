package sandbox_test

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/api"
)

// belongings are what the first account has.
type belongings struct{ listing, sold, operation, create, update, remove, order, ingestion string }

func own(t *testing.T, m *market) belongings {
	t.Helper()
	b := belongings{listing: m.sell("200"), sold: m.sell("300")}
	b.operation = m.get("/selling/listings/%s", b.listing).text("lastOperation", "operationId")
	b.create = m.batch("create-listing", map[string]any{"variantId": chicago(t), "amount": "250", "quantity": 2})
	b.update = m.batch("update-listing", map[string]any{"listingId": b.listing, "amount": "260"})
	b.remove = m.batch("delete-listing", map[string]any{"listingId": "x"})
	var err error
	b.order, err = m.Buy(t.Context(), b.sold)
	require.NoError(t, err)
	ingestion := m.call(http.MethodPost, "/catalog/ingestion", map[string]any{"items": []any{map[string]any{
		"category": "sneakers", "productTitle": "A Shoe", "brand": "A Brand", "productImages": []any{"https://images.example.com/1.png"},
		"variants": []any{map[string]any{"size": "10"}}, "retailPrice": 100, "releaseDate": "2026-01-01", "countryOfOrigin": "CN",
		"colorway": "White", "gtin": "036000291452", "gender": "men", "styleCode": "AB1234-100",
	}}})
	require.Equal(t, http.StatusCreated, ingestion.status, "%v", ingestion.body)
	b.ingestion = ingestion.text("ingestionId")
	m.settle()
	return b
}

// all is everything that can be read of them.
func (b belongings) all(m *market) []string {
	m.t.Helper()
	var texts []string
	for _, path := range []string{
		"/selling/listings/" + b.listing, "/selling/listings/" + b.sold, "/selling/listings/" + b.listing + "/operations",
		b.create, b.create + "/items", b.update, b.update + "/items", b.remove, b.remove + "/items",
		"/selling/orders/" + b.order, "/catalog/ingestion/" + b.ingestion, "/selling/listings?pageSize=100", "/selling/orders/active",
	} {
		w := m.raw(http.MethodGet, path, nil)
		require.Equal(m.t, http.StatusOK, w.Code, path)
		texts = append(texts, w.Body.String())
	}
	return texts
}

func TestNobodyCrossesIntoAnotherAccount(t *testing.T) {
	m := open(t) // a 403 would tell that there is something
	b := own(t, m)
	stranger := m.add("stranger")
	before := b.all(m)
	listing := "/selling/listings/" + b.listing
	tried := map[string]bool{}
	for _, row := range []struct {
		operation, method, path string
		body                    any
	}{
		{"GetListing", "GET", listing, nil},
		{"UpdateListing", "PATCH", listing, map[string]any{"amount": "1"}},
		{"DeleteListing", "DELETE", listing, nil},
		{"ActivateListing", "PUT", listing + "/activate", map[string]any{}},
		{"DeactivateListing", "PUT", listing + "/deactivate", nil},
		{"ListListingOperations", "GET", listing + "/operations", nil},
		{"GetListingOperation", "GET", listing + "/operations/" + b.operation, nil},
		{"GetCreateListingsBatch", "GET", b.create, nil},
		{"ListCreateListingsBatchItems", "GET", b.create + "/items", nil},
		{"GetUpdateListingsBatch", "GET", b.update, nil},
		{"ListUpdateListingsBatchItems", "GET", b.update + "/items", nil},
		{"GetDeleteListingsBatch", "GET", b.remove, nil},
		{"ListDeleteListingsBatchItems", "GET", b.remove + "/items", nil},
		{"GetOrder", "GET", "/selling/orders/" + b.order, nil},
		{"GetShippingDocuments", "GET", "/selling/orders/" + b.order + "/shipping-document", nil},
		{"GetShippingDocument", "GET", "/selling/orders/" + b.order + "/shipping-document/" + b.order, nil},
		{"GetIngestion", "GET", "/catalog/ingestion/" + b.ingestion, nil},
	} {
		tried[row.operation] = true
		stranger.call(row.method, row.path, row.body).refused(http.StatusNotFound, "no", row.operation)
	}
	m.settle()
	assert.Equal(t, before, b.all(m), "nothing has changed")
	for _, operation := range aboutOneThing(t) {
		assert.True(t, tried[operation], "%s takes an id of an account, so somebody has to try it", operation)
	}
}

// aboutOneThing returns the operations that take an id of something that
// belongs to an account.
func aboutOneThing(t *testing.T) []string {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromData(api.Spec)
	require.NoError(t, err)
	var ids []string
	for path, item := range doc.Paths.Map() {
		if !slices.ContainsFunc([]string{"{listingId}", "{batchId}", "{orderNumber}", "{ingestionId}"}, func(id string) bool { return strings.Contains(path, id) }) {
			continue
		}
		for _, operation := range item.Operations() {
			ids = append(ids, operation.OperationID)
		}
	}
	require.Len(t, ids, 17)
	return ids
}

func TestBatchesReachOnlyTheListingsOfTheirAccount(t *testing.T) {
	m := open(t)
	id := m.sell("200")
	stranger := m.add("stranger")
	for _, kind := range []string{"update-listing", "delete-listing"} {
		a := stranger.call(http.MethodPost, "/selling/batch/"+kind, map[string]any{"items": []any{map[string]any{"listingId": id}}})
		m.settle()
		items := stranger.call(http.MethodGet, "/selling/batch/"+kind+"/"+a.text("batchId")+"/items", nil)
		assert.Equal(t, "FAILED", items.text("items", 0, "status"), kind)
		assert.Contains(t, items.text("items", 0, "error"), "no listing", "%s: as if there were none", kind)
	}
	assert.Equal(t, "ACTIVE", m.get("/selling/listings/%s", id).text("status"))
	assert.Equal(t, 1, m.get("/selling/listings/%s/operations", id).len("operations"), "nobody has touched it")
}

func TestListsShowWhatBelongsToTheAccount(t *testing.T) {
	m := open(t)
	b := own(t, m)
	stranger := m.add("stranger")
	batchID := b.create[strings.LastIndex(b.create, "/")+1:]
	for _, row := range []struct{ path, list string }{
		{"/selling/listings", "listings"},
		{"/selling/listings?isExpired=true", "listings"},
		{"/selling/listings?batchIds=" + batchID, "listings"},
		{"/selling/listings?variantIds=" + chicago(t), "listings"},
		{"/selling/orders/active", "orders"},
		{"/selling/orders/history", "orders"},
	} {
		w := httptest.NewRecorder()
		m.ServeHTTP(w, stranger.request(http.MethodGet, row.path, nil))
		assert.Contains(t, w.Body.String(), `"`+row.list+`":[]`, row.path)
		assert.Contains(t, w.Body.String(), `"count":0`, row.path)
	}
}
