package sandbox_test

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/sandbox"
)

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
