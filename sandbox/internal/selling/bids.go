package selling

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/sellside-sdk/sellside-go/sandbox/internal/market"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/state"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/store"
)

// Bid inserts a bid of a buyer. If it made no order, the reason says why.
func (s *Service) Bid(
	ctx context.Context, variantID, currency, amount string,
) (bid store.Bid, reason string, err error) {
	err = s.write(ctx, func(c *change) error {
		if bid, err = c.newBid(variantID, currency, amount); err != nil {
			return err
		}
		if bid.Seq, err = c.tx.InsertBid(bid); err != nil {
			return err
		}
		x := store.Crossing{VariantID: variantID, Currency: currency}
		trades, err := c.match(x, bid.Seq)
		if err != nil {
			return err
		}
		for _, made := range trades {
			if made.bid == bid.Seq {
				bid.OrderNumber, reason = made.order, made.reason
				return nil
			}
		}
		reason, err = s.whyOpen(c.tx, bid)
		return err
	})
	return bid, reason, err
}

func (c *change) newBid(variantID, currency, amount string) (store.Bid, error) {
	v, ok := c.Catalog.Variant(variantID)
	if !ok {
		return store.Bid{}, invalid("variantId", "variant (%.80q): not found", variantID)
	}
	money, ok := market.Lookup(currency)
	if !ok {
		return store.Bid{}, invalid("currencyCode", "currency (%.10q): bids cannot be made in it", currency)
	}
	minor, err := market.ParseAmount(amount, money)
	if err != nil {
		return store.Bid{}, invalid("amount", "%s", err.Error())
	}
	return store.Bid{VariantID: v.ID, Currency: currency, Amount: minor, CreatedAt: c.now}, nil
}

// whyOpen returns why an open bid has bought nothing.
func (s *Service) whyOpen(tx *store.Tx, b store.Bid) (string, error) {
	x := store.Crossing{VariantID: b.VariantID, Currency: b.Currency}
	book, err := s.Book(tx, x)
	if err != nil {
		return "", err
	}
	listing, err := tx.CheapestListing(x.VariantID, x.Currency, s.clock())
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return "", err
	}
	lowest, bookFirst := lowestAsk(book, listing)
	text := market.FormatAmount(lowest, book.Currency) + " " + x.Currency
	switch {
	case lowest == 0:
		return "no listing of the variant has an ask in " + x.Currency, nil
	case b.Amount < lowest:
		return fmt.Sprintf("the lowest ask (%s) is above the bid", text), nil
	case bookFirst && !s.BookTrades:
		return fmt.Sprintf("the book has the lowest ask (%s), and does not trade without Options.BookTrades", text), nil
	default:
		return fmt.Sprintf("it will buy at the next step of the worker (lowest ask %s)", text), nil
	}
}

// lowestAsk returns the lowest ask of a book and of the cheapest listing, whose id is empty if there
// is none, and whether it is that of the book. Of equal ones it is the listing's. It is 0 if there
// are no asks.
func lowestAsk(book market.Book, cheapest store.Listing) (amount int64, bookFirst bool) {
	if len(book.Asks) > 0 && (cheapest.ID == "" || book.Asks[0] < cheapest.Amount) {
		return book.Asks[0], true
	}
	return cheapest.Amount, false
}

// Book returns the order book of a variant: the one that a test has arranged, or the generated one,
// without what has been bought from it. It has no listings, and no bids that were made.
func (s *Service) Book(tx *store.Tx, x store.Crossing) (market.Book, error) {
	v, ok := s.Catalog.Variant(x.VariantID)
	currency, known := market.Lookup(x.Currency)
	if !ok || !known {
		return market.Book{Currency: currency}, nil
	}
	kept, err := tx.Book(x)
	if errors.Is(err, store.ErrNotFound) {
		return market.NewBook(s.Seed, v.ID, v.Product.RetailPrice, currency), nil
	}
	return market.Book{Currency: currency, Asks: kept.Asks, Bids: kept.Bids, FlexAsk: kept.FlexAsk}, err
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

// matchChanged sells listings whose asks were changed at this moment, and that bids reach. A new bid
// is matched when it is made, so that no others have to be compared.
func (c *change) matchChanged() error {
	crossings := slices.Collect(maps.Keys(c.changedAsks))
	c.changedAsks = nil
	return c.matchBids(crossings)
}

// matchAll compares all bids with all asks, in the first step and after a change of the seed, which
// changes the bids and the asks of the generated book.
func (c *change) matchAll() error {
	if seed := c.matchedSeed.Load(); seed != nil && *seed == c.Seed {
		return nil
	}
	find := func() ([]store.Crossing, error) { return c.tx.Crossings(c.now) }
	if c.BookTrades {
		find = c.tx.Asked
	}
	crossings, err := find()
	if err != nil {
		return err
	}
	return c.matchBids(crossings)
}

// matchBids sells the listings that bids reach.
func (c *change) matchBids(crossings []store.Crossing) error {
	slices.SortFunc(crossings, func(a, b store.Crossing) int {
		return cmp.Or(cmp.Compare(a.VariantID, b.VariantID), cmp.Compare(a.Currency, b.Currency))
	})
	for _, x := range crossings {
		var trades []trade
		worked := c.worked
		err := c.workRow("market of variant "+x.VariantID, func() (err error) {
			trades, err = c.match(x, 0)
			return err
		}, nil)
		if err != nil {
			return err
		}
		if c.worked > worked { // otherwise the sales were undone
			c.worked = worked + len(trades)
		}
	}
	return nil
}

// trade is what a bid has bought: a listing, or something of the book, for which it has a reason
// instead of an order.
type trade struct {
	bid           int64 // Seq; 0 if it is of the book
	order, reason string
}

// match sells the cheapest listing to the highest bid for as long as that bid reaches it, and
// returns the trades. newest is the Seq of the bid that was just made, or 0.
//
// The price is that of the bid or the ask that was on the market before the other: a bid that was
// waiting for a new ask pays what it bid, which is published, and a new bid pays what was asked. Bids
// of the book were there before every listing.
//
// A buyer takes the lowest ask, so that nothing is sold while the book has a lower one, unless the
// book trades: then that ask is sold. Bids of the book buy only if the book trades.
func (c *change) match(x store.Crossing, newest int64) (trades []trade, err error) {
	book, err := c.Book(c.tx, x)
	if err != nil {
		return trades, err
	}
	for {
		bid, err := c.highestBid(x, book)
		if err != nil || bid.Amount == 0 {
			return trades, err
		}
		listing, err := c.tx.CheapestListing(x.VariantID, x.Currency, c.now)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return trades, err
		}
		lowest, bookFirst := lowestAsk(book, listing)
		switch {
		case lowest == 0 || bid.Amount < lowest || bookFirst && !c.BookTrades:
			return trades, nil
		}
		made := trade{bid: bid.Seq}
		if bookFirst {
			book.Asks = book.Asks[1:]
			made.reason = fmt.Sprintf("it bought from the book at %s %s",
				market.FormatAmount(lowest, book.Currency), x.Currency)
			err = errors.Join(c.tx.CloseBid(bid.Seq, c.now), c.saveBook(x, book))
		} else {
			made.order, err = c.sellTo(bid, bid.Seq == newest, listing)
		}
		if err == nil && bid.Seq == 0 {
			book.Bids = book.Bids[1:]
			err = c.saveBook(x, book)
		}
		if err != nil {
			return trades, err
		}
		trades = append(trades, made)
	}
}

// sellTo sells a listing to a bid that reaches it, and returns the number of the order.
func (c *change) sellTo(bid store.Bid, isNew bool, l store.Listing) (string, error) {
	price := bid.Amount
	if bid.Seq != 0 && (isNew || l.Ask.UpdatedAt.Before(bid.CreatedAt)) {
		price = l.Amount
	}
	order, err := c.sell(l, price)
	if err != nil || bid.Seq == 0 {
		return order.Number, err
	}
	return order.Number, c.tx.FillBid(bid.Seq, order.Number)
}

// highestBid returns the highest open bid, of equal ones the oldest. It has the Seq 0 if it is of the
// book, and the Amount 0 if there is none.
func (c *change) highestBid(x store.Crossing, book market.Book) (store.Bid, error) {
	var highest store.Bid
	bids, err := c.tx.Bids(x.VariantID, x.Currency, 1)
	if len(bids) > 0 {
		highest = bids[0]
	}
	if c.BookTrades && len(book.Bids) > 0 && book.Bids[0] > highest.Amount {
		highest = store.Bid{Amount: book.Bids[0]}
	}
	return highest, err
}

func (c *change) saveBook(x store.Crossing, b market.Book) error {
	return c.tx.SaveBook(store.Book{Crossing: x, Asks: b.Asks, Bids: b.Bids, FlexAsk: b.FlexAsk})
}
