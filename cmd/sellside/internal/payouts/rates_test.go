package payouts_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/payouts"
	"github.com/sellside-sdk/sellside-go/gen"
	"github.com/sellside-sdk/sellside-go/sandbox"
	"github.com/sellside-sdk/sellside-go/sandbox/sandboxtest"
)

func TestRates_EstimateFromAnotherPayout(t *testing.T) {
	fees := []gen.Adjustment{
		{AdjustmentType: "Transaction Fee", Amount: "-9", Percentage: "0.09"},
		{AdjustmentType: "Minimum", Amount: "-5", Percentage: "0.03"},
		{AdjustmentType: "Shipping", Amount: "-4"},
		{AdjustmentType: "Rebate", Amount: "1", Percentage: "0.01"},
	}
	rates, err := payouts.RatesOf(gen.Payout{CurrencyCode: "USD", SalePrice: "100", Adjustments: fees})
	require.NoError(t, err)
	for price, want := range map[gen.Amount]gen.Amount{
		"200":   "174",   // 200 - 18 - 6 - 4 + 2 has a share above the minimum
		"100":   "83",    // the same price
		"10":    "0.20",  // 10 - 0.90 - 5 - 4 + 0.10
		"33.33": "21.66", // 33.33 - 3.00 - 5 - 4 + 0.33
	} {
		got, err := rates.Payout(price)
		require.NoError(t, err)
		assert.True(t, want.Equal(got), "%s: %s, want %s", price, got, want)
	}
	_, err = rates.Payout("")
	require.ErrorIs(t, err, gen.ErrAbsent)
}

func TestRates_NeedAWholePayout(t *testing.T) {
	for why, p := range map[string]gen.Payout{
		"no price":               {},
		"no amount":              {SalePrice: "100", Adjustments: []gen.Adjustment{{Percentage: "0.09"}}},
		"a share that is a text": {SalePrice: "100", Adjustments: []gen.Adjustment{{Amount: "1", Percentage: "many"}}},
	} {
		_, err := payouts.RatesOf(p)
		require.Error(t, err, why)
	}
}

// TestRates_AreThoseOfTheSandbox compares estimates with what the service calculates, above its
// minimum fees.
func TestRates_AreThoseOfTheSandbox(t *testing.T) {
	m := sandboxtest.New(t)
	c := m.Client()
	payout := func(amount, currency string) gen.Payout {
		ids, err := m.AddListings(t.Context(), 1, sandbox.Listing{
			VariantID: sandbox.Catalog()[0].Variants[0].ID, Amount: amount, Currency: currency,
		})
		require.NoError(t, err)
		listing, err := c.Listings.Get(t.Context(), ids[0])
		require.NoError(t, err)
		return *listing.Payout
	}
	for currency, prices := range map[string][]string{"USD": {"162", "99.99", "1234.56"}, "JPY": {"23500", "99999"}} {
		rates, err := payouts.RatesOf(payout(prices[0], currency))
		require.NoError(t, err)
		for _, price := range prices {
			got, err := rates.Payout(gen.Amount(price))
			require.NoError(t, err)
			want := gen.Amount(payout(price, currency).TotalPayout)
			assert.True(t, want.Equal(got), "%s %s: %s, want %s", price, currency, got, want)
		}
	}
}
