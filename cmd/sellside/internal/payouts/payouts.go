// Package payouts adds up the payouts of orders, exactly.
package payouts

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/govalues/decimal"

	"github.com/sellside-sdk/sellside-go/gen"
)

// Sum is what the orders of a month have paid out in a currency.
type Sum struct {
	Month       string     `json:"month"` // Of the sales, in UTC, such as 2026-11.
	Currency    string     `json:"currency"`
	Orders      int        `json:"orders"`
	Sales       gen.Figure `json:"sales"`
	Adjustments gen.Figure `json:"adjustments"` // Negative if they are deducted.
	Payout      gen.Figure `json:"payout"`
	// WithoutPayout is the number of orders for which the service shows no payout. The sums lack
	// them.
	WithoutPayout int `json:"withoutPayout"`
}

// Ledger adds up orders. The zero Ledger is empty.
type Ledger struct{ sums map[key]*entry }

type key struct{ month, currency string }

type entry struct {
	orders, without            int
	sales, adjustments, payout decimal.Decimal
}

// Add adds an order. It returns an error if a figure is not a number, or if a sum has more digits
// than can be exact.
func (l *Ledger) Add(o gen.Order) error {
	payout := gen.Payout{}
	if o.Payout != nil {
		payout = *o.Payout
	}
	at := key{"unknown", cmp.Or(payout.CurrencyCode, string(o.CurrencyCode), "unknown")}
	if !o.CreatedAt.IsZero() {
		at.month = o.CreatedAt.UTC().Format("2006-01")
	}
	if l.sums == nil {
		l.sums = map[key]*entry{}
	}
	if l.sums[at] == nil {
		l.sums[at] = &entry{}
	}
	e := l.sums[at]
	e.orders++
	if payout.TotalPayout == "" {
		e.without++
		return nil
	}
	return errors.Join(
		add(&e.sales, o.OrderNumber, "salePrice", payout.SalePrice),
		add(&e.adjustments, o.OrderNumber, "totalAdjustments", payout.TotalAdjustments),
		add(&e.payout, o.OrderNumber, "totalPayout", payout.TotalPayout),
	)
}

// add adds a figure to a sum without rounding. A figure that is absent adds nothing.
func add(sum *decimal.Decimal, order, name string, figure gen.Figure) error {
	d, err := figure.Decimal()
	if errors.Is(err, gen.ErrAbsent) {
		return nil
	}
	if err == nil {
		d, err = sum.AddExact(d, max(sum.Scale(), d.Scale()))
	}
	if err != nil {
		return fmt.Errorf("add up %s of order %s: %w", name, order, err)
	}
	*sum = d
	return nil
}

// Sums returns the sums by month and currency.
func (l *Ledger) Sums() []Sum {
	byTime := func(a, b key) int {
		return cmp.Or(cmp.Compare(a.month, b.month), cmp.Compare(a.currency, b.currency))
	}
	var sums []Sum
	for _, at := range slices.SortedFunc(maps.Keys(l.sums), byTime) {
		e := l.sums[at]
		sums = append(sums, Sum{
			Month: at.month, Currency: at.currency, Orders: e.orders, Sales: gen.FigureOf(e.sales),
			Adjustments: gen.FigureOf(e.adjustments), Payout: gen.FigureOf(e.payout), WithoutPayout: e.without,
		})
	}
	return sums
}
