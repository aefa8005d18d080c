package market

// Quote is what market data says about a variant, in the currency's smallest
// unit. Zero means that there is no such figure.
type Quote struct {
	LowestAsk  int64
	HighestBid int64
	SellFaster int64
	EarnMore   int64
	FlexAsk    int64
}

// Quote sums the book up. ownAsk is the lowest ask of the seller's own active
// listings, 0 when there is none: it counts like everybody else's.
//
// How the service arrives at its two suggestions is not published; assumed is:
//
//   - EarnMore undercuts the lowest ask by one price step, the least that puts
//     the seller first in line, and stays above the highest bid.
//   - SellFaster lies half way between the highest bid and the lowest ask,
//     rounded down to a price step; without bids it is 5% below the lowest ask.
//
// Neither is given where nobody sells.
func (b Book) Quote(ownAsk int64) Quote {
	q := Quote{LowestAsk: ownAsk, FlexAsk: b.FlexAsk}
	if len(b.Asks) > 0 && (ownAsk == 0 || b.Asks[0] < ownAsk) {
		q.LowestAsk = b.Asks[0]
	}
	if len(b.Bids) > 0 {
		q.HighestBid = b.Bids[0]
	}
	if q.LowestAsk == 0 {
		return q
	}
	step := b.money(1)
	q.EarnMore = max(q.LowestAsk-step, q.HighestBid, step)
	middle := (q.LowestAsk + q.HighestBid) / 2
	if q.HighestBid == 0 {
		middle = q.LowestAsk - q.LowestAsk/20
	}
	q.SellFaster = max(middle/step*step, q.HighestBid, step)
	q.SellFaster = min(q.SellFaster, q.EarnMore)
	return q
}
