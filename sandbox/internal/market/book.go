package market

import (
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"
	"slices"

	"github.com/govalues/decimal"
)

// Book is the order book of one variant in one currency. Its amounts are in the smallest unit of
// the currency.
type Book struct {
	Currency Currency
	Asks     []int64 // ascending
	Bids     []int64 // descending, all below the first ask
	FlexAsk  int64   // lowest ask of the flex programme; 0 if there is none
}

// NewBook generates the order book of a variant around its retail price in US dollars. It depends
// on the seed, the variant and the currency only, so that books need not be stored. About one
// variant in sixteen has no asks, and one in sixteen no bids, as rare sizes do.
func NewBook(seed uint64, variantID string, retail decimal.Decimal, c Currency) Book {
	b := Book{Currency: c}
	// The price depends on the variant and the depth on the currency as well: a size costs about
	// the same in dollars and in yen.
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

// money returns a number of price steps in smallest units.
func (b Book) money(steps int64) int64 {
	return steps * b.Currency.StepUnits * b.Currency.unit()
}

// stepsOf returns a percentage of the retail price in whole price steps, one at least.
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

// source returns a random source that depends on its arguments only.
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

// Join returns the book with the asks of listings and the bids of buyers added. The book is never
// crossed: bids that reach the lowest ask are left out. Generated asks and bids do not trade, so
// that a listing stays on the market until a test sells it. That is assumed.
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

// Quote has the figures of market data, in the smallest unit of the currency. Zero means that there
// is none.
type Quote struct {
	LowestAsk  int64
	HighestBid int64
	SellFaster int64
	EarnMore   int64
	FlexAsk    int64
}

// Quote summarizes the book. How the service computes the two suggestions is not published; assumed
// is:
//
//   - EarnMore is one price step below the lowest ask, which is enough to be the lowest, and not
//     below the highest bid.
//   - SellFaster is half way between the highest bid and the lowest ask, rounded down to a price
//     step; without bids it is 5% below the lowest ask.
//
// There are no suggestions without asks, and none is above the lowest ask.
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
