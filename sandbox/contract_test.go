package sandbox_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
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

func TestInvalidRequestsNameWhatIsToBlame(t *testing.T) {
	m := open(t)
	listing := "/selling/listings/98e2e748-8000-45bf-a624-5531d6a68318"
	items := func(element string) string {
		return `{"items":[{"variantId":"v","amount":"1","quantity":1},` + element + `]}`
	}
	for _, row := range []struct {
		method, path, body string
		status             int
		says, why          string
	}{
		{"GET", "/nothing/here", "", 404, "/v2/nothing/here", "no such path"},
		{"GET", "/selling/listings/", "", 404, "/v2/selling/listings/", "a trailing slash is another path"},
		{"GET", "/selling/listings/x/../y", "", 404, "nothing", "paths are not cleaned up"},
		{"PUT", "/selling/listings", "", 405, "PUT", "no such method"},
		{"GET", "/selling/listings?pageSize=0", "", 400, `query parameter "pageSize"`, "below its minimum"},
		{"GET", "/selling/listings?pageSize=101", "", 400, `query parameter "pageSize"`, "above its maximum"},
		{"GET", "/selling/listings?pageNumber=one", "", 400, `query parameter "pageNumber"`, "not a number"},
		{"GET", "/selling/listings?isExpired=perhaps", "", 400, `query parameter "isExpired"`, "not a boolean"},
		{"GET", "/selling/listings?fromDate=02.11.2026", "", 400, `query parameter "fromDate"`, "not a day"},
		{"GET", "/selling/listings?toDate=0001-01-01", "", 400, `query parameter "toDate"`, "a day that stands for none"},
		{"GET", "/selling/listings?toDate=0000-12-31", "", 400, `query parameter "toDate"`, "the day before it"},
		{"GET", "/selling/listings?initiatedShipmentDisplayIds=" + numbers(101), "", 400, `query parameter "initiatedShipmentDisplayIds"`, "one more than a list takes"},
		{"GET", "/selling/orders/active?initiatedShipmentDisplayIds=" + numbers(101), "", 400, `query parameter "initiatedShipmentDisplayIds"`, "one more than a list takes"},
		{"GET", "/selling/orders/history?initiatedShipmentDisplayIds=" + numbers(101), "", 400, `query parameter "initiatedShipmentDisplayIds"`, "one more than a list takes"},
		{"GET", "/selling/listings?productIds=air-jordan-1", "", 400, `query parameter "productIds"`, "a name where an id belongs"},
		{"GET", "/selling/listings?listingStatuses=ACTIVE,active", "", 400, `query parameter "listingStatuses"`, "a status that does not exist"},
		{"GET", "/selling/listings/air-jordan-1", "", 400, `path parameter "listingId"`, "a name where an id belongs"},
		{"GET", listing + "/operations?cursor=1", "", 400, `query parameter "cursor"`, "a cursor of one's own making"},
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
		{"POST", "/selling/listings", `{"variantId":"v","amount":"1","Amount":"999"}`, 400, "/Amount", "a member that decoders take for another one"},
		{"POST", "/selling/listings", `{"variantId":"v","amount":"1","amount":"2"}`, 400, "/amount: it is there twice", "two members of one name"},
		{"POST", "/selling/listings", `{"variantId":"v","amount":"1","a/b":[{"c":1,"c":1e400}]}`, 400, "/a~1b/0/c", "even where nobody looks"},
		{"POST", "/selling/listings", `{"variantId":"v","amount":"1","expiresAt":"1969-12-31T23:59:59Z"}`, 400, "/expiresAt: 1969", "before all time"},
		{"PATCH", listing, `{"amount":""}`, 400, "/amount", "an empty amount"},
		{"PATCH", listing, `{"expiresAt":"0001-01-01T00:00:00Z"}`, 400, "/expiresAt", "a time that stands for none"},
		{"PATCH", listing, `{"expiresAt":"9999-12-31T23:59:59-12:00"}`, 400, "/expiresAt", "in the year 10000 of UTC"},
		{"PUT", listing + "/activate", `{"amount":""}`, 400, "/amount", "an empty amount"},
		{"PUT", listing + "/activate", `{"expiresAt":"0001-01-01T00:00:00Z"}`, 400, "/expiresAt", "a time that stands for none"},
		{"POST", "/selling/batch/create-listing", items(`{"variantId":"v","amount":"1","quantity":1,"InventoryType":"BOGUS"}`), 400, "/items/1/InventoryType", "in another case, within a list"},
		{"POST", "/selling/batch/create-listing", items(`{"variantId":"v","amount":"1","quantity":1,"expiresAt":"0001-01-01T00:00:00Z"}`), 400, "/items/1/expiresAt", "a time that stands for none"},
		{"POST", "/selling/batch/update-listing", `{"items":[{"listingId":"l","expiresAt":"0001-01-01T00:00:00Z"}]}`, 400, "/items/0/expiresAt", "a time that stands for none"},
		{"POST", "/selling/batch/update-listing", `{"items":[{"listingId":"l","amount":""}]}`, 400, "/items/0/amount", "an empty amount"},
		{"POST", "/selling/batch/create-listing", `{"items":[],"extra":1}`, 400, "extra", "a member that does not exist"},
		{"POST", "/selling/batch/create-listing", `{"items":[]}`, 400, "/items", "nothing to do"},
		{"POST", "/selling/batch/create-listing", items(`{"variantId":"v","quantity":1}`), 400, "/items/1/amount", "a required member is missing"},
		{"POST", "/selling/batch/create-listing", items(`{"variantId":"v","amount":"ten","quantity":1}`), 400, "/items/1/amount", "not a number"},
		{"POST", "/selling/batch/create-listing", items(`{"variantId":"v","amount":"-10","quantity":1}`), 400, "/items/1/amount", "less than nothing"},
		{"POST", "/selling/batch/create-listing", items(`{"variantId":"v","amount":"0.00","quantity":1}`), 400, "/items/1/amount", "nothing"},
		{"POST", "/selling/batch/create-listing", items(`{"variantId":"v","amount":"10","quantity":0}`), 400, "/items/1/quantity", "none of it"},
		{"POST", "/selling/batch/create-listing", items(`{"variantId":"v","amount":"10","quantity":1.5}`), 400, "/items/1/quantity", "one and a half"},
		{"POST", "/selling/batch/create-listing", items(`{"variantId":"v","amount":"10","quantity":1e12}`), 400, "/items/1/quantity", "more than anybody has"},
		{"POST", "/selling/batch/create-listing", items(`{"variantId":"v","amount":"10","quantity":1,"currencyCode":"usd"}`), 400, "/items/1/currencyCode", "codes are upper case"},
		{"POST", "/selling/batch/update-listing", `{"items":[{"listingId":"l","amount":"x"}]}`, 400, "/items/0/amount", "not a number"},
		{"POST", "/selling/batch/update-listing", `{"items":[]}`, 400, "/items", "nothing to do"},
		{"POST", "/selling/batch/delete-listing", `{"items":[{}]}`, 400, "/items/0/listingId", "a required member is missing"},
		{"POST", "/selling/batch/delete-listing", `{"items":[` + strings.Repeat(`{"listingId":"l"},`, 100) + `{"listingId":"l"}]}`, 400, "/items", "one more than a call takes"},
		{"POST", "/selling/batch/delete-listing", `{"items":[{"listingId":"` + strings.Repeat("x", 1<<20) + `"}]}`, 413, "longer", "a body without end"},
	} {
		var body any
		if row.body != "" {
			body = row.body
		}
		m.call(row.method, row.path, body).refused(row.status, row.says, row.why)
	}
	if n := m.get("/selling/listings").at("count"); n.(interface{ String() string }).String() != "0" {
		t.Errorf("refused requests made %v listings", n)
	}
}

// numbers is a list of n different values.
func numbers(n int) string {
	var values []string
	for i := range n {
		values = append(values, strconv.Itoa(i))
	}
	return strings.Join(values, ",")
}

func TestWhatAListSaysTwiceOrNotAtAllMeansNothing(t *testing.T) {
	m := open(t)
	id := m.sell("200")
	assert.Equal(t, []string{id}, m.get("/selling/listings?listingStatuses=,ACTIVE,,ACTIVE,").each("listings", "listingId"))
	assert.Equal(t, []string{id}, m.get("/selling/listings?initiatedShipmentDisplayIds=%s", strings.Repeat(",", 60_000)).each("listings", "listingId"))
	assert.Empty(t, m.get("/selling/orders/active?initiatedShipmentDisplayIds=%s", numbers(100)).each("orders", "orderNumber"))
	assert.Empty(t, m.get("/selling/orders/history?inventoryTypes=%s", strings.Repeat("FLEX,", 10_000)).each("orders", "orderNumber"))
}

func TestMembersThatNobodyDeclaresAreAllowed(t *testing.T) {
	m := open(t)
	a := m.call("POST", "/selling/listings", fmt.Sprintf(`{"variantId":%q,"amount":"100","note":{"amount":1,"Amount":1e400}}`, chicago(t)))
	assert.Equal(t, http.StatusCreated, a.status, "%v", a.body)
}

func TestUnknownIDsAreNotFound(t *testing.T) {
	m := open(t)
	id := m.sell("200")
	const unknown = "98e2e748-8000-45bf-a624-5531d6a68318"
	product, _ := variant(t, "DZ5485-612", "10.5")
	_, another := variant(t, "DD1391-100", "10.5")
	for _, row := range []struct{ method, path, body string }{
		{"GET", "/selling/listings/" + unknown, ""},
		{"DELETE", "/selling/listings/" + unknown, ""},
		{"PATCH", "/selling/listings/" + unknown, "{}"},
		{"PUT", "/selling/listings/" + unknown + "/activate", "{}"},
		{"PUT", "/selling/listings/" + unknown + "/deactivate", ""},
		{"GET", "/selling/listings/" + unknown + "/operations", ""},
		{"GET", "/selling/listings/" + id + "/operations/" + unknown, ""},
		{"GET", "/selling/batch/create-listing/" + unknown, ""},
		{"GET", "/selling/batch/update-listing/" + unknown, ""},
		{"GET", "/selling/batch/delete-listing/" + unknown, ""},
		{"GET", "/selling/batch/create-listing/" + unknown + "/items", ""},
		{"GET", "/selling/orders/323314425-323214184", ""},
		{"GET", "/catalog/products/" + unknown, ""},
		{"GET", "/catalog/products/" + unknown + "/variants", ""},
		{"GET", "/catalog/products/" + product.ID + "/variants/" + unknown, ""},
		{"GET", "/catalog/products/" + product.ID + "/variants/" + another, ""},
		{"GET", "/catalog/products/" + unknown + "/market-data", ""},
		{"GET", "/catalog/products/" + unknown + "/variants/" + unknown + "/market-data", ""},
	} {
		var body any
		if row.body != "" {
			body = row.body
		}
		m.call(row.method, row.path, body).refused(http.StatusNotFound, "there is no", row.method+" "+row.path)
	}
}

func TestADeepBodyCostsNoMoreThanItsLength(t *testing.T) {
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

// A name where an id belongs is a mistake of the caller's and no id that has gone stale, so it is
// answered 400 wherever the document declares that.
func TestANameWhereAnIDBelongsIsRefused(t *testing.T) {
	m := open(t)
	const name, unknown = "air-jordan-1", "98e2e748-8000-45bf-a624-5531d6a68318"
	for _, row := range []struct{ method, path, parameter string }{
		{"GET", "/selling/listings/" + name, "listingId"},
		{"PATCH", "/selling/listings/" + name, "listingId"},
		{"DELETE", "/selling/listings/" + name, "listingId"},
		{"PUT", "/selling/listings/" + name + "/activate", "listingId"},
		{"PUT", "/selling/listings/" + name + "/deactivate", "listingId"},
		{"GET", "/selling/listings/" + name + "/operations", "listingId"},
		{"GET", "/selling/listings/" + unknown + "/operations/" + name, "operationId"},
		{"GET", "/catalog/products/" + name + "/market-data", "productId"},
		{"GET", "/catalog/products/" + name + "/variants/" + unknown, "productId"},
		{"GET", "/catalog/products/" + name + "/variants/" + unknown + "/market-data", "productId"},
	} {
		var body any
		if row.method == http.MethodPatch || strings.HasSuffix(row.path, "/activate") {
			body = map[string]any{}
		}
		m.call(row.method, row.path, body).refused(http.StatusBadRequest, `path parameter "`+row.parameter+`"`, row.method+" "+row.path)
	}
}

// plainRequests returns the plainest valid request for every operation. Products and variants
// exist, all else does not.
func (f *fuzzed) plainRequests() []specgen.Request {
	f.t.Helper()
	spec, err := specgen.Load(api.Spec)
	require.NoError(f.t, err)
	known := specgen.NewKnown(spec, sandbox.BasePath)
	product, variantID := variant(f.t, "DZ5485-612", "10.5")
	known.Learn(map[string]any{"productId": product.ID, "variantId": variantID})
	g := &specgen.Generator{Known: known, Choices: specgen.Plain{}, Base: sandbox.BasePath}
	requests := make([]specgen.Request, 0, len(spec.Operations()))
	for _, op := range spec.Operations() {
		requests = append(requests, g.Request(op))
	}
	return requests
}

func TestEveryOperationNeedsBothCredentials(t *testing.T) {
	m := &fuzzed{market: open(t)}
	for _, r := range m.plainRequests() {
		for _, header := range []string{"Authorization", "x-api-key"} {
			r.Omit = header
			m.send(m.http(r)).refused(http.StatusUnauthorized, header+" header is missing", r.Operation)
		}
	}
}

func TestThePlainestRequestsAreValid(t *testing.T) {
	m := &fuzzed{market: open(t)}
	for _, r := range m.plainRequests() {
		assert.NoError(t, m.refusal(r), "%s", r)
	}
}

// What needs no database is made to fail by a fault.
func TestEveryOperationCanFail(t *testing.T) {
	m := &fuzzed{market: open(t)}
	requests := m.plainRequests()
	require.NoError(t, m.Close())
	for _, r := range requests {
		if a := m.send(m.http(r)); a.status == http.StatusInternalServerError {
			a.refused(http.StatusInternalServerError, "failed", r.Operation)
			continue
		}
		require.NoError(t, m.Fail(sandbox.Fault{Operation: r.Operation, Kind: sandbox.FaultStatus, Status: 500}))
		assert.Equal(t, http.StatusInternalServerError, m.send(m.http(r)).status, r.Operation)
	}
}

// Nothing that a seller can send is answered 400 here: what is no order number is answered 404 as
// an order that has gone is.
func TestShippingDocumentsCanBeRefused(t *testing.T) {
	m := open(t)
	require.NoError(t, m.Fail(sandbox.Fault{Operation: "GetShippingDocuments", Kind: sandbox.FaultStatus, Status: 400}))
	number := m.direct()
	a := m.call(http.MethodGet, "/selling/orders/"+number+"/shipping-document", nil)
	assert.Equal(t, http.StatusBadRequest, a.status)
	assert.Equal(t, http.StatusOK, m.call(http.MethodGet, "/selling/orders/"+number+"/shipping-document", nil).status, "once")
}

func TestAShippingDocumentIsServedAsDeclared(t *testing.T) {
	m := open(t)
	_, number := m.order("200")
	address, err := url.Parse(m.get("/selling/orders/%s", number).text("shipment", "shippingLabelUrl"))
	require.NoError(t, err)
	w := m.raw(http.MethodGet, strings.TrimPrefix(address.Path, sandbox.BasePath), nil)
	assert.Equal(t, http.StatusOK, w.Code)
	assert.Equal(t, "application/pdf", w.Header().Get("Content-Type"))
}

func TestAMethodThatIsNotThereIsToldWhichAre(t *testing.T) {
	m := open(t)
	for _, row := range []struct{ method, path, allow, why string }{
		{http.MethodPut, "/selling/listings", "GET, POST", "a collection"},
		{http.MethodPost, "/selling/listings/98e2e748-8000-45bf-a624-5531d6a68318", "GET, PATCH, DELETE", "one of it"},
		{http.MethodHead, "/catalog/search", "GET", "a head is no operation of the document"},
	} {
		w := m.raw(row.method, row.path, nil)
		assert.Equal(t, http.StatusMethodNotAllowed, w.Code, row.why)
		assert.Equal(t, row.allow, w.Header().Get("Allow"), row.why)
	}
	assert.Empty(t, m.raw(http.MethodGet, "/selling/listings", nil).Header().Get("Allow"))
}

// What is checked and what is served is one decision: a path that is escaped more than it has to be
// is the same path.
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
