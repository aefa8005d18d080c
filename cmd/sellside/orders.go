package main

import (
	"cmp"
	"context"
	"errors"
	"iter"

	"github.com/spf13/cobra"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/recent"
	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/table"
	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/values"
	"github.com/sellside-sdk/sellside-go/gen"
)

const ordersHelp = `Read sales, watch them, and fetch their labels.

An order is active from the sale until the seller is paid or the sale has failed, and part
of the history from then on.`

func newOrders(getenv func(string) string) *cobra.Command {
	return newGroup("orders", "Read sales, and fetch their labels", ordersHelp,
		newOrdersList(getenv), newOrdersGet(getenv), newOrdersWatch(getenv), newOrdersLabels(getenv), newOrdersPayouts(getenv))
}

// orderFlags are the filters of all lists of orders.
type orderFlags struct {
	inventoryFlags
	product, variant, status string
}

func (f *orderFlags) addFilters(s *service, cmd *cobra.Command, statuses []gen.OrderStatus) {
	cmd.Flags().StringVar(&f.product, "product", "", "id of a product")
	cmd.Flags().StringVar(&f.variant, "variant", "", "id of a variant")
	cmd.Flags().StringVar(&f.status, "status", "", "status")
	f.addInventory(cmd)
	s.recentFlag(cmd, "product", recent.Product)
	s.recentFlag(cmd, "variant", recent.Variant)
	completeFlag(cmd, "status", statuses)
}

// active returns the filter of active orders.
func (f *orderFlags) active(s *service) client.ActiveOrderFilter {
	return client.ActiveOrderFilter{
		Status: optional(s, "status", values.OrderStatuses(), f.status), ProductID: f.product, VariantID: f.variant,
		InventoryTypes:     known(s, "inventory-type", values.InventoryTypes(), f.inventoryTypes...),
		ShipmentDisplayIDs: f.shipments,
	}
}

// history returns the filter of ended orders.
func (f *orderFlags) history(s *service, days days) (client.OrderHistoryFilter, error) {
	from, err := day("from", days.from)
	to, errTo := day("to", days.to)
	return client.OrderHistoryFilter{
		Status: optional(s, "status", values.OrderStatuses(), f.status), From: from, To: to,
		ProductID: f.product, VariantID: f.variant,
		InventoryTypes:     known(s, "inventory-type", values.InventoryTypes(), f.inventoryTypes...),
		ShipmentDisplayIDs: f.shipments,
	}, errors.Join(err, errTo)
}

// days are the flags of the first and the last day of a list.
type days struct{ from, to string }

func (d *days) addDays(cmd *cobra.Command) {
	cmd.Flags().StringVar(&d.from, "from", "", "first day of the sales (UTC), such as 2026-11-01")
	cmd.Flags().StringVar(&d.to, "to", "", "last day of the sales")
}

// ordersList is one call of orders ls.
type ordersList struct {
	*service
	paging
	orderFlags
	days
	inHistory bool
	sort      string
}

func newOrdersList(getenv func(string) string) *cobra.Command {
	l := &ordersList{service: newService(getenv)}
	cmd := l.command(&cobra.Command{
		Use:   "ls",
		Short: "List active or ended orders",
		Long: `List the active orders that match all filters, or with --history the ended ones. --from,
--to and the statuses of ended orders mean --history too; --sort is for active orders.

One request is sent for each 100 orders.`,
		Example: "  sellside orders ls --sort SHIPBYDATE\n  sellside orders ls --status COMPLETED --from 2026-11-01 --csv",
		Args:    exactly(0, "sellside orders ls"),
	}, l.run, gen.OpListActiveOrders, gen.OpListOrderHistory)
	l.addFilters(l.service, cmd, values.OrderStatuses())
	l.addDays(cmd)
	cmd.Flags().BoolVar(&l.inHistory, "history", false, "list ended orders")
	cmd.Flags().StringVar(&l.sort, "sort", "", "order of active orders")
	completeFlag(cmd, "sort", values.OrderSorts())
	l.addPaging(cmd)
	return cmd
}

func (l *ordersList) run(ctx context.Context, _ []string) error {
	orders, err := l.orders(ctx)
	if err := errors.Join(err, l.check()); err != nil {
		return err
	}
	return printAll(l.service, orderColumns(), orders, l.limit, "orders", func(o gen.Order) { l.rememberOrder(o) })
}

// orders returns the list that the flags mean.
func (l *ordersList) orders(ctx context.Context) (iter.Seq2[gen.Order, error], error) {
	active := l.active(l.service)
	if !l.inHistory && l.from == "" && l.to == "" && !active.Status.Terminal() {
		active.Sort = optional(l.service, "sort", values.OrderSorts(), l.sort)
		active.PageNumber, active.PageSize = l.page, l.pageSize
		return l.sdk.Orders.ListActive(ctx, active), nil
	}
	if l.sort != "" {
		return nil, invalidf("--sort (%q): ended orders cannot be sorted: leave it out", l.sort)
	}
	ended, err := l.history(l.service, l.days)
	ended.PageNumber, ended.PageSize = l.page, l.pageSize
	return l.sdk.Orders.ListHistory(ctx, ended), err
}

func (s *service) rememberOrder(o gen.Order) {
	s.recent.Add(recent.Order, o.OrderNumber)
	s.recent.Add(recent.Listing, o.ListingID)
	s.recent.Add(recent.Variant, o.Variant.VariantID)
	s.recent.Add(recent.Product, o.Product.ProductID)
	s.recent.Add(recent.Style, o.Product.StyleID)
}

func orderColumns() []table.Column[gen.Order] {
	return []table.Column[gen.Order]{
		{Name: "order_number", Value: func(o gen.Order) string { return o.OrderNumber }},
		{Name: "status", Wrap: true, Width: len("AUTHENTICATED"), Value: func(o gen.Order) string { return string(o.Status) }},
		{Name: "price", Text: true, Right: true, Value: func(o gen.Order) string { return price(o.Amount, string(o.CurrencyCode)) }},
		{Name: "amount", CSV: true, Value: func(o gen.Order) string { return o.Amount.String() }},
		{Name: "currency", CSV: true, Value: func(o gen.Order) string { return string(o.CurrencyCode) }},
		{Name: "size", Wrap: true, Value: func(o gen.Order) string { return o.Variant.VariantValue }},
		{Name: "style_id", Wrap: true, Value: func(o gen.Order) string { return o.Product.StyleID }},
		{Name: "sold", Text: true, Value: func(o gen.Order) string { return date(o.CreatedAt) }},
		{Name: "product", CSV: true, Value: func(o gen.Order) string { return o.Product.ProductName }},
		{Name: "product_id", CSV: true, Value: func(o gen.Order) string { return o.Product.ProductID }},
		{Name: "variant_id", CSV: true, Value: func(o gen.Order) string { return o.Variant.VariantID }},
		{Name: "listing_id", CSV: true, Value: func(o gen.Order) string { return o.ListingID }},
		{Name: "inventory_type", CSV: true, Value: func(o gen.Order) string { return string(o.InventoryType) }},
		{Name: "payout", CSV: true, Value: func(o gen.Order) string { return orZero(o.Payout).TotalPayout.String() }},
		{Name: "payout_currency", CSV: true, Value: func(o gen.Order) string { return orZero(o.Payout).CurrencyCode }},
		{Name: "created_at", CSV: true, Value: func(o gen.Order) string { return stamp(o.CreatedAt) }},
		{Name: "updated_at", CSV: true, Value: func(o gen.Order) string { return stamp(o.UpdatedAt) }},
	}
}

func newOrdersGet(getenv func(string) string) *cobra.Command {
	s := newService(getenv)
	run := func(ctx context.Context, args []string) error {
		order, err := s.sdk.Orders.Get(ctx, args[0])
		if err != nil {
			return err
		}
		s.rememberOrder(*order)
		return printOne(s, orderDetails(), *order)
	}
	return s.command(&cobra.Command{
		Use:               "get ORDER_NUMBER",
		Short:             "Show an order with its shipment and payout",
		Example:           "  sellside orders get 323314425-323214184",
		Args:              exactly(1, "sellside orders get ORDER_NUMBER"),
		ValidArgsFunction: s.recentArgs(recent.Order, 0, 1),
	}, run, gen.OpGetOrder)
}

// orderDetails are the columns of one order.
func orderDetails() []table.Column[gen.Order] {
	type column = table.Column[gen.Order]
	columns := orderColumns()
	for i := range columns {
		switch columns[i].Name {
		case "product", "product_id", "variant_id", "listing_id", "inventory_type", "created_at", "updated_at":
			columns[i].CSV = false
		}
	}
	shipment := func(o gen.Order) gen.Shipment { return orZero(o.Shipment) }
	return append(
		columns,
		column{Name: "condition", Wrap: true, Value: func(o gen.Order) string { return joined(o.Condition, o.ConditionDescription) }},
		column{Name: "authentication", Wrap: true, Value: func(o gen.Order) string {
			return joined(o.AuthenticationDetails.Status, o.AuthenticationDetails.FailureNotes)
		}},
		column{Name: "ship_by", Value: func(o gen.Order) string { return shipment(o).ShipByDate }},
		column{Name: "carrier", Value: func(o gen.Order) string { return shipment(o).CarrierCode }},
		column{Name: "tracking_number", Value: func(o gen.Order) string { return shipment(o).TrackingNumber }},
		column{Name: "tracking_url", Value: func(o gen.Order) string { return shipment(o).TrackingURL }},
		column{Name: "label_url", CSV: true, Value: func(o gen.Order) string { return shipment(o).ShippingLabelURL }},
		column{Name: "document_url", CSV: true, Value: func(o gen.Order) string { return shipment(o).ShippingDocumentURL }},
		column{Name: "label", Text: true, Wrap: true, Value: func(o gen.Order) string {
			if cmp.Or(shipment(o).ShippingLabelURL, shipment(o).ShippingDocumentURL) == "" {
				return "none yet"
			}
			return "ready: fetch it with sellside orders labels --dir DIRECTORY"
		}},
		column{Name: "paid_out", Text: true, Value: func(o gen.Order) string { return payoutTotal(o.Payout) }},
		column{Name: "adjustments", Wrap: true, Value: func(o gen.Order) string { return adjustments(o.Payout) }},
	)
}
