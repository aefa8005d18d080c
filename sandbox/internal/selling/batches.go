package selling

import (
	"context"
	"time"

	"github.com/sellside-sdk/sellside-go/sandbox/internal/state"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/store"
)

// portions is the number of portions in which the items of a batch fall due, so that its progress
// can be seen.
const portions = 10

// Submit inserts a batch of an account and a kind. Its first items fall due after the delay, the
// last ones before twice the delay. There must be items; only their input is read, and their ids
// and due times are set.
func (s *Service) Submit(
	ctx context.Context, account int64, kind string, items []store.Item,
) (b store.Batch, err error) {
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

// workItem makes the change of an item and completes it, or fails it. Both are one transaction, so
// that the change is made once.
func (c *change) workItem(item store.Item) error {
	failure, fails, err := c.takeFailure(item.ListingID, item.VariantID, item.Kind)
	if err != nil {
		return err
	}
	if fails && failure.Error == "" {
		return c.tx.HoldItem(item.Seq)
	}
	if fails {
		return c.tx.FinishItem(item, store.ItemResult{}, failure.Error)
	}
	l, err := c.applyItem(item)
	mistake, err := split(err)
	if err != nil {
		return err
	}
	if mistake != "" {
		return c.tx.FinishItem(item, store.ItemResult{}, mistake)
	}
	return c.tx.FinishItem(item, store.ItemResult{ListingID: l.ID, AskID: l.Ask.ID}, "")
}

func (c *change) applyItem(item store.Item) (store.Listing, error) {
	terms := Terms{
		Amount: item.Amount, Currency: item.Currency, ExpiresAt: item.ExpiresAt, Active: item.Active,
	}
	switch item.Kind {
	case state.Create:
		return c.createListing(item, NewListing{
			VariantID: item.VariantID, InventoryType: item.InventoryType, Terms: terms,
		})
	case state.Update:
		return c.changeListing(item, state.Update, terms)
	default:
		return c.changeListing(item, state.Delete, Terms{Active: new(false)})
	}
}

func (c *change) createListing(item store.Item, n NewListing) (store.Listing, error) {
	l, err := c.newListing(item.Account, n)
	if err != nil {
		return l, err
	}
	l.BatchID, l.ItemID = item.BatchID, item.ID
	set := store.Change{
		Active: activeByDefault(n.Active), Amount: l.Amount, Currency: l.Currency, ExpiresAt: l.ExpiresAt,
	}
	if err := c.apply(&l, state.Create, set); err != nil {
		return l, err
	}
	if err := c.tx.InsertListing(l); err != nil {
		return l, err
	}
	return l, c.insertSucceeded(l.ID, state.Create, byUser, viaAPI, set)
}

// changeListing returns the changed listing. If the change takes its ask away, the result has that
// ask: results of items name it.
func (c *change) changeListing(item store.Item, operation string, t Terms) (store.Listing, error) {
	l, err := c.tx.Listing(item.Account, item.ListingID)
	if err != nil {
		return l, lookup(err, "listing", item.ListingID)
	}
	if err := allow(operation, l); err != nil {
		return l, err
	}
	set, err := c.resolve(l, c.defaults(operation, t))
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
	return l, c.insertSucceeded(l.ID, operation, byUser, viaAPI, set)
}
