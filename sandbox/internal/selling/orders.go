package selling

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/sellside-sdk/sellside-go/sandbox/internal/state"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/store"
)

// shipWithin is how long a seller has to ship. That it is two days is assumed.
const shipWithin = 2 * 24 * time.Hour

// The inventory types that sellers can list as.
const (
	Standard = "STANDARD" // what is listed if nothing is said
	Direct   = "DIRECT"   // has shipping documents of its own
)

// Buy lets a buyer take an active listing at its price: the listing is matched
// and an order is made.
func (s *Service) Buy(ctx context.Context, listingID string) (order store.Order, err error) {
	err = s.write(ctx, func(c *change) error {
		l, err := c.tx.AnyListing(listingID)
		if err != nil {
			return found(err, "listing", listingID)
		}
		if !state.Listing.Allows(l.Status, state.Sale) || !l.ExpiresAt.After(c.now) {
			return refused("listing %s cannot be bought: it has no live ask, its status is %s", l.ID, l.Status)
		}
		order, err = c.sell(l)
		return err
	})
	return order, err
}

// sell makes the order of a listing that somebody buys at its price.
func (c *change) sell(l store.Listing) (store.Order, error) {
	number, err := c.newOrderNumber(l.InventoryType)
	if err != nil {
		return store.Order{}, err
	}
	shippingID, err := c.newShippingID()
	if err != nil {
		return store.Order{}, err
	}
	if err := c.enter(&l, state.Sale, state.Matched); err != nil {
		return store.Order{}, err
	}
	if err := c.tx.SaveListing(l); err != nil {
		return store.Order{}, err
	}
	o := store.Order{
		Number: number, Account: l.Account, Status: state.OrderCreated, DueAt: c.nextStep(state.OrderCreated, c.now),
		ListingID: l.ID, AskID: l.Ask.ID, ProductID: l.ProductID, VariantID: l.VariantID, Amount: l.Amount, Currency: l.Currency,
		InventoryType: l.InventoryType, ShipBy: c.now.Add(shipWithin),
		Carrier: "UPS", TrackingNumber: "1Z0A4V93" + l.Ask.ID[10:], ShippingID: shippingID,
		CreatedAt: c.now, UpdatedAt: c.now,
	}
	if l.InventoryType == Direct { // assumed: each is a shipment of its own, as nobody can say which it is part of
		o.InboundID = "SHP-" + shippingID
	}
	return o, c.tx.InsertOrder(o)
}

// newShippingID returns eight letters and digits. All but the last three are
// the number, so that it is unique.
func (c *change) newShippingID() (string, error) {
	n, err := c.nextNumber("shipping")
	if err != nil {
		return "", err
	}
	unique := strconv.FormatInt(36*36*36*36+n, 36)
	noise := strconv.FormatUint(36*36*36+c.digits("shipping", n)%(36*36*36), 36)
	return strings.ToUpper(fmt.Sprint(unique, noise[1:])), nil
}

// What the check of an item has found. The words are assumed, but for PASSED.
const (
	CheckPending = "PENDING"
	CheckPassed  = "PASSED"
	CheckFailed  = "FAILED"
)

// MoveOrder moves an order of any account on to a status that can follow its
// present one.
func (s *Service) MoveOrder(ctx context.Context, number, status string) error {
	return s.write(ctx, func(c *change) error {
		o, err := c.tx.AnyOrder(number)
		if err != nil {
			return found(err, "order", number)
		}
		t, err := step(o, status)
		if err != nil {
			return err
		}
		return c.move(o, t, c.now)
	})
}

// orders moves orders on that are due.
func (c *change) orders() error {
	due, err := c.tx.DueOrders(c.now, chunk)
	if err != nil {
		return err
	}
	for _, o := range due {
		stay := func() error {
			o.DueAt = time.Time{}
			return c.tx.SaveOrder(o)
		}
		work := stay // if it was written down by a sandbox that moved orders by itself
		if t, ok := state.Order.Alone(o.Status); ok && c.OrderStep >= 0 {
			work = func() error { return c.move(o, t, o.DueAt) }
		}
		if err := c.row("order "+o.Number, work, stay); err != nil {
			return err
		}
	}
	return nil
}

// move takes an order through a transition, and its listing with it. The next
// step counts from the moment this one was due: orders do not fall behind.
func (c *change) move(o store.Order, t state.Transition, since time.Time) error {
	o.Status, o.DueAt, o.UpdatedAt = t.To, c.nextStep(t.To, since), c.now
	switch t.To {
	case state.Shipped:
		o.ShippedAt = c.now
	case state.Authenticating:
		o.Authentication = CheckPending
	case state.Authenticated:
		o.Authentication = CheckPassed
	case state.AuthFailed:
		o.Authentication = CheckFailed
	}
	if err := c.tx.SaveOrder(o); err != nil {
		return err
	}
	switch {
	case t.To == state.PayoutCompleted:
		return c.follow(o, state.Payout, state.Completed)
	case SaleFailed(t.To) && !SaleFailed(t.From):
		if err := c.follow(o, state.CancelOrder, state.Canceled); err != nil {
			return err
		}
		return c.record(o.ListingID, state.CancelOrder, bySystem, viaInternal, store.Change{})
	}
	return nil
}

// follow changes the listing of an order.
func (c *change) follow(o store.Order, event, status string) error {
	l, err := c.tx.AnyListing(o.ListingID)
	if err != nil {
		return err
	}
	if err := c.enter(&l, event, status); err != nil {
		return err
	}
	if status == state.Canceled { // assumed: the ask is gone, and only the order tells of it
		l.Ask = store.Ask{}
	}
	return c.tx.SaveListing(l)
}

// nextStep returns when an order leaves a state by itself, the zero time if it
// does not.
func (c *change) nextStep(status string, since time.Time) time.Time {
	if _, ok := state.Order.Alone(status); !ok || c.OrderStep < 0 {
		return time.Time{}
	}
	return since.Add(c.OrderStep)
}

// SaleFailed reports whether an order in a status will never be paid.
func SaleFailed(status string) bool {
	return state.Order.Ended(status) && status != state.OrderCompleted
}

// MayShip reports whether there is something to ship, or was: an order that is
// held back has no label.
func MayShip(o store.Order) bool {
	return !o.ShippedAt.IsZero() || state.Order.Allows(o.Status, state.Ship)
}
