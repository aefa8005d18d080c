package main

import (
	"context"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/payouts"
	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/table"
	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/values"
	"github.com/sellside-sdk/sellside-go/gen"
)

// ordersPayouts is one call of orders payouts.
type ordersPayouts struct {
	*service
	orderFlags
	days
}

func newOrdersPayouts(getenv func(string) string) *cobra.Command {
	p := &ordersPayouts{service: newService(getenv)}
	cmd := p.command(&cobra.Command{
		Use:   "payouts",
		Short: "Add up payouts by month and currency",
		Long: `Add up what ended orders have paid out, by the month of the sale (UTC) and the currency of
the payout. The sums are exact: nothing is rounded, and a sum that has too many digits is
an error. Orders for which the service shows no payout are counted, and are not part of
the sums.

One request is sent for each 100 orders.`,
		Example: "  sellside orders payouts --from 2026-01-01 --to 2026-12-31 --csv",
		Args:    exactly(0, "sellside orders payouts"),
	}, p.run, gen.OpListOrderHistory)
	p.addFilters(p.service, cmd, values.HistoricalOrderStatuses())
	p.addDays(cmd)
	cmd.Flags().Lookup("status").DefValue = string(gen.OrderStatusCompleted)
	return cmd
}

func (p *ordersPayouts) run(ctx context.Context, _ []string) error {
	if p.status == "" {
		p.status = string(gen.OrderStatusCompleted)
	}
	filter, err := p.history(p.service, p.days)
	if err != nil {
		return err
	}
	var ledger payouts.Ledger
	for order, err := range p.sdk.Orders.ListHistory(ctx, filter) {
		if err != nil {
			return err
		}
		if err := ledger.Add(order); err != nil {
			return err
		}
	}
	return printAll(p.service, sumColumns(), sequence(ledger.Sums()), 0, "orders", nil)
}

func sumColumns() []table.Column[payouts.Sum] {
	type sum = payouts.Sum
	return []table.Column[sum]{
		{Name: "month", Value: func(s sum) string { return s.Month }},
		{Name: "currency", Value: func(s sum) string { return s.Currency }},
		{Name: "orders", Right: true, Value: func(s sum) string { return strconv.Itoa(s.Orders) }},
		{Name: "sales", Right: true, Value: func(s sum) string { return s.Sales.String() }},
		{Name: "adjustments", Right: true, Value: func(s sum) string { return s.Adjustments.String() }},
		{Name: "payout", Right: true, Value: func(s sum) string { return s.Payout.String() }},
		{Name: "without_payout", Right: true, Value: func(s sum) string { return strconv.Itoa(s.WithoutPayout) }},
	}
}
