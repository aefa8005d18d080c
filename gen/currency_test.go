package gen

import (
	"math/big"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAmount_RoundsToUnitsOfCurrency(t *testing.T) {
	for _, test := range []struct {
		amount               Amount
		currency             CurrencyCode
		floor, nearest, ceil Amount
		why                  string
	}{
		{"157.505", "USD", "157.50", "157.50", "157.51", "half to even"},
		{"157.515", "USD", "157.51", "157.52", "157.52", "half to even"},
		{"157.506", "", "157.50", "157.51", "157.51", "no currency is USD"},
		{"76.0000", "EUR", "76.00", "76.00", "76.00", "as services send amounts"},
		{"23500.0000", "JPY", "23500", "23500", "23500", "no cents"},
		{"23500.5", "JPY", "23500", "23500", "23501", "no cents"},
		{"1380.9", "KRW", "1380", "1381", "1381", "no cents"},
		{"5.12345", "KWD", "5.123", "5.123", "5.124", "three digits"},
		{"162", "USD", "162", "162", "162", "kept as it is"},
		{"-0.001", "USD", "-0.01", "0.00", "0.00", "a deduction is floored downwards"},
		{"99999999999999.999", "USD", "99999999999999.99", "100000000000000.00", "100000000000000.00", "all digits of a decimal"},
	} {
		for want, round := range map[*Amount]func(CurrencyCode) (Amount, error){
			&test.floor: test.amount.Floor, &test.nearest: test.amount.Round, &test.ceil: test.amount.Ceil,
		} {
			got, err := round(test.currency)
			require.NoError(t, err, test.why)
			assert.Equal(t, *want, got, "%s %s: %s", test.amount, test.currency, test.why)
		}
	}
}

func TestAmount_DoesNotRoundWhatItDoesNotKnow(t *testing.T) {
	for _, test := range []struct {
		amount   Amount
		currency CurrencyCode
	}{{"1.5", "XXX"}, {"1.5", "usd"}, {"", "USD"}, {"1,5", "USD"}, {"0.12345678901234567890123", "USD"}} {
		for _, round := range []func(CurrencyCode) (Amount, error){test.amount.Floor, test.amount.Round, test.amount.Ceil} {
			got, err := round(test.currency)
			require.Error(t, err, "%s %s", test.amount, test.currency)
			assert.Empty(t, got)
		}
	}
	_, err := Amount("").Floor("USD")
	assert.ErrorIs(t, err, ErrAbsent)
}

func TestCurrencyCode_KnowsUnitsOfEveryCurrency(t *testing.T) {
	for _, c := range []CurrencyCode{ // of listings and of market data
		"AUD", "BRL", "CAD", "CHF", "CLP", "CNY", "DKK", "EUR", "GBP", "HKD", "HUF", "IDR", "ILS", "JPY", "KRW", "KWD",
		"MOP", "MXN", "MYR", "NOK", "NZD", "PEN", "PHP", "PLN", "SEK", "SGD", "THB", "TWD", "USD", "VND",
	} {
		_, ok := c.Digits()
		assert.True(t, ok, c)
	}
}

func FuzzAmount_Rounds(f *testing.F) {
	f.Add("157.505", "USD")
	f.Add("-23500.5", "JPY")
	f.Add("1e-3", "KWD")
	f.Fuzz(func(t *testing.T, text, code string) {
		amount, currency := Amount(text), CurrencyCode(code)
		low, err := amount.Floor(currency)
		high, errHigh := amount.Ceil(currency)
		near, errNear := amount.Round(currency)
		if err != nil {
			assert.Error(t, errHigh)
			assert.Error(t, errNear)
			return
		}
		require.NoError(t, errHigh)
		require.NoError(t, errNear)
		exact, ok := new(big.Rat).SetString(text)
		require.True(t, ok)
		digits, _ := currency.Digits()
		unit := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(digits)), nil))
		value := func(a Amount) *big.Rat {
			v, ok := new(big.Rat).SetString(a.String())
			require.True(t, ok)
			return v
		}
		assert.LessOrEqual(t, value(low).Cmp(exact), 0)
		assert.GreaterOrEqual(t, value(high).Cmp(exact), 0)
		assert.Negative(t, new(big.Rat).Sub(value(high), value(low)).Cmp(new(big.Rat).Add(unit, unit)), "at most one unit between them")
		assert.True(t, near.Equal(low) || near.Equal(high), "the nearest is one of both")
		for _, a := range []Amount{low, high, near} {
			assert.True(t, new(big.Rat).Quo(value(a), unit).IsInt(), "%s is in units of %s", a, code)
		}
	})
}
