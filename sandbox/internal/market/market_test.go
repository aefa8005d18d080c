package market

import (
	"strings"
	"testing"

	"github.com/govalues/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func currency(t *testing.T, code string) Currency {
	t.Helper()
	c, ok := Lookup(code)
	require.True(t, ok, code)
	return c
}

func TestParseAmount_IsExactAndBounded(t *testing.T) {
	for _, row := range []struct {
		text, currency string
		want           int64
		ok             bool
		why            string
	}{
		{"125", "USD", 12500, true, "whole dollars"},
		{"125.50", "USD", 12550, true, "cents"},
		{"76.0000", "USD", 7600, true, "trailing zeros carry no meaning"},
		{"23500.0000", "JPY", 23500, true, "even where there are no decimal places"},
		{"100000", "USD", 10000000, true, "the highest price"},
		{"0.10", "USD", 0, false, "less than one dollar"},
		{"100000.01", "USD", 0, false, "a cent over the highest price"},
		{"150000", "JPY", 150000, true, "the range follows the currency"},
		{"99999999999999999999999999", "USD", 0, false, "more than fits a decimal"},
		{"100.50", "JPY", 0, false, "the yen has no smaller unit"},
		{"100.505", "USD", 0, false, "tenths of cents"},
		{"0.00", "USD", 0, false, "zero"},
		{"-5", "USD", 0, false, "no signs"},
		{"1e3", "USD", 0, false, "no exponents"},
		{"1,000", "USD", 0, false, "no separators"},
		{"12.", "USD", 0, false, "a point needs digits after it"},
		{"", "USD", 0, false, "empty"},
		{"125." + strings.Repeat("0", 36), "USD", 12500, true, "40 characters"},
		{"125." + strings.Repeat("0", 37), "USD", 0, false, "a character more than any amount has"},
	} {
		got, err := ParseAmount(row.text, currency(t, row.currency))
		assert.Equal(t, row.ok, err == nil, "%s: %q: %v", row.why, row.text, err)
		assert.Equal(t, row.want, got, row.why)
	}
}

func TestFormatAmount_WritesWholeUnitsWithoutAPoint(t *testing.T) {
	assert.Equal(t, "125", FormatAmount(12500, currency(t, "USD")))
	assert.Equal(t, "125.50", FormatAmount(12550, currency(t, "USD")))
	assert.Equal(t, "23500", FormatAmount(23500, currency(t, "JPY")))
}

func TestPayout_FollowsTheFeeSchedule(t *testing.T) {
	for _, row := range []struct {
		price, currency string
		payout          string
		adjustments     []string
		why             string
	}{
		{
			"200", "USD", "172.00",
			[]string{"Transaction Fee -18.00", "Payment Proc. (3%) -6.00", "Shipping -4.00"},
			"percentages of the price",
		},
		{
			"30", "USD", "20.10",
			[]string{"Minimum Transaction Fee -5.00", "Payment Proc. (3%) -0.90", "Shipping -4.00"},
			"the minimum fee is more than nine percent",
		},
		{
			"1", "USD", "-8.03",
			[]string{"Minimum Transaction Fee -5.00", "Payment Proc. (3%) -0.03", "Shipping -4.00"},
			"a payout can be negative",
		},
		{
			"23500", "JPY", "20080",
			[]string{"Transaction Fee -2115", "Payment Proc. (3%) -705", "Shipping -600"},
			"no fractions of a yen",
		},
		{
			"133.33", "EUR", "113.65",
			[]string{"Transaction Fee -12.00", "Payment Proc. (3%) -4.00", "Shipping -3.68"},
			"each adjustment is rounded on its own",
		},
	} {
		c := currency(t, row.currency)
		price, err := ParseAmount(row.price, c)
		require.NoError(t, err)
		p, err := NewPayout(price, c)
		require.NoError(t, err)
		var got []string
		sum := p.SalePrice
		for _, a := range p.Adjustments {
			got = append(got, a.Type+" "+a.Amount.String())
			sum, err = sum.Add(a.Amount)
			require.NoError(t, err)
		}
		assert.Equal(t, row.adjustments, got, row.why)
		assert.Equal(t, row.payout, p.TotalPayout.String(), row.why)
		assert.Zero(t, sum.Cmp(p.TotalPayout), "the figures of a payout add up: %s", row.why)
		assert.True(t, p.TotalAdjustments.IsNeg(), row.why)
	}
}

func TestBook_DependsOnSeedVariantAndCurrency(t *testing.T) {
	retail := decimal.MustParse("190")
	usd := currency(t, "USD")
	assert.Equal(t, NewBook(1, "v1", retail, usd), NewBook(1, "v1", retail, usd))
	assert.NotEqual(t, NewBook(1, "v1", retail, usd), NewBook(2, "v1", retail, usd), "another seed")
	assert.NotEqual(t, NewBook(1, "v1", retail, usd), NewBook(1, "v2", retail, usd),
		"another variant")
}
