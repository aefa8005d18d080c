package market

import (
	"fmt"

	"github.com/govalues/decimal"
)

// Names of the adjustments between the price of a sale and its payout.
const (
	transactionFee        = "Transaction Fee"
	minimumTransactionFee = "Minimum Transaction Fee"
	paymentProcessing     = "Payment Proc. (3%)"
	shipping              = "Shipping"
)

// fee is one row of the fee schedule: the share of the price or the minimum, whichever is more.
type fee struct {
	name        string
	share       decimal.Decimal // of the sale price, as a fraction
	minimum     decimal.Decimal // in US dollars
	minimumName string          // name of the adjustment if the minimum applies
}

// schedule has the fees of a seller of the lowest level:
//
//	adjustment          share of the price     minimum
//	Transaction Fee     0.09                   5.00 USD, then named Minimum Transaction Fee
//	Payment Proc. (3%)  0.03                   -
//	Shipping            -                      4.00 USD
//
// Minimums are converted at [Currency.PerUSD]. The percentage of an adjustment is its share even if
// the minimum applies. The rates are assumed; the names and the rule of the minimum are those of
// the service.
var schedule = []fee{
	{
		name: transactionFee, share: decimal.MustParse("0.09"),
		minimum: decimal.MustParse("5"), minimumName: minimumTransactionFee,
	},
	{name: paymentProcessing, share: decimal.MustParse("0.03"), minimumName: paymentProcessing},
	{name: shipping, minimum: decimal.MustParse("4"), minimumName: shipping},
}

// Payout is what a seller gets for a sale.
type Payout struct {
	SalePrice        decimal.Decimal
	Adjustments      []Adjustment
	TotalAdjustments decimal.Decimal // negative: it is deducted
	TotalPayout      decimal.Decimal // SalePrice + TotalAdjustments
}

// Adjustment is one deduction (negative) or rebate (positive).
type Adjustment struct {
	Type       string
	Amount     decimal.Decimal
	Percentage decimal.Decimal // a fraction of the price; 0 for fixed amounts
}

// NewPayout applies the fee schedule to a sale price in the smallest unit of a currency. Each
// adjustment is rounded to that unit by itself, half to even, so that the figures add up. The
// payout of a cheap sale can be negative.
func NewPayout(price int64, c Currency) (Payout, error) {
	sale := Decimal(price, c)
	p := Payout{SalePrice: sale, TotalPayout: sale, TotalAdjustments: decimal.MustNew(0, c.Digits)}
	for _, f := range schedule {
		a, err := f.of(sale, c)
		if err != nil {
			return Payout{}, fmt.Errorf("payout of %s %s: %w", sale, c.Code, err)
		}
		if p.TotalAdjustments, err = p.TotalAdjustments.Add(a.Amount); err != nil {
			return Payout{}, fmt.Errorf("payout of %s %s: %w", sale, c.Code, err)
		}
		p.Adjustments = append(p.Adjustments, a)
	}
	var err error
	if p.TotalPayout, err = sale.Add(p.TotalAdjustments); err != nil {
		return Payout{}, fmt.Errorf("payout of %s %s: %w", sale, c.Code, err)
	}
	return p, nil
}

func (f fee) of(sale decimal.Decimal, c Currency) (Adjustment, error) {
	byShare, err := sale.Mul(f.share)
	if err != nil {
		return Adjustment{}, err
	}
	minimum, err := f.minimum.Mul(c.PerUSD)
	if err != nil {
		return Adjustment{}, err
	}
	byShare, minimum = byShare.Rescale(c.Digits), minimum.Rescale(c.Digits)
	if byShare.Less(minimum) {
		return Adjustment{Type: f.minimumName, Amount: minimum.Neg(), Percentage: f.share}, nil
	}
	return Adjustment{Type: f.name, Amount: byShare.Neg(), Percentage: f.share}, nil
}
