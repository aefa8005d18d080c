package selling

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/sellside-sdk/sellside-go/sandbox/internal/catalog"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/market"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/state"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/store"
)

// What a test arranges before the program under test runs.

// Inventory types that sellers cannot list as.
const (
	Flex = "FLEX"
	DFS  = "DFS"
)

// SetBook replaces the order book of a variant, and matches open bids with it.
func (s *Service) SetBook(ctx context.Context, variantID, currency string, asks, bids []string, flexAsk string) error {
	return s.write(ctx, func(c *change) error {
		x := store.Crossing{VariantID: variantID, Currency: currency}
		money, ok := market.Lookup(currency)
		if _, known := c.Catalog.Variant(variantID); !known {
			return invalid("variantId", "variant (%.80q): not found", variantID)
		} else if !ok {
			return invalid("currencyCode", "currency (%.10q): has no market", currency)
		}
		book := store.Book{Crossing: x, Asks: []int64{}, Bids: []int64{}}
		for _, side := range []struct {
			name  string
			texts []string
			into  *[]int64
		}{{"asks", asks, &book.Asks}, {"bids", bids, &book.Bids}} {
			for _, text := range side.texts {
				minor, err := market.ParseAmount(text, money)
				if err != nil {
					return invalid(side.name, "%s", err.Error())
				}
				*side.into = append(*side.into, minor)
			}
			slices.Sort(*side.into)
		}
		slices.Reverse(book.Bids)
		if flexAsk != "" {
			minor, err := market.ParseAmount(flexAsk, money)
			if err != nil {
				return invalid("flexAsk", "%s", err.Error())
			}
			book.FlexAsk = minor
		}
		if len(book.Asks) > 0 && len(book.Bids) > 0 && book.Bids[0] >= book.Asks[0] {
			return invalid("bids", "the highest bid must be below the lowest ask")
		}
		if err := c.tx.SaveBook(book); err != nil {
			return err
		}
		_, err := c.match(x, 0)
		return err
	})
}

// OpenBid is a bid that has bought nothing yet.
type OpenBid struct {
	store.Bid
	Reason string
}

// OpenBids returns all open bids, the oldest first.
func (s *Service) OpenBids(ctx context.Context) ([]OpenBid, error) {
	var open []OpenBid
	err := s.Store.View(ctx, func(tx *store.Tx) error {
		bids, err := tx.OpenBids()
		if err != nil {
			return err
		}
		for _, b := range bids {
			reason, err := s.whyOpen(tx, b)
			if err != nil {
				return err
			}
			open = append(open, OpenBid{b, reason})
		}
		return nil
	})
	return open, err
}

// WithdrawBid closes an open bid.
func (s *Service) WithdrawBid(ctx context.Context, seq int64) error {
	return s.write(ctx, func(c *change) error {
		return lookup(c.tx.CloseBid(seq, c.now), "open bid", fmt.Sprint(seq))
	})
}

// AddProduct adds a product to the catalog as if it had been proposed and accepted.
func (s *Service) AddProduct(ctx context.Context, p catalog.Proposal) (added *catalog.Product, err error) {
	err = s.write(ctx, func(c *change) error {
		input, err := json.Marshal(p)
		if err != nil {
			return err
		}
		accepted := store.Proposal{Status: store.Accepted, Input: string(input), CreatedAt: c.now, UpdatedAt: c.now}
		if accepted.IngestionID, err = c.newUUID("ingestion"); err != nil {
			return err
		}
		if accepted.ProductID, err = c.newUUID("product"); err != nil {
			return err
		}
		if added, err = c.review(accepted); err != nil {
			return err
		}
		if err := c.tx.InsertProposal(accepted); err != nil {
			return err
		}
		return c.tx.InsertProductTexts(textOf(added))
	})
	if err != nil {
		return nil, err
	}
	s.Catalog.Add(added)
	return added, nil
}

// Arranged is a listing that a test makes.
type Arranged struct {
	Account int64
	NewListing
	Status string // Active if empty
}

// maxArranged is the most listings that one call makes.
const maxArranged = 100_000

// AddListings makes n listings, in one transaction, and returns their ids.
func (s *Service) AddListings(ctx context.Context, n int, a Arranged) (ids []string, err error) {
	if n < 1 || n > maxArranged {
		return nil, invalid("count", "number of listings (%d): must be from 1 to %d", n, maxArranged)
	}
	err = s.write(ctx, func(c *change) error {
		for range n {
			l, err := c.arrange(a)
			if err != nil {
				return err
			}
			ids = append(ids, l.ID)
		}
		for x := range c.changedAsks {
			if _, err := c.match(x, 0); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return ids, nil
}

// AddOrder makes a listing, sells it and moves its order to a status. It returns the number.
func (s *Service) AddOrder(ctx context.Context, a Arranged, status string) (number string, err error) {
	err = s.write(ctx, func(c *change) error {
		if !state.Order.Has(status) {
			_, err := transition(store.Order{}, status)
			return err
		}
		a.Status = state.Active
		l, err := c.arrange(a)
		if err != nil {
			return err
		}
		number, err = c.sellArranged(l.ID, status)
		return err
	})
	return number, err
}

// arrange makes a listing and brings it into its status by the events that lead there.
func (c *change) arrange(a Arranged) (store.Listing, error) {
	status := cmp.Or(a.Status, state.Active)
	if !state.Listing.Has(status) {
		return store.Listing{}, invalid("status", "listing status (%.40q): does not exist", status)
	}
	a.Active = new(status != state.Inactive)
	ofService := a.InventoryType == Flex || a.InventoryType == DFS
	kind := a.InventoryType
	if ofService {
		a.InventoryType = Standard // as far as newListing knows
	}
	l, err := c.newListing(a.Account, a.NewListing)
	if err != nil {
		return l, err
	}
	if ofService {
		l.InventoryType = kind
	}
	set := store.Change{Active: a.Active, Amount: l.Amount, Currency: l.Currency, ExpiresAt: l.ExpiresAt}
	if err := c.apply(&l, state.Create, set); err != nil {
		return l, err
	}
	if err := c.tx.InsertListing(l); err != nil {
		return l, err
	}
	if err := c.insertSucceeded(l.ID, state.Create, byUser, viaAPI, set); err != nil {
		return l, err
	}
	switch status {
	case state.Deleted:
		item := store.Item{Account: l.Account}
		item.ListingID = l.ID
		_, err = c.changeListing(item, state.Delete, Terms{Active: new(false)})
	case state.Matched:
		_, err = c.sellArranged(l.ID, state.OrderCreated)
	case state.Completed:
		_, err = c.sellArranged(l.ID, state.OrderCompleted)
	case state.Canceled:
		_, err = c.sellArranged(l.ID, state.OrderCanceled)
	}
	return l, err
}

// sellArranged sells a listing at its price and moves the order to a status, by the events that lead
// there.
func (c *change) sellArranged(listingID, status string) (number string, err error) {
	l, err := c.tx.AnyListing(listingID)
	if err != nil {
		return "", err
	}
	order, err := c.sell(l, l.Amount)
	if err != nil {
		return "", err
	}
	for _, t := range state.Order.Path(state.OrderCreated, status) {
		if err := c.moveOrder(order, t, c.now); err != nil {
			return "", err
		}
		if order, err = c.tx.AnyOrder(order.Number); err != nil {
			return "", err
		}
	}
	return order.Number, nil
}

// AddOperation records an operation of the system on a listing, which it does not change. It
// succeeded, or failed if there is a failure.
func (s *Service) AddOperation(ctx context.Context, listingID, operation, failure string) (op store.Operation, err error) {
	err = s.write(ctx, func(c *change) error {
		if !slices.Contains(state.OperationTypes, operation) {
			return invalid("operationType", "operation type (%.40q): does not exist", operation)
		}
		l, err := c.tx.AnyListing(listingID)
		if err != nil {
			return lookup(err, "listing", listingID)
		}
		op = store.Operation{
			ListingID: l.ID, Type: operation, Status: state.Succeeded, InitiatedBy: bySystem, InitiatedVia: viaInternal,
			Error: failure, CreatedAt: c.now, UpdatedAt: c.now,
		}
		if failure != "" {
			op.Status = state.Failed
		}
		if op.ID, err = c.newUUID("operation"); err != nil {
			return err
		}
		return c.tx.InsertOperation(op)
	})
	return op, err
}

// AddFailure makes operations and items that are accepted fail or get stuck.
func (s *Service) AddFailure(ctx context.Context, f store.Failure) error {
	if f.Times < 0 {
		return invalid("times", "times (%d): must not be negative", f.Times)
	}
	if f.Operation != "" && !slices.Contains(state.OperationTypes, f.Operation) {
		return invalid("operation", "operation type (%.40q): does not exist", f.Operation)
	}
	f.Times = max(f.Times, 1)
	return s.Store.Update(ctx, func(tx *store.Tx) error { return tx.InsertFailure(f) })
}
