package payouts_test

import (
	"math/big"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/payouts"
	"github.com/sellside-sdk/sellside-go/gen"
)

func order(day, currency string, sale, adjustments, payout gen.Figure) gen.Order {
	at, _ := time.Parse(time.DateOnly, day)
	return gen.Order{CreatedAt: gen.TimeOf(at), CurrencyCode: "USD", OrderNumber: "1-1", Payout: &gen.Payout{
		CurrencyCode: currency, SalePrice: sale, TotalAdjustments: adjustments, TotalPayout: payout,
	}}
}

func TestLedger_AddsByMonthAndCurrency(t *testing.T) {
	var l payouts.Ledger
	unpaid := order("2026-11-30", "", "", "", "")
	unpaid.Payout = nil
	for _, o := range []gen.Order{
		order("2026-11-01", "USD", "0.10", "-0.01", "0.09"), order("2026-11-30", "USD", "0.2", "-0.02", "0.18"),
		order("2026-11-30", "JPY", "23500", "-2000", "21500.0000"), order("2026-10-31", "USD", "162", "", "140"), unpaid,
		{OrderNumber: "2-2"},
	} {
		require.NoError(t, l.Add(o))
	}
	assert.Equal(t, []payouts.Sum{
		{"2026-10", "USD", 1, "162", "0", "140", 0},
		{"2026-11", "JPY", 1, "23500", "-2000", "21500.0000", 0},
		{"2026-11", "USD", 3, "0.30", "-0.03", "0.27", 1},
		{"unknown", "unknown", 1, "0", "0", "0", 1},
	}, l.Sums())
}

func TestLedger_IsExactOrFails(t *testing.T) {
	var l payouts.Ledger
	require.Error(t, l.Add(order("2026-11-01", "USD", "1", "0", "many")), "no number")
	require.NoError(t, l.Add(order("2026-11-01", "USD", "0", "0", "9999999999999999999")))
	require.Error(t, l.Add(order("2026-11-01", "USD", "0", "0", "1")), "more digits than a decimal has")
}

// FuzzLedger compares sums with those of rational numbers.
func FuzzLedger(f *testing.F) {
	f.Add("0.1", "0.2", "-0.30")
	f.Add("162.4949", "1", "99999999")
	f.Fuzz(func(t *testing.T, a, b, c string) {
		var l payouts.Ledger
		want := new(big.Rat)
		for _, text := range []string{a, b, c} {
			d, err := gen.Figure(text).Decimal()
			if err != nil || l.Add(order("2026-11-01", "USD", "0", "0", gen.FigureOf(d))) != nil {
				return
			}
			r, ok := new(big.Rat).SetString(d.String())
			require.True(t, ok)
			want.Add(want, r)
		}
		got, ok := new(big.Rat).SetString(string(l.Sums()[0].Payout))
		require.True(t, ok)
		assert.Zero(t, want.Cmp(got))
	})
}
