package decide

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sellside-sdk/sellside-go/gen"
)

func TestAdopt(t *testing.T) {
	listing := func(id, variant, currency, amount string) Listing {
		l := live(id)
		l.Variant, l.Currency, l.Amount = variant, gen.CurrencyCode(currency), gen.Amount(amount)
		return l
	}
	wanted := func(sku, currency, amount string, count int) Wanted {
		return Wanted{SKU: sku, Variant: "v", Currency: gen.CurrencyCode(currency), Amount: gen.Amount(amount), Count: count}
	}
	sale := listing("s", "v", "USD", "100")
	sale.Presence = PresenceSold
	for _, tc := range []struct {
		why     string
		rows    []Wanted
		foreign []Listing
		want    map[string]string // SKU by listing.
	}{
		{
			"variant and currency must be equal",
			[]Wanted{wanted("A", "USD", "100", 9)},
			[]Listing{listing("a", "w", "USD", "100"), listing("b", "v", "EUR", "100"), listing("c", "v", "USD", "90"), sale},
			map[string]string{"c": "A"},
		},
		{
			"the closest amounts first, by value",
			[]Wanted{wanted("A", "USD", "100", 1), wanted("B", "USD", "90", 1)},
			[]Listing{listing("a", "v", "USD", "91.0000"), listing("b", "v", "USD", "98"), listing("c", "v", "USD", "9")},
			map[string]string{"a": "B", "b": "A"},
		},
		{
			"never more than owed",
			[]Wanted{wanted("A", "USD", "100", 1), wanted("B", "USD", "100", 0)},
			[]Listing{listing("a", "v", "USD", "100"), listing("b", "v", "USD", "100")},
			map[string]string{"a": "A"},
		},
		{
			"a listing without an amount is not matched",
			[]Wanted{wanted("A", "USD", "100", 1)},
			[]Listing{listing("a", "v", "USD", "")},
			map[string]string{},
		},
	} {
		got := make(map[string]string)
		for _, a := range Adopt(tc.rows, tc.foreign) {
			got[a.ListingID] = a.SKU
		}
		assert.Equal(t, tc.want, got, tc.why)
	}
}

func TestWants_WhatWouldBeCreated(t *testing.T) {
	row := fixedRow(3, live("a"))
	assert.Equal(t, Wanted{SKU: "A", Variant: "v", Currency: "USD", Amount: "100", Count: 2},
		Wants(row, decideFixed(row, clock(12))))
	row.Quantity = 1
	assert.Zero(t, Wants(row, decideFixed(row, clock(12))).Count)
}
