package demo

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/sellside-sdk/sellside-go/bulk"
	"github.com/sellside-sdk/sellside-go/bulk/stock"
	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/report"
)

// read plans the valid rows, and shows the invalid ones.
func (d *Demo) read(ctx context.Context) error {
	problems := map[int][]string{}
	d.rows = map[int]stock.Row{}
	for row, err := range stock.NewReader(strings.NewReader(d.Inventory), stock.Options{}).Rows() {
		problem, ok := errors.AsType[*stock.Problem](err)
		switch {
		case ok:
			problems[problem.Line] = append(problems[problem.Line], problem.Text)
		case err != nil:
			return err
		default:
			d.rows[row.Line] = row
		}
	}
	count := len(d.rows) + len(problems)
	var err error
	if d.plan, err = d.Bulk.Plan(ctx, d.valid(), bulk.PlanOptions{Resolve: true, CreateOnly: true}); err != nil {
		return err
	}
	for c, err := range d.plan.Changes(ctx, bulk.ClassInvalid) {
		if err != nil {
			return err
		}
		problems[c.Line] = append(problems[c.Line], c.Detail)
		delete(d.rows, c.Line)
	}
	d.say("examples/inventory.csv has %d rows. Their products were looked up in the catalog, by exact style id and size.", count)
	d.say("These rows are invalid:\n")
	invalid := slices.Sorted(maps.Keys(problems))
	for _, line := range invalid {
		for _, text := range problems[line] {
			d.say("  %s  %s", d.Look.Bad(fmt.Sprintf("line %-3d", line)), report.Plain(text))
		}
	}
	d.say("\nSkipped %d invalid rows, %d rows are valid.", len(invalid), len(d.rows))
	return asExpected("invalid", invalidRows(), invalid)
}

// valid yields the valid rows in the order of their lines.
func (d *Demo) valid() iter.Seq2[stock.Row, error] {
	return func(yield func(stock.Row, error) bool) {
		for _, line := range slices.Sorted(maps.Keys(d.rows)) {
			if !yield(d.rows[line], nil) {
				return
			}
		}
	}
}

// list lists the valid rows.
func (d *Demo) list(ctx context.Context) error {
	d.say("%d listings are sent in batches of at most 100, which the service works on asynchronously.", d.plan.Creates)
	d.say("Each batch is recorded in a ledger before it is sent.\n")
	run, err := d.Bulk.Apply(ctx, d.plan, "demo")
	if err != nil {
		return err
	}
	results, err := report.Collect(ctx, d.Bulk, d.plan, run, d.valid())
	if err != nil {
		return err
	}
	report.Summary(d.Out, d.Look, results)
	var failed []int
	for _, r := range results {
		switch r.Status {
		case report.StatusCompleted:
			d.listed = append(d.listed, r)
		case report.StatusFailed, report.StatusNotSent:
			failed = append(failed, r.Line)
		default:
			return fmt.Errorf("line %d: status %s with listing id %q: %s", r.Line, r.Status, r.ListingID, r.Error)
		}
	}
	return asExpected("refused", failingRows(), slices.Compact(failed))
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
		{161, "not a currency to list in"},
		{215, "the price is missing"},
		{219, "the yen has no decimal places"},
		{228, "a date written with slashes"},
		{233, "the price has a comma"},
		{239, "two problems in one row"},
	}
}

// failingRows are the rows that are refused when they are to be listed.
func failingRows() []expectation {
	return []expectation{
		{55, "it expires in the past"},
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
