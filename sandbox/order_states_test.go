package sandbox_test

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/sandbox"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/state"
)

// still keeps orders where they are.
func still(o *sandbox.Options) { o.OrderStep, o.Delay = -1, -1 }

// wayTo finds the shortest way of an order to a status.
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

func TestAnOrderMovesOnlyAlongItsTable(t *testing.T) {
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
				number = "" // it is gone
				continue
			}
			require.ErrorContains(t, err, "sandbox: move order: order "+number+" cannot be moved to "+to+": it is "+from)
			for _, target := range state.Order.Targets(from) {
				require.ErrorContains(t, err, target, "the error says where it can go")
			}
			require.Equal(t, from, m.get("/selling/orders/%s", number).text("status"), "a refusal changes nothing")
		}
	}
	require.ErrorContains(t, m.MoveOrder(t.Context(), "323314425-323214184", "SHIPPED"), `there is no order "323314425-323214184"`)
	_, number := m.order("200")
	require.ErrorContains(t, m.MoveOrder(t.Context(), number, "UNKNOWN"), `there is no order status "UNKNOWN"`)
}

func TestASaleThatFallsThroughCancelsItsListing(t *testing.T) {
	for _, row := range []struct {
		way    []string
		check  any
		notes  bool
		reason string
	}{
		{[]string{"DIDNOTSHIP"}, nil, false, "the seller let the ship-by date pass"},
		{[]string{"CANCELED"}, nil, false, "the sale was called off"},
		{[]string{"CCAUTHORIZATIONFAILED", "CANCELED"}, nil, false, "the buyer did not pay"},
		{[]string{"PENDING", "SUSPENDED", "CANCELED"}, nil, false, "something was wrong about the sale"},
		{[]string{"DONOTSHIP", "CANCELED"}, nil, false, "the seller was told not to ship"},
		{[]string{"SYSTEMFULFILLED", "CANCELED"}, nil, false, "it was called off late"},
		{[]string{"SHIPPED", "CANCELED"}, nil, false, "the parcel was lost"},
		{[]string{"SHIPPED", "RETURNED"}, nil, false, "the parcel was not delivered"},
		{[]string{"SHIPPED", "RECEIVED", "AUTHENTICATING", "AUTHFAILED"}, "FAILED", true, "it did not pass the check"},
		{[]string{"SHIPPED", "RECEIVED", "AUTHENTICATING", "AUTHFAILED", "RETURNED"}, "FAILED", true, "and was sent back"},
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
			assert.Equal(t, 2, m.get("/selling/listings/%s/operations", listing).len("operations"), "it is recorded once")

			o := m.get("/selling/orders/%s", number)
			assert.Nil(t, o.at("payout"), "nobody is paid")
			if row.check == nil {
				assert.Nil(t, o.at("authenticationDetails"))
			} else {
				assert.Equal(t, row.check, o.at("authenticationDetails", "status"))
				assert.Equal(t, row.notes, o.at("authenticationDetails", "failureNotes") != nil)
			}
			assert.True(t, m.has("history?orderStatus="+last, number))
			assert.False(t, m.has("active", number))
			shown := m.get("/selling/orders/history").at("orders", 0).(map[string]any)
			assert.NotContains(t, shown, "payout")
			m.call("PUT", "/selling/listings/"+listing+"/activate", map[string]any{}).refused(400, "it is canceled", "a sold item is not sold again")
		})
	}
}

func TestACanceledListingHasNoAsk(t *testing.T) {
	m := open(t, still)
	listing, number := m.order("200")
	ask := m.get("/selling/listings/%s", listing).text("ask", "askId")
	m.move(number, "CANCELED")
	assert.Nil(t, m.get("/selling/listings/%s", listing).at("ask"))
	assert.Equal(t, ask, m.get("/selling/orders/%s", number).text("askId"), "the order still tells which it was")
}

func TestWhatIsHeldBackWaitsAndGoesOn(t *testing.T) {
	for _, row := range []struct {
		way []string
		on  string
	}{
		{[]string{"CCAUTHORIZATIONFAILED"}, "CREATED"},
		{[]string{"PENDING"}, "CREATED"},
		{[]string{"PENDING", "SUSPENDED"}, "CREATED"},
		{[]string{"DONOTSHIP"}, "CREATED"},
		{[]string{"SHIPPED", "RECEIVED", "AUTHENTICATING", "AUTHENTICATED", "PAYOUTPENDING", "PAYOUTFAILED"}, "PAYOUTPENDING"},
	} {
		m := open(t, stepping)
		listing, number := m.order("200")
		m.move(number, row.way...)
		held := row.way[len(row.way)-1]
		m.pass(365 * 24 * time.Hour)
		o := m.get("/selling/orders/%s", number)
		assert.Equal(t, held, o.text("status"), "it does not move on by itself")
		assert.True(t, m.has("active?orderStatus="+held, number))
		assert.NotNil(t, o.at("payout"), "the seller may still be paid")
		assert.Equal(t, row.on == "CREATED", o.at("shipment", "shippingLabelUrl") == nil, "%s has no label before it may be shipped", held)
		m.move(number, row.on)
		m.pass(8 * 24 * time.Hour)
		assert.Equal(t, "COMPLETED", m.get("/selling/orders/%s", number).text("status"), "once moved on, it goes on by itself")
		assert.Equal(t, "COMPLETED", m.get("/selling/listings/%s", listing).text("status"))
	}
}

func TestHistoryIsFiltered(t *testing.T) {
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
		assert.Equal(t, row.want, m.get("/selling/orders/history?%s", row.query).each("orders", "orderNumber"), row.why)
	}
	assert.True(t, m.has("active", active))
	for _, row := range []struct{ query, says, why string }{
		{"orderStatus=SHIPPED", "orderStatus", "a status of active orders"},
		{"fromDate=yesterday", "fromDate", "no day"},
		{"toDate=2026-13-01", "toDate", "no month"},
	} {
		m.call("GET", "/selling/orders/history?"+row.query, nil).refused(400, row.says, row.why)
	}
}

// stepping lets orders move on by themselves every day.
func stepping(o *sandbox.Options) { o.OrderStep = 24 * time.Hour }

// order sells a listing and returns the number of its order.
func (m *market) order(amount string) (listing, number string) {
	m.t.Helper()
	listing = m.sell(amount)
	number, err := m.Buy(m.t.Context(), listing)
	require.NoError(m.t, err)
	return listing, number
}

// has reports whether a list of orders has one.
func (m *market) has(list, number string) bool {
	m.t.Helper()
	return slices.Contains(m.get("/selling/orders/%s", list).each("orders", "orderNumber"), number)
}

func TestAnOrderGoesFromTheSaleToHistory(t *testing.T) {
	m := open(t, stepping)
	listing, number := m.order("200")
	for i, row := range []struct {
		status, listing string
		followed        bool // the carrier has it
		check           any
		listed          bool // its payout stands in lists
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
			assert.Equal(t, before, m.get("/selling/orders/%s", number).body, "%s came early", row.status)
			m.pass(time.Millisecond)
		}
		o := m.get("/selling/orders/%s", number)
		require.Equal(t, row.status, o.text("status"))
		assert.Equal(t, row.listing, m.get("/selling/listings/%s", listing).text("status"), row.status)
		assert.Equal(t, row.status, m.get("/selling/listings/%s", listing).text("order", "orderStatus"))
		assert.Equal(t, row.followed, o.at("shipment", "trackingUrl") != nil, row.status)
		assert.NotNil(t, o.at("shipment", "shippingLabelUrl"), row.status)
		assert.NotNil(t, o.at("payout"), "%s: a single order shows what there will be", row.status)
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
	assert.Equal(t, done, m.get("/selling/orders/%s", number).body, "nothing happens to what has ended")
	assert.Equal(t, []string{"CREATE"}, m.get("/selling/listings/%s/operations", listing).each("operations", "operationType"),
		"a sale that went well is no operation")
}

func TestOrdersDoNotFallBehindTheClock(t *testing.T) {
	m := open(t, stepping)
	_, number := m.order("200")
	m.pass(3*24*time.Hour + time.Hour)
	assert.Equal(t, "AUTHENTICATING", m.get("/selling/orders/%s", number).text("status"), "three steps at once")
	m.pass(23 * time.Hour)
	assert.Equal(t, "AUTHENTICATED", m.get("/selling/orders/%s", number).text("status"), "and the next one when it is due")
}

func TestOrdersWithoutAStepStayUntilTheyAreMoved(t *testing.T) {
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
	assert.Equal(t, "CREATED", m.get("/selling/orders/%s", other).text("status"), "whatever was planned before a restart")
}

func TestAnOrderIsMovedOnOnceAcrossRestarts(t *testing.T) {
	file := tempFile(t)
	killed := open(t, stepping, inFile(file)) // it is never closed before the next one starts
	var listings, numbers []string
	for range 20 {
		listing, number := killed.order("200")
		listings, numbers = append(listings, listing), append(numbers, number)
	}
	require.NoError(t, killed.MoveOrder(t.Context(), numbers[0], "DIDNOTSHIP"))
	killed.pass(3 * 24 * time.Hour)

	next := open(t, stepping, inFile(file))
	next.pass(5*24*time.Hour - time.Hour)
	assert.Equal(t, "AUTHENTICATED", next.get("/selling/orders/%s", numbers[1]).text("status"), "a restart is no step")
	next.pass(30 * 24 * time.Hour)
	assert.Equal(t, 0, next.get("/selling/orders/active").len("orders"))
	assert.Equal(t, 19, next.get("/selling/orders/history?orderStatus=COMPLETED&pageSize=100").len("orders"))
	assert.Equal(t, []string{numbers[0]}, next.get("/selling/orders/history?orderStatus=DIDNOTSHIP").each("orders", "orderNumber"))
	assert.Equal(t, []string{"CANCEL_ORDER", "CREATE"},
		next.get("/selling/listings/%s/operations", listings[0]).each("operations", "operationType"), "it fell through once")
	for _, listing := range listings[1:] {
		assert.Equal(t, "COMPLETED", next.get("/selling/listings/%s", listing).text("status"))
	}
}

func TestAnOperationThatTheSaleOvertookFails(t *testing.T) {
	m := open(t)
	listing := m.sell("200")
	op := m.call(http.MethodDelete, "/selling/listings/"+listing, nil)
	_, err := m.Buy(t.Context(), listing)
	require.NoError(t, err)
	m.settle()
	failed := m.get("/selling/listings/%s/operations/%s", listing, op.text("operationId"))
	assert.Equal(t, "FAILED", failed.text("operationStatus"))
	assert.Equal(t, "listing "+listing+" cannot be deleted: it is sold; nothing more can be done to it", failed.text("error"))
	assert.Equal(t, "MATCHED", m.get("/selling/listings/%s", listing).text("status"))
	m.call(http.MethodDelete, "/selling/listings/"+listing, nil).refused(400, "it is sold", "a request is refused at once")
}
