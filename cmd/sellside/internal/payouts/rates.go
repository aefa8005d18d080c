package payouts

import (
	"errors"
	"fmt"

	"github.com/govalues/decimal"

	"github.com/sellside-sdk/sellside-go/gen"
)

// Rates estimate what a price pays out, from the adjustments of a payout that the service has
// calculated. No operation calculates one for a price.
type Rates struct {
	adjustments []rate
	digits      int // After the point.
}

// rate is an adjustment. It is negative if it is deducted.
type rate struct {
	share decimal.Decimal // Of the price.
	fixed decimal.Decimal // If the share is zero, or if it is a minimum that was more than the share.
}

// RatesOf returns the rates of a payout. It returns an error if the payout does not show how it was
// calculated.
func RatesOf(p gen.Payout) (Rates, error) {
	r := Rates{digits: digitsOf(p.CurrencyCode)}
	sale, err := p.SalePrice.Decimal()
	if err != nil {
		return r, fmt.Errorf("read the sale price of a payout: %w", err)
	}
	for _, a := range p.Adjustments {
		amount, err := a.Amount.Decimal()
		if err != nil {
			return r, fmt.Errorf("read the %s of a payout: %w", a.AdjustmentType, err)
		}
		share, err := a.Percentage.Decimal()
		if err != nil && !errors.Is(err, gen.ErrAbsent) {
			return r, fmt.Errorf("read the share of the %s of a payout: %w", a.AdjustmentType, err)
		}
		of, err := sale.Mul(share)
		if err != nil {
			return r, fmt.Errorf("calculate the %s of a payout: %w", a.AdjustmentType, err)
		}
		share = share.CopySign(amount)
		if of.Round(r.digits).Equal(amount.Abs()) {
			amount = decimal.Zero
		}
		r.adjustments = append(r.adjustments, rate{share, amount})
	}
	return r, nil
}

// digitsOf returns the digits after the point of amounts in a currency.
func digitsOf(currency string) int {
	switch currency {
	case "JPY", "KRW", "CLP", "VND":
		return 0
	default:
		return 2
	}
}

// Payout returns the estimate for a price. Each adjustment is rounded, half to even.
func (r Rates) Payout(price gen.Amount) (gen.Amount, error) {
	sale, err := price.Decimal()
	if err != nil {
		return "", err
	}
	total := sale
	for _, a := range r.adjustments {
		amount, err := sale.Mul(a.share)
		if err != nil {
			return "", err
		}
		if amount = amount.Round(r.digits); amount.Abs().Less(a.fixed.Abs()) {
			amount = a.fixed
		}
		if total, err = total.Add(amount); err != nil {
			return "", err
		}
	}
	return gen.AmountOf(total), nil
}
