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

// Bid lets a buyer bid for a variant. The order is the zero one if the bid
// bought nothing and stands.
func (s *Service) Bid(ctx context.Context, variantID, currency, amount string) (order store.Order, err error) {
	err = s.write(ctx, func(c *change) error {
		v, ok := c.Catalog.Variant(variantID)
		if !ok {
			return invalid("variantId", "there is no variant %.80q", variantID)
		}
		money, ok := market.Lookup(currency)
		if !ok {
			return invalid("currencyCode", "nobody can bid in %.10q", currency)
		}
		minor, err := market.ParseAmount(amount, money)
		if err != nil {
			return invalid("amount", "%s", err.Error())
		}
		seq, err := c.tx.InsertBid(store.Bid{VariantID: v.ID, Currency: currency, Amount: minor, CreatedAt: c.now})
		if err != nil {
			return err
		}
		sold, err := c.match(store.Crossing{VariantID: v.ID, Currency: currency})
		order = sold[seq]
		return err
	})
	return order, err
}

// noteAsk notes that a listing may have come to be reached by a bid: it is
// active, and its ask has just been changed.
func (c *change) noteAsk(l *store.Listing) {
	if l.Status == state.Active {
		if c.asked == nil {
			c.asked = map[store.Crossing]bool{}
		}
		c.asked[store.Crossing{VariantID: l.VariantID, Currency: l.Currency}] = true
	}
}

// cross sells the listings that bids have come to reach in this step. A new bid
// is matched when it comes; so only where asks were changed something can be
// reached. Everything is looked at once in the beginning and after the seed has
// changed, and the asks of the other sellers with it.
func (c *change) cross() error {
	crossings := slices.SortedFunc(maps.Keys(c.asked), func(a, b store.Crossing) int {
		return cmp.Or(cmp.Compare(a.VariantID, b.VariantID), cmp.Compare(a.Currency, b.Currency))
	})
	if crossed := c.crossed.Load(); crossed == nil || *crossed != c.Seed {
		var err error
		if crossings, err = c.tx.Crossings(c.now); err != nil {
			return err
		}
	}
	for _, x := range crossings {
		var sold map[int64]store.Order
		worked := c.worked
		err := c.row("market of variant "+x.VariantID, func() (err error) {
			sold, err = c.match(x)
			return err
		}, nil)
		if err != nil {
			return err
		}
		if c.worked > worked { // otherwise what was sold is taken back
			c.worked = worked + len(sold)
		}
	}
	return nil
}

// match lets the highest bid take the cheapest listing for as long as it
// reaches it, and returns the orders by the Seq of their bids. A buyer does not
// take a listing while another seller of the book asks for less. That other
// seller does not trade, which is assumed: the bid waits, and is not shown.
func (c *change) match(x store.Crossing) (map[int64]store.Order, error) {
	sold := map[int64]store.Order{}
	others := c.lowestForeignAsk(x)
	for {
		bids, err := c.tx.Bids(x.VariantID, x.Currency, 1)
		if err != nil || len(bids) == 0 {
			return sold, err
		}
		l, err := c.tx.CheapestListing(x.VariantID, x.Currency, c.now)
		if errors.Is(err, store.ErrNotFound) {
			return sold, nil
		}
		if err != nil {
			return sold, err
		}
		if bids[0].Amount < l.Amount || others != 0 && others < l.Amount {
			return sold, nil
		}
		order, err := c.sell(l)
		if err != nil {
			return sold, err
		}
		if err := c.tx.FillBid(bids[0].Seq, order.Number); err != nil {
			return sold, err
		}
		sold[bids[0].Seq] = order
	}
}

// lowestForeignAsk returns what the other sellers of the book ask for at least,
// 0 if there are none.
func (c *change) lowestForeignAsk(x store.Crossing) int64 {
	v, ok := c.Catalog.Variant(x.VariantID)
	currency, known := market.Lookup(x.Currency)
	if !ok || !known {
		return 0
	}
	return market.NewBook(c.Seed, v.ID, v.Product.RetailPrice, currency).Quote().LowestAsk
}
