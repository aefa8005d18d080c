package report

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/sell"
)

// maxGroups is how many lines of trouble a summary shows; the result file has them all.
const maxGroups = 20

// group is the listings of a row that ended the same way.
type group struct {
	sell.Result
	listings int
}

// Summary writes how many listings were made, and what became of the others.
func Summary(w io.Writer, look Look, results []sell.Result) {
	var troubles []group
	completed := 0
	for _, r := range results {
		if r.Completed() {
			completed++
			continue
		}
		if n := len(troubles); n > 0 && troubles[n-1].Line == r.Line && troubles[n-1].Status == r.Status && troubles[n-1].Error == r.Error {
			troubles[n-1].listings++
			continue
		}
		troubles = append(troubles, group{r, 1})
	}
	fmt.Fprintf(w, "%s of %s made", look.Good(fmt.Sprint(completed)), count(len(results), "listing"))
	if missing := len(results) - completed; missing > 0 {
		fmt.Fprintf(w, ", %s not\n\n", look.Bad(fmt.Sprint(missing)))
		table(w, troubles)
		return
	}
	fmt.Fprintln(w)
}

func table(w io.Writer, troubles []group) {
	columns := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(columns, "  line\tlistings\tstatus\terror")
	for _, g := range troubles[:min(len(troubles), maxGroups)] {
		fmt.Fprintf(columns, "  %d\t%d\t%s\t%s\n", g.Line, g.listings, Plain(g.Status), Plain(g.Error))
	}
	_ = columns.Flush() // nothing follows from a terminal that is gone
	if more := len(troubles) - maxGroups; more > 0 {
		fmt.Fprintf(w, "  and %s more\n", count(more, "row"))
	}
}

// count puts a number before its noun.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
