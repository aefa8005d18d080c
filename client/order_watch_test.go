package client_test

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/clienttest"
	"github.com/sellside-sdk/sellside-go/gen"
	"github.com/sellside-sdk/sellside-go/sandbox"
	"github.com/sellside-sdk/sellside-go/sandbox/sandboxtest"
)

// newWatched returns a market in simulated time whose orders are moved by the test.
func newWatched(t *testing.T) (*sandboxtest.Market, *client.Client) {
	t.Helper()
	market := sandboxtest.NewInProcess(t, func(o *sandbox.Options) { o.OrderStep = -1 }, quirks)
	return market, market.Client(oneAttempt)
}

// order makes an order of a status.
func order(t *testing.T, market *sandboxtest.Market, status gen.OrderStatus) (number string) {
	t.Helper()
	number, err := market.AddOrder(t.Context(), sandbox.Listing{VariantID: sandboxVariant, Amount: "400"}, string(status))
	require.NoError(t, err)
	return number
}

// seen is what a test compares of a change.
type seen struct {
	Kind   client.OrderChangeKind
	Number string
	Before gen.OrderStatus
	Status gen.OrderStatus
	Label  bool
}

func seenOf(c client.OrderChange) seen {
	return seen{c.Kind, c.Order.OrderNumber, c.Before, c.Order.Status, c.LabelReady}
}

func TestOrdersWatch_ReportsLifeOfOrders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		market, c := newWatched(t)
		ended := order(t, market, gen.OrderStatusCanceled)
		first := order(t, market, gen.OrderStatusCreated)
		var second string
		move := func(number string, status gen.OrderStatus) {
			require.NoError(t, market.MoveOrder(t.Context(), number, string(status)))
		}
		steps := []struct {
			want seen
			then func()
		}{
			{seen{client.OrderNew, first, "", gen.OrderStatusCreated, true}, func() { move(first, gen.OrderStatusPending) }},
			{seen{client.OrderChanged, first, gen.OrderStatusCreated, gen.OrderStatusPending, false}, func() {
				move(first, gen.OrderStatusCreated)
			}},
			{seen{client.OrderChanged, first, gen.OrderStatusPending, gen.OrderStatusCreated, false}, func() { // its label is known
				move(first, gen.OrderStatusShipped)
			}},
			{seen{client.OrderChanged, first, gen.OrderStatusCreated, gen.OrderStatusShipped, false}, func() {
				move(first, gen.OrderStatusReturned)
			}},
			{seen{client.OrderEnded, first, gen.OrderStatusShipped, gen.OrderStatusReturned, false}, func() {
				second = order(t, market, gen.OrderStatusCanceled)
			}},
			{seen{client.OrderEnded, "", "", gen.OrderStatusCanceled, false}, nil}, // sold and canceled between two rounds
		}
		var last client.OrderChange
		for change, err := range c.Orders.Watch(t.Context(), client.OrderWatch{Labels: true}) {
			require.NoError(t, err)
			require.NotEmpty(t, steps, "%+v", seenOf(change))
			want := steps[0].want
			if want.Number == "" {
				want.Number = second
			}
			assert.Equal(t, want, seenOf(change))
			if change.LabelReady {
				labels, err := c.Orders.DownloadLabels(t.Context(), &change.Order)
				require.NoError(t, err)
				require.NotEmpty(t, labels, "the order has its shipment")
				for _, l := range labels {
					require.NoError(t, l.Document.Close())
				}
			}
			assert.NotEqual(t, ended, change.Order.OrderNumber, "it ended before the watch began")
			then := steps[0].then
			if steps = steps[1:]; len(steps) == 0 {
				last = change
				break
			}
			then()
		}
		require.Empty(t, steps)

		before := market.Counters()
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute-time.Second/2)
		defer cancel()
		watch := client.OrderWatch{Labels: true, Every: time.Minute, Mark: last.Mark()}
		for change, err := range c.Orders.Watch(ctx, watch) {
			require.ErrorIs(t, err, context.DeadlineExceeded, "%+v", seenOf(change))
		}
		after := market.Counters()
		rounds := after.Of(string(gen.OpListActiveOrders)) - before.Of(string(gen.OpListActiveOrders))
		assert.InDelta(t, 10, rounds, 1)
		assert.Equal(t, rounds, after.Of(string(gen.OpListOrderHistory))-before.Of(string(gen.OpListOrderHistory)))
		assert.Equal(t, before.Of(string(gen.OpGetOrder)), after.Of(string(gen.OpGetOrder)), "nothing has changed")
	})
}

func TestOrdersWatch_ResumesFromMark(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		market, c := newWatched(t)
		order(t, market, gen.OrderStatusCreated)
		order(t, market, gen.OrderStatusCreated)
		var numbers []string
		var mark []byte
		for change, err := range c.Orders.Watch(t.Context(), client.OrderWatch{}) {
			require.NoError(t, err)
			if numbers = append(numbers, change.Order.OrderNumber); len(numbers) == 2 {
				break // the program dies before it saves the mark of the second
			}
			mark = change.Mark()
		}

		// While the program is down for a month, one order ends, and another is sold and ends.
		<-time.After(30 * 24 * time.Hour)
		require.NoError(t, market.MoveOrder(t.Context(), numbers[0], string(gen.OrderStatusCanceled)))
		third := order(t, market, gen.OrderStatusCanceled)

		got := map[string]client.OrderChangeKind{}
		for change, err := range c.Orders.Watch(t.Context(), client.OrderWatch{Mark: mark}) {
			require.NoError(t, err)
			require.NotContains(t, got, change.Order.OrderNumber)
			if got[change.Order.OrderNumber] = change.Kind; len(got) == 3 {
				break
			}
		}
		assert.Equal(t, map[string]client.OrderChangeKind{
			numbers[0]: client.OrderEnded, numbers[1]: client.OrderNew, third: client.OrderEnded,
		}, got)
	})
}

func TestOrdersWatch_WaitsForLabel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := clienttest.New(t, clienttest.InProcess())
		sold := gen.Order{
			OrderNumber: orderID, Status: gen.OrderStatusCreated, CurrencyCode: "USD", Amount: "162",
			CreatedAt: gen.TimeOf(time.Now()), UpdatedAt: gen.TimeOf(time.Now()),
		}
		flex := sold
		flex.OrderNumber, flex.InventoryType = "02-L0QT6MRVSG", gen.InventoryTypeFlex
		active := gen.OrderPage{Orders: []gen.Order{sold, flex}, Count: 2, PageNumber: 1, PageSize: 100}
		srv.Expect(gen.OpListActiveOrders).Times(3).Respond(http.StatusOK, active)
		srv.Expect(gen.OpListOrderHistory).Times(3).Respond(http.StatusOK, gen.OrderPage{Orders: []gen.Order{}, PageNumber: 1, PageSize: 100})
		without, with := sold, sold
		without.Shipment = &gen.Shipment{ShipByDate: "2026-11-06T23:59:59.000Z"}
		with.Shipment = &gen.Shipment{ShippingLabelURL: "https://labels.example.com/1.pdf"}
		srv.Expect(gen.OpGetOrder).Path("orderNumber", orderID).Times(2).Respond(http.StatusOK, without)
		srv.Expect(gen.OpGetOrder).Path("orderNumber", orderID).Respond(http.StatusOK, with)

		var got []seen
		for change, err := range srv.Client().Orders.Watch(t.Context(), client.OrderWatch{Labels: true}) {
			require.NoError(t, err)
			if got = append(got, seenOf(change)); len(got) == 3 {
				break
			}
		}

		assert.Equal(t, []seen{
			{client.OrderNew, orderID, "", gen.OrderStatusCreated, false},
			{client.OrderNew, flex.OrderNumber, "", gen.OrderStatusCreated, false},
			{client.OrderLabel, orderID, gen.OrderStatusCreated, gen.OrderStatusCreated, true},
		}, got)
	})
}

func TestOrdersWatch_FindsOrderThatIsInNoList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := clienttest.New(t, clienttest.InProcess())
		sold := gen.Order{OrderNumber: orderID, Status: gen.OrderStatusShipped, CreatedAt: gen.TimeOf(time.Now()), UpdatedAt: gen.TimeOf(time.Now())}
		lost := sold
		lost.OrderNumber = "1-2"
		empty := gen.OrderPage{Orders: []gen.Order{}, PageNumber: 1, PageSize: 100}
		srv.Expect(gen.OpListActiveOrders).Respond(http.StatusOK, gen.OrderPage{Orders: []gen.Order{sold, lost}, Count: 2, PageNumber: 1, PageSize: 100})
		srv.Expect(gen.OpListActiveOrders).Times(2).Respond(http.StatusOK, empty)
		srv.Expect(gen.OpListOrderHistory).Times(3).Respond(http.StatusOK, empty)
		completed := sold
		completed.Status = gen.OrderStatusCompleted
		srv.Expect(gen.OpGetOrder).Path("orderNumber", "1-2").RespondError(http.StatusNotFound, "no such order")
		srv.Expect(gen.OpGetOrder).Path("orderNumber", orderID).Respond(http.StatusOK, sold) // it moved between pages
		srv.Expect(gen.OpGetOrder).Path("orderNumber", orderID).Respond(http.StatusOK, completed)
		srv.Expect(gen.OpListOrderHistory).Respond(http.StatusOK, empty)

		var got []seen
		for change, err := range srv.Client().Orders.Watch(t.Context(), client.OrderWatch{}) {
			require.NoError(t, err)
			if got = append(got, seenOf(change)); len(got) == 4 {
				break
			}
		}

		assert.Equal(t, []seen{
			{client.OrderNew, orderID, "", gen.OrderStatusShipped, false},
			{client.OrderNew, "1-2", "", gen.OrderStatusShipped, false},
			{client.OrderEnded, "1-2", gen.OrderStatusShipped, gen.OrderStatusShipped, false},
			{client.OrderEnded, orderID, gen.OrderStatusShipped, gen.OrderStatusCompleted, false},
		}, got)
	})
}

func TestOrdersWatch_ContinuesAfterTransientError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		market, c := newWatched(t)
		number := order(t, market, gen.OrderStatusCreated)
		for _, op := range []gen.OperationID{gen.OpListActiveOrders, gen.OpListOrderHistory} {
			require.NoError(t, market.Fail(sandbox.Fault{Operation: string(op), Kind: sandbox.FaultStatus, Status: http.StatusServiceUnavailable}))
		}
		failures, begun := 0, time.Now()
		for change, err := range c.Orders.Watch(t.Context(), client.OrderWatch{Every: time.Minute}) {
			if err != nil {
				require.ErrorIs(t, err, client.ErrServer)
				require.True(t, client.IsTransient(err))
				failures++
				continue
			}
			assert.Equal(t, number, change.Order.OrderNumber)
			break
		}
		assert.Equal(t, 2, failures)
		assert.GreaterOrEqual(t, time.Since(begun), 2*54*time.Second, "the pause is kept after an error")

		require.NoError(t, market.Fail(sandbox.Fault{Operation: string(gen.OpListActiveOrders), Kind: sandbox.FaultStatus, Status: http.StatusForbidden}))
		var last error
		for _, err := range c.Orders.Watch(t.Context(), client.OrderWatch{}) {
			require.NoError(t, last, "a permanent error is the last")
			last = err
		}
		require.ErrorIs(t, last, client.ErrForbidden)
	})
}

func TestOrdersWatch_RefusesArguments(t *testing.T) {
	srv := clienttest.New(t) // which fails the test if a request comes
	for _, watch := range []client.OrderWatch{{Mark: []byte("{")}, {Mark: []byte(`[1]`)}, {Every: -1}} {
		count := 0
		for change, err := range srv.Client().Orders.Watch(t.Context(), watch) {
			count++
			require.ErrorIs(t, err, client.ErrInvalidArgument)
			assert.Nil(t, change.Mark())
		}
		assert.Equal(t, 1, count)
	}
}
