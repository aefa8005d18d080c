// Package demo shows a day of a seller: an inventory is listed, a price follows the market,
// listings are deactivated and deleted, and a buyer comes. Every step is checked, so that the demo
// fails if the SDK does.
package demo

import (
	"context"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/sellside-sdk/sellside-go/bulk"
	"github.com/sellside-sdk/sellside-go/bulk/stock"
	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/report"
)

// Demo is a demonstration.
type Demo struct {
	Client *client.Client
	Bulk   *bulk.Bulk // Of the same account, with a new ledger.
	// Buy buys a listing.
	Buy       func(ctx context.Context, listingID string) (orderNumber string, err error)
	Inventory string // The text of examples/inventory.csv.
	Out       io.Writer
	Look      report.Look

	chapter int
	plan    *bulk.Plan
	rows    map[int]stock.Row // The valid ones, by their lines.
	listed  []report.Result   // The listings that were made.
	offer   offer             // The listing whose price was lowered.
}

// Run runs the demonstration. The error names the step that did not end as expected.
func (d *Demo) Run(ctx context.Context) error {
	start := time.Now()
	d.say("%s", d.Look.Strong("Sellside demo"))
	d.say("A marketplace runs inside this process. Everything below goes to it over HTTP.")
	for _, step := range []struct {
		title string
		do    func(context.Context) error
	}{
		{"Read the inventory", d.read},
		{"List it", d.list},
		{"Lower a price", d.lower},
		{"Take one off the market", d.deactivate},
		{"Delete a case of them", d.deleteCase},
		{"A buyer comes", d.sale},
	} {
		d.chapter++
		d.say("\n%s", d.Look.Strong(fmt.Sprintf("%d. %s", d.chapter, step.title)))
		if err := step.do(ctx); err != nil {
			return fmt.Errorf("demo: step %d: %w", d.chapter, err)
		}
	}
	d.say("\n%s", d.Look.Good(fmt.Sprintf(
		"All as expected, including the %d invalid rows and the %d rows that are refused. It took %s.",
		len(invalidRows()), len(failingRows()), time.Since(start).Round(100*time.Millisecond))))
	return nil
}

func (d *Demo) say(format string, args ...any) { fmt.Fprintf(d.Out, format+"\n", args...) }

// table writes names and values in two columns.
func (d *Demo) table(namesAndValues ...string) {
	columns := tabwriter.NewWriter(d.Out, 0, 0, 2, ' ', 0)
	for pair := range slices.Chunk(namesAndValues, 2) {
		fmt.Fprintf(columns, "  %s\t%s\n", pair[0], report.Plain(pair[1]))
	}
	_ = columns.Flush() // a terminal that is closed needs no handling
}
