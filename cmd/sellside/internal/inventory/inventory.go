// Package inventory reads a seller's stock from a CSV file and finds all that is wrong with it.
//
// The first line names the columns, in any order: style_id, size, price, currency and quantity, and
// optionally variant_id, active and expires_at. Values are taken without the space around them.
package inventory

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/sellside-sdk/sellside-go/gen"
)

// Row is a line of stock: equal items to be listed at one price.
type Row struct {
	Line      int // Line of the file that it begins on, from 1.
	StyleID   string
	Size      string
	VariantID string // The item itself; a row that has it needs neither style id nor size.
	Price     gen.Amount
	Currency  gen.CurrencyCode
	Quantity  int      // Listings to make, 1 or more.
	Active    *bool    // Nil leaves it to the service.
	ExpiresAt gen.Time // Zero leaves it to the service.
}

// Mistake is something that the seller has to put right.
type Mistake struct {
	Line int // From 1.
	Text string
}

func (m Mistake) String() string { return fmt.Sprintf("line %d: %s", m.Line, m.Text) }

// File is an inventory as it was read.
type File struct {
	// Rows are all rows in the order of the file, those with mistakes too, whose wrong fields are zero.
	Rows []Row
	// Unreadable says that it is not clear which column is which, so that no row may be relied on.
	Unreadable bool

	mistakes []Mistake
}

// Add notes another mistake.
func (f *File) Add(line int, format string, args ...any) {
	f.mistakes = append(f.mistakes, Mistake{line, fmt.Sprintf(format, args...)})
}

// Mistakes returns all that is wrong, in the order of the lines.
func (f *File) Mistakes() []Mistake {
	return slices.SortedStableFunc(slices.Values(f.mistakes), func(a, b Mistake) int { return cmp.Compare(a.Line, b.Line) })
}

// Valid returns the rows without a mistake, and none of an unreadable file.
func (f *File) Valid() []Row {
	if f.Unreadable {
		return nil
	}
	wrong := f.WrongLines()
	var valid []Row
	for _, row := range f.Rows {
		if _, found := slices.BinarySearch(wrong, row.Line); !found {
			valid = append(valid, row)
		}
	}
	return valid
}

// WrongLines returns the lines that have mistakes, each once and in order.
func (f *File) WrongLines() []int {
	var lines []int
	for _, m := range f.Mistakes() {
		lines = append(lines, m.Line)
	}
	return slices.Compact(lines)
}
