package orderwatch_test

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/orderwatch"
	"github.com/sellside-sdk/sellside-go/gen"
	"github.com/sellside-sdk/sellside-go/sandbox"
	"github.com/sellside-sdk/sellside-go/sandbox/sandboxtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// seen is the part of an event that tests compare.
type seen struct {
	kind             orderwatch.Kind
	number           string
	previous, status gen.OrderStatus
}

// watching is a watcher in a bubble.
type watching struct {
	market  *sandboxtest.Market
	mu      sync.Mutex // Locked while events are read or written.
	events  []seen
	retried int
	err     error
	orders  int
	stop    func()
}

// start watches once a minute, until stop.
func start(t *testing.T, filter client.ActiveOrderFilter, before func(m *sandboxtest.Market)) *watching {
	t.Helper()
	w := &watching{market: sandboxtest.NewInProcess(t, func(o *sandbox.Options) { o.OrderStep = -1 })}
	c := w.market.Client(client.WithRetry(client.RetryPolicy{MaxAttempts: 1}))
	before(w.market)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.err = orderwatch.Watcher{
			Orders: c.Orders, Filter: filter, Interval: time.Minute,
			Polled: func(orders, _ int) { w.orders = orders }, Retrying: func(error) { w.retried++ },
		}.Run(ctx, func(e orderwatch.Event) error {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.events = append(w.events, seen{e.Kind, e.Order.OrderNumber, e.Previous, e.Order.Status})
			return nil
		})
	}()
	w.stop = func() { cancel(); <-done }
	return w
}

// poll waits until the next poll is over, and returns its events.
func (w *watching) poll() []seen {
	w.take()
	<-time.After(time.Minute) // of the bubble
	synctest.Wait()
	return w.take()
}

// take returns the events so far, and forgets them.
func (w *watching) take() []seen {
	w.mu.Lock()
	defer w.mu.Unlock()
	events := w.events
	w.events = nil
	return events
}

func sell(t *testing.T, m *sandboxtest.Market, status string) string {
	t.Helper()
	number, err := m.AddOrder(t.Context(), sandbox.Listing{VariantID: sandbox.Catalog()[0].Variants[0].ID, Amount: "162"}, status)
	require.NoError(t, err)
	return number
}

func TestWatcher_ReportsWhatIsNewChangedAndEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var first string
		w := start(t, client.ActiveOrderFilter{}, func(m *sandboxtest.Market) { first = sell(t, m, "CREATED") })
		synctest.Wait()
		assert.Equal(t, []seen{{orderwatch.New, first, "", "CREATED"}}, w.take())
		assert.Equal(t, 1, w.orders)
		assert.Empty(t, w.poll(), "nothing has changed")

		second := sell(t, w.market, "CREATED")
		require.NoError(t, w.market.MoveOrder(t.Context(), first, "SHIPPED"))
		assert.ElementsMatch(t, []seen{
			{orderwatch.Changed, first, "CREATED", "SHIPPED"}, {orderwatch.New, second, "", "CREATED"},
		}, w.poll())

		require.NoError(t, w.market.MoveOrder(t.Context(), second, "CANCELED"))
		assert.Equal(t, []seen{{orderwatch.Ended, second, "CREATED", "CANCELED"}}, w.poll())
		assert.Empty(t, w.poll(), "it is reported once")
		w.stop()
		assert.ErrorIs(t, w.err, context.Canceled)
	})
}

func TestWatcher_ReportsTheOrdersThatLeaveAFilter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var number string
		filter := client.ActiveOrderFilter{Status: gen.OrderStatusCreated}
		w := start(t, filter, func(m *sandboxtest.Market) { number = sell(t, m, "CREATED") })
		synctest.Wait()
		require.NoError(t, w.market.MoveOrder(t.Context(), number, "SHIPPED"))
		assert.Equal(t, []seen{{orderwatch.Changed, number, "CREATED", "SHIPPED"}}, w.poll())
		before := w.market.Counters().Of(string(gen.OpGetOrder))
		assert.Empty(t, w.poll())
		assert.Equal(t, before, w.market.Counters().Of(string(gen.OpGetOrder)), "it is not read again")
		w.stop()
	})
}

func TestWatcher_OutlastsFailuresThatMayPass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var number string
		w := start(t, client.ActiveOrderFilter{}, func(m *sandboxtest.Market) {
			number = sell(t, m, "CREATED")
			busy := sandbox.Fault{Operation: string(gen.OpListActiveOrders), Kind: sandbox.FaultStatus, Status: http.StatusServiceUnavailable}
			require.NoError(t, m.Fail(busy))
		})
		synctest.Wait()
		assert.Equal(t, 1, w.retried)
		assert.Equal(t, []seen{{orderwatch.New, number, "", "CREATED"}}, w.poll())

		refused := sandbox.Fault{Operation: string(gen.OpListActiveOrders), Kind: sandbox.FaultStatus, Status: http.StatusForbidden}
		require.NoError(t, w.market.Fail(refused))
		w.poll()
		w.stop()
		assert.ErrorIs(t, w.err, client.ErrForbidden)
	})
}

func TestWatcher_StopsIfItCannotReport(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := sandboxtest.NewInProcess(t)
		sell(t, m, "CREATED")
		closed := errors.New("closed")
		err := orderwatch.Watcher{Orders: m.Client().Orders, Interval: time.Hour}.Run(t.Context(), func(orderwatch.Event) error { return closed })
		assert.ErrorIs(t, err, closed)
	})
}
