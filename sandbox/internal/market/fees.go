package market

import (
	"fmt"

	"github.com/govalues/decimal"
)

// Names of the adjustments between the price of a sale and its payout.
const (
	TransactionFee        = "Transaction Fee"
	MinimumTransactionFee = "Minimum Transaction Fee"
	PaymentProcessing     = "Payment Proc. (3%)"
	Shipping              = "Shipping"
)

// fee is one row of the fee schedule. A seller pays the share of the price or
// the least amount, whichever is more.
type fee struct {
	name      string
	share     decimal.Decimal // of the sale price, as a fraction
	least     decimal.Decimal // in US dollars
	leastName string          // what the adjustment is called when least applies
}

// schedule is what a seller of the lowest level pays for a sale:
//
//	adjustment          share of the price     at least
//	Transaction Fee     0.09                   5.00 USD, then named Minimum Transaction Fee
//	Payment Proc. (3%)  0.03                   -
//	Shipping            -                      4.00 USD
//
// Least amounts are converted at [Currency.PerUSD]. An adjustment always says its
// share as a fraction, even where the least amount is what is paid. The rates are
// assumed; the names and the rule of the minimum are those of the service.
var schedule = []fee{
	{name: TransactionFee, share: decimal.MustParse("0.09"), least: decimal.MustParse("5"), leastName: MinimumTransactionFee},
	{name: PaymentProcessing, share: decimal.MustParse("0.03"), leastName: PaymentProcessing},
	{name: Shipping, least: decimal.MustParse("4"), leastName: Shipping},
}

// Payout is what is left of a sale for the seller.
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

// NewPayout applies the fee schedule to a sale price given in the currency's
// smallest unit. Every adjustment is rounded to that unit on its own, half to
// even, so that the figures of a payout always add up. A cheap sale can have a
// negative payout.
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
	least, err := f.least.Mul(c.PerUSD)
	if err != nil {
		return Adjustment{}, err
	}
	byShare, least = byShare.Rescale(c.Digits), least.Rescale(c.Digits)
	if byShare.Less(least) {
		return Adjustment{Type: f.leastName, Amount: least.Neg(), Percentage: f.share}, nil
	}
	return Adjustment{Type: f.name, Amount: byShare.Neg(), Percentage: f.share}, nil
}
