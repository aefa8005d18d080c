package demo

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/inventory"
	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/report"
	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/resolve"
	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/sell"
	"github.com/sellside-sdk/sellside-go/gen"
)

// read finds the variant of every row, and the rows that cannot be sold.
func (d *Demo) read(ctx context.Context) error {
	file, err := inventory.Parse(strings.NewReader(d.Inventory))
	if err != nil {
		return err
	}
	products := 0
	if err := resolve.Variants(ctx, d.Client.Catalog, file, func(done, _ int) { products = done }); err != nil {
		return err
	}
	d.say("examples/inventory.csv has %d rows. %d products were looked up in the catalog, by exact style id and size.", len(file.Rows), products)
	d.say("These rows cannot be sold as they stand:\n")
	for _, m := range file.Mistakes() {
		d.say("  %s  %s", d.Look.Bad(fmt.Sprintf("line %-3d", m.Line)), report.Plain(m.Text))
	}
	wrong := file.WrongLines()
	d.rows = map[int]inventory.Row{}
	for _, row := range file.Valid() {
		d.rows[row.Line] = row
	}
	d.say("\n%d rows are left out, %d go on.", len(wrong), len(d.rows))
	return asExpected("wrong", invalidRows(), wrong)
}

// list sells the rows that are right.
func (d *Demo) list(ctx context.Context) error {
	var rows []inventory.Row
	for _, row := range d.rows {
		rows = append(rows, row)
	}
	slices.SortFunc(rows, func(a, b inventory.Row) int { return a.Line - b.Line })
	run := sell.Run{
		Batches: d.Client.Batches, Watch: batches{d}, Poll: d.Pace,
		Save: func([]sell.Result) error { return nil }, // the summary shows what a file would hold
	}
	results, err := run.Sell(ctx, rows)
	if err != nil {
		return err
	}
	d.say("")
	report.Summary(d.Out, d.Look, results)
	var failed []int
	for _, r := range results {
		switch {
		case r.Completed() && r.ListingID != "":
			d.listed = append(d.listed, r)
		case r.Status == string(gen.BatchItemStatusFailed):
			failed = append(failed, r.Line)
		default:
			return fmt.Errorf("line %d: it is %s with listing id %q", r.Line, r.Status, r.ListingID)
		}
	}
	return asExpected("refused by the service", failingRows(), slices.Compact(failed))
}

// batches tells of batches as they end.
type batches struct{ *Demo }

func (b batches) Submitted(batch sell.Batch) {
	if batch.Number == 1 {
		b.say("%d listings go out in batches of at most 100, and the service works on them in its own time.\n", batch.Total)
	}
}

func (batches) Moved(sell.Batch, int) {}

func (b batches) Finished(batch sell.Batch, completed, failed int) {
	b.say("  batch %d  %s  %3d listings  %3d completed  %3d failed", batch.Number, b.Look.Faint(batch.ID), batch.Listings, completed, failed)
}
