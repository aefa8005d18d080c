package selling

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/sellside-sdk/sellside-go/sandbox/internal/market"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/state"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/store"
)

// Bid inserts a bid of a buyer. It returns the zero order if the bid bought nothing and is open.
func (s *Service) Bid(
	ctx context.Context, variantID, currency, amount string,
) (order store.Order, err error) {
	err = s.write(ctx, func(c *change) error {
		v, ok := c.Catalog.Variant(variantID)
		if !ok {
			return invalid("variantId", "variant (%.80q): not found", variantID)
		}
		money, ok := market.Lookup(currency)
		if !ok {
			return invalid("currencyCode", "currency (%.10q): bids cannot be made in it", currency)
		}
		minor, err := market.ParseAmount(amount, money)
		if err != nil {
			return invalid("amount", "%s", err.Error())
		}
		seq, err := c.tx.InsertBid(store.Bid{VariantID: v.ID, Currency: currency, Amount: minor, CreatedAt: c.now})
		if err != nil {
			return err
		}
		orders, err := c.match(store.Crossing{VariantID: v.ID, Currency: currency})
		order = orders[seq]
		return err
	})
	return order, err
}

// noteAsk records that bids may reach a listing, if it is active: its ask was just changed.
func (c *change) noteAsk(l *store.Listing) {
	if l.Status == state.Active {
		if c.changedAsks == nil {
			c.changedAsks = map[store.Crossing]bool{}
		}
		c.changedAsks[store.Crossing{VariantID: l.VariantID, Currency: l.Currency}] = true
	}
}

// matchBids sells the listings that bids reach. A new bid is matched when it is made, so that only
// changed asks have to be compared. All are compared in the first step and after a change of the
// seed, which changes the asks of the generated book.
func (c *change) matchBids() error {
	crossings := slices.SortedFunc(maps.Keys(c.changedAsks), func(a, b store.Crossing) int {
		return cmp.Or(cmp.Compare(a.VariantID, b.VariantID), cmp.Compare(a.Currency, b.Currency))
	})
	if seed := c.matchedSeed.Load(); seed == nil || *seed != c.Seed {
		var err error
		if crossings, err = c.tx.Crossings(c.now); err != nil {
			return err
		}
	}
	for _, x := range crossings {
		var orders map[int64]store.Order
		worked := c.worked
		err := c.workRow("market of variant "+x.VariantID, func() (err error) {
			orders, err = c.match(x)
			return err
		}, nil)
		if err != nil {
			return err
		}
		if c.worked > worked { // otherwise the sales were undone
			c.worked = worked + len(orders)
		}
	}
	return nil
}

// match sells the cheapest listing to the highest bid for as long as that bid reaches it, and
// returns the orders by the Seq of their bids. It sells nothing while the generated book has a
// lower ask: a buyer would take that one. Generated asks do not trade, which is assumed, so the bid
// stays open.
func (c *change) match(x store.Crossing) (map[int64]store.Order, error) {
	orders := map[int64]store.Order{}
	generated := c.lowestGeneratedAsk(x)
	for {
		bids, err := c.tx.Bids(x.VariantID, x.Currency, 1)
		if err != nil || len(bids) == 0 {
			return orders, err
		}
		l, err := c.tx.CheapestListing(x.VariantID, x.Currency, c.now)
		if errors.Is(err, store.ErrNotFound) {
			return orders, nil
		}
		if err != nil {
			return orders, err
		}
		if bids[0].Amount < l.Amount || generated != 0 && generated < l.Amount {
			return orders, nil
		}
		order, err := c.sell(l)
		if err != nil {
			return orders, err
		}
		if err := c.tx.FillBid(bids[0].Seq, order.Number); err != nil {
			return orders, err
		}
		orders[bids[0].Seq] = order
	}
}

// lowestGeneratedAsk returns the lowest ask of the generated book, or 0 if it has none.
func (c *change) lowestGeneratedAsk(x store.Crossing) int64 {
	v, ok := c.Catalog.Variant(x.VariantID)
	currency, known := market.Lookup(x.Currency)
	if !ok || !known {
		return 0
	}
	return market.NewBook(c.Seed, v.ID, v.Product.RetailPrice, currency).Quote().LowestAsk
}
