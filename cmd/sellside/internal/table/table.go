// Package table prints rows as a table for people, or as CSV or lines of JSON for programs.
package table

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"

	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/report"
)

// Format is how rows are printed.
type Format string

// The formats. The zero value is Text.
const (
	Text Format = ""     // A table.
	CSV  Format = "csv"  // A header and a line per row, by RFC 4180.
	JSON Format = "json" // A JSON object per line, of the whole row.
)

// blockRows is how many rows of a table are laid out together, so that a list of any length is
// printed while it is read. The header is repeated above each block.
const blockRows = 100

// Output is where and how rows are printed.
type Output struct {
	W      io.Writer
	Format Format
	Width  int // Of the terminal, in columns; 0 if lines may have any length.
	Look   report.Look
}

// Column is a column of rows of type T.
type Column[T any] struct {
	Name  string // In lower case, with underscores, as in the header of the CSV.
	Value func(T) string
	Wrap  bool // The text may be wrapped. Without it, a value is never broken, as an id must not be.
	Right bool // The values are figures.
	CSV   bool // Only the CSV has the column.
	Text  bool // Only the table for people has the column.
	Width int  // The least width, so that later rows fit below the same header.
}

// Rows prints rows of type T. It is for one goroutine.
type Rows[T any] struct {
	out     Output
	columns []Column[T] // Those of the format.
	records bool
	csv     *csv.Writer // Nil until the first row.
	block   [][]string
	widths  []int // Of the columns below the last header; nil before the first.
	below   int   // Rows below the last header.
}

// New returns a table with a line for each row.
func New[T any](out Output, columns []Column[T]) *Rows[T] {
	return newRows(out, columns, false)
}

// NewRecords returns a table with a line for each value that is not empty, for rows that are shown
// one by one.
func NewRecords[T any](out Output, columns []Column[T]) *Rows[T] {
	return newRows(out, columns, true)
}

func newRows[T any](out Output, columns []Column[T], records bool) *Rows[T] {
	columns = slices.DeleteFunc(slices.Clone(columns), func(c Column[T]) bool {
		return c.CSV && out.Format != CSV || c.Text && out.Format == CSV
	})
	return &Rows[T]{out: out, columns: columns, records: records}
}

// Write prints a row, or keeps it until Flush.
func (r *Rows[T]) Write(row T) error {
	switch r.out.Format {
	case JSON:
		encoder := json.NewEncoder(r.out.W)
		encoder.SetEscapeHTML(false)
		return encoder.Encode(row)
	case CSV:
		r.header()
		return r.csv.Write(cells(r.columns, row))
	}
	r.block = append(r.block, cells(r.columns, row))
	if len(r.block) < blockRows {
		return nil
	}
	return r.Flush()
}

// Flush prints the rows that Write has kept. A CSV without rows has its header.
func (r *Rows[T]) Flush() error {
	switch r.out.Format {
	case JSON:
		return nil
	case CSV:
		r.header()
		r.csv.Flush()
		return r.csv.Error()
	}
	if len(r.block) == 0 {
		return nil
	}
	var text strings.Builder
	r.print(&text)
	r.block = r.block[:0]
	_, err := io.WriteString(r.out.W, text.String())
	return err
}

// header writes the header of a CSV once. Flush reports its errors.
func (r *Rows[T]) header() {
	if r.csv != nil {
		return
	}
	r.csv = csv.NewWriter(r.out.W)
	names := make([]string, len(r.columns))
	for i, c := range r.columns {
		names[i] = c.Name
	}
	_ = r.csv.Write(names)
}

func cells[T any](columns []Column[T], row T) []string {
	texts := make([]string, len(columns))
	for i, c := range columns {
		texts[i] = plain(c.Value(row))
	}
	return texts
}

// plain replaces control characters, which a terminal would obey, by spaces.
func plain(s string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			return ' '
		}
		return r
	}, s))
}

// print writes the rows of the block as a table, or as records if they are too wide for one. The
// table continues the one above if the rows fit below its header.
func (r *Rows[T]) print(w *strings.Builder) {
	shapes := make([]shape, len(r.columns))
	for i, c := range r.columns {
		shapes[i] = shape{title: title(c.Name), wrap: c.Wrap, right: c.Right, width: c.Width}
	}
	widths, ok := fit(shapes, r.block, r.out.Width)
	isContinued := r.widths != nil && r.below+len(r.block) <= blockRows && fitsBelow(shapes, r.block, r.widths)
	if r.below > 0 && !isContinued {
		w.WriteByte('\n')
	}
	if r.records || !ok {
		printRecords(w, shapes, r.block, r.out)
		r.widths, r.below = nil, len(r.block)
		return
	}
	if !isContinued {
		r.widths, r.below = widths, 0
		titles := make([]string, len(shapes))
		for i, s := range shapes {
			titles[i] = s.title
		}
		printRow(w, shapes, widths, titles, r.out.Look.Strong)
	}
	for _, row := range r.block {
		printRow(w, shapes, r.widths, row, func(s string) string { return s })
	}
	r.below += len(r.block)
}

// title returns the title of a column in a table.
func title(name string) string { return strings.ToUpper(strings.ReplaceAll(name, "_", " ")) }

// printRow writes a row, on as many lines as its longest cell needs.
func printRow(w *strings.Builder, shapes []shape, widths []int, row []string, style func(string) string) {
	lines := make([][]string, len(row))
	height := 1
	for i, cell := range row {
		lines[i] = []string{cell}
		if width(cell) > widths[i] {
			lines[i] = wrap(cell, widths[i])
		}
		height = max(height, len(lines[i]))
	}
	for n := range height {
		var line strings.Builder
		for i := range row {
			text := ""
			if n < len(lines[i]) {
				text = lines[i][n]
			}
			padding := strings.Repeat(" ", max(0, widths[i]-width(text)))
			if shapes[i].right {
				line.WriteString(padding + text)
			} else {
				line.WriteString(text + padding)
			}
			line.WriteString(gap)
		}
		fmt.Fprintln(w, style(strings.TrimRight(line.String(), " ")))
	}
}

// printRecords writes the values of each row below each other, with an empty line between rows.
func printRecords(w *strings.Builder, shapes []shape, rows [][]string, out Output) {
	label := 0
	for _, s := range shapes {
		label = max(label, width(s.title))
	}
	for n, row := range rows {
		if n > 0 {
			w.WriteByte('\n')
		}
		for i, cell := range row {
			if cell == "" {
				continue
			}
			lines := []string{cell}
			if room := out.Width - label - len(gap); out.Width > 0 && shapes[i].wrap {
				lines = wrap(cell, max(room, minWidth))
			}
			for k, line := range lines {
				name := ""
				if k == 0 {
					name = shapes[i].title
				}
				padding := strings.Repeat(" ", label-width(name))
				fmt.Fprintln(w, out.Look.Strong(name)+padding+gap+line)
			}
		}
	}
}
