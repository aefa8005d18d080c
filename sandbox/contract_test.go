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

func TestContract_InvalidPathsAndMethods(t *testing.T) {
	m := open(t)
	for _, row := range []struct {
		method, path string
		status       int
		what, why    string
	}{
		{"GET", "/nothing/here", 404, "path", "no such path"},
		{"GET", "/selling/listings/", 404, "path", "a trailing slash is another path"},
		{"GET", "/selling/listings/x/../y", 404, "path", "paths are not cleaned"},
		{"PUT", "/selling/listings", 405, "method", "no such method"},
		{"GET", "/selling/listings/air-jordan-1", 400, `path parameter "listingId"`, "no id"},
	} {
		m.call(row.method, row.path, nil).refused(row.status, row.what, row.why)
	}
}

func TestContract_InvalidQueries(t *testing.T) {
	m := open(t)
	const ids = "initiatedShipmentDisplayIds"
	for _, row := range []struct{ path, query, parameter, why string }{
		{"/selling/listings", "pageSize=0", "pageSize", "below its minimum"},
		{"/selling/listings", "pageSize=101", "pageSize", "above its maximum"},
		{"/selling/listings", "pageNumber=one", "pageNumber", "not a number"},
		{"/selling/listings", "isExpired=perhaps", "isExpired", "not a boolean"},
		{"/selling/listings", "fromDate=02.11.2026", "fromDate", "not a day"},
		{"/selling/listings", "toDate=0001-01-01", "toDate", "the zero time"},
		{"/selling/listings", "toDate=0000-12-31", "toDate", "before the zero time"},
		{"/selling/listings", ids + "=" + numbers(101), ids, "one value too many"},
		{"/selling/orders/active", ids + "=" + numbers(101), ids, "one value too many"},
		{"/selling/orders/history", ids + "=" + numbers(101), ids, "one value too many"},
		{"/selling/listings", "productIds=air-jordan-1", "productIds", "no id"},
		{"/selling/listings", "listingStatuses=ACTIVE,active", "listingStatuses", "no status"},
		{"/selling/listings/" + unknownID + "/operations", "cursor=1", "cursor", "no cursor of a response"},
		{"/selling/orders/active", "orderStatus=COMPLETED", "orderStatus", "a status of history"},
		{"/selling/orders/history", "toDate=tomorrow", "toDate", "not a day"},
		{"/catalog/search", "", "query", "a required parameter is missing"},
		{"/catalog/search", "query=x&pageSize=51", "pageSize", "the search has smaller pages"},
		{"/catalog/search", "query=x&pagesize=5", "pagesize", "names are matched exactly"},
		{"/selling/listings", "status=ACTIVE", "status", "a parameter of another operation"},
		{"/selling/listings/" + unknownID, "page=1", "page", "an operation without parameters"},
	} {
		m.call(http.MethodGet, row.path+"?"+row.query, nil).
			refused(http.StatusBadRequest, `query parameter "`+row.parameter+`"`, row.why)
	}
}

func TestContract_UnknownParametersCanBeAllowed(t *testing.T) {
	m := open(t, func(o *sandbox.Options) { o.AllowUnknownParameters = true })
	m.get("/selling/listings?status=ACTIVE")
	m.call(http.MethodGet, "/selling/listings?status=ACTIVE&pageSize=0", nil).
		refused(http.StatusBadRequest, `query parameter "pageSize"`, "known ones are still checked")
	m.call(http.MethodGet, "/selling/listings?pageSize=%zz", nil).
		refused(http.StatusBadRequest, "query", "it has no parameters")
}

// Refused bodies name the JSON pointer of the member that is wrong.
func TestContract_InvalidBodies(t *testing.T) {
	m := open(t)
	const (
		listing = "/selling/listings/" + unknownID
		batch   = "/selling/batch/"
		zero    = `"expiresAt":"0001-01-01T00:00:00Z"`
		valid   = `"variantId":"v","amount":"1"`
	)
	long := strings.Repeat("1", 65)
	for _, row := range []struct{ method, path, body, pointer, why string }{
		{"POST", "/selling/listings", "", "body", "no body"},
		{"POST", "/selling/listings", "{", "body", "not JSON"},
		{"POST", "/selling/listings", "{" + valid + "} {}", "body", "a second value"},
		{"PATCH", listing, `{}"`, "body", "text after the value"},
		{"POST", "/selling/listings", `{"amount":"1"}`, "/variantId", "a required member is missing"},
		{"POST", "/selling/listings", `{"variantId":"v","amount":1}`, "/amount", "a number, not a string"},
		{"POST", "/selling/listings", `{"variantId":"v","amount":""}`, "/amount", "empty"},
		{"POST", "/selling/listings", `{"amount":"1","variantId":"` + long + `"}`, "/variantId", "an id that is too long"},
		{"POST", "/selling/listings", "{" + valid + `,"currencyCode":"XYZ"}`, "/currencyCode", "no currency"},
		{"POST", "/selling/listings", "{" + valid + `,"expiresAt":"soon"}`, "/expiresAt", "not a time"},
		{
			"POST", "/selling/listings", "{" + valid + `,"expiresAt":"1969-12-31T23:59:59Z"}`,
			"/expiresAt", "before 1970",
		},
		{"POST", "/selling/listings", "{" + valid + `,"Amount":"9"}`, "/Amount", "encoding/json takes it for amount"},
		{"POST", "/selling/listings", "{" + valid + `,"qty":2}`, "/qty", "a misspelt member of a closed object"},
		{"POST", "/selling/listings", "{" + valid + `,"amount":"2"}`, "/amount", "a repeated member"},
		{"POST", "/selling/batch/create-listing", `{"items":[{` + valid + `,"quantity":1,"a/b":[{"c":1,"c":1e400}]}]}`, "/items/0/a~1b/0/c", "an undeclared one"},
		{"PATCH", listing, `{"amount":""}`, "/amount", "empty"},
		{"PATCH", listing, "{" + zero + "}", "/expiresAt", "the zero time"},
		{"PATCH", listing, `{"expiresAt":"9999-12-31T23:59:59-12:00"}`, "/expiresAt", "the year 10000 of UTC"},
		{"PUT", listing + "/activate", `{"amount":""}`, "/amount", "empty"},
		{"PUT", listing + "/activate", "{" + zero + "}", "/expiresAt", "the zero time"},
		{"POST", batch + "create-listing", `{"items":[],"extra":1}`, "/extra", "an additional member"},
		{"POST", batch + "create-listing", `{"items":[]}`, "/items", "no elements"},
		{"POST", batch + "update-listing", `{"items":[]}`, "/items", "no elements"},
		{
			"POST", batch + "update-listing", `{"items":[{"listingId":"l",` + zero + "}]}",
			"/items/0/expiresAt", "zero",
		},
		{"POST", batch + "update-listing", `{"items":[{"listingId":"l","amount":""}]}`, "/items/0/amount", "empty"},
		{
			"POST", batch + "update-listing", `{"items":[{"listingId":"l","amount":"x"}]}`,
			"/items/0/amount", "no number",
		},
		{
			"POST", batch + "update-listing", `{"items":[{"listingId":"` + long + `"}]}`,
			"/items/0/listingId", "an id that is too long",
		},
		{
			"POST", batch + "delete-listing", `{"items":[{"listingId":"` + long + `"}]}`,
			"/items/0/listingId", "an id that is too long",
		},
		{"POST", batch + "delete-listing", `{"items":[{}]}`, "/items/0/listingId", "a required member is missing"},
		{
			"POST", batch + "delete-listing", `{"items":[` + list(`{"listingId":"l"}`, 101) + "]}",
			"/items", "too many",
		},
	} {
		var body any
		if row.body != "" {
			body = row.body
		}
		m.call(row.method, row.path, body).refused(http.StatusBadRequest, row.pointer, row.why)
	}
	for _, row := range []struct{ element, member, why string }{
		{`"variantId":"v","quantity":1`, "amount", "a required member is missing"},
		{`"variantId":"v","quantity":1,"amount":"ten"`, "amount", "not a number"},
		{`"variantId":"v","quantity":1,"amount":"-10"`, "amount", "negative"},
		{`"variantId":"v","quantity":1,"amount":"0.00"`, "amount", "zero"},
		{`"variantId":"v","quantity":1,"amount":"` + long + `"`, "amount", "longer than any amount"},
		{`"variantId":"` + long + `","quantity":1,"amount":"1"`, "variantId", "longer than any id"},
		{valid + `,"quantity":0`, "quantity", "zero"},
		{valid + `,"quantity":1.5`, "quantity", "a fraction"},
		{valid + `,"quantity":1e12`, "quantity", "too many"},
		{valid + `,"quantity":1,"currencyCode":"usd"`, "currencyCode", "codes are upper case"},
		{valid + `,"quantity":1,` + zero, "expiresAt", "the zero time"},
		{
			valid + `,"quantity":1,"InventoryType":"BOGUS"`, "InventoryType",
			"encoding/json takes it for inventoryType",
		},
	} {
		body := `{"items":[{` + valid + `,"quantity":1},{` + row.element + "}]}"
		m.call("POST", batch+"create-listing", body).refused(http.StatusBadRequest, "/items/1/"+row.member, row.why)
	}
	tooLong := `{"items":[{"listingId":"` + strings.Repeat("x", 1<<20) + `"}]}`
	m.call("POST", batch+"delete-listing", tooLong).refused(http.StatusRequestEntityTooLarge, "body", "too long")
	assert.Zero(t, m.get("/selling/listings").len("listings"), "refused requests change nothing")
}

// list repeats an element of a JSON array.
func list(element string, n int) string {
	return strings.TrimSuffix(strings.Repeat(element+",", n), ",")
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
	for query, want := range map[string][]string{
		"/selling/listings?listingStatuses=,ACTIVE,,ACTIVE,":                               {id},
		"/selling/listings?initiatedShipmentDisplayIds=" + strings.Repeat(",", 60_000):     {id},
		"/selling/listings?initiatedShipmentDisplayIds=" + numbers(100):                    nil,
		"/selling/listings?inventoryTypes=" + strings.Repeat("FLEX,", 10_000):              nil,
		"/selling/listings?inventoryTypes=" + strings.Repeat("FLEX,", 10_000) + "STANDARD": {id},
	} {
		assert.Equal(t, want, m.get("%s", query).each("listings", "listingId"), "%.80s", query)
	}
	assert.Empty(t, m.get("/selling/orders/active?initiatedShipmentDisplayIds=%s", numbers(100)).each("orders", "orderNumber"))
}

func TestContract_UndeclaredMembersAreAllowedInOpenObjects(t *testing.T) {
	m := open(t)
	item := fmt.Sprintf(`{"variantId":%q,"amount":"100","quantity":1,"note":{"amount":1,"Amount":1e400}}`, chicago(t))
	r := m.call("POST", "/selling/batch/create-listing", `{"items":[`+item+`]}`)
	assert.Equal(t, http.StatusOK, r.status, "%v", r.body)
}

func TestContract_UnknownIDsGetADeclaredStatus(t *testing.T) {
	m := open(t)
	id := m.sell("200")
	product, _ := variant(t, "DZ5485-612", "10.5")
	_, another := variant(t, "DD1391-100", "10.5")
	tried := map[string]bool{}
	for _, row := range []struct{ operation, method, path, body, what string }{
		{"GetListing", "GET", "/selling/listings/" + unknownID, "", "listing"},
		{"DeleteListing", "DELETE", "/selling/listings/" + unknownID, "", "listing"},
		{"UpdateListing", "PATCH", "/selling/listings/" + unknownID, "{}", "listing"},
		{"ActivateListing", "PUT", "/selling/listings/" + unknownID + "/activate", "{}", "listing"},
		{"DeactivateListing", "PUT", "/selling/listings/" + unknownID + "/deactivate", "", "listing"},
		{"ListListingOperations", "GET", "/selling/listings/" + unknownID + "/operations", "", "listing"},
		{"GetListingOperation", "GET", "/selling/listings/" + id + "/operations/" + unknownID, "", "operation"},
		{"GetCreateListingsBatch", "GET", "/selling/batch/create-listing/" + unknownID, "", "create batch"},
		{"GetUpdateListingsBatch", "GET", "/selling/batch/update-listing/" + unknownID, "", "update batch"},
		{"GetDeleteListingsBatch", "GET", "/selling/batch/delete-listing/" + unknownID, "", "delete batch"},
		{"ListCreateListingsBatchItems", "GET", "/selling/batch/create-listing/" + unknownID + "/items", "", "create batch"},
		{"ListUpdateListingsBatchItems", "GET", "/selling/batch/update-listing/" + unknownID + "/items", "", "update batch"},
		{"ListDeleteListingsBatchItems", "GET", "/selling/batch/delete-listing/" + unknownID + "/items", "", "delete batch"},
		{"GetOrder", "GET", "/selling/orders/323314425-323214184", "", "order"},
		{"GetShippingDocuments", "GET", "/selling/orders/323314425-323214184/shipping-document", "", "order"},
		{"GetShippingDocument", "GET", "/selling/orders/323314425-323214184/shipping-document/6JF8D2QX", "", "order"},
		{"GetProduct", "GET", "/catalog/products/" + unknownID, "", "product"},
		{"ListVariants", "GET", "/catalog/products/" + unknownID + "/variants", "", "product"},
		{"GetVariant", "GET", "/catalog/products/" + product.ID + "/variants/" + unknownID, "", "variant"},
		{"GetVariantByGTIN", "GET", "/catalog/products/variants/gtins/036000291452", "", "variant with the trade item number"},
		{"ListProductMarketData", "GET", "/catalog/products/" + unknownID + "/market-data", "", "product"},
		{
			"GetVariantMarketData", "GET",
			"/catalog/products/" + unknownID + "/variants/" + unknownID + "/market-data", "", "product",
		},
		{"GetIngestion", "GET", "/catalog/ingestion/" + unknownID, "", "ingestion"},
	} {
		var body any
		if row.body != "" {
			body = row.body
		}
		tried[row.operation] = true
		m.call(row.method, row.path, body).
			refused(unknownStatus(t, row.operation), row.what, row.operation)
	}
	doc, err := document()
	require.NoError(t, err)
	for path, item := range doc.Paths.Map() {
		for _, operation := range item.Operations() {
			assert.Equal(t, strings.Contains(path, "{"), tried[operation.OperationID], "%s takes an id", operation.OperationID)
		}
	}
	m.call(http.MethodGet, "/catalog/products/"+product.ID+"/variants/"+another, nil).
		refused(http.StatusBadRequest, `path parameter "variantId"`, "a variant of another product")
}

// unknownStatus returns the status of the response to the id of nothing: 404 if the document declares
// it for the operation, or if it is published for batches and orders, else 400.
func unknownStatus(tb testing.TB, id string) int {
	tb.Helper()
	doc, err := document()
	require.NoError(tb, err)
	for path, item := range doc.Paths.Map() {
		for _, operation := range item.Operations() {
			if operation.OperationID != id {
				continue
			}
			named := strings.Contains(path, "{batchId}") || strings.Contains(path, "{orderNumber}")
			if named || operation.Responses.Status(http.StatusNotFound) != nil {
				return http.StatusNotFound
			}
			return http.StatusBadRequest
		}
	}
	require.Fail(tb, "no such operation", id)
	return 0
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
		m.call(row.method, row.path, body).
			refused(http.StatusBadRequest, `path parameter "`+row.parameter+`"`, row.method+" "+row.path)
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
		require.NoError(t,
			m.Fail(sandbox.Fault{Operation: r.Operation, Kind: sandbox.FaultStatus, Status: 500}))
		assert.Equal(t, http.StatusInternalServerError, m.send(m.http(r)).status, r.Operation)
	}
}

func TestRouting_WrongMethodListsTheAllowed(t *testing.T) {
	m := open(t)
	for _, row := range []struct{ method, path, allow, why string }{
		{http.MethodPut, "/selling/listings", "GET, POST", "a collection"},
		{
			http.MethodPost, "/selling/listings/98e2e748-8000-45bf-a624-5531d6a68318",
			"GET, PATCH, DELETE", "one resource",
		},
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
		for _, base := range []string{"/v2", "/%762"} {
			w := httptest.NewRecorder()
			r := m.request(http.MethodGet, "", nil)
			var err error
			r.URL, err = url.Parse(base + row.path)
			require.NoError(t, err)
			m.ServeHTTP(w, r)
			assert.Equal(t, row.status, w.Code, "%s%s: %s", base, row.path, row.why)
		}
		want := sandbox.Counters{}
		if row.operation != "" {
			want[row.operation] = map[int]int{row.status: 2}
		}
		assert.Equal(t, want, m.Counters(), "%s: of one operation: %s", row.path, row.why)
		assert.NoError(t, m.Reset(t.Context()))
	}
}
