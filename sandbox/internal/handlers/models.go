package handlers

import (
	"encoding/json"
	"time"

	"github.com/govalues/decimal"

	"github.com/sellside-sdk/sellside-go/sandbox/internal/catalog"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/market"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/wire"
)

// Parts of the models of several resources.

// optional returns nil for the zero value.
func optional[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}

// timestamp returns nil for the zero time.
func timestamp(t time.Time) *wire.Time {
	if t.IsZero() {
		return nil
	}
	return &wire.Time{Time: t}
}

// timeText is timestamp for members that are declared as strings.
func timeText(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	return new(t.UTC().Format("2006-01-02T15:04:05.000Z"))
}

// money formats an amount of a currency, or returns nil for zero.
func money(minor int64, currency string) *string {
	c, ok := market.Lookup(currency)
	if minor == 0 || !ok {
		return nil
	}
	return new(market.FormatAmount(minor, c))
}

// figure returns a number without trailing zeros.
func figure(d decimal.Decimal) *json.Number {
	return new(json.Number(d.Trim(0).String()))
}

func productReference(v *catalog.Variant) *wire.ProductReference {
	return &wire.ProductReference{
		ProductID: &v.Product.ID, ProductName: &v.Product.Title, StyleID: optional(v.Product.StyleID),
	}
}

func variantReference(v *catalog.Variant) *wire.VariantReference {
	return &wire.VariantReference{VariantID: &v.ID, VariantName: &v.Name, VariantValue: &v.Size}
}

// payout returns the payout for a price.
func payout(minor int64, currency string) (*wire.Payout, error) {
	c, _ := market.Lookup(currency)
	p, err := market.NewPayout(minor, c)
	if err != nil {
		return nil, err
	}
	adjustments := make([]wire.Adjustment, 0, len(p.Adjustments))
	for _, a := range p.Adjustments {
		adjustments = append(adjustments, wire.Adjustment{
			AdjustmentType: &a.Type, Amount: figure(a.Amount), Percentage: figure(a.Percentage),
		})
	}
	return &wire.Payout{
		TotalPayout: figure(p.TotalPayout), SalePrice: figure(p.SalePrice),
		TotalAdjustments: figure(p.TotalAdjustments), CurrencyCode: &c.Code, Adjustments: &adjustments,
	}, nil
}
