package demo

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/inventory"
	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/report"
	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/resolve"
	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/sell"
	"github.com/sellside-sdk/sellside-go/gen"
)

// read looks up the variant of every row, and shows the invalid rows.
func (d *Demo) read(ctx context.Context) error {
	file, err := inventory.Parse(strings.NewReader(d.Inventory))
	if err != nil {
		return err
	}
	products := 0
	lookup := &resolve.Lookup{
		Catalog: d.Client.Catalog, Progress: func(done, _ int) { products = done }, Retrying: func(error) {},
	}
	if err := lookup.Variants(ctx, file); err != nil {
		return err
	}
	d.say("examples/inventory.csv has %d rows. %d products were looked up in the catalog, by exact style id and size.",
		len(file.Rows), products)
	d.say("These rows are invalid:\n")
	for _, m := range file.Problems() {
		d.say("  %s  %s", d.Look.Bad(fmt.Sprintf("line %-3d", m.Line)), report.Plain(m.Text))
	}
	invalid := file.InvalidLines()
	d.rows = map[int]inventory.Row{}
	for _, row := range file.Valid() {
		d.rows[row.Line] = row
	}
	d.say("\nSkipped %d invalid rows, %d rows are valid.", len(invalid), len(d.rows))
	return asExpected("invalid", invalidRows(), invalid)
}

// list lists the valid rows.
func (d *Demo) list(ctx context.Context) error {
	var rows []inventory.Row
	for _, row := range d.rows {
		rows = append(rows, row)
	}
	slices.SortFunc(rows, func(a, b inventory.Row) int { return a.Line - b.Line })
	run := sell.Run{
		Client: d.Client, Watch: batches{d},
		Save: func([]sell.Result, *sell.Unsettled) error { return nil }, // the summary shows the results
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
		case r.Listed():
			d.listed = append(d.listed, r)
		case r.Status == string(gen.BatchItemStatusFailed):
			failed = append(failed, r.Line)
		default:
			return fmt.Errorf("line %d: status %s with listing id %q: %s",
				r.Line, r.Status, r.ListingID, r.Error)
		}
	}
	return asExpected("refused by the service", failingRows(), slices.Compact(failed))
}

// batches prints batches when they are done.
type batches struct{ *Demo }

func (b batches) Submitted(batch sell.Batch) {
	if batch.Number == 1 {
		b.say("%d listings are sent in batches of at most 100, which the service works on asynchronously.\n",
			batch.Total)
	}
}

func (b batches) Settling(batch sell.Batch) {
	b.say("  batch %d  no response, reading the listings to find out whether it was made", batch.Number)
}

func (batches) Moved(sell.Batch, int) {}

func (b batches) Finished(batch sell.Batch, c sell.Counts) {
	b.say("  batch %d  %s  %3d listings  %3d made  %3d not made",
		batch.Number, b.Look.Faint(batch.ID), batch.Listings, c.Listed, c.NotMade)
}

// expectation is a line of examples/inventory.csv that fails on purpose.
type expectation struct {
	line int
	why  string
}

// invalidRows are the rows that are never sent.
func invalidRows() []expectation {
	return []expectation{
		{4, "two digits of the style id are swapped"},
		{67, "the price has a currency sign"},
		{70, "the shoe is not made in that size"},
		{77, "women's sizes are written with a W"},
		{123, "a quantity of 0"},
		{161, "not a currency to list in"},
		{215, "the price is missing"},
		{228, "a date written with slashes"},
		{233, "the price has a comma"},
		{239, "two problems in one row"},
	}
}

// failingRows are the rows that only the service can refuse.
func failingRows() []expectation {
	return []expectation{
		{55, "it expires in the past"},
		{219, "the yen has no decimal places"},
		{231, "the variant id is stale"},
		{243, "the price is out of the service's range"},
	}
}

// asExpected compares the lines that failed in some way with those that should.
func asExpected(way string, expected []expectation, lines []int) error {
	var errs []error
	unexpected := slices.Clone(lines)
	for _, e := range expected {
		if !slices.Contains(lines, e.line) {
			errs = append(errs, fmt.Errorf("line %d should be %s: %s", e.line, way, e.why))
		}
		unexpected = slices.DeleteFunc(unexpected, func(line int) bool { return line == e.line })
	}
	for _, line := range unexpected {
		errs = append(errs, fmt.Errorf("line %d should not be %s", line, way))
	}
	return errors.Join(errs...)
}
