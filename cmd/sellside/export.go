package main

import (
	"bufio"
	"context"
	"encoding/csv"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sellside-sdk/sellside-go/bulk"
	"github.com/sellside-sdk/sellside-go/bulk/stock"
)

const exportHelp = `Print what the ledger knows, without any request:

  sellside export rows       the inventory of the last plan, with the columns that it had
  sellside export listings   the live listings as an inventory, also those made elsewhere
  sellside export orders     the sales

rows and listings can be edited and planned again. as_of of exported listings is when the
service last showed them.`

func newExport(getenv func(string) string) *cobra.Command {
	l := newLedger(getenv)
	cmd := &cobra.Command{
		Use:       "export rows|listings|orders",
		Short:     "Print what the ledger knows as an inventory",
		Long:      exportHelp,
		ValidArgs: []string{"rows", "listings", "orders"},
		Args:      exactly(1, "sellside export rows|listings|orders"),
		RunE: func(cmd *cobra.Command, args []string) error {
			l.begin(cmd)
			export := map[string]func(context.Context, *bulk.Bulk) error{
				"rows": l.exportRows, "listings": l.exportListings, "orders": l.exportOrders,
			}[args[0]]
			if export == nil {
				return invalidf("export %q: use rows, listings or orders", args[0])
			}
			b, err := l.read(cmd.Context())
			return l.with(b, err, func(b *bulk.Bulk) error { return export(cmd.Context(), b) })
		},
	}
	l.ledgerFlags(cmd)
	return cmd
}

func (l *ledger) exportRows(ctx context.Context, b *bulk.Bulk) error {
	layout, err := b.Layout(ctx)
	if err != nil {
		return err
	}
	if l.json {
		layout = stock.Layout{NDJSON: true}
	}
	w, err := stock.NewWriter(l.out, layout)
	if err != nil {
		return err
	}
	for row, err := range b.Rows(ctx) {
		if err != nil {
			return err
		}
		if layout.NDJSON {
			row.Fields = nil
		}
		if err := w.Write(row); err != nil {
			return err
		}
	}
	return w.Flush()
}

// exportListings prints the live listings, those of a SKU on one line if they have the same terms.
func (l *ledger) exportListings(ctx context.Context, b *bulk.Bulk) error {
	columns := []string{
		"sku", "variant_id", "price", "currency", "quantity", "as_of", "active", "expires_at", "listing_ids",
	}
	w, err := stock.NewWriter(l.out, stock.Layout{NDJSON: l.json, Columns: columns})
	if err != nil {
		return err
	}
	rows := map[string]*stock.Row{}
	ids := map[string][]string{}
	var order []string
	for listing, err := range b.Listings(ctx) {
		if err != nil {
			return err
		}
		if listing.Presence != "live" {
			continue
		}
		key := listing.SKU
		if key == "" {
			key = listing.ID
		}
		if r := rows[key]; r != nil {
			r.Quantity++
			ids[key] = append(ids[key], listing.ID)
			continue
		}
		r := &stock.Row{
			SKU: key, VariantID: listing.VariantID, Currency: listing.Currency, Quantity: 1,
			Price: stock.Price{Kind: stock.PriceFixed, Amount: listing.Amount}, ExpiresAt: listing.ExpiresAt,
			AsOf: listing.ReadAt.Truncate(time.Second),
		}
		if !listing.Active {
			r.Active = new(false)
		}
		rows[key], ids[key] = r, []string{listing.ID}
		order = append(order, key)
	}
	slices.Sort(order)
	for _, key := range order {
		r := rows[key]
		if !l.json {
			r.Fields = make([]string, len(columns))
			r.Fields[len(columns)-1] = strings.Join(ids[key], " ")
		}
		if err := w.Write(*r); err != nil {
			return err
		}
	}
	return w.Flush()
}

func (l *ledger) exportOrders(ctx context.Context, b *bulk.Bulk) error {
	out := bufio.NewWriter(l.out)
	w := csv.NewWriter(out)
	if !l.json {
		if err := w.Write([]string{"order_number", "listing_id", "sku", "sold_at", "status"}); err != nil {
			return err
		}
	}
	for o, err := range b.Orders(ctx) {
		if err != nil {
			return err
		}
		if l.json {
			if err := l.emit(o); err != nil {
				return err
			}
			continue
		}
		err := w.Write([]string{o.Number, o.ListingID, o.SKU, o.SoldAt.UTC().Format(time.RFC3339), string(o.Status)})
		if err != nil {
			return err
		}
	}
	w.Flush()
	if err := w.Error(); err != nil {
		return err
	}
	return out.Flush()
}
