// Package orderwatch polls active orders and reports which are new and which have changed.
package orderwatch

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/gen"
)

// Kind is what happened to an order.
type Kind string

// The kinds.
const (
	New     Kind = "NEW" // Active when it was first seen.
	Changed Kind = "CHANGED"
	Ended   Kind = "ENDED" // Not active any more.
)

// Event is what happened to an order. Its Order has the status since.
type Event struct {
	Kind     Kind            `json:"kind"`
	Previous gen.OrderStatus `json:"previous,omitempty"`
	Order    gen.Order       `json:"order"`
}

// Watcher polls active orders. A poll costs a request for each 100 of them, one at least, and one
// more for each order that the list has no longer.
type Watcher struct {
	Orders   *client.Orders
	Filter   client.ActiveOrderFilter // From its first page on.
	Interval time.Duration            // From the start of a poll to that of the next.
	// Polled is called after the first poll, with the number of its orders and requests.
	Polled func(orders, requests int)
	// Retrying is called after a poll that has failed and will be repeated.
	Retrying func(error)
}

// Run calls report with every event until ctx ends, report fails, or a poll fails in a way that
// cannot pass. A poll that fails halfway reports nothing; what it missed is found by the next.
func (w Watcher) Run(ctx context.Context, report func(Event) error) error {
	ticker := time.NewTicker(w.Interval)
	defer ticker.Stop()
	known := map[string]gen.Order{}
	isFirst := true
	for {
		events, requests, err := w.poll(ctx, known)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil && client.IsTransient(err):
			w.Retrying(err)
		case err != nil:
			return fmt.Errorf("watch orders: %w", err)
		}
		for _, e := range events {
			if err := report(e); err != nil {
				return err
			}
		}
		if err == nil && isFirst {
			isFirst = false
			w.Polled(len(known), requests)
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// poll reads the active orders, and changes known to them.
func (w Watcher) poll(ctx context.Context, known map[string]gen.Order) (events []Event, requests int, err error) {
	found := map[string]gen.Order{}
	var numbers []string
	for order, err := range w.Orders.ListActive(ctx, w.Filter) {
		if err != nil {
			return nil, 0, err
		}
		found[order.OrderNumber] = order
		numbers = append(numbers, order.OrderNumber)
	}
	const pageSize = 100
	requests = 1 + max(0, len(found)-1)/pageSize
	for _, number := range numbers {
		order := found[number]
		before, isKnown := known[number]
		switch {
		case !isKnown:
			events = append(events, Event{Kind: New, Order: order})
		case before.Status != order.Status:
			events = append(events, Event{Changed, before.Status, order})
		}
		known[number] = order
	}
	for _, number := range slices.Sorted(maps.Keys(known)) {
		if _, ok := found[number]; ok {
			continue
		}
		requests++
		order, err := w.Orders.Get(ctx, number)
		if err != nil {
			return events, requests, err // it is still known, so the next poll reads it
		}
		before := known[number].Status
		switch {
		case order.Status.Terminal():
			delete(known, number)
			events = append(events, Event{Ended, before, *order})
		case before != order.Status:
			events = append(events, Event{Changed, before, *order})
			known[number] = *order
		}
		if w.Filter.Status != "" && order.Status != w.Filter.Status {
			delete(known, number)
		}
	}
	return events, requests, nil
}
