package sandbox_test

import (
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
