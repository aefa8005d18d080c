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
