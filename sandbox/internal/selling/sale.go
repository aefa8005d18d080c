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
