package sandbox_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/api"
	"github.com/sellside-sdk/sellside-go/sandbox"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/specgen"
)

func TestContract_InvalidRequestsNameWhatIsWrong(t *testing.T) {
	m := open(t)
	listing := "/selling/listings/" + unknownID
	items := func(element string) string {
		return `{"items":[{"variantId":"v","amount":"1","quantity":1},` + element + `]}`
	}
	for _, row := range []struct {
		method, path, body string
		status             int
		what, why          string
	}{
		{"GET", "/nothing/here", "", 404, "path", "no such path"},
		{"GET", "/selling/listings/", "", 404, "path", "a trailing slash is another path"},
		{"GET", "/selling/listings/x/../y", "", 404, "path", "paths are not cleaned"},
		{"PUT", "/selling/listings", "", 405, "method", "no such method"},
		{"GET", "/selling/listings?pageSize=0", "", 400, `query parameter "pageSize"`, "below its minimum"},
		{"GET", "/selling/listings?pageSize=101", "", 400, `query parameter "pageSize"`, "above its maximum"},
		{"GET", "/selling/listings?pageNumber=one", "", 400, `query parameter "pageNumber"`, "not a number"},
		{"GET", "/selling/listings?isExpired=perhaps", "", 400, `query parameter "isExpired"`, "not a boolean"},
		{"GET", "/selling/listings?fromDate=02.11.2026", "", 400, `query parameter "fromDate"`, "not a day"},
		{"GET", "/selling/listings?toDate=0001-01-01", "", 400, `query parameter "toDate"`, "the zero time"},
		{"GET", "/selling/listings?toDate=0000-12-31", "", 400, `query parameter "toDate"`, "before the zero time"},
		{"GET", "/selling/listings?initiatedShipmentDisplayIds=" + numbers(101), "", 400, `query parameter "initiatedShipmentDisplayIds"`, "one more than a list takes"},
		{"GET", "/selling/orders/active?initiatedShipmentDisplayIds=" + numbers(101), "", 400, `query parameter "initiatedShipmentDisplayIds"`, "one more than a list takes"},
		{"GET", "/selling/orders/history?initiatedShipmentDisplayIds=" + numbers(101), "", 400, `query parameter "initiatedShipmentDisplayIds"`, "one more than a list takes"},
		{"GET", "/selling/listings?productIds=air-jordan-1", "", 400, `query parameter "productIds"`, "a name where an id belongs"},
		{"GET", "/selling/listings?listingStatuses=ACTIVE,active", "", 400, `query parameter "listingStatuses"`, "a status that does not exist"},
		{"GET", "/selling/listings/air-jordan-1", "", 400, `path parameter "listingId"`, "a name where an id belongs"},
		{"GET", listing + "/operations?cursor=1", "", 400, `query parameter "cursor"`, "no cursor of a response"},
		{"GET", "/selling/orders/active?orderStatus=COMPLETED", "", 400, `query parameter "orderStatus"`, "a status of history"},
		{"GET", "/selling/orders/history?toDate=tomorrow", "", 400, `query parameter "toDate"`, "not a day"},
		{"GET", "/catalog/search", "", 400, `query parameter "query"`, "a required parameter is missing"},
		{"GET", "/catalog/search?query=%20", "", 400, `query parameter "query"`, "nothing but space"},
		{"GET", "/catalog/search?query=x&pageSize=51", "", 400, `query parameter "pageSize"`, "the search has smaller pages"},
		{"POST", "/selling/listings", "", 400, "body", "no body"},
		{"POST", "/selling/listings", "{", 400, "body", "not JSON"},
		{"POST", "/selling/listings", `{"amount":"1"}`, 400, "/variantId", "a required member is missing"},
		{"POST", "/selling/listings", `{"variantId":"v","amount":1}`, 400, "/amount", "a number where a text belongs"},
		{"POST", "/selling/listings", `{"variantId":"v","amount":""}`, 400, "/amount", "an empty amount"},
		{"POST", "/selling/listings", `{"variantId":"v","amount":"1","currencyCode":"XYZ"}`, 400, "/currencyCode", "a currency that does not exist"},
		{"POST", "/selling/listings", `{"variantId":"v","amount":"1","expiresAt":"soon"}`, 400, "/expiresAt", "not a time"},
		{"POST", "/selling/listings", `{"variantId":"v","amount":"1","Amount":"999"}`, 400, "/Amount", "a member that encoding/json takes for amount"},
		{"POST", "/selling/listings", `{"variantId":"v","amount":"1","amount":"2"}`, 400, "/amount", "a repeated member"},
		{"POST", "/selling/listings", `{"variantId":"v","amount":"1","a/b":[{"c":1,"c":1e400}]}`, 400, "/a~1b/0/c", "in undeclared members, too"},
		{"POST", "/selling/listings", `{"variantId":"v","amount":"1","expiresAt":"1969-12-31T23:59:59Z"}`, 400, "/expiresAt", "before 1970"},
		{"PATCH", listing, `{"amount":""}`, 400, "/amount", "an empty amount"},
		{"PATCH", listing, `{"expiresAt":"0001-01-01T00:00:00Z"}`, 400, "/expiresAt", "the zero time"},
		{"PATCH", listing, `{"expiresAt":"9999-12-31T23:59:59-12:00"}`, 400, "/expiresAt", "in the year 10000 of UTC"},
		{"PUT", listing + "/activate", `{"amount":""}`, 400, "/amount", "an empty amount"},
		{"PUT", listing + "/activate", `{"expiresAt":"0001-01-01T00:00:00Z"}`, 400, "/expiresAt", "the zero time"},
		{"POST", "/selling/batch/create-listing", items(`{"variantId":"v","amount":"1","quantity":1,"InventoryType":"BOGUS"}`), 400, "/items/1/InventoryType", "in another case, within a list"},
		{"POST", "/selling/batch/create-listing", items(`{"variantId":"v","amount":"1","quantity":1,"expiresAt":"0001-01-01T00:00:00Z"}`), 400, "/items/1/expiresAt", "the zero time"},
		{"POST", "/selling/batch/update-listing", `{"items":[{"listingId":"l","expiresAt":"0001-01-01T00:00:00Z"}]}`, 400, "/items/0/expiresAt", "the zero time"},
		{"POST", "/selling/batch/update-listing", `{"items":[{"listingId":"l","amount":""}]}`, 400, "/items/0/amount", "an empty amount"},
		{"POST", "/selling/batch/create-listing", `{"items":[],"extra":1}`, 400, "body", "a member that does not exist"},
		{"POST", "/selling/batch/create-listing", `{"items":[]}`, 400, "/items", "no elements"},
		{"POST", "/selling/batch/create-listing", items(`{"variantId":"v","quantity":1}`), 400, "/items/1/amount", "a required member is missing"},
		{"POST", "/selling/batch/create-listing", items(`{"variantId":"v","amount":"ten","quantity":1}`), 400, "/items/1/amount", "not a number"},
		{"POST", "/selling/batch/create-listing", items(`{"variantId":"v","amount":"-10","quantity":1}`), 400, "/items/1/amount", "negative"},
		{"POST", "/selling/batch/create-listing", items(`{"variantId":"v","amount":"0.00","quantity":1}`), 400, "/items/1/amount", "zero"},
		{"POST", "/selling/batch/create-listing", items(`{"variantId":"v","amount":"10","quantity":0}`), 400, "/items/1/quantity", "zero"},
		{"POST", "/selling/batch/create-listing", items(`{"variantId":"v","amount":"10","quantity":1.5}`), 400, "/items/1/quantity", "a fraction"},
		{"POST", "/selling/batch/create-listing", items(`{"variantId":"v","amount":"10","quantity":1e12}`), 400, "/items/1/quantity", "too many"},
		{"POST", "/selling/batch/create-listing", items(`{"variantId":"v","amount":"10","quantity":1,"currencyCode":"usd"}`), 400, "/items/1/currencyCode", "codes are upper case"},
		{"POST", "/selling/batch/update-listing", `{"items":[{"listingId":"l","amount":"x"}]}`, 400, "/items/0/amount", "not a number"},
		{"POST", "/selling/batch/update-listing", `{"items":[]}`, 400, "/items", "no elements"},
		{"POST", "/selling/batch/delete-listing", `{"items":[{}]}`, 400, "/items/0/listingId", "a required member is missing"},
		{"POST", "/selling/batch/delete-listing", `{"items":[` + strings.Repeat(`{"listingId":"l"},`, 100) + `{"listingId":"l"}]}`, 400, "/items", "one more than a call takes"},
		{"POST", "/selling/batch/delete-listing", `{"items":[{"listingId":"` + strings.Repeat("x", 1<<20) + `"}]}`, 413, "body", "a body that is too long"},
	} {
		var body any
		if row.body != "" {
			body = row.body
		}
		m.call(row.method, row.path, body).refused(row.status, row.what, row.why)
	}
	assert.Zero(t, m.get("/selling/listings").len("listings"), "refused requests change nothing")
}

// numbers returns a list of n different values.
func numbers(n int) string {
	var values []string
	for i := range n {
		values = append(values, strconv.Itoa(i))
	}
	return strings.Join(values, ",")
}

func TestContract_EmptyAndRepeatedValuesAreIgnored(t *testing.T) {
	m := open(t)
	id := m.sell("200")
	assert.Equal(t, []string{id}, m.get("/selling/listings?listingStatuses=,ACTIVE,,ACTIVE,").each("listings", "listingId"))
	assert.Equal(t, []string{id}, m.get("/selling/listings?initiatedShipmentDisplayIds=%s", strings.Repeat(",", 60_000)).each("listings", "listingId"))
	assert.Empty(t, m.get("/selling/orders/active?initiatedShipmentDisplayIds=%s", numbers(100)).each("orders", "orderNumber"))
	assert.Empty(t, m.get("/selling/orders/history?inventoryTypes=%s", strings.Repeat("FLEX,", 10_000)).each("orders", "orderNumber"))
}

func TestContract_UndeclaredMembersAreAllowed(t *testing.T) {
	m := open(t)
	r := m.call("POST", "/selling/listings", fmt.Sprintf(`{"variantId":%q,"amount":"100","note":{"amount":1,"Amount":1e400}}`, chicago(t)))
	assert.Equal(t, http.StatusCreated, r.status, "%v", r.body)
}

func TestContract_UnknownIDsAreNotFound(t *testing.T) {
	m := open(t)
	id := m.sell("200")
	product, _ := variant(t, "DZ5485-612", "10.5")
	_, another := variant(t, "DD1391-100", "10.5")
	for _, row := range []struct{ method, path, body, what string }{
		{"GET", "/selling/listings/" + unknownID, "", "listing"},
		{"DELETE", "/selling/listings/" + unknownID, "", "listing"},
		{"PATCH", "/selling/listings/" + unknownID, "{}", "listing"},
		{"PUT", "/selling/listings/" + unknownID + "/activate", "{}", "listing"},
		{"PUT", "/selling/listings/" + unknownID + "/deactivate", "", "listing"},
		{"GET", "/selling/listings/" + unknownID + "/operations", "", "listing"},
		{"GET", "/selling/listings/" + id + "/operations/" + unknownID, "", "operation"},
		{"GET", "/selling/batch/create-listing/" + unknownID, "", "create batch"},
		{"GET", "/selling/batch/update-listing/" + unknownID, "", "update batch"},
		{"GET", "/selling/batch/delete-listing/" + unknownID, "", "delete batch"},
		{"GET", "/selling/batch/create-listing/" + unknownID + "/items", "", "create batch"},
		{"GET", "/selling/orders/323314425-323214184", "", "order"},
		{"GET", "/catalog/products/" + unknownID, "", "product"},
		{"GET", "/catalog/products/" + unknownID + "/variants", "", "product"},
		{"GET", "/catalog/products/" + product.ID + "/variants/" + unknownID, "", "variant of this product"},
		{"GET", "/catalog/products/" + product.ID + "/variants/" + another, "", "variant of this product"},
		{"GET", "/catalog/products/" + unknownID + "/market-data", "", "product"},
		{"GET", "/catalog/products/" + unknownID + "/variants/" + unknownID + "/market-data", "", "product"},
	} {
		var body any
		if row.body != "" {
			body = row.body
		}
		m.call(row.method, row.path, body).refused(http.StatusNotFound, row.what, row.method+" "+row.path)
	}
}

func TestContract_DeepBodyCostsNoMoreThanItsLength(t *testing.T) {
	m := open(t)
	const depth = 2000
	name := strings.Repeat("n", 400)
	body := `{"variantId":"v","amount":"1","more":` + strings.Repeat(`{"`+name+`":`, depth) + "1" + strings.Repeat("}", depth) + `}`
	r := m.request(http.MethodPost, "/selling/listings", body)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	m.ServeHTTP(discard{}, r)
	runtime.ReadMemStats(&after)
	assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(100*len(body)))
}

// A name in the place of an id is a mistake of the client and no stale id, so the status is 400
// wherever the document declares it.
func TestContract_NamesAreNoIDs(t *testing.T) {
	m := open(t)
	const name = "air-jordan-1"
	for _, row := range []struct{ method, path, parameter string }{
		{"GET", "/selling/listings/" + name, "listingId"},
		{"PATCH", "/selling/listings/" + name, "listingId"},
		{"DELETE", "/selling/listings/" + name, "listingId"},
		{"PUT", "/selling/listings/" + name + "/activate", "listingId"},
		{"PUT", "/selling/listings/" + name + "/deactivate", "listingId"},
		{"GET", "/selling/listings/" + name + "/operations", "listingId"},
		{"GET", "/selling/listings/" + unknownID + "/operations/" + name, "operationId"},
		{"GET", "/catalog/products/" + name + "/market-data", "productId"},
		{"GET", "/catalog/products/" + name + "/variants/" + unknownID, "productId"},
		{"GET", "/catalog/products/" + name + "/variants/" + unknownID + "/market-data", "productId"},
	} {
		var body any
		if row.method == http.MethodPatch || strings.HasSuffix(row.path, "/activate") {
			body = map[string]any{}
		}
		m.call(row.method, row.path, body).refused(http.StatusBadRequest, `path parameter "`+row.parameter+`"`, row.method+" "+row.path)
	}
}

// plainRequests returns the plainest valid request of every operation. Their ids are those of the
// examples of the document, which do not exist, or the ones that are given.
func (f *fuzzed) plainRequests(ids map[string]any) []specgen.Request {
	f.t.Helper()
	spec, err := specgen.Load(api.Spec)
	require.NoError(f.t, err)
	known := specgen.NewKnown(spec, sandbox.BasePath)
	known.Learn(ids)
	g := &specgen.Generator{Known: known, Choices: specgen.Plain{}, Base: sandbox.BasePath}
	requests := make([]specgen.Request, 0, len(spec.Operations()))
	for _, op := range spec.Operations() {
		r := g.Request(op)
		require.NoError(f.t, f.refusal(r), "%s", r)
		requests = append(requests, r)
	}
	return requests
}

func TestContract_EveryOperationNeedsBothCredentials(t *testing.T) {
	m := &fuzzed{market: open(t)}
	for _, r := range m.plainRequests(nil) {
		for _, header := range []string{"Authorization", "x-api-key"} {
			r.Omit = header
			m.send(m.http(r)).refused(http.StatusUnauthorized, header+" header", r.Operation)
		}
	}
}

// Without its database an operation fails; one that needs none fails by a fault.
func TestContract_EveryOperationCanFail(t *testing.T) {
	m := &fuzzed{market: open(t)}
	product, variantID := variant(t, "DZ5485-612", "10.5")
	requests := m.plainRequests(map[string]any{"productId": product.ID, "variantId": variantID})
	require.NoError(t, m.Close())
	for _, r := range requests {
		if m.send(m.http(r)).status == http.StatusInternalServerError {
			continue
		}
		require.NoError(t, m.Fail(sandbox.Fault{Operation: r.Operation, Kind: sandbox.FaultStatus, Status: 500}))
		assert.Equal(t, http.StatusInternalServerError, m.send(m.http(r)).status, r.Operation)
	}
}

func TestRouting_WrongMethodListsTheAllowed(t *testing.T) {
	m := open(t)
	for _, row := range []struct{ method, path, allow, why string }{
		{http.MethodPut, "/selling/listings", "GET, POST", "a collection"},
		{http.MethodPost, "/selling/listings/98e2e748-8000-45bf-a624-5531d6a68318", "GET, PATCH, DELETE", "one resource"},
		{http.MethodHead, "/catalog/search", "GET", "HEAD is no operation"},
	} {
		w := m.raw(row.method, row.path, nil)
		assert.Equal(t, http.StatusMethodNotAllowed, w.Code, row.why)
		assert.Equal(t, row.allow, w.Header().Get("Allow"), row.why)
	}
	assert.Empty(t, m.raw(http.MethodGet, "/selling/listings", nil).Header().Get("Allow"))
}

// A path with needless escapes is the same path: it is checked and served as the same operation.
func TestRouting_DecodesPathsOnce(t *testing.T) {
	m := open(t)
	for _, row := range []struct {
		path      string
		status    int
		operation string
		why       string
	}{
		{"/selling/orders/active?pageSize=0", 400, "ListActiveOrders", "the parameter is checked"},
		{"/selling/orders/%61ctive?pageSize=0", 400, "ListActiveOrders", "under another spelling, too"},
		{"/selling/orders/%61ctive?pageSize=1", 200, "ListActiveOrders", "and the list is served"},
		{"/selling/%6Cistings?pageSize=0", 400, "ListListings", "a segment that every path has"},
		{"/selling/listings/a%2Fb", 400, "GetListing", "an escaped slash is part of its segment"},
		{"/selling%2Flistings", 404, "", "which is not two segments"},
		{"/selling/listings/%2e%2e/listings", 404, "", "dots are not resolved"},
		{"/selling/listings/", 404, "", "an empty segment is no id"},
		{"/selling//listings", 404, "", "slashes are not merged"},
	} {
		w := httptest.NewRecorder()
		m.ServeHTTP(w, m.request(http.MethodGet, row.path, nil))
		assert.Equal(t, row.status, w.Code, "%s: %s", row.path, row.why)
		if row.operation != "" {
			assert.Equal(t, 1, m.Counters()[row.operation][row.status], "%s: %s", row.path, row.why)
		}
		assert.NoError(t, m.Reset(t.Context()))
	}
}
