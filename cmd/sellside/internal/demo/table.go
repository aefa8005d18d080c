package demo

import (
	"fmt"
	"slices"
	"text/tabwriter"

	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/report"
)

// table writes names and values in two columns.
func (d *Demo) table(namesAndValues ...string) {
	columns := tabwriter.NewWriter(d.Out, 0, 0, 2, ' ', 0)
	for pair := range slices.Chunk(namesAndValues, 2) {
		fmt.Fprintf(columns, "  %s\t%s\n", pair[0], report.Plain(pair[1]))
	}
	_ = columns.Flush() // nothing follows from a terminal that is gone
}
