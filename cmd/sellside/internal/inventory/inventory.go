// Package inventory reads the stock of a seller from a CSV file and reports all problems of it.
//
// The first line names the columns, in any order: style_id, size, price, currency and quantity, and
// optionally variant_id, active and expires_at. Space around values is ignored.
package inventory

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/sellside-sdk/sellside-go/gen"
)

// Row is a line of stock: equal items to be listed at one price.
type Row struct {
	Line      int      // Of the row in the file, from 1.
	Fields    []string // As they are in the file, in the order of File.Columns.
	StyleID   string
	Size      string
	VariantID string // Given instead of the style id and the size, or looked up.
	ProductID string // Empty unless the row was looked up.
	Price     gen.Amount
	Currency  gen.CurrencyCode
	Quantity  int      // Listings to make, 1 or more.
	Active    *bool    // Nil leaves it to the service.
	ExpiresAt gen.Time // Zero leaves it to the service.
}

// Problem is something that the seller has to correct.
type Problem struct {
	Line int // From 1.
	Text string
}

func (m Problem) String() string { return fmt.Sprintf("line %d: %s", m.Line, m.Text) }

// File is an inventory.
type File struct {
	// Columns are the names of the header, in its order.
	Columns []string
	// Rows are all rows in the order of the file. Invalid fields are zero.
	Rows []Row
	// Unreadable means that the columns are not known, so that no row is valid.
	Unreadable bool

	problems []Problem
}

// Add adds a problem.
func (f *File) Add(line int, format string, args ...any) {
	f.problems = append(f.problems, Problem{line, fmt.Sprintf(format, args...)})
}

// Problems returns all problems in the order of the lines.
func (f *File) Problems() []Problem {
	byLine := func(a, b Problem) int { return cmp.Compare(a.Line, b.Line) }
	return slices.SortedStableFunc(slices.Values(f.problems), byLine)
}

// Valid returns the rows without a problem; none if the file is unreadable.
func (f *File) Valid() []Row {
	if f.Unreadable {
		return nil
	}
	invalid := f.InvalidLines()
	var valid []Row
	for _, row := range f.Rows {
		if _, found := slices.BinarySearch(invalid, row.Line); !found {
			valid = append(valid, row)
		}
	}
	return valid
}

// InvalidLines returns the lines that have problems, each once and in order.
func (f *File) InvalidLines() []int {
	var lines []int
	for _, m := range f.Problems() {
		lines = append(lines, m.Line)
	}
	return slices.Compact(lines)
}
