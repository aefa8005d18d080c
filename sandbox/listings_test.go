package sandbox_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/sandbox"
)

func TestListings_AreCreatedAsynchronously(t *testing.T) {
	m := open(t)
	op := m.createListing("250.50", nil)
	require.Equal(t, http.StatusCreated, op.status)
	assert.Equal(t, "CREATE", op.text("operationType"))
	assert.Equal(t, "PENDING", op.text("operationStatus"))
	assert.Equal(t, true, op.at("changes", "additions", "active"))
	id := op.text("listingId")
	assert.Equal(t, "/v2/selling/listings/"+id+"/operations/"+op.text("operationId"),
		op.text("operationUrl"))

	listing := m.get("/selling/listings/%s", id)
	assert.Equal(t, "INACTIVE", listing.text("status"), "while the operation is pending")
	assert.Nil(t, listing.at("ask"))

	m.settle()
	listing = m.get("/selling/listings/%s", id)
	assert.Equal(t, "ACTIVE", listing.text("status"))
	assert.Equal(t, "250.50", listing.text("amount"))
	assert.Equal(t, "USD", listing.text("currencyCode"))
	assert.Equal(t, "STANDARD", listing.text("inventoryType"))
	assert.Len(t, listing.text("ask", "askId"), 20)
	assert.Equal(t, noon.Add(999*24*time.Hour).Format("2006-01-02T15:04:05.000Z"),
		listing.text("ask", "askExpiresAt"))
	assert.Equal(t, "DZ5485-612", listing.text("product", "styleId"))
	assert.Equal(t, "10.5", listing.text("variant", "variantValue"))
	assert.Equal(t, op.text("operationId"), listing.text("lastOperation", "operationId"))
	assert.Equal(t, "SUCCEEDED", listing.text("lastOperation", "operationStatus"))
	for _, member := range []string{"listingId", "createdAt", "updatedAt", "changes", "operationInitiatedBy"} {
		assert.Equal(t, m.get("/selling/listings/%s/operations", id).at("operations", 0, member),
			listing.at("lastOperation", member), "a documented member")
	}
	assert.Equal(t, listing.at("lastOperation", "createdAt"), listing.at("lastOperation", "operationCreatedAt"))
	assert.Equal(t, listing.at("lastOperation", "updatedAt"), listing.at("lastOperation", "operationUpdatedAt"))
	assert.Equal(t, json.Number("250.5"), listing.at("payout", "salePrice"))
	assert.Nil(t, listing.at("batch"))
	assert.Nil(t, listing.at("order"))
}

func TestListings_OperationsChangeThem(t *testing.T) {
	for _, reading := range readings {
		t.Run(reading.name, func(t *testing.T) { testOperations(t, open(t, reading.option), reading.currency) })
	}
}

// readings are the two readings of an update that leaves out its currency. currency is that of a
// listing in euros after an update of its amount alone.
var readings = []struct {
	name, currency string
	option         func(*sandbox.Options)
}{
	{"default terms", "USD", func(*sandbox.Options) {}},
	{"kept terms", "EUR", func(o *sandbox.Options) { o.KeepTerms = true }},
}

func testOperations(t *testing.T, m *market, currency string) {
	t.Helper()
	id := m.sell("200")
	path := "/selling/listings/" + id
	firstAsk := m.get("%s", path).text("ask", "askId")
	for _, step := range []struct {
		method, path string
		body         any
		operation    string
		status       string
		amount       string
		hasAsk       bool
		why          string
	}{
		{"PATCH", path, map[string]any{"amount": "190"}, "UPDATE", "ACTIVE", "190", true, "new terms go live"},
		{
			"PATCH", path,
			map[string]any{"currencyCode": "EUR"},
			"UPDATE", "ACTIVE", "190", true,
			"the amount keeps its number",
		},
		{"PUT", path + "/deactivate", nil, "DEACTIVATE", "INACTIVE", "190", false, "the listing has no ask"},
		{
			"PATCH", path,
			map[string]any{"amount": "180"},
			"UPDATE", "INACTIVE", "180", false,
			"new terms for the next ask",
		},
		{"PUT", path + "/activate", map[string]any{}, "ACTIVATE", "ACTIVE", "180", true, "with the terms it has"},
		{"PUT", path + "/deactivate", nil, "DEACTIVATE", "INACTIVE", "180", false, "again"},
		{
			"PUT", path + "/activate",
			map[string]any{"amount": "170"},
			"ACTIVATE", "ACTIVE", "170",
			true, "with new terms",
		},
		{"DELETE", path, nil, "DELETE", "DELETED", "170", false, "it has no ask"},
	} {
		op := m.call(step.method, step.path, step.body)
		require.Equal(t, http.StatusOK, op.status, "%s: %v", step.why, op.body)
		assert.Equal(t, step.operation, op.text("operationType"), step.why)
		assert.Equal(t, "PENDING", op.text("operationStatus"), step.why)
		m.settle()
		assert.Equal(t, "SUCCEEDED",
			m.get("%s/operations/%s", path, op.text("operationId")).text("operationStatus"), step.why)
		listing := m.get("%s", path)
		assert.Equal(t, step.status, listing.text("status"), step.why)
		assert.Equal(t, step.amount, listing.text("amount"), step.why)
		assert.Equal(t, step.hasAsk, listing.at("ask") != nil, step.why)
		if step.hasAsk && step.operation == "UPDATE" {
			assert.Equal(t, firstAsk, listing.text("ask", "askId"), "an update keeps the ask")
		}
	}
	assert.Equal(t, currency, m.get("%s", path).text("currencyCode"))
}

// What an update or an activation leaves out is the default or that of the listing, by Options.
func TestTerms_LeftOut(t *testing.T) {
	const day = 24 * time.Hour
	in30, in60 := noon.Add(30*day).Format(time.RFC3339), noon.Add(60*day).Format(time.RFC3339)
	for _, row := range []struct {
		active       bool
		method, path string
		body         map[string]any
		currency     [2]string // by default and kept
		days         [2]int    // of the ask, from the change
		why          string
	}{
		{
			true, "PATCH", "",
			map[string]any{"amount": "90"},
			[2]string{"USD", "EUR"},
			[2]int{999, 30},
			"an amount alone",
		},
		{
			true, "PATCH", "",
			map[string]any{"amount": "90", "currencyCode": "EUR"},
			[2]string{"EUR", "EUR"},
			[2]int{999, 30},
			"an amount and its currency",
		},
		{
			true, "PATCH", "",
			map[string]any{"expiresAt": in60},
			[2]string{"EUR", "EUR"},
			[2]int{60, 60},
			"an expiry alone keeps the price",
		},
		{
			true, "PATCH", "",
			map[string]any{"amount": "90", "currencyCode": "EUR", "expiresAt": in60},
			[2]string{"EUR", "EUR"},
			[2]int{60, 60},
			"all terms",
		},
		{
			false, "PUT", "/activate",
			map[string]any{},
			[2]string{"EUR", "EUR"},
			[2]int{999, 30},
			"an activation without terms",
		},
		{
			false, "PUT", "/activate",
			map[string]any{"amount": "90"},
			[2]string{"USD", "EUR"},
			[2]int{999, 30},
			"an activation with an amount alone",
		},
		{
			true, "POST", "update-listing",
			map[string]any{"amount": "90"},
			[2]string{"USD", "EUR"},
			[2]int{999, 30},
			"an item of a batch",
		},
		{
			false, "POST", "update-listing",
			map[string]any{"active": true},
			[2]string{"EUR", "EUR"},
			[2]int{999, 30},
			"an item of a batch that activates",
		},
	} {
		for i, reading := range readings {
			t.Run(row.why+", "+reading.name, func(t *testing.T) {
				m := open(t, reading.option)
				id := m.createListing("100", map[string]any{
					"currencyCode": "EUR", "expiresAt": in30, "active": row.active,
				}).text("listingId")
				m.settle()
				changed := noon.Add(4 * time.Second) // when a request is accepted
				if row.method == "POST" {
					row.body["listingId"] = id
					m.batch(row.path, row.body)
					changed = changed.Add(2 * time.Second) // when an item is made
				} else {
					r := m.call(row.method, "/selling/listings/"+id+row.path, row.body)
					require.Equal(t, http.StatusOK, r.status, "%v", r.body)
				}
				m.settle()
				l := m.get("/selling/listings/%s", id)
				assert.Equal(t, row.currency[i], l.text("currencyCode"))
				expires := noon.Add(time.Duration(row.days[i]) * day)
				if row.days[i] == 999 {
					expires = changed.Add(999 * day)
				}
				assert.Equal(t, expires.Format("2006-01-02T15:04:05.000Z"), l.text("ask", "askExpiresAt"))
			})
		}
	}
}

func TestListings_RefuseImpossibleOperations(t *testing.T) {
	m := open(t)
	active := m.sell("200")
	inactive := m.sell("201")
	m.call(http.MethodPut, "/selling/listings/"+inactive+"/deactivate", nil)
	deleted := m.sell("202")
	m.call(http.MethodDelete, "/selling/listings/"+deleted, nil)
	sold := m.sell("203")
	_, err := m.Buy(t.Context(), sold)
	require.NoError(t, err)
	m.settle()

	for _, row := range []struct{ method, id, path, why string }{
		{"PUT", active, "/activate", "it is active"},
		{"PUT", inactive, "/deactivate", "it is inactive"},
		{"PUT", deleted, "/activate", "it is deleted"},
		{"PUT", deleted, "/deactivate", "it is deleted"},
		{"PATCH", deleted, "", "it is deleted"},
		{"DELETE", deleted, "", "it is deleted"},
		{"PUT", sold, "/activate", "it is sold"},
		{"PUT", sold, "/deactivate", "it is sold"},
		{"PATCH", sold, "", "it is sold"},
		{"DELETE", sold, "", "it is sold"},
	} {
		var body any
		if row.method == "PATCH" || row.path == "/activate" {
			body = map[string]any{"amount": "100"}
		}
		m.call(row.method, "/selling/listings/"+row.id+row.path, body).
			refused(http.StatusBadRequest, "listing "+row.id, row.method+row.path+": "+row.why)
	}
	assert.Equal(t, "MATCHED", m.get("/selling/listings/%s", sold).text("status"))
}

func TestListings_RefuseTermsThatMakeNoSense(t *testing.T) {
	m := open(t)
	id := m.sell("200")
	for _, row := range []struct {
		body      map[string]any
		what, why string
	}{
		{map[string]any{"amount": "100000.01"}, "/amount", "more than a listing may cost"},
		{map[string]any{"amount": "0.5"}, "/amount", "less than a listing may cost"},
		{map[string]any{"amount": "10.555"}, "/amount", "half a cent"},
		{map[string]any{"amount": "abc"}, "/amount", "no number"},
		{map[string]any{"amount": "100.5", "currencyCode": "JPY"}, "/amount", "half a yen"},
		{map[string]any{"expiresAt": noon.Add(-time.Hour)}, "/expiresAt", "in the past"},
	} {
		m.call(http.MethodPatch, "/selling/listings/"+id, row.body).
			refused(http.StatusBadRequest, row.what, row.why)
		row.body["variantId"] = chicago(t)
		if row.body["amount"] == nil {
			row.body["amount"] = "10"
		}
		m.call(http.MethodPost, "/selling/listings", row.body).
			refused(http.StatusBadRequest, row.what, row.why)
	}
	m.call(http.MethodPost, "/selling/listings", map[string]any{"variantId": "DZ5485-612", "amount": "10"}).
		refused(http.StatusBadRequest, "/variantId", "a style id is no variant")
}

func TestExpiry_DeactivatesListings(t *testing.T) {
	m := open(t)
	a := m.call(http.MethodPost, "/selling/listings", map[string]any{
		"variantId": chicago(t), "amount": "200", "expiresAt": noon.Add(time.Hour),
	})
	id := a.text("listingId")
	m.settle()
	assert.Equal(t, "ACTIVE", m.get("/selling/listings/%s", id).text("status"))

	m.pass(time.Hour)
	listing := m.get("/selling/listings/%s", id)
	assert.Equal(t, "INACTIVE", listing.text("status"))
	assert.Nil(t, listing.at("ask"))
	assert.Equal(t, "SYSTEM", listing.text("lastOperation", "operationInitiatedBy"))
	assert.Equal(t, 0, m.get("/selling/listings").len("listings"), "expired listings are hidden")
	assert.Equal(t, []string{id}, m.get("/selling/listings?isExpired=true").each("listings", "listingId"))
	_, err := m.Buy(t.Context(), id)
	require.Error(t, err, "it has no live ask")

	m.call(http.MethodPut, "/selling/listings/"+id+"/activate", map[string]any{})
	m.settle()
	assert.Equal(t, "ACTIVE", m.get("/selling/listings/%s", id).text("status"),
		"activation starts a new lifetime")
}

func TestExpiry_OfAnAskThatIsMadeTooLate(t *testing.T) {
	m := open(t)
	soon := noon.Add(500 * time.Millisecond).Format(time.RFC3339Nano)
	created := m.createListing("100", map[string]any{"expiresAt": soon}).text("listingId")
	idle := m.createListing("100", map[string]any{"active": false}).text("listingId")
	m.call(http.MethodPut, "/selling/listings/"+idle+"/activate", map[string]any{"expiresAt": soon})
	m.pass(time.Hour)
	for why, id := range map[string]string{"a late creation": created, "a late activation": idle} {
		l := m.get("/selling/listings/%s", id)
		assert.Equal(t, "INACTIVE", l.text("status"), why)
		assert.Nil(t, l.at("ask"), why)
		assert.Equal(t, "DEACTIVATE", l.text("lastOperation", "operationType"), why)
	}
}

func TestExpiry_HidesListingsThatAreNotSold(t *testing.T) {
	m := open(t)
	offer := func(active bool) (id string) {
		id = m.call(http.MethodPost, "/selling/listings", map[string]any{
			"variantId": chicago(t), "amount": "200", "expiresAt": noon.Add(time.Hour), "active": active,
		}).text("listingId")
		m.settle()
		return id
	}
	active, inactive, deleted, sold := offer(true), offer(false), offer(true), offer(true)
	m.call(http.MethodDelete, "/selling/listings/"+deleted, nil)
	m.settle()
	_, err := m.Buy(t.Context(), sold)
	require.NoError(t, err)
	assert.Equal(t, []string{sold, deleted, inactive, active},
		m.get("/selling/listings").each("listings", "listingId"))

	m.pass(time.Hour)
	assert.Equal(t, []string{sold}, m.get("/selling/listings").each("listings", "listingId"),
		"sold listings do not expire")
	assert.Equal(t, []string{sold, deleted, inactive, active},
		m.get("/selling/listings?isExpired=true").each("listings", "listingId"))
	assert.Equal(t, json.Number("1"),
		m.get("/selling/listings?listingStatuses=DELETED&isExpired=true").at("count"))
	assert.Equal(t, "CREATE",
		m.get("/selling/listings/%s", inactive).text("lastOperation", "operationType"), "it had no ask")

	m.call(http.MethodPatch, "/selling/listings/"+inactive, map[string]any{"expiresAt": noon.Add(48 * time.Hour)})
	m.settle()
	assert.Equal(t, []string{sold, inactive}, m.get("/selling/listings").each("listings", "listingId"),
		"a later expiry shows it again")
}

func TestListings_AreFiltered(t *testing.T) {
	m := open(t)
	product, _ := variant(t, "DZ5485-612", "10.5")
	_, panda := variant(t, "DD1391-100", "9")
	active := m.sell("200")
	direct := m.call(http.MethodPost, "/selling/listings", map[string]any{
		"variantId": panda, "amount": "120", "inventoryType": "DIRECT", "active": false,
	}).text("listingId")
	batch := m.call(http.MethodPost, "/selling/batch/create-listing", map[string]any{
		"items": []any{map[string]any{"variantId": panda, "amount": "130", "quantity": 1}},
	}).text("batchId")
	m.settle()
	m.pass(36 * time.Hour)
	late := m.sell("210")
	batched := m.get("/selling/listings?batchIds=%s", batch).text("listings", 0, "listingId")

	for _, row := range []struct {
		query string
		want  []string
		why   string
	}{
		{"", []string{late, batched, direct, active}, "the newest first"},
		{"listingStatuses=ACTIVE", []string{late, batched, active}, "one status"},
		{"listingStatuses=ACTIVE,INACTIVE", []string{late, batched, direct, active}, "two statuses in one value"},
		{"inventoryTypes=DIRECT", []string{direct}, "an inventory type"},
		{"variantIds=" + panda, []string{batched, direct}, "a variant"},
		{"productIds=" + product.ID, []string{late, active}, "a product"},
		{"productIds=" + product.ID + "&listingStatuses=DELETED", nil, "filters add up"},
		{"toDate=2026-11-02", []string{batched, direct, active}, "the last day counts to its end"},
		{"fromDate=2026-11-03", []string{late}, "from a day on"},
		{"fromDate=2026-11-02&toDate=2026-11-02", []string{batched, direct, active}, "one day"},
		{"fromDate=2026-11-02T12:00:04Z", []string{late, batched, direct}, "from a time on"},
		{"fromDate=2026-11-02T14:00:04.001%2B02:00", []string{late, batched}, "in another zone"},
		{"toDate=2026-11-02T12:00:04.000Z", []string{direct, active}, "the last time counts"},
		{"toDate=2026-11-02T12:00:03.999Z", []string{active}, "and nothing after it"},
		{"initiatedShipmentDisplayIds=SHP-1", nil, "there are no inbound shipments"},
	} {
		a := m.get("/selling/listings?%s", row.query)
		assert.ElementsMatch(t, row.want, a.each("listings", "listingId"), row.why)
		assert.Equal(t, json.Number(fmt.Sprint(len(row.want))), a.at("count"), row.why)
	}
	assert.Equal(t, []string{late, batched, direct, active},
		m.get("/selling/listings").each("listings", "listingId"))
}

func TestListings_ArePaged(t *testing.T) {
	m := open(t)
	m.call(http.MethodPost, "/selling/batch/create-listing", map[string]any{
		"items": []any{map[string]any{"variantId": chicago(t), "amount": "200", "quantity": 25}},
	})
	m.settle()
	seen := map[string]bool{}
	for _, row := range []struct {
		page, want int
		more       bool
	}{{1, 10, true}, {2, 10, true}, {3, 5, false}, {4, 0, false}} {
		a := m.get("/selling/listings?pageNumber=%d", row.page)
		assert.Equal(t, json.Number("25"), a.at("count"))
		assert.Equal(t, json.Number("10"), a.at("pageSize"), "ten is the default")
		assert.Equal(t, json.Number(fmt.Sprint(row.page)), a.at("pageNumber"))
		assert.Equal(t, row.more, a.at("hasNextPage"))
		assert.Equal(t, row.want, a.len("listings"))
		for _, id := range a.each("listings", "listingId") {
			assert.False(t, seen[id], "repeated on two pages")
			seen[id] = true
		}
	}
	assert.Len(t, seen, 25)
	assert.Equal(t, 0, m.get("/selling/listings?pageNumber=9000000000").len("listings"),
		"beyond the last page")
}

func TestListings_EmptyMarketHasEmptyPages(t *testing.T) {
	m := open(t)
	for _, query := range []string{
		"", "fromDate=2026-11-01", "toDate=2026-11-03", "fromDate=2026-11-01&toDate=2026-11-03",
		"fromDate=2036-01-01",
		"listingStatuses=ACTIVE",
		"variantIds=7cc805a8-e5cf-5ed3-bdee-b00bf511b7ef&fromDate=2026-11-01", "isExpired=true",
	} {
		page := m.get("/selling/listings?%s", query).body
		require.Equal(t, map[string]any{
			"count": json.Number("0"), "hasNextPage": false, "listings": []any{},
			"pageNumber": json.Number("1"), "pageSize": json.Number("10"),
		}, page, query)
	}
}
