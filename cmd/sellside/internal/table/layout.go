package table

import (
	"strings"

	"github.com/rivo/uniseg"
)

const (
	gap = "  " // Between columns.
	// minWidth is the least width of a column that is wrapped.
	minWidth = 8
)

// shape is what the layout of a column depends on, besides its values.
type shape struct {
	title       string
	wrap, right bool
	width       int
}

// width returns the columns of a terminal that a text takes.
func width(s string) int { return uniseg.StringWidth(s) }

// fit returns the widths of columns whose sum is at most the width of a terminal, unless that is 0.
// It returns false if the values that must not be wrapped are too wide.
func fit(shapes []shape, rows [][]string, terminal int) ([]int, bool) {
	widths, least := make([]int, len(shapes)), make([]int, len(shapes))
	total := (len(shapes) - 1) * len(gap)
	for i, s := range shapes {
		widths[i], least[i] = max(s.width, width(s.title)), max(minWidth, width(s.title))
		for _, row := range rows {
			widths[i], least[i] = max(widths[i], width(row[i])), max(least[i], longestWhole(row[i]))
		}
		total += widths[i]
	}
	for ; terminal > 0 && total > terminal; total-- {
		widest := -1
		for i, s := range shapes {
			if s.wrap && widths[i] > least[i] && (widest < 0 || widths[i] > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			return nil, false
		}
		widths[widest]--
	}
	return widths, true
}

// fitsBelow reports whether rows fit into columns of these widths.
func fitsBelow(shapes []shape, rows [][]string, widths []int) bool {
	for _, row := range rows {
		for i, cell := range row {
			needed := width(cell)
			if shapes[i].wrap {
				needed = longestWhole(cell)
			}
			if needed > widths[i] {
				return false
			}
		}
	}
	return true
}

// isWhole reports whether a word must not be broken because people copy it, such as an id, an amount
// or a URL.
func isWhole(word string) bool {
	return strings.ContainsAny(word, "0123456789") || strings.Contains(word, "://")
}

// longestWhole returns the width of the longest word of a text that must not be broken.
func longestWhole(s string) int {
	longest := 0
	for word := range strings.FieldsSeq(s) {
		if isWhole(word) {
			longest = max(longest, width(word))
		}
	}
	return longest
}

// wrap breaks a text into lines between words. A word that is longer than a line is broken anywhere,
// unless it must be whole.
func wrap(s string, limit int) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(s) {
		if line != "" && width(line)+1+width(word) <= limit {
			line += " " + word
			continue
		}
		if line != "" {
			lines = append(lines, line)
		}
		for width(word) > limit && !isWhole(word) {
			head, rest := split(word, limit)
			lines = append(lines, head)
			word = rest
		}
		line = word
	}
	if line != "" || len(lines) == 0 {
		lines = append(lines, line)
	}
	return lines
}

// split splits a word after as many characters as fit, one at least.
func split(word string, limit int) (head, rest string) {
	end, taken, state := 0, 0, -1
	for rest = word; rest != ""; {
		cluster, next, columns, nextState := uniseg.FirstGraphemeClusterInString(rest, state)
		if end > 0 && taken+columns > limit {
			break
		}
		end, taken, rest, state = end+len(cluster), taken+columns, next, nextState
	}
	return word[:end], word[end:]
}
