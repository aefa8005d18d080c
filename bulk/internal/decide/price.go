package decide

import (
	"errors"
	"slices"
	"time"

	"github.com/govalues/decimal"

	"github.com/sellside-sdk/sellside-go/bulk/stock"
	"github.com/sellside-sdk/sellside-go/gen"
)

// The default pace of prices.
const defaultMaxChanges = 4

// defaultMinStepPercent is 0.5 percent.
func defaultMinStepPercent() decimal.Decimal { return decimal.MustNew(5, 1) }

// Market is the market of a variant in a currency. An absent amount means that there is no such ask
// or bid. The zero value is a market that was not read.
type Market struct {
	LowestAsk  gen.Amount
	HighestBid gen.Amount
	ReadAt     time.Time // Zero if the market was not read.
}

// Ask is an active ask of the seller's.
type Ask struct {
	ListingID string
	Amount    gen.Amount
}

// priced is the price of a row: an amount, or the reason why there is none.
type priced struct {
	amount         gen.Amount
	reason         Reason
	rule           bool // It follows the market.
	floor, ceiling limit
}

// limit is a floor or a ceiling in what the currency has.
type limit struct {
	amount decimal.Decimal
	set    bool
}

// price applies the rule of a row. The order is: the rule, rounding to what the currency has, own
// asks, ceiling, floor.
//
//   - Results of rules are rounded down to two digits, or to none in a currency without minor
//     units, so that they stay below the lowest ask and at the highest bid. A floor is rounded up,
//     a ceiling down. Fixed amounts and fallbacks are sent as they are.
//   - The seller's lowest ask is never undercut: if it is the lowest of the market, or lower than
//     the market was when it was read, a rule asks as much as it and not less.
//   - Floor and ceiling have precedence over all of that, the floor over the ceiling.
func price(row Row, market Market, own []Ask) priced {
	rule := row.Price
	if rule.Kind == stock.PriceFixed || rule.Kind == "" {
		if _, ok := positive(rule.Amount); !ok {
			return priced{reason: ReasonNoPrice}
		}
		return priced{amount: rule.Amount}
	}
	digits, _ := row.currency().Digits() // readers refuse other currencies
	p := priced{rule: true}
	for _, a := range []gen.Amount{rule.Less, rule.Floor, rule.Ceiling, rule.Fallback} {
		if _, err := a.Decimal(); err != nil && !errors.Is(err, gen.ErrAbsent) {
			p.reason = ReasonNoPrice // A limit that cannot be read is no reason to ask without it.
			return p
		}
	}
	if floor, ok := positive(rule.Floor); ok {
		p.floor = limit{amount: floor.Ceil(digits), set: true}
	}
	if ceiling, ok := positive(rule.Ceiling); ok {
		p.ceiling = limit{amount: ceiling.Floor(digits), set: true}
	}
	if market.ReadAt.IsZero() {
		p.reason = ReasonMarketUnread
		return p
	}
	amount, ok := ruled(rule, market, own, digits)
	if !ok {
		amount, ok = positive(rule.Fallback)
		if !ok {
			p.reason = ReasonNoPrice
			return p
		}
	}
	if p.ceiling.set {
		amount = amount.Min(p.ceiling.amount)
	}
	if p.floor.set {
		amount = amount.Max(p.floor.amount)
	}
	if !amount.IsPos() {
		p.reason = ReasonNoPrice
		return p
	}
	p.amount = gen.AmountOf(amount)
	return p
}

// ruled returns the amount of a rule before floor and ceiling, which may be zero or less. It
// returns false if the market has no price to go by, or if the rule is not known.
func ruled(rule stock.Price, market Market, own []Ask, digits int) (decimal.Decimal, bool) {
	switch rule.Kind {
	case stock.PriceAtHighest:
		bid, ok := positive(market.HighestBid)
		return bid.Floor(digits), ok
	case stock.PriceBelowLowest:
	default:
		return decimal.Decimal{}, false
	}
	lowest, ok := positive(market.LowestAsk)
	if !ok {
		return decimal.Decimal{}, false
	}
	less, _ := rule.Less.Decimal() // An absent amount is zero.
	if less.IsZero() {
		less, ok = percentOf(lowest, rule.LessPercent)
		if !ok {
			return decimal.Decimal{}, false
		}
	}
	amount, err := lowest.Sub(less)
	if err != nil {
		return decimal.Decimal{}, false
	}
	amount = amount.Floor(digits)
	if mine, ok := lowestOwn(own); ok && mine.Cmp(lowest) <= 0 {
		amount = amount.Max(mine)
	}
	return amount, true
}

// percentOf returns false if the result has more digits than a decimal holds: it never rounds.
func percentOf(amount, percent decimal.Decimal) (decimal.Decimal, bool) {
	amount, percent = amount.Trim(0), percent.Trim(0)
	hundredth := decimal.MustNew(1, 2)
	scale := amount.Scale() + percent.Scale()
	product, err := amount.MulExact(percent, scale)
	if err != nil {
		return decimal.Decimal{}, false
	}
	part, err := product.MulExact(hundredth, scale+hundredth.Scale())
	return part, err == nil
}

func lowestOwn(own []Ask) (decimal.Decimal, bool) {
	var lowest decimal.Decimal
	found := false
	for _, ask := range own {
		if amount, ok := positive(ask.Amount); ok && (!found || amount.Less(lowest)) {
			lowest, found = amount, true
		}
	}
	return lowest, found
}

// reprice reports whether a rule changes the price of a listing, whose amount or currency differs,
// now.
func (d *Decision) reprice(row Row, l Listing, p priced, now time.Time, policy Policy) bool {
	if l.Currency != row.currency() {
		return true
	}
	old, ok := positive(l.Amount)
	if !ok || p.outside(old) {
		return true
	}
	if smallStep(old, p.amount, policy) {
		d.reason(ReasonMinStep)
		return false
	}
	recent := slices.DeleteFunc(slices.Clone(l.ChangedAt), func(t time.Time) bool {
		return !t.After(now.Add(-24 * time.Hour))
	})
	limit := policy.MaxChanges
	if limit <= 0 {
		limit = defaultMaxChanges
	}
	if len(recent) < limit {
		return true
	}
	slices.SortFunc(recent, time.Time.Compare)
	d.reason(ReasonMaxChanges)
	d.at(recent[len(recent)-limit].Add(24*time.Hour), now)
	return false
}

// outside reports whether an amount is outside the floor and ceiling.
func (p priced) outside(amount decimal.Decimal) bool {
	return p.floor.set && amount.Less(p.floor.amount) || p.ceiling.set && p.ceiling.amount.Less(amount)
}

func smallStep(old decimal.Decimal, amount gen.Amount, policy Policy) bool {
	percent := policy.MinStepPercent
	if !percent.IsPos() {
		percent = defaultMinStepPercent()
	}
	wanted, ok := positive(amount)
	if !ok {
		return true
	}
	least, ok := percentOf(old, percent)
	if !ok {
		return false
	}
	step, err := wanted.SubAbs(old)
	return err == nil && step.Less(least)
}

// positive returns an amount for arithmetic, and false if it is absent, not a number or not more
// than zero.
func positive(a gen.Amount) (decimal.Decimal, bool) {
	d, err := a.Decimal()
	return d, err == nil && d.IsPos()
}
