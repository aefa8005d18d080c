// Package demo shows a day of a seller: an inventory is listed, a price follows the market, listings are
// withdrawn and deleted, and a buyer comes. Every step is checked, so that the demo fails when the SDK does.
package demo

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/inventory"
	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/report"
	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/sell"
)

// Demo is what a demonstration needs.
type Demo struct {
	Client    *client.Client
	Pace      []client.WaitOption                                                         // How often it looks at what it waits for.
	Buy       func(ctx context.Context, listingID string) (orderNumber string, err error) // Lets a buyer come.
	Inventory string                                                                      // The text of examples/inventory.csv.
	Out       io.Writer
	Look      report.Look

	chapter int
	rows    map[int]inventory.Row // by their lines
	listed  []sell.Result         // the listings that were made
	offer   offer                 // the one whose price was lowered
}

// Run tells the story. The error says which step did not end as it should.
func (d *Demo) Run(ctx context.Context) error {
	start := time.Now()
	d.say("%s", d.Look.Strong("Sellside demo"))
	d.say("A marketplace runs inside this process. All that follows goes to it over HTTP.")
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
			return fmt.Errorf("demo: step %d did not go as it should: %w", d.chapter, err)
		}
	}
	d.say("\n%s", d.Look.Good(fmt.Sprintf("All as expected, down to the %d rows that are wrong and the %d that the service refuses. It took %s.",
		len(invalidRows()), len(failingRows()), time.Since(start).Round(100*time.Millisecond))))
	return nil
}

func (d *Demo) say(format string, args ...any) { fmt.Fprintf(d.Out, format+"\n", args...) }
