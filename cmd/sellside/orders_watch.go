package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/sellside-sdk/sellside-go/client/quota"
	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/orderwatch"
	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/report"
	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/table"
	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/values"
	"github.com/sellside-sdk/sellside-go/gen"
)

// ordersWatch is one call of orders watch.
type ordersWatch struct {
	*service
	orderFlags
	interval time.Duration
}

func newOrdersWatch(getenv func(string) string) *cobra.Command {
	w := &ordersWatch{service: newService(getenv)}
	cmd := w.command(&cobra.Command{
		Use:   "watch",
		Short: "Print active orders, and what becomes of them",
		Long: `Print the active orders, and then each order that is new, changes its status or ends, until
Ctrl-C.

The service sends no events, so the active orders are read every --interval. That costs a
request for each 100 of them, and one more for each order that ends: at one a minute and
up to 100 orders, 1440 of the 25000 requests that live services allow a day.`,
		Example: "  sellside orders watch --interval 5m --json",
		Args:    exactly(0, "sellside orders watch"),
	}, w.run, gen.OpListActiveOrders, gen.OpGetOrder)
	w.addFilters(w.service, cmd, values.OrderStatuses())
	cmd.Flags().DurationVar(&w.interval, "interval", time.Minute, "time from one look to the next, 10s or more")
	return cmd
}

// leastInterval is how often a service on another machine may be polled.
const leastInterval = 10 * time.Second

func (w *ordersWatch) run(ctx context.Context, _ []string) error {
	if w.interval <= 0 || w.interval < leastInterval && !w.isLocal() {
		return invalidf("--interval (%s): use %s or more", w.interval, leastInterval)
	}
	type event = orderwatch.Event
	columns := []table.Column[event]{
		{Name: "event", Width: len(orderwatch.Changed), Value: func(e event) string { return string(e.Kind) }},
		{Name: "previous", CSV: true, Value: func(e event) string { return string(e.Previous) }},
	}
	for _, c := range orderColumns() {
		if c.Name == "sold" { // there is no room for it
			continue
		}
		columns = append(columns, table.Column[event]{
			Name: c.Name, Wrap: c.Wrap, Right: c.Right, CSV: c.CSV, Text: c.Text, Width: c.Width,
			Value: func(e event) string { return c.Value(e.Order) },
		})
	}
	rows := table.New(w.out, columns)
	watcher := orderwatch.Watcher{
		Orders: w.sdk.Orders, Filter: w.active(w.service), Interval: w.interval,
		Polled: func(orders, requests int) {
			day := requests * int(24*time.Hour/w.interval)
			w.log.print("watching %s: %s every %s, %d a day of the %d that live services allow",
				report.Count(orders, "active order"), report.Count(requests, "request"), w.interval, day, quota.Public.RequestsPerDay)
		},
		Retrying: w.log.retrying,
	}
	return watcher.Run(ctx, func(e event) error {
		w.rememberOrder(e.Order)
		if err := rows.Write(e); err != nil {
			return err
		}
		return rows.Flush()
	})
}
