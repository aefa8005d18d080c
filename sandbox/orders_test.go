package sandbox_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestOrders_AreMadeBySales(t *testing.T) {
	m := open(t)
	id := m.sell("200")
	ask := m.get("/selling/listings/%s", id).text("ask", "askId")
	number, err := m.Buy(t.Context(), id)
	require.NoError(t, err)
	assert.Regexp(t, `^\d{9}-\d{9}$`, number)

	listing := m.get("/selling/listings/%s", id)
	assert.Equal(t, "MATCHED", listing.text("status"))
	assert.Equal(t, number, listing.text("order", "orderNumber"))
	assert.Equal(t, "CREATED", listing.text("order", "orderStatus"))

	order := m.get("/selling/orders/%s", number)
	assert.Equal(t, "CREATED", order.text("status"))
	assert.Equal(t, id, order.text("listingId"))
	assert.Equal(t, ask, order.text("askId"))
	assert.Equal(t, "200", order.text("amount"))
	assert.Equal(t, "DZ5485-612", order.text("product", "styleId"))
	assert.Equal(t, "2026-11-04T12:00:04.000Z", order.text("shipment", "shipByDate"))
	assert.NotEmpty(t, order.text("shipment", "trackingNumber"))
	assert.Equal(t, map[string]any{
		"salePrice": json.Number("200"), "totalAdjustments": json.Number("-28"),
		"totalPayout": json.Number("172"), "currencyCode": "USD",
		"adjustments": []any{
			map[string]any{"adjustmentType": "Transaction Fee", "amount": json.Number("-18"), "percentage": json.Number("0.09")},
			map[string]any{"adjustmentType": "Payment Proc. (3%)", "amount": json.Number("-6"), "percentage": json.Number("0.03")},
			map[string]any{"adjustmentType": "Shipping", "amount": json.Number("-4"), "percentage": json.Number("0")},
		},
	}, order.at("payout"))

	_, err = m.Buy(t.Context(), id)
	require.Error(t, err, "a listing is sold once")
	_, err = m.Buy(t.Context(), "no-such-listing")
	require.ErrorContains(t, err, "sandbox: buy: listing (")
}

func TestOrders_ActiveOnesAreListed(t *testing.T) {
	m := open(t)
	product, variantID := variant(t, "DZ5485-612", "10.5")
	var numbers []string
	for range 3 {
		number, err := m.Buy(t.Context(), m.sell("200"))
		require.NoError(t, err)
		numbers = append(numbers, number)
	}
	newest := []string{numbers[2], numbers[1], numbers[0]}
	for _, row := range []struct {
		query string
		want  []string
		why   string
	}{
		{"", newest, "the newest first"},
		{"sortOrder=SHIPBYDATE", numbers, "the most urgent first"},
		{"pageSize=2", newest[:2], "a page"},
		{"pageSize=2&pageNumber=2", newest[2:], "the next page"},
		{"orderStatus=CREATED", newest, "a status"},
		{"orderStatus=SHIPPED", nil, "another status"},
		{"productId=" + product.ID, newest, "a product"},
		{"variantId=" + variantID + "&inventoryTypes=STANDARD,DIRECT", newest, "a variant and its inventory types"},
		{"variantId=" + unknownID, nil, "another variant"},
		{"inventoryTypes=DIRECT", nil, "another inventory type"},
	} {
		assert.Equal(t, row.want,
			m.get("/selling/orders/active?%s", row.query).each("orders", "orderNumber"), row.why)
	}
	for _, row := range []struct{ query, what, why string }{
		{"orderStatus=COMPLETED", "orderStatus", "a status of ended orders"},
		{"orderStatus=LOST", "orderStatus", "no status at all"},
		{"sortOrder=PRICE", "sortOrder", "no sort order"},
		{"inventoryTypes=STANDARD,MINE", "inventoryTypes", "no inventory type"},
		{"productId=DZ5485-612", "productId", "a style id where an id belongs"},
		{"variantId=10.5", "variantId", "a size where an id belongs"},
		{"pageSize=101", "pageSize", "a page that is too long"},
		{"pageNumber=0", "pageNumber", "pages are counted from 1"},
	} {
		m.call("GET", "/selling/orders/active?"+row.query, nil).
			refused(400, `query parameter "`+row.what+`"`, row.why)
	}
	order := m.get("/selling/orders/active").at("orders", 0).(map[string]any)
	assert.NotContains(t, order, "shipment", "single orders have it")
	assert.NotContains(t, order, "payout", "it is too early")
	assert.Equal(t, "NEW", order["condition"])
	assert.Equal(t, json.Number("3"), m.get("/selling/orders/active").at("count"))
	assert.Equal(t, 0, m.get("/selling/orders/history?fromDate=2026-11-01&toDate=2026-11-30&orderStatus=COMPLETED").len("orders"),
		"no order has ended yet")
}

func TestOrders_DirectOnesHaveInboundShipments(t *testing.T) {
	m := open(t)
	m.sell("200")
	one, other := m.get("/selling/orders/%s", m.direct()), m.get("/selling/orders/%s", m.direct())
	shipment := one.text("initiatedShipments", "inbound", "displayId")
	sold := m.get("/selling/listings/%s", one.text("listingId"))
	assert.Equal(t, shipment, sold.text("initiatedShipments", "inbound", "displayId"))

	both := shipment + "," + other.text("initiatedShipments", "inbound", "displayId")
	for _, row := range []struct {
		filter string
		want   []string
		why    string
	}{
		{"=" + shipment, []string{one.text("listingId")}, "one shipment"},
		{"=" + both, []string{other.text("listingId"), one.text("listingId")}, "the newest first"},
		{"=" + both + "&pageSize=1&pageNumber=2", []string{one.text("listingId")}, "page by page"},
		{"=" + both + "&listingStatuses=ACTIVE", nil, "sold listings are not active"},
		{"=" + both + "&toDate=2026-11-01", nil, "they were made later"},
		{"=SHP-1", nil, "no such shipment"},
	} {
		list := m.get("/selling/listings?initiatedShipmentDisplayIds%s", row.filter)
		assert.Equal(t, row.want, list.each("listings", "listingId"), row.why)
	}
	stranger := m.add("stranger")
	list := stranger.call(http.MethodGet, "/selling/listings?initiatedShipmentDisplayIds="+shipment, nil)
	assert.Empty(t, list.each("listings", "listingId"), "shipments of other accounts are not found")
}

func TestOrders_DirectOnesHaveOtherNumbers(t *testing.T) {
	m := open(t)
	a := m.createListing("200", map[string]any{"inventoryType": "DIRECT"})
	m.settle()
	number, err := m.Buy(t.Context(), a.text("listingId"))
	require.NoError(t, err)
	assert.Regexp(t, `^06-[0-9A-Z]{10}$`, number)
	order := m.get("/selling/orders/%s", number)
	assert.Equal(t, "DIRECT", order.text("inventoryType"))

	shipment := order.text("initiatedShipments", "inbound", "displayId")
	assert.Regexp(t, `^SHP-[0-9A-Z]{8}$`, shipment)
	standard, err := m.Buy(t.Context(), m.sell("200"))
	require.NoError(t, err)
	assert.Nil(t, m.get("/selling/orders/%s", standard).at("initiatedShipments"))
	for query, want := range map[string][]string{
		"initiatedShipmentDisplayIds=" + shipment + ",SHP-1": {number},
		"initiatedShipmentDisplayIds=SHP-1":                  nil,
		"inventoryTypes=DIRECT":                              {number},
		"inventoryTypes=STANDARD":                            {standard},
	} {
		assert.Equal(t, want,
			m.get("/selling/orders/active?%s", query).each("orders", "orderNumber"), query)
	}
}
