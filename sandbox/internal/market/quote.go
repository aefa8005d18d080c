package market

import "slices"

// Join adds asks and bids of the sandbox's own to the book. The book is never
// crossed: bids that reach the lowest ask are not shown. Those of the made-up
// book are of people who do not trade by themselves, so that a listing stays on
// the market until a test sells it; those of the sandbox's own are above an ask
// that is made up, whose seller does not trade either. Both are assumed.
func (b Book) Join(asks, bids []int64) Book {
	b.Asks = slices.Concat(b.Asks, asks)
	slices.Sort(b.Asks)
	b.Bids = slices.Concat(b.Bids, bids)
	slices.SortFunc(b.Bids, func(x, y int64) int { return int(y - x) })
	if len(b.Asks) > 0 {
		b.Bids = slices.DeleteFunc(b.Bids, func(bid int64) bool { return bid >= b.Asks[0] })
	}
	return b
}

// Quote is what market data says about a variant, in the currency's smallest
// unit. Zero means that there is no such figure.
type Quote struct {
	LowestAsk  int64
	HighestBid int64
	SellFaster int64
	EarnMore   int64
	FlexAsk    int64
}

// Quote sums the book up.
//
// How the service arrives at its two suggestions is not published; assumed is:
//
//   - EarnMore undercuts the lowest ask by one price step, the least that puts
//     the seller first in line, and is not below the highest bid.
//   - SellFaster lies half way between the highest bid and the lowest ask,
//     rounded down to a price step; without bids it is 5% below the lowest ask.
//
// Neither is given where nobody sells, and neither is above the lowest ask.
func (b Book) Quote() Quote {
	q := Quote{FlexAsk: b.FlexAsk}
	if len(b.Bids) > 0 {
		q.HighestBid = b.Bids[0]
	}
	if len(b.Asks) == 0 {
		return q
	}
	q.LowestAsk = b.Asks[0]
	step := b.money(1)
	q.EarnMore = min(max(q.LowestAsk-step, q.HighestBid, step), q.LowestAsk)
	middle := q.HighestBid + (q.LowestAsk-q.HighestBid)/2
	if q.HighestBid == 0 {
		middle = q.LowestAsk - q.LowestAsk/20
	}
	q.SellFaster = min(max(middle/step*step, q.HighestBid, step), q.EarnMore)
	return q
}
