package selling

import (
	"context"
	"time"

	"github.com/sellside-sdk/sellside-go/sandbox/internal/store"
)

// shipWithin is how long a seller has to ship. That it is two days is assumed.
const shipWithin = 2 * 24 * time.Hour

// Buy lets a buyer take an active listing at its price: the listing is matched
// and an order is made.
func (s *Service) Buy(ctx context.Context, listingID string) (order store.Order, err error) {
	err = s.write(ctx, func(c *change) error {
		l, err := c.tx.AnyListing(listingID)
		if err != nil {
			return found(err, "listing", listingID)
		}
		if l.Status != store.Active || !l.ExpiresAt.After(c.now) {
			return refused("listing %s cannot be bought: it has no live ask, its status is %s", l.ID, l.Status)
		}
		order, err = c.sell(l)
		return err
	})
	return order, err
}

func (c *change) sell(l store.Listing) (store.Order, error) {
	number, err := c.newOrderNumber(l.InventoryType)
	if err != nil {
		return store.Order{}, err
	}
	l.Status, l.UpdatedAt = store.Matched, c.now
	if err := c.tx.SaveListing(l); err != nil {
		return store.Order{}, err
	}
	o := store.Order{
		Number: number, Account: l.Account, Status: store.OrderCreated, ListingID: l.ID, AskID: l.Ask.ID,
		ProductID: l.ProductID, VariantID: l.VariantID, Amount: l.Amount, Currency: l.Currency,
		InventoryType: l.InventoryType, ShipBy: c.now.Add(shipWithin),
		Carrier: "UPS", TrackingNumber: "1Z0A4V93" + l.Ask.ID[10:],
		CreatedAt: c.now, UpdatedAt: c.now,
	}
	return o, c.tx.InsertOrder(o)
}
