package selling

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/sellside-sdk/sellside-go/sandbox/internal/state"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/store"
)

// shipWithin is how long a seller has to ship. Two days are assumed.
const shipWithin = 2 * 24 * time.Hour

// Results of authenticating an item. The words are assumed, except for PASSED.
const (
	AuthenticationPending = "PENDING"
	AuthenticationPassed  = "PASSED"
	AuthenticationFailed  = "FAILED"
)

// Buy sells an active listing of any account at its price, and returns the order.
func (s *Service) Buy(ctx context.Context, listingID string) (order store.Order, err error) {
	err = s.write(ctx, func(c *change) error {
		l, err := c.tx.AnyListing(listingID)
		if err != nil {
			return lookup(err, "listing", listingID)
		}
		if !state.Listing.Allows(l.Status, state.Sale) || !l.ExpiresAt.After(c.now) {
			return refused("listing %s cannot be bought: no live ask (status %s)", l.ID, l.Status)
		}
		order, err = c.sell(l, l.Amount)
		return err
	})
	return order, err
}

// sell makes the order of a listing that is sold at a price in its currency.
func (c *change) sell(l store.Listing, price int64) (store.Order, error) {
	number, err := c.newOrderNumber(l.InventoryType)
	if err != nil {
		return store.Order{}, err
	}
	shippingID, err := c.newShippingID()
	if err != nil {
		return store.Order{}, err
	}
	if err := c.setStatus(&l, state.Sale, state.Matched); err != nil {
		return store.Order{}, err
	}
	if err := c.tx.SaveListing(l); err != nil {
		return store.Order{}, err
	}
	o := store.Order{
		Number: number, Account: l.Account, Status: state.OrderCreated,
		DueAt:     c.nextStep(state.OrderCreated, c.now),
		ListingID: l.ID, AskID: l.Ask.ID, ProductID: l.ProductID, VariantID: l.VariantID,
		Amount: price, Currency: l.Currency, InventoryType: l.InventoryType,
		ShipBy: c.now.Add(shipWithin), Carrier: "UPS", TrackingNumber: "1Z0A4V93" + l.Ask.ID[10:],
		ShippingID: shippingID, CreatedAt: c.now, UpdatedAt: c.now,
	}
	if l.InventoryType == Direct { // assumed: each is a shipment of its own
		o.InboundID = "SHP-" + shippingID
	}
	return o, c.tx.InsertOrder(o)
}

// MoveOrder moves an order of any account to a status that can follow its current one.
func (s *Service) MoveOrder(ctx context.Context, number, status string) error {
	return s.write(ctx, func(c *change) error {
		o, err := c.tx.AnyOrder(number)
		if err != nil {
			return lookup(err, "order", number)
		}
		t, err := transition(o, status)
		if err != nil {
			return err
		}
		return c.moveOrder(o, t, c.now)
	})
}

// transition returns the transition of an order to a status. Its errors name the statuses that are
// possible.
func transition(o store.Order, status string) (state.Transition, error) {
	if !state.Order.Has(status) {
		all := slices.Concat(state.Order.Names(false), state.Order.Names(true))
		return state.Transition{}, invalid("status", "order status (%.40q): must be one of %s",
			status, strings.Join(all, ", "))
	}
	t, ok := state.Order.Toward(o.Status, status)
	if ok {
		return t, nil
	}
	targets := state.Order.Targets(o.Status)
	if len(targets) == 0 {
		return t, refused("order %s cannot be moved to %s: %s is final", o.Number, status, o.Status)
	}
	return t, refused("order %s cannot be moved to %s: from %s it can be moved to %s",
		o.Number, status, o.Status, strings.Join(targets, ", "))
}

// workOrders moves orders that are due.
func (c *change) workOrders() error {
	due, err := c.tx.DueOrders(c.now, chunk)
	if err != nil {
		return err
	}
	for _, o := range due {
		stay := func() error {
			o.DueAt = time.Time{}
			return c.tx.SaveOrder(o)
		}
		work := stay // if it was inserted with an OrderStep, and there is none now
		if t, ok := state.Order.Automatic(o.Status); ok && c.OrderStep >= 0 {
			work = func() error { return c.moveOrder(o, t, o.DueAt) }
		}
		if err := c.workRow("order "+o.Number, work, stay); err != nil {
			return err
		}
	}
	return nil
}

// moveOrder makes a transition of an order and of its listing. The next step counts from since,
// which is when this one was due, so that orders do not fall behind.
func (c *change) moveOrder(o store.Order, t state.Transition, since time.Time) error {
	o.Status, o.DueAt, o.UpdatedAt = t.To, c.nextStep(t.To, since), c.now
	switch t.To {
	case state.Shipped:
		o.ShippedAt = c.now
	case state.Authenticating:
		o.Authentication = AuthenticationPending
	case state.Authenticated:
		o.Authentication = AuthenticationPassed
	case state.AuthFailed:
		o.Authentication = AuthenticationFailed
	}
	if err := c.tx.SaveOrder(o); err != nil {
		return err
	}
	switch {
	case t.To == state.PayoutCompleted:
		return c.moveListing(o, state.Payout, state.Completed)
	case saleFailed(t.To) && !saleFailed(t.From):
		if err := c.moveListing(o, state.CancelOrder, state.Canceled); err != nil {
			return err
		}
		return c.insertSucceeded(o.ListingID, state.CancelOrder, bySystem, viaInternal, store.Change{})
	}
	return nil
}

// moveListing changes the status of the listing of an order.
func (c *change) moveListing(o store.Order, event, status string) error {
	l, err := c.tx.AnyListing(o.ListingID)
	if err != nil {
		return err
	}
	if err := c.setStatus(&l, event, status); err != nil {
		return err
	}
	if status == state.Canceled { // assumed: the listing has no ask any more, only the order names it
		l.Ask = store.Ask{}
	}
	return c.tx.SaveListing(l)
}

// nextStep returns when an order leaves a state by itself, or the zero time if it does not.
func (c *change) nextStep(status string, since time.Time) time.Time {
	if _, ok := state.Order.Automatic(status); !ok || c.OrderStep < 0 {
		return time.Time{}
	}
	return since.Add(c.OrderStep)
}

// saleFailed reports whether an order in a status will never be paid.
func saleFailed(status string) bool {
	return state.Order.Ended(status) && status != state.OrderCompleted
}

// MayShip reports whether an order may be shipped, or was shipped.
func MayShip(o store.Order) bool {
	return !o.ShippedAt.IsZero() || state.Order.Allows(o.Status, state.Ship)
}
