package sandbox_test

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/sandbox"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/state"
)

// still stops the automatic transitions of orders, and all delays.
func still(o *sandbox.Options) { o.OrderStep, o.Delay = -1, -1 }

// wayTo returns the shortest way of an order to a status.
func wayTo(tb testing.TB, status string) []string {
	tb.Helper()
	ways := map[string][]string{state.OrderCreated: {}}
	for queue := []string{state.OrderCreated}; len(queue) > 0; queue = queue[1:] {
		for _, to := range state.Order.Targets(queue[0]) {
			if _, known := ways[to]; !known {
				ways[to] = append(slices.Clone(ways[queue[0]]), to)
				queue = append(queue, to)
			}
		}
	}
	require.Contains(tb, ways, status)
	return ways[status]
}

func (m *market) move(number string, way ...string) {
	m.t.Helper()
	for _, status := range way {
		require.NoError(m.t, m.MoveOrder(m.t.Context(), number, status))
	}
}

func TestMoveOrder_FollowsTheTableOfStates(t *testing.T) {
	m := open(t, still)
	var all []string
	for _, s := range state.Order.States() {
		all = append(all, s.Name)
	}
	for _, from := range all {
		way := wayTo(t, from)
		var number string
		for _, to := range all {
			if number == "" {
				_, number = m.order("200")
				m.move(number, way...)
			}
			err := m.MoveOrder(t.Context(), number, to)
			if _, possible := state.Order.Toward(from, to); possible {
				require.NoError(t, err, "%s to %s", from, to)
				assert.Equal(t, to, m.get("/selling/orders/%s", number).text("status"))
				number = "" // make another one
				continue
			}
			require.Error(t, err, "%s to %s", from, to)
			for _, target := range state.Order.Targets(from) {
				require.ErrorContains(t, err, target, "what is possible")
			}
			require.Equal(t, from, m.get("/selling/orders/%s", number).text("status"),
				"a refusal changes nothing")
		}
	}
	require.ErrorContains(t, m.MoveOrder(t.Context(), "323314425-323214184", "SHIPPED"),
		"sandbox: move order: order (")
	_, number := m.order("200")
	require.ErrorContains(t, m.MoveOrder(t.Context(), number, "UNKNOWN"),
		"sandbox: move order: order status (")
}

func TestOrders_CanceledSaleCancelsItsListing(t *testing.T) {
	for _, row := range []struct {
		way    []string
		check  any
		notes  bool
		reason string
	}{
		{[]string{"DIDNOTSHIP"}, nil, false, "the ship-by date passed"},
		{[]string{"CANCELED"}, nil, false, "the sale was canceled"},
		{[]string{"CCAUTHORIZATIONFAILED", "CANCELED"}, nil, false, "the buyer did not pay"},
		{[]string{"PENDING", "SUSPENDED", "CANCELED"}, nil, false, "the review found something"},
		{[]string{"DONOTSHIP", "CANCELED"}, nil, false, "the seller must not ship"},
		{[]string{"SYSTEMFULFILLED", "CANCELED"}, nil, false, "it was canceled late"},
		{[]string{"SHIPPED", "CANCELED"}, nil, false, "the parcel was lost"},
		{[]string{"SHIPPED", "RETURNED"}, nil, false, "the parcel was not delivered"},
		{[]string{"SHIPPED", "RECEIVED", "AUTHENTICATING", "AUTHFAILED"}, "FAILED", true, "it failed authentication"},
		{
			[]string{"SHIPPED", "RECEIVED", "AUTHENTICATING", "AUTHFAILED", "RETURNED"},
			"FAILED",
			true, "it was returned",
		},
	} {
		t.Run(row.reason, func(t *testing.T) {
			m := open(t, still)
			listing, number := m.order("200")
			m.move(number, row.way[:len(row.way)-1]...)
			last := row.way[len(row.way)-1]
			m.move(number, last)

			l := m.get("/selling/listings/%s", listing)
			assert.Equal(t, "CANCELED", l.text("status"))
			assert.Equal(t, last, l.text("order", "orderStatus"))
			assert.Equal(t, "CANCEL_ORDER", l.text("lastOperation", "operationType"))
			assert.Equal(t, "SUCCEEDED", l.text("lastOperation", "operationStatus"))
			assert.Equal(t, "SYSTEM", l.text("lastOperation", "operationInitiatedBy"))
			assert.Equal(t, "INTERNAL-SYSTEM", l.text("lastOperation", "operationInitiatedVia"))
			assert.Equal(t, 2, m.get("/selling/listings/%s/operations", listing).len("operations"),
				"it is recorded once")

			o := m.get("/selling/orders/%s", number)
			assert.Equal(t, json.Number("200"), o.at("payout", "salePrice"), "the failure branches have a payout")
			if row.check == nil {
				assert.Nil(t, o.at("authenticationDetails"))
			} else {
				assert.Equal(t, row.check, o.at("authenticationDetails", "status"))
				assert.Equal(t, row.notes, o.at("authenticationDetails", "failureNotes") != nil)
			}
			assert.True(t, m.has("history?orderStatus="+last, number))
			assert.False(t, m.has("active", number))
			shown := m.get("/selling/orders/history").at("orders", 0).(map[string]any)
			assert.Contains(t, shown, "payout")
			m.call("PUT", "/selling/listings/"+listing+"/activate", map[string]any{}).
				refused(400, "listing "+listing, "it is canceled")
		})
	}
}

func TestOrders_CanceledListingHasNoAsk(t *testing.T) {
	m := open(t, still)
	listing, number := m.order("200")
	ask := m.get("/selling/listings/%s", listing).text("ask", "askId")
	m.move(number, "CANCELED")
	assert.Nil(t, m.get("/selling/listings/%s", listing).at("ask"))
	assert.Equal(t, ask, m.get("/selling/orders/%s", number).text("askId"),
		"the order still has it")
}

func TestOrders_SuspendedOnesWaitUntilMoved(t *testing.T) {
	for _, row := range []struct {
		way []string
		to  string
	}{
		{[]string{"CCAUTHORIZATIONFAILED"}, "CREATED"},
		{[]string{"PENDING"}, "CREATED"},
		{[]string{"PENDING", "SUSPENDED"}, "CREATED"},
		{[]string{"DONOTSHIP"}, "CREATED"},
		{
			[]string{"SHIPPED", "RECEIVED", "AUTHENTICATING", "AUTHENTICATED", "PAYOUTPENDING", "PAYOUTFAILED"},
			"PAYOUTPENDING",
		},
	} {
		m := open(t, stepping)
		listing, number := m.order("200")
		m.move(number, row.way...)
		status := row.way[len(row.way)-1]
		m.pass(365 * 24 * time.Hour)
		o := m.get("/selling/orders/%s", number)
		assert.Equal(t, status, o.text("status"), "there is no automatic transition")
		assert.True(t, m.has("active?orderStatus="+status, number))
		assert.NotNil(t, o.at("payout"), "the seller may still be paid")
		assert.Equal(t, row.to == "CREATED", o.at("shipment", "shippingLabelUrl") == nil,
			"%s has no label before it may be shipped", status)
		m.move(number, row.to)
		m.pass(8 * 24 * time.Hour)
		assert.Equal(t, "COMPLETED", m.get("/selling/orders/%s", number).text("status"),
			"then its transitions are automatic again")
		assert.Equal(t, "COMPLETED", m.get("/selling/listings/%s", listing).text("status"))
	}
}

func TestOrders_HistoryIsFiltered(t *testing.T) {
	m := open(t, still)
	product, variantID := variant(t, "DZ5485-612", "10.5")
	_, first := m.order("200")
	m.move(first, "CANCELED")
	m.pass(24 * time.Hour)
	_, second := m.order("200")
	m.move(second, "SYSTEMFULFILLED", "PAYOUTPENDING", "PAYOUTCOMPLETED", "COMPLETED")
	_, active := m.order("200")
	both := []string{second, first}
	for _, row := range []struct {
		query string
		want  []string
		why   string
	}{
		{"", both, "the newest first, and no active order"},
		{"orderStatus=CANCELED", []string{first}, "a status"},
		{"orderStatus=RETURNED", nil, "another status"},
		{"fromDate=2026-11-03", []string{second}, "from a day on"},
		{"toDate=2026-11-02", []string{first}, "until a day is over"},
		{"fromDate=2026-11-02&toDate=2026-11-03", both, "both days included"},
		{"productId=" + product.ID + "&variantId=" + variantID, both, "a product and a variant"},
		{"variantId=" + product.ID, nil, "no such variant"},
		{"inventoryTypes=DIRECT", nil, "an inventory type"},
		{"initiatedShipmentDisplayIds=SHP-1", nil, "an inbound shipment"},
		{"pageSize=1&pageNumber=2", []string{first}, "a page"},
	} {
		assert.Equal(t, row.want,
			m.get("/selling/orders/history?%s", row.query).each("orders", "orderNumber"), row.why)
	}
	assert.True(t, m.has("active", active))
	for _, row := range []struct{ query, what, why string }{
		{"orderStatus=SHIPPED", "orderStatus", "a status of active orders"},
		{"fromDate=yesterday", "fromDate", "no day"},
		{"toDate=2026-13-01", "toDate", "no month"},
	} {
		m.call("GET", "/selling/orders/history?"+row.query, nil).
			refused(400, `query parameter "`+row.what+`"`, row.why)
	}
}

// stepping makes a transition of each order every day.
func stepping(o *sandbox.Options) { o.OrderStep = 24 * time.Hour }

// has reports whether a list of orders has an order.
func (m *market) has(list, number string) bool {
	m.t.Helper()
	return slices.Contains(m.get("/selling/orders/%s", list).each("orders", "orderNumber"), number)
}

func TestOrders_MoveFromTheSaleToHistory(t *testing.T) {
	m := open(t, stepping)
	listing, number := m.order("200")
	for i, row := range []struct {
		status, listing string
		tracked         bool // has a tracking URL
		check           any
		listed          bool // has a payout in lists
		active          bool
	}{
		{"CREATED", "MATCHED", false, nil, false, true},
		{"SHIPPED", "MATCHED", true, nil, false, true},
		{"RECEIVED", "MATCHED", true, nil, false, true},
		{"AUTHENTICATING", "MATCHED", true, "PENDING", false, true},
		{"AUTHENTICATED", "MATCHED", true, "PASSED", false, true},
		{"PAYOUTPENDING", "MATCHED", true, "PASSED", true, true},
		{"PAYOUTCOMPLETED", "COMPLETED", true, "PASSED", true, true},
		{"COMPLETED", "COMPLETED", true, "PASSED", true, false},
	} {
		if i > 0 {
			before := m.get("/selling/orders/%s", number).body
			m.pass(24*time.Hour - time.Millisecond)
			assert.Equal(t, before, m.get("/selling/orders/%s", number).body,
				"%s came early", row.status)
			m.pass(time.Millisecond)
		}
		o := m.get("/selling/orders/%s", number)
		require.Equal(t, row.status, o.text("status"))
		assert.Equal(t, row.listing, m.get("/selling/listings/%s", listing).text("status"), row.status)
		assert.Equal(t, row.status, m.get("/selling/listings/%s", listing).text("order", "orderStatus"))
		assert.Equal(t, row.tracked, o.at("shipment", "trackingUrl") != nil, row.status)
		assert.NotNil(t, o.at("shipment", "shippingLabelUrl"), row.status)
		assert.NotNil(t, o.at("payout"), "%s: single orders have the payout to come", row.status)
		if details := o.at("authenticationDetails"); details != nil || row.check != nil {
			assert.Equal(t, map[string]any{"status": row.check, "failureNotes": nil}, details, row.status)
		}
		assert.Equal(t, row.active, m.has("active", number), row.status)
		assert.Equal(t, !row.active, m.has("history", number), row.status)
		list := "history"
		if row.active {
			list = "active"
		}
		shown := m.get("/selling/orders/%s?orderStatus=%s", list, row.status).at("orders", 0).(map[string]any)
		assert.Equal(t, row.listed, shown["payout"] != nil, row.status)
	}
	done := m.get("/selling/orders/%s", number).body
	m.pass(365 * 24 * time.Hour)
	assert.Equal(t, done, m.get("/selling/orders/%s", number).body,
		"there is no transition from the end")
	assert.Equal(t, []string{"CREATE"}, m.get("/selling/listings/%s/operations", listing).each("operations", "operationType"),
		"a completed sale is no operation")
}

func TestOrders_DoNotFallBehindTheClock(t *testing.T) {
	m := open(t, stepping)
	_, number := m.order("200")
	m.pass(3*24*time.Hour + time.Hour)
	assert.Equal(t, "AUTHENTICATING", m.get("/selling/orders/%s", number).text("status"),
		"three steps at once")
	m.pass(23 * time.Hour)
	assert.Equal(t, "AUTHENTICATED", m.get("/selling/orders/%s", number).text("status"),
		"the next step when it is due")
}

func TestOrders_WithoutAStepStayUntilMoved(t *testing.T) {
	file := tempFile(t)
	never := func(o *sandbox.Options) { o.OrderStep = -1 }
	m := open(t, never, inFile(file))
	_, number := m.order("200")
	m.pass(365 * 24 * time.Hour)
	assert.Equal(t, "CREATED", m.get("/selling/orders/%s", number).text("status"))
	require.NoError(t, m.MoveOrder(t.Context(), number, "SHIPPED"))
	m.pass(365 * 24 * time.Hour)
	assert.Equal(t, "SHIPPED", m.get("/selling/orders/%s", number).text("status"))
	require.NoError(t, m.Close())

	moving := open(t, stepping, inFile(file))
	_, other := moving.order("200")
	require.NoError(t, moving.Close())
	m = open(t, never, inFile(file))
	m.pass(365 * 24 * time.Hour)
	assert.Equal(t, "CREATED", m.get("/selling/orders/%s", other).text("status"),
		"also if they were due before a restart")
}

func TestOrders_MakeEachTransitionOnceAcrossRestarts(t *testing.T) {
	file := tempFile(t)
	killed := open(t, stepping, inFile(file))
	var listings, numbers []string
	for range 20 {
		listing, number := killed.order("200")
		listings, numbers = append(listings, listing), append(numbers, number)
	}
	require.NoError(t, killed.MoveOrder(t.Context(), numbers[0], "DIDNOTSHIP"))
	killed.pass(3 * 24 * time.Hour)

	next := open(t, stepping, inFile(asKilled(t, file)))
	next.pass(5*24*time.Hour - time.Hour)
	assert.Equal(t, "AUTHENTICATED", next.get("/selling/orders/%s", numbers[1]).text("status"),
		"a restart is no step")
	next.pass(30 * 24 * time.Hour)
	assert.Equal(t, 0, next.get("/selling/orders/active").len("orders"))
	assert.Equal(t, 19,
		next.get("/selling/orders/history?orderStatus=COMPLETED&pageSize=100").len("orders"))
	assert.Equal(t, []string{numbers[0]},
		next.get("/selling/orders/history?orderStatus=DIDNOTSHIP").each("orders", "orderNumber"))
	assert.Equal(t, []string{"CANCEL_ORDER", "CREATE"},
		next.get("/selling/listings/%s/operations", listings[0]).each("operations", "operationType"), "it was canceled once")
	for _, listing := range listings[1:] {
		assert.Equal(t, "COMPLETED", next.get("/selling/listings/%s", listing).text("status"))
	}
}
