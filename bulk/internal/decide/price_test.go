package decide

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/govalues/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/bulk/stock"
	"github.com/sellside-sdk/sellside-go/gen"
)

func TestPrice(t *testing.T) {
	read := func(lowest, highest gen.Amount) Market {
		return Market{LowestAsk: lowest, HighestBid: highest, ReadAt: clock(2)}
	}
	below := stock.Price{Kind: stock.PriceBelowLowest, Less: "1"}
	bounded := func(floor, ceiling gen.Amount) stock.Price {
		return stock.Price{Kind: stock.PriceBelowLowest, Less: "1", Floor: floor, Ceiling: ceiling}
	}
	percent := func(p string) stock.Price {
		return stock.Price{Kind: stock.PriceBelowLowest, LessPercent: decimal.MustParse(p)}
	}
	highest := stock.Price{Kind: stock.PriceAtHighest}
	for _, tc := range []struct {
		why      string
		price    stock.Price
		currency gen.CurrencyCode
		market   Market
		own      []Ask
		want     gen.Amount
		reason   Reason
	}{
		{"fixed", stock.Price{Kind: stock.PriceFixed, Amount: "99.90"}, "USD", Market{}, nil, "99.90", ""},
		{"fixed, without a number", stock.Price{Kind: stock.PriceFixed}, "USD", Market{}, nil, "", ReasonNoPrice},
		{"an amount below the lowest", below, "USD", read("100.0000", ""), nil, "99.00", ""},
		{"a percentage below the lowest, rounded down to cents", percent("0.333"), "USD", read("99.99", ""), nil, "99.65", ""},
		{"a percentage in whole units", percent("1"), "JPY", read("23450.0000", ""), nil, "23215", ""},
		{"an amount in whole units", stock.Price{Kind: stock.PriceBelowLowest, Less: "0.5"}, "KRW", read("100000", ""), nil, "99999", ""},
		{"more digits than a decimal holds are never rounded", percent("0.1234567890123456789"), "USD", read("1234567.89", ""), nil, "", ReasonNoPrice},
		{"the highest bid", highest, "USD", read("100", "81.50"), nil, "81.50", ""},
		{"the highest bid in whole units", highest, "JPY", read("", "8100.0000"), nil, "8100", ""},

		{"the market was not read", below, "USD", Market{LowestAsk: "100"}, nil, "", ReasonMarketUnread},
		{"no asks", below, "USD", read("", "80"), nil, "", ReasonNoPrice},
		{"no bids", highest, "USD", read("100", ""), nil, "", ReasonNoPrice},
		{"a lowest ask of zero is none", below, "USD", read("0.00", ""), nil, "", ReasonNoPrice},
		{
			"no asks, but a fallback",
			stock.Price{Kind: stock.PriceBelowLowest, Less: "1", Fallback: "120"},
			"USD", read("", ""), nil, "120", "",
		},
		{
			"a fallback is no reason not to read the market",
			stock.Price{Kind: stock.PriceBelowLowest, Less: "1", Fallback: "120"},
			"USD",
			Market{},
			nil, "", ReasonMarketUnread,
		},
		{"nothing is left of it", below, "USD", read("0.50", ""), nil, "", ReasonNoPrice},

		{"the floor", bounded("110", ""), "USD", read("100", ""), nil, "110", ""},
		{"the ceiling", bounded("", "90"), "USD", read("100", ""), nil, "90", ""},
		{"the floor wins", bounded("95", "90"), "USD", read("100", ""), nil, "95", ""},
		{"a floor is rounded up", bounded("1100.5", ""), "JPY", read("1000", ""), nil, "1101", ""},
		{"a ceiling is rounded down", bounded("", "900.5"), "JPY", read("1000", ""), nil, "900", ""},
		{"the floor holds what a rule takes below zero", bounded("5", ""), "USD", read("0.50", ""), nil, "5", ""},

		{"our ask is the lowest", below, "USD", read("100.00", ""), []Ask{{"a", "100"}, {"b", "140"}}, "100", ""},
		{"our ask is lower than the market was when it was read", below, "USD", read("100", ""), []Ask{{"a", "99.50"}}, "99.50", ""},
		{"our ask is lower than the rule would ask", below, "USD", read("100", ""), []Ask{{"a", "80"}}, "99.00", ""},
		{"our ask is not the lowest", below, "USD", read("100", ""), []Ask{{"a", "101"}}, "99.00", ""},
		{"our ask is not the lowest any more", below, "USD", read("98", ""), []Ask{{"a", "99"}}, "97.00", ""},
		{"a ceiling under the smallest unit", bounded("", "0.9"), "JPY", read("1000", ""), nil, "", ReasonNoPrice},
		{"a floor that cannot be read", bounded("ten", ""), "USD", read("100", ""), nil, "", ReasonNoPrice},
		{"a floor wins over our ask", bounded("110", ""), "USD", read("100", ""), []Ask{{"a", "100"}}, "110", ""},
		{"our ask without an amount", below, "USD", read("100", ""), []Ask{{"a", ""}}, "99.00", ""},
		{"an unknown rule", stock.Price{Kind: "lunar"}, "USD", read("100", "80"), nil, "", ReasonNoPrice},
	} {
		row := fixedRow(1)
		row.Price, row.Currency = tc.price, tc.currency
		p := price(row, tc.market, tc.own)
		assert.True(t, tc.want.Equal(p.amount), "%s: want %s, got %s", tc.why, tc.want, p.amount)
		assert.Equal(t, tc.reason, p.reason, tc.why)
	}
}

func TestDecide_PacesPricesOfRules(t *testing.T) {
	now := clock(12)
	ago := func(hours ...int) []time.Time {
		var times []time.Time
		for _, h := range hours {
			times = append(times, now.Add(-time.Duration(h)*time.Hour))
		}
		return times
	}
	for _, tc := range []struct {
		why     string
		lowest  gen.Amount
		floor   gen.Amount
		policy  Policy
		listing func(*Listing)
		want    gen.Amount // Empty if there is no update.
		reason  Reason
		at      time.Time
	}{
		{"a step of 0.5 percent", "100.50", "", Policy{}, nil, "99.50", "", time.Time{}},
		{"a smaller one", "100.51", "", Policy{}, nil, "", ReasonMinStep, time.Time{}},
		{"the same amount", "101", "", Policy{}, nil, "", "", time.Time{}},
		{"a step of the policy's", "110", "", Policy{MinStepPercent: decimal.MustParse("10")}, nil, "", ReasonMinStep, time.Time{}},
		{
			"four changes within a day", "90", "",
			Policy{},
			func(l *Listing) { l.ChangedAt = ago(20, 3, 2, 1) },
			"", ReasonMaxChanges, now.Add(4 * time.Hour),
		},
		{
			"one of them is older than a day", "90", "",
			Policy{},
			func(l *Listing) { l.ChangedAt = ago(24, 3, 2, 1) },
			"89", "",
			time.Time{},
		},
		{
			"a count of the policy's", "90", "",
			Policy{MaxChanges: 1},
			func(l *Listing) { l.ChangedAt = ago(3, 1) },
			"", ReasonMaxChanges, now.Add(23 * time.Hour),
		},
		{
			"a floor that the amount is under is no matter of pace", "90", "100.10",
			Policy{},
			func(l *Listing) { l.ChangedAt = ago(20, 3, 2, 1) },
			"100.10", "",
			time.Time{},
		},
		{
			"nor is another currency", "100.51", "",
			Policy{},
			func(l *Listing) { l.Currency = "EUR" },
			"99.51", "",
			time.Time{},
		},
		{
			"an activation takes the price of now", "100.51", "",
			Policy{},
			func(l *Listing) { l.Active = false },
			"99.51", "",
			time.Time{},
		},
		{
			"other updates do not carry a change that is too small", "100.51", "",
			Policy{},
			func(l *Listing) { l.ExpiresAt = gen.TimeOf(clock(20)) },
			"100", ReasonMinStep, clock(15),
		},
	} {
		row := fixedRow(1, live("a"))
		row.Price = stock.Price{Kind: stock.PriceBelowLowest, Less: "1", Floor: tc.floor}
		if tc.listing != nil {
			tc.listing(&row.Listings[0])
		}
		if !row.Listings[0].ExpiresAt.IsZero() {
			row.ExpiresAt = gen.TimeOf(clock(15))
		}
		d := Decide(row, Market{LowestAsk: tc.lowest, ReadAt: clock(11)}, nil, now, tc.policy)
		if tc.reason != "" {
			assert.Contains(t, d.Reasons, tc.reason, tc.why)
		}
		assert.Equal(t, tc.at, d.At, tc.why)
		if tc.want == "" {
			assert.Empty(t, d.Updates, tc.why)
			continue
		}
		if assert.Len(t, d.Updates, 1, tc.why) {
			u := d.Updates[0]
			assert.True(t, tc.want.Equal(u.Terms.Amount), "%s: want %s, got %s", tc.why, tc.want, u.Terms.Amount)
			assert.Equal(t, row.Currency, u.Terms.Currency, tc.why)
		}
	}
}

func TestDecide_DoesNotWaitWithFixedPrices(t *testing.T) {
	row := fixedRow(1, live("a"))
	row.Price.Amount = "100.01"
	row.Listings[0].ChangedAt = []time.Time{clock(11), clock(11), clock(11), clock(11)}
	d := decideFixed(row, clock(12))
	assert.Len(t, d.Updates, 1, "the seller's edits are not paced")
	assert.False(t, d.Updates[0].Priced)
}

// TestPrice_StaysWithinBounds checks random rules against what price states.
func TestPrice_StaysWithinBounds(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 1))
	amount := func() gen.Amount {
		if r.IntN(4) == 0 {
			return ""
		}
		return gen.AmountOf(decimal.MustNew(r.Int64N(50_000), r.IntN(5)))
	}
	for range 20_000 {
		row := fixedRow(1)
		row.Currency = []gen.CurrencyCode{"USD", "JPY", "KRW", "CHF"}[r.IntN(4)]
		row.Price = stock.Price{
			Kind:        []stock.PriceKind{stock.PriceBelowLowest, stock.PriceAtHighest}[r.IntN(2)],
			LessPercent: decimal.MustNew(r.Int64N(10_000), 2), Floor: amount(), Ceiling: amount(),
		}
		if r.IntN(2) == 0 {
			row.Price.Less = amount()
		}
		market := Market{LowestAsk: amount(), HighestBid: amount(), ReadAt: clock(1)}
		own := []Ask{{"a", amount()}, {"b", amount()}}[:r.IntN(3)]
		p := price(row, market, own)
		if p.reason != "" {
			assert.Empty(t, p.amount)
			continue
		}
		got, ok := positive(p.amount)
		if !assert.True(t, ok, "%s is an amount", p.amount) {
			continue
		}
		floor, hasFloor := positive(row.Price.Floor)
		ceiling, hasCeiling := positive(row.Price.Ceiling)
		lowest, hasLowest := positive(market.LowestAsk)
		mine, hasOwn := lowestOwn(own)
		message := []any{"seed %d: %+v %+v %+v: %s", seed, row.Price, market, own, p.amount}
		assert.True(t, !hasFloor || !got.Less(floor), message...)
		if hasCeiling && !hasFloor {
			assert.False(t, ceiling.Less(got), message...)
		}
		if row.Price.Kind == stock.PriceBelowLowest && !hasCeiling && hasOwn && hasLowest && !lowest.Less(mine) {
			assert.False(t, got.Less(mine), message...)
		}
		if row.Price.Kind == stock.PriceBelowLowest && !hasFloor && hasLowest {
			assert.False(t, lowest.Less(got), message...)
		}
		if !hasOwn {
			digits, known := row.Currency.Digits()
			require.True(t, known)
			assert.LessOrEqual(t, got.MinScale(), digits, message...)
		}
	}
}
