package report

import (
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"unicode"

	"github.com/mattn/go-isatty"
)

const (
	// maxGroups is the most lines of the table of a summary, so that the end of a run fits on a
	// terminal of 24 lines. The result file has all listings.
	maxGroups = 12
	// maxWidth is the width of a terminal.
	maxWidth = 80
)

// group is consecutive listings that have the same outcome, of one row or more.
type group struct {
	Result
	last     int // Line of the last row.
	listings int
}

// Summary writes how many listings were made, and the outcome of the others.
func Summary(w io.Writer, look Look, results []Result) {
	var groups []group
	var before Result
	for _, r := range results {
		isSame := len(groups) > 0 && before.Status == r.Status && before.Error == r.Error
		before = r
		switch {
		case r.Status == StatusCompleted:
		case isSame:
			g := &groups[len(groups)-1]
			g.last, g.listings = r.Line, g.listings+1
		default:
			groups = append(groups, group{r, r.Line, 1})
		}
	}
	c := CountOf(results)
	fmt.Fprintf(w, "%s of %s made%s\n", look.Good(fmt.Sprint(c.Made)), Count(len(results), "listing"), others(c, look))
	if len(groups) > 0 {
		fmt.Fprintln(w)
		table(w, groups)
	}
}

// others returns the counts of the listings that are not known to be made, with a comma before each.
func others(c Counts, look Look) string {
	var text strings.Builder
	for _, part := range []struct {
		n    int
		what string
	}{{c.NotMade, "not"}, {c.UnderWay, "under way"}, {c.Unknown, "unknown"}} {
		if part.n > 0 {
			fmt.Fprintf(&text, ", %s %s", look.Bad(fmt.Sprint(part.n)), part.what)
		}
	}
	return text.String()
}

func table(w io.Writer, groups []group) {
	var text strings.Builder
	columns := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintln(columns, "  line\tlistings\tstatus\terror")
	for _, g := range groups[:min(len(groups), maxGroups)] {
		lines := fmt.Sprint(g.Line)
		if g.last != g.Line {
			lines = fmt.Sprintf("%d-%d", g.Line, g.last)
		}
		fmt.Fprintf(columns, "  %s\t%d\t%s\t%s\n", lines, g.listings, Plain(g.Status), Plain(g.Error))
	}
	_ = columns.Flush() // a builder does not fail
	for line := range strings.Lines(text.String()) {
		fmt.Fprintln(w, shorten(strings.TrimRight(line, " \n"), maxWidth))
	}
	if more := len(groups) - maxGroups; more > 0 {
		fmt.Fprintf(w, "  and %d more\n", more)
	}
}

// Count returns a number and its noun.
func Count(n int, noun string) string {
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
	return shorten(s, limit)
}

// shorten returns at most so many characters of a text, the last of which shows that there are more.
func shorten(s string, limit int) string {
	if runes := []rune(s); len(runes) > limit {
		return string(runes[:limit-1]) + "…"
	}
	return s
}
