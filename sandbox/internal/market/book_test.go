package market

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/govalues/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestBook_IsOrderedAndNeverCrossed(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	amounts := func(c Currency) []int64 {
		var all []int64
		for range random.IntN(4) {
			all = append(all, (1+random.Int64N(c.MaxUnits/500))*c.unit()+random.Int64N(c.unit()))
		}
		return all
	}
	var withoutAsks, withoutBids, hidden int
	for code, c := range currencies {
		for i := range 500 {
			made := NewBook(7, strings.Repeat("v", i+1), decimal.MustParse("104.99"), c)
			asks, bids := amounts(c), amounts(c)
			b := made.Join(asks, bids)
			require.True(t, slices.IsSorted(b.Asks), code)
			require.True(t, slices.IsSortedFunc(b.Bids, func(x, y int64) int { return int(y - x) }), code)
			require.Len(t, b.Asks, len(made.Asks)+len(asks), "every ask is on the market")
			hidden += len(made.Bids) + len(bids) - len(b.Bids)

			q := b.Quote()
			if q.HighestBid == 0 {
				withoutBids++
			}
			if q.LowestAsk == 0 {
				withoutAsks++
				require.Equal(t, Quote{HighestBid: q.HighestBid, FlexAsk: q.FlexAsk}, q,
					"no suggestions without asks")
				continue
			}
			require.Equal(t, slices.Min(b.Asks), q.LowestAsk)
			require.Less(t, q.HighestBid, q.LowestAsk, "a crossed book would trade")
			require.LessOrEqual(t, q.HighestBid, q.SellFaster, "not below the highest bid")
			require.LessOrEqual(t, q.SellFaster, q.EarnMore)
			require.LessOrEqual(t, q.EarnMore, q.LowestAsk, "not above the lowest ask")
			require.Positive(t, q.SellFaster)
			if c.Digits == 0 {
				for _, amount := range []int64{q.LowestAsk, q.HighestBid, q.SellFaster, q.EarnMore} {
					require.NotContains(t, FormatAmount(amount, c), ".",
						"%s has no smaller unit", code)
				}
			}
		}
	}
	assert.Positive(t, withoutAsks, "some sizes have no asks")
	assert.Positive(t, withoutBids, "some sizes have no bids")
	assert.Positive(t, hidden, "some bids reach an ask")
}

func TestBook_JoinDoesNotChangeTheBook(t *testing.T) {
	b := Book{Currency: currency(t, "USD"), Asks: []int64{20000, 21000}, Bids: []int64{18000, 15000}}
	b.Join([]int64{17000}, []int64{16000})
	assert.Equal(t, Book{Currency: b.Currency, Asks: []int64{20000, 21000}, Bids: []int64{18000, 15000}}, b)
}

func TestQuote_FollowsAsksAndBids(t *testing.T) {
	b := Book{Currency: currency(t, "USD"), Asks: []int64{20000, 21000}, Bids: []int64{15000}}
	yen := Book{Currency: currency(t, "JPY")}
	for _, row := range []struct {
		book       Book
		asks, bids []int64
		want       Quote
		why        string
	}{
		{
			b, nil, nil,
			Quote{LowestAsk: 20000, HighestBid: 15000, SellFaster: 17500, EarnMore: 19900},
			"the generated book",
		},
		{
			b,
			[]int64{18000},
			nil,
			Quote{LowestAsk: 18000, HighestBid: 15000, SellFaster: 16500, EarnMore: 17900},
			"the ask of a listing is the lowest",
		},
		{
			b,
			[]int64{25000},
			nil,
			Quote{LowestAsk: 20000, HighestBid: 15000, SellFaster: 17500, EarnMore: 19900},
			"a higher one changes nothing",
		},
		{
			b, nil,
			[]int64{19000},
			Quote{LowestAsk: 20000, HighestBid: 19000, SellFaster: 19500, EarnMore: 19900},
			"the bid of a buyer is the highest",
		},
		{
			b,
			[]int64{15000},
			nil,
			Quote{LowestAsk: 15000, SellFaster: 14200, EarnMore: 14900},
			"a bid that reaches an ask is not shown",
		},
		{
			b,
			[]int64{100},
			nil,
			Quote{LowestAsk: 100, SellFaster: 100, EarnMore: 100},
			"no suggestion is below one step",
		},
		{
			yen,
			[]int64{1},
			nil,
			Quote{LowestAsk: 1, SellFaster: 1, EarnMore: 1},
			"but suggestions are not above the lowest ask",
		},
		{yen, nil, []int64{900}, Quote{HighestBid: 900}, "no asks"},
	} {
		assert.Equal(t, row.want, row.book.Join(row.asks, row.bids).Quote(), row.why)
	}
}
