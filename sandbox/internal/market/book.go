package market

import (
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"
	"slices"

	"github.com/govalues/decimal"
)

// Book is the order book of one variant in one currency: what other sellers
// ask and buyers bid, in the currency's smallest unit.
type Book struct {
	Currency Currency
	Asks     []int64 // ascending; empty when nobody sells
	Bids     []int64 // descending, all below the first ask; empty when nobody buys
	FlexAsk  int64   // lowest ask of the flex programme; 0 when there is none
}

// NewBook makes up the order book of a variant around its retail price in US
// dollars. The same seed, variant and currency always give the same book, so
// nothing of it has to be stored. About one variant in sixteen has no asks, and
// one in sixteen no bids, as rare sizes do.
func NewBook(seed uint64, variantID string, retail decimal.Decimal, c Currency) Book {
	b := Book{Currency: c}
	// The price belongs to the variant and only its form to the currency: the
	// two sources keep a size about equally dear in dollars and in yen.
	variant := source(seed, variantID, "")
	percent := 70 + variant.Int64N(130) // of the retail price
	price := stepsOf(retail, percent, c)

	depth := source(seed, variantID, c.Code)
	if depth.IntN(16) > 0 {
		for range 1 + depth.IntN(8) {
			b.Asks = append(b.Asks, b.money(price+1+depth.Int64N(1+price/3)))
		}
		slices.Sort(b.Asks)
	}
	if depth.IntN(16) > 0 {
		for range 1 + depth.IntN(8) {
			if bid := price - 1 - depth.Int64N(1+price/3); bid > 0 {
				b.Bids = append(b.Bids, b.money(bid))
			}
		}
		slices.SortFunc(b.Bids, func(x, y int64) int { return int(y - x) })
	}
	if depth.IntN(3) == 0 {
		b.FlexAsk = b.money(price + 1 + depth.Int64N(1+price/4))
	}
	return b
}

// money turns a number of price steps into smallest units.
func (b Book) money(steps int64) int64 {
	return steps * b.Currency.StepUnits * b.Currency.unit()
}

// stepsOf returns how many whole price steps make up that percentage of the
// retail price, and at least one.
func stepsOf(retail decimal.Decimal, percent int64, c Currency) int64 {
	value, err := decimal.Prod(retail, c.PerUSD, decimal.MustNew(percent, 2))
	if err != nil {
		return 1
	}
	whole, _, ok := value.Int64(2)
	if !ok {
		return 1
	}
	return max(whole/c.StepUnits, 1)
}

// source is a random source that depends on nothing but its arguments.
func source(seed uint64, parts ...string) *rand.Rand {
	h := sha256.New()
	h.Write(binary.BigEndian.AppendUint64(nil, seed))
	for _, p := range parts {
		h.Write([]byte(p))
		h.Write([]byte{0})
	}
	sum := h.Sum(nil)
	return rand.New(rand.NewPCG(binary.BigEndian.Uint64(sum), binary.BigEndian.Uint64(sum[8:])))
}

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
