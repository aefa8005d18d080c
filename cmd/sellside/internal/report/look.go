package report

import (
	"io"
	"os"
	"strings"
	"unicode"

	"github.com/mattn/go-isatty"
)

// Look is how text is set off: with colours on a terminal, and not at all elsewhere. The zero Look is plain.
type Look struct{ colours bool }

// LookOf returns the look that suits w. NO_COLOR and TERM=dumb turn colours off.
func LookOf(w io.Writer, getenv func(string) string) Look {
	return Look{IsTerminal(w) && getenv("NO_COLOR") == "" && getenv("TERM") != "dumb"}
}

// IsTerminal reports whether somebody is watching w.
func IsTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && isatty.IsTerminal(f.Fd())
}

// Strong sets off a heading.
func (l Look) Strong(s string) string { return l.code("1", s) }

// Faint sets back what only completes the picture.
func (l Look) Faint(s string) string { return l.code("2", s) }

// Good sets off what went well.
func (l Look) Good(s string) string { return l.code("32", s) }

// Bad sets off what did not.
func (l Look) Bad(s string) string { return l.code("31", s) }

func (l Look) code(number, s string) string {
	if !l.colours {
		return s
	}
	return "\x1b[" + number + "m" + s + "\x1b[0m"
}

// Plain makes one short line of what a service or a file says, so that it cannot play with the terminal.
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
