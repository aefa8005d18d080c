package stock

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sellside-sdk/sellside-go/gen"
)

// Writer writes an inventory that a [Reader] reads, in UTF-8. What the Reader read is written so
// that it is read again as the same row, but for [Row.Line] and the form of known values in
// [Row.Fields] and [Row.JSON]. It is not safe for concurrent use.
type Writer struct {
	output  *bufio.Writer
	layout  Layout
	columns []column // Of the layout.
	header  bool     // Whether the header was written.
	line    []byte
}

// NewWriter returns a writer of rows in a layout, such as that of a reader. A layout with an unknown
// separator, or with two columns of the same meaning, is an error.
func NewWriter(w io.Writer, layout Layout) (*Writer, error) {
	layout.Comma = cmp.Or(layout.Comma, ',')
	if strings.IndexByte(separators, layout.Comma) < 0 {
		return nil, fmt.Errorf("write inventory: invalid separator (%q): use a comma, a semicolon or a tab", layout.Comma)
	}
	if len(layout.Columns) == 0 {
		layout.Columns = DefaultColumns()
	}
	writer := &Writer{output: bufio.NewWriter(w), layout: layout, header: layout.NDJSON}
	for _, name := range layout.Columns {
		col := columnOf(name)
		if col != unknown && slices.Contains(writer.columns, col) {
			return nil, fmt.Errorf("write inventory: two columns for the %s (%s): remove one", columnNames[col], excerpt(name))
		}
		writer.columns = append(writer.columns, col)
	}
	return writer, nil
}

// Write writes a row: its values in the known columns, and in the others its Fields, which are
// empty or as many as the columns. To NDJSON it writes the members that the row's JSON has, with the
// values of the row, and those that are missing.
//
// A row with a value that has no column is an error, and so is one with a number of fields that
// differs from the columns; then nothing of it is written. Errors of the underlying writer may be
// returned later.
func (w *Writer) Write(row Row) error {
	values, err := row.values()
	if err != nil {
		return fmt.Errorf("write row (sku %s): %w", excerpt(row.SKU), err)
	}
	if w.layout.NDJSON {
		err = w.object(row, values)
	} else {
		err = w.fields(row, values)
	}
	if err != nil {
		return fmt.Errorf("write row (sku %s): %w", excerpt(row.SKU), err)
	}
	if err := w.writeHeader(); err != nil {
		return err
	}
	if _, err := w.output.Write(append(w.line, '\n')); err != nil {
		return fmt.Errorf("write inventory: %w", err)
	}
	return nil
}

// Flush writes what is buffered, and the header if no row was written.
func (w *Writer) Flush() error {
	if err := w.writeHeader(); err != nil {
		return err
	}
	if err := w.output.Flush(); err != nil {
		return fmt.Errorf("write inventory: %w", err)
	}
	return nil
}

func (w *Writer) writeHeader() error {
	if w.header {
		return nil
	}
	w.header = true
	var line []byte
	for i, name := range w.layout.Columns {
		if i > 0 {
			line = append(line, w.layout.Comma)
		}
		line = appendField(line, name)
	}
	if _, err := w.output.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("write inventory: %w", err)
	}
	return nil
}

var (
	errFieldCount = errors.New("the row has not as many fields as there are columns")
	errNotJSON    = errors.New("the JSON of the row is no object")
)

// fields sets the line to that of CSV.
func (w *Writer) fields(row Row, values [columnCount]string) error {
	if len(row.Fields) > 0 && len(row.Fields) != len(w.columns) {
		return errFieldCount
	}
	w.line = w.line[:0]
	var written [columnCount]bool
	for i, col := range w.columns {
		if i > 0 {
			w.line = append(w.line, w.layout.Comma)
		}
		switch {
		case col != unknown:
			w.line = appendField(w.line, values[col])
			written[col] = true
		case len(row.Fields) > 0:
			w.line = appendField(w.line, row.Fields[i])
		}
	}
	if !written[sku] && row.SKU == row.itemKey() {
		written[sku] = true // it is the key without a column, too
	}
	for col, value := range values {
		if value != "" && !written[col] {
			return fmt.Errorf("no column for the %s (%s): add one", columnNames[col], excerpt(value))
		}
	}
	return nil
}

// object sets the line to that of NDJSON.
func (w *Writer) object(row Row, values [columnCount]string) error {
	if row.JSON == "" && len(row.Fields) > 0 && len(row.Fields) != len(w.columns) {
		return errFieldCount
	}
	w.line = append(w.line[:0], '{')
	var written [columnCount]bool
	if row.JSON != "" {
		if checkObject(row.JSON) >= 0 {
			return errNotJSON
		}
		for m := range members(row.JSON) {
			switch col := columnOf(m.name); {
			case col == unknown:
				w.line = appendMember(w.line, m.name, m.value)
			case values[col] != "":
				w.line = appendMember(w.line, m.name, jsonValue(col, values[col]))
				written[col] = true
			}
		}
	} else {
		for i, col := range w.columns {
			switch {
			case col != unknown && values[col] != "":
				w.line = appendMember(w.line, w.layout.Columns[i], jsonValue(col, values[col]))
				written[col] = true
			case col == unknown && len(row.Fields) > 0:
				w.line = appendMember(w.line, w.layout.Columns[i], jsonString(row.Fields[i]))
			}
		}
	}
	for col, value := range values {
		if value != "" && !written[col] {
			w.line = appendMember(w.line, columnNames[col], jsonValue(column(col), value))
		}
	}
	w.line = append(w.line, '}')
	return nil
}

// values returns the texts of the known columns.
func (row *Row) values() ([columnCount]string, error) {
	expires, err := row.ExpiresAt.MarshalText()
	if err != nil {
		return [columnCount]string{}, err
	}
	v := [columnCount]string{
		sku: row.SKU, variantID: row.VariantID, gtin: row.GTIN, styleID: row.StyleID, size: row.Size,
		price: row.Price.Amount.String(), rule: row.Price.Rule(),
		floor: row.Price.Floor.String(), ceiling: row.Price.Ceiling.String(), fallback: row.Price.Fallback.String(),
		currency: string(row.Currency), quantity: strconv.Itoa(row.Quantity), expiresAt: string(expires),
	}
	if !row.AsOf.IsZero() {
		v[asOf] = gen.TimeOf(row.AsOf).Format(time.RFC3339Nano)
	}
	if row.Active != nil {
		v[active] = strconv.FormatBool(*row.Active)
	}
	return v, nil
}
