package report

import (
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"unicode"

	"github.com/mattn/go-isatty"

	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/sell"
)

// maxGroups is the most lines of a summary; the result file has all listings.
const maxGroups = 20

// Counts are the numbers of listings by outcome.
type Counts struct{ Listed, NotMade, Unknown int }

// Count counts results.
func Count(results []sell.Result) (c Counts) {
	for _, r := range results {
		switch {
		case r.Listed():
			c.Listed++
		case r.NotMade():
			c.NotMade++
		default:
			c.Unknown++
		}
	}
	return c
}

// group is the listings of a row that have the same outcome.
type group struct {
	sell.Result
	listings int
}

// Summary writes how many listings were made, and the outcome of the others.
func Summary(w io.Writer, look Look, results []sell.Result) {
	var groups []group
	for _, r := range results {
		if r.Listed() {
			continue
		}
		if n := len(groups); n > 0 {
			last := &groups[n-1]
			if last.Line == r.Line && last.Status == r.Status && last.Error == r.Error {
				last.listings++
				continue
			}
		}
		groups = append(groups, group{r, 1})
	}
	c := Count(results)
	fmt.Fprintf(w, "%s of %s made", look.Good(fmt.Sprint(c.Listed)), count(len(results), "listing"))
	if c.NotMade > 0 {
		fmt.Fprintf(w, ", %s not", look.Bad(fmt.Sprint(c.NotMade)))
	}
	if c.Unknown > 0 {
		fmt.Fprintf(w, ", %s unknown", look.Bad(fmt.Sprint(c.Unknown)))
	}
	fmt.Fprintln(w)
	if len(groups) > 0 {
		fmt.Fprintln(w)
		table(w, groups)
	}
}

func table(w io.Writer, groups []group) {
	columns := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(columns, "  line\tlistings\tstatus\terror")
	for _, g := range groups[:min(len(groups), maxGroups)] {
		fmt.Fprintf(columns, "  %d\t%d\t%s\t%s\n", g.Line, g.listings, Plain(g.Status), Plain(g.Error))
	}
	_ = columns.Flush() // a terminal that is closed needs no handling
	if more := len(groups) - maxGroups; more > 0 {
		fmt.Fprintf(w, "  and %s more\n", count(more, "row"))
	}
}

// count returns a number and its noun.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Look styles text for a terminal. The zero value does not.
type Look struct{ colours bool }

// LookOf returns the look for w. NO_COLOR and TERM=dumb turn colours off.
func LookOf(w io.Writer, getenv func(string) string) Look {
	return Look{IsTerminal(w) && getenv("NO_COLOR") == "" && getenv("TERM") != "dumb"}
}

// IsTerminal reports whether w is a terminal.
func IsTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && isatty.IsTerminal(f.Fd())
}

// Strong styles a heading.
func (l Look) Strong(s string) string { return l.code("1", s) }

// Faint styles what is less important.
func (l Look) Faint(s string) string { return l.code("2", s) }

// Good styles a success.
func (l Look) Good(s string) string { return l.code("32", s) }

// Bad styles a failure.
func (l Look) Bad(s string) string { return l.code("31", s) }

func (l Look) code(number, s string) string {
	if !l.colours {
		return s
	}
	return "\x1b[" + number + "m" + s + "\x1b[0m"
}

// Plain returns text of a service or a file as one short line without control characters.
func Plain(s string) string {
	const limit = 300
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s)
	if runes := []rune(s); len(runes) > limit {
		return string(runes[:limit]) + "…"
	}
	return s
}
