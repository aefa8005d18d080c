package client

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/sellside-sdk/sellside-go/gen"
)

// OrderWatch is what [Orders.Watch] reports, and from where.
type OrderWatch struct {
	// Every is the pause between two rounds of requests, with a jitter of a tenth; 1 minute by default.
	Every time.Duration
	// Labels also reports when the shipping label of an order is ready. An order that waits for it
	// costs a request in each round.
	Labels bool
	// Mark is where to resume: the [OrderChange.Mark] of the last change that was handled. Without one
	// every active order is new, and orders that have ended before are not reported.
	Mark []byte
}

// OrderChangeKind is what has become of an order.
type OrderChangeKind string

// The kinds of changes.
const (
	OrderNew     OrderChangeKind = "new"     // A sale.
	OrderChanged OrderChangeKind = "changed" // Another status, or another updatedAt.
	OrderLabel   OrderChangeKind = "label"   // Nothing but its label is new.
	OrderEnded   OrderChangeKind = "ended"   // It is in the history, or cannot be found any more.
)

// OrderChange is a change of an order since the mark of an [OrderWatch].
type OrderChange struct {
	Kind OrderChangeKind
	// Order has a Shipment if it awaits its label and labels are watched, or if it was in neither
	// list; otherwise it is as in lists. Of an order that cannot be found any more it has the
	// OrderNumber and the last known status.
	Order      gen.Order
	Before     gen.OrderStatus // The status that was reported before; "" for a new order.
	LabelReady bool            // The label is ready, for the first time: see [Orders.DownloadLabels].

	watch *orderWatch
}

// Mark returns the mark to save, as JSON of about 100 bytes for each active order, once this change
// and the ones before it are handled. A program that resumes with it misses no later change, and gets
// a change again whose mark it did not save. Call Mark in the body of the loop: later it includes the
// changes that the loop has reached since.
func (c OrderChange) Mark() []byte {
	if c.watch == nil {
		return nil
	}
	c.watch.mu.Lock()
	defer c.watch.mu.Unlock()
	mark, err := json.Marshal(c.watch.mark)
	if err != nil {
		return nil // a time whose year has five digits
	}
	return mark
}

// Watch yields what has changed about the orders of the account, until ctx ends: sales, new statuses,
// labels that are ready, and ends. It reads them in rounds. A round costs
//
//	1 request for each 100 active orders, and at least 1 (GET /selling/orders/active)
//	1 for each 100 ended orders that were created since the day before the last round, and at
//	  least 1 (GET /selling/orders/history)
//	  (twice in the first round without a mark)
//	1 for each order that is in neither list any more (GET /selling/orders/{orderNumber})
//	1 for each Standard order in CREATED whose label is not ready, if labels are watched
//
// so two requests a minute by default if nothing happens, or 2,880 of the 25,000 of a day. An order
// that changes several times between two rounds is one change; one that is sold and ends between two
// is [OrderEnded]. An order that changes after its end is reported only while it is among the recently
// created.
//
// An error that [IsTransient] ends the round but not the sequence: if the loop continues, the next
// round follows after the pause. Any other error is the last, such as that of ctx. Each range starts
// from the mark. Errors: those of [Orders.ListActivePage] and [Orders.Get].
func (s *Orders) Watch(ctx context.Context, watch OrderWatch) iter.Seq2[OrderChange, error] {
	return func(yield func(OrderChange, error) bool) {
		w := &orderWatch{orders: s, labels: watch.Labels, yield: yield}
		every := cmp.Or(watch.Every, time.Minute)
		if every < 0 {
			yield(OrderChange{}, invalid(gen.OpListActiveOrders, "Every", "must not be negative"))
			return
		}
		if len(watch.Mark) > 0 && json.Unmarshal(watch.Mark, &w.mark) != nil {
			yield(OrderChange{}, invalid(gen.OpListActiveOrders, "Mark", "is not a mark of Watch: start without one"))
			return
		}
		if w.mark.Orders == nil {
			w.mark.Orders = map[string]watchedOrder{}
		}
		for {
			err := w.round(ctx)
			if errors.Is(err, errLoopEnded) {
				return
			}
			if err != nil && (!yield(OrderChange{}, err) || ctx.Err() != nil || !IsTransient(err)) {
				return
			}
			select {
			case <-time.After(every - every/10 + rand.N(every/5+1)):
			case <-ctx.Done():
				yield(OrderChange{}, ctx.Err())
				return
			}
		}
	}
}

// errLoopEnded reports that the loop over the changes has ended.
var errLoopEnded = errors.New("the loop has ended")

// orderMark is the state of a watch, as [OrderChange.Mark] has it.
type orderMark struct {
	Since  time.Time               `json:"since,omitzero"` // The beginning of the last complete round, or of the first.
	Orders map[string]watchedOrder `json:"orders"`         // Active ones, and recently created ones that have ended.
}

// watchedOrder is what was reported about an order.
type watchedOrder struct {
	Status    gen.OrderStatus `json:"status"`
	UpdatedAt gen.Time        `json:"updatedAt,omitzero"`
	CreatedAt gen.Time        `json:"createdAt,omitzero"`
	Labeled   bool            `json:"labeled,omitzero"`
	Ended     bool            `json:"ended,omitzero"`
}

// orderWatch is one range over [Orders.Watch].
type orderWatch struct {
	orders *Orders
	labels bool
	yield  func(OrderChange, error) bool

	mu   sync.Mutex // Of mark: only the loop writes it, and [OrderChange.Mark] may be called anywhere.
	mark orderMark
}

// round reads the orders once and yields their changes. It reads the active orders before the ended
// ones, so that an order that ends meanwhile is in at least one list.
func (w *orderWatch) round(ctx context.Context) error {
	began := time.Now().UTC()
	if w.mark.Since.IsZero() {
		if err := w.skipEnded(ctx, began); err != nil {
			return err
		}
	}
	since := w.mark.Since.Add(-clockSlack)
	listed := map[string]struct{}{}
	for order, err := range w.orders.ListActive(ctx, ActiveOrderFilter{}) {
		if err != nil {
			return err
		}
		listed[order.OrderNumber] = struct{}{}
		if err := w.see(ctx, order, false); err != nil {
			return err
		}
	}
	for order, err := range w.orders.ListHistory(ctx, OrderHistoryFilter{From: since}) {
		if err != nil {
			return err
		}
		listed[order.OrderNumber] = struct{}{}
		if err := w.see(ctx, order, true); err != nil {
			return err
		}
	}
	for _, number := range slices.Sorted(maps.Keys(w.mark.Orders)) {
		if _, ok := listed[number]; ok || w.mark.Orders[number].Ended {
			continue
		}
		if err := w.find(ctx, number); err != nil {
			return err
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mark.Since = began
	maps.DeleteFunc(w.mark.Orders, func(number string, o watchedOrder) bool {
		_, ok := listed[number]
		return o.Ended && !ok && o.CreatedAt.Before(began.Add(-2*clockSlack))
	})
	return nil
}

// clockSlack is more than the difference between clocks, and between a time and the beginning of its
// day: the history is filtered by days.
const clockSlack = 24 * time.Hour

// skipEnded records the orders that have ended before the first round, which are not reported.
func (w *orderWatch) skipEnded(ctx context.Context, began time.Time) error {
	for order, err := range w.orders.ListHistory(ctx, OrderHistoryFilter{From: began.Add(-clockSlack)}) {
		if err != nil {
			return err
		}
		w.set(order, watchedOrder{Ended: true})
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mark.Since = began
	return nil
}

// find reads an order that is in neither list: it has ended, or moved between pages while they were
// read.
func (w *orderWatch) find(ctx context.Context, number string) error {
	order, err := w.orders.Get(ctx, number)
	if errors.Is(err, ErrNotFound) {
		before := w.mark.Orders[number]
		return w.see(ctx, gen.Order{OrderNumber: number, Status: before.Status, CreatedAt: before.CreatedAt}, true)
	}
	if err != nil {
		return err
	}
	ended := order.Status.Terminal() || order.Status == gen.OrderStatusUnknown || !order.Status.Valid()
	return w.see(ctx, *order, ended)
}

// see yields an order if it has changed.
func (w *orderWatch) see(ctx context.Context, order gen.Order, ended bool) error {
	before, known := w.mark.Orders[order.OrderNumber]
	now := watchedOrder{Labeled: before.Labeled, Ended: ended}
	if w.labels && !ended && !before.Labeled && awaitsLabel(&order) {
		full, err := w.orders.Get(ctx, order.OrderNumber)
		if err != nil && !errors.Is(err, ErrNotFound) {
			return fmt.Errorf("watch orders: %w", err)
		}
		if err == nil {
			order = *full
			now.Labeled = full.Shipment != nil && full.Shipment.ShippingLabelURL != ""
		}
	}
	change := OrderChange{Order: order, Before: before.Status, LabelReady: now.Labeled && !before.Labeled, watch: w}
	switch {
	case ended && !before.Ended:
		change.Kind = OrderEnded
	case !known:
		change.Kind = OrderNew
	case before.Status != order.Status || !before.UpdatedAt.Equal(order.UpdatedAt.Time) || before.Ended != ended:
		change.Kind = OrderChanged
	case change.LabelReady:
		change.Kind = OrderLabel
	default:
		return nil
	}
	w.set(order, now)
	if !w.yield(change, nil) {
		return errLoopEnded
	}
	return nil
}

// set records what is reported about an order.
func (w *orderWatch) set(order gen.Order, now watchedOrder) {
	now.Status, now.UpdatedAt, now.CreatedAt = order.Status, order.UpdatedAt, order.CreatedAt
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mark.Orders[order.OrderNumber] = now
}

// awaitsLabel reports whether the label of an order may become ready without another change. Orders
// of other inventory types have documents of their own, or are not shipped by the seller.
func awaitsLabel(order *gen.Order) bool {
	isStandard := order.InventoryType == "" || order.InventoryType == gen.InventoryTypeStandard
	return isStandard && order.Status == gen.OrderStatusCreated
}
