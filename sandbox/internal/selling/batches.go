package selling

import (
	"context"
	"time"

	"github.com/sellside-sdk/sellside-go/sandbox/internal/state"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/store"
)

// portions is in how many portions the items of a batch fall due, one after
// another, so that it can be seen to move.
const portions = 10

// Submit writes down a batch of an account and a kind, with its items to be
// worked: the first after the delay, the last before twice the delay is over.
// There must be items; only their input is looked at, and the rest is filled in.
func (s *Service) Submit(ctx context.Context, account int64, kind string, items []store.Item) (b store.Batch, err error) {
	err = s.write(ctx, func(c *change) (err error) {
		b = store.Batch{Account: account, Kind: kind, CreatedAt: c.now}
		if b.ID, err = c.newUUID("batch"); err != nil {
			return err
		}
		for i := range items {
			if items[i].ID, err = c.newUUID("item"); err != nil {
				return err
			}
			items[i].DueAt = c.now.Add(c.Delay + c.Delay*time.Duration(i*portions/len(items))/portions)
		}
		b, err = c.tx.InsertBatch(b, items)
		return err
	})
	return b, err
}

// workItem does what an item asks for. Its effect and its end are one
// transaction, so it cannot happen twice.
func (c *change) workItem(item store.Item) error {
	l, err := c.effect(item)
	failed, err := mistake(err)
	if err != nil {
		return err
	}
	if failed != "" {
		return c.tx.FinishItem(item, store.ItemResult{}, failed)
	}
	return c.tx.FinishItem(item, store.ItemResult{ListingID: l.ID, AskID: l.Ask.ID}, "")
}

func (c *change) effect(item store.Item) (store.Listing, error) {
	terms := Terms{Amount: item.Amount, Currency: item.Currency, ExpiresAt: item.ExpiresAt, Active: item.Active}
	switch item.Kind {
	case state.Create:
		return c.createItem(item, NewListing{VariantID: item.VariantID, InventoryType: item.InventoryType, Terms: terms})
	case state.Update:
		return c.changeItem(item, state.Update, terms)
	default:
		return c.changeItem(item, state.Delete, Terms{Active: new(false)})
	}
}

func (c *change) createItem(item store.Item, n NewListing) (store.Listing, error) {
	l, err := c.listing(item.Account, n)
	if err != nil {
		return l, err
	}
	l.BatchID, l.ItemID = item.BatchID, item.ID
	set := store.Change{Active: activeByDefault(n.Active), Amount: l.Amount, Currency: l.Currency, ExpiresAt: l.ExpiresAt}
	if err := c.apply(&l, state.Create, set); err != nil {
		return l, err
	}
	if err := c.tx.InsertListing(l); err != nil {
		return l, err
	}
	return l, c.record(l.ID, state.Create, byUser, viaAPI, set)
}

// changeItem returns the listing with the ask it had, if it has none any more:
// results name the ask that was taken away.
func (c *change) changeItem(item store.Item, operation string, t Terms) (store.Listing, error) {
	l, err := c.tx.Listing(item.Account, item.ListingID)
	if err != nil {
		return l, found(err, "listing", item.ListingID)
	}
	if err := allow(operation, l); err != nil {
		return l, err
	}
	set, err := c.resolve(l, t)
	if err != nil {
		return l, err
	}
	ask := l.Ask
	if err := c.apply(&l, operation, set); err != nil {
		return l, err
	}
	if err := c.tx.SaveListing(l); err != nil {
		return l, err
	}
	if l.Ask.ID == "" {
		l.Ask = ask
	}
	return l, c.record(l.ID, operation, byUser, viaAPI, set)
}
