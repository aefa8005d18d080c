package inventory

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Parse reads a whole inventory. Invalid content is reported by the problems of the file, and
// failed reads of r by the error. A byte order mark, both kinds of line ends and blank lines are
// accepted. Every line is a row: no value has a line break, and a stray quote must not hide the rows
// below it.
func Parse(r io.Reader) (*File, error) {
	lines := withoutBOM(r)
	p := &parser{file: &File{}}
	var err error
	for number := 1; err == nil; number++ {
		var text string
		text, err = lines.ReadString('\n')
		p.line(number, text)
	}
	if !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read inventory: %w", err)
	}
	return p.end(), nil
}

// parser collects a file. Its columns are nil until the header is read.
type parser struct {
	file    *File
	columns columns
}

// line reads a line of the file.
func (p *parser) line(number int, text string) {
	record := csv.NewReader(strings.NewReader(text))
	record.FieldsPerRecord = -1 // record counts them, to report the line
	record.TrimLeadingSpace = true
	fields, err := record.Read()
	if broken, ok := errors.AsType[*csv.ParseError](err); ok {
		p.broken(number, broken)
		return
	}
	for i := range fields {
		fields[i] = strings.TrimSpace(fields[i])
	}
	if strings.Join(fields, "") != "" {
		p.record(number, fields)
	}
}

func (p *parser) record(line int, fields []string) {
	if p.columns == nil {
		p.columns = readHeader(p.file, line, fields)
		p.file.Columns = p.columns
		return
	}
	if len(p.columns) == 0 {
		return // the header is invalid, which is reported
	}
	if len(fields) != len(p.columns) {
		noun := "fields"
		if len(fields) == 1 {
			noun = "field"
		}
		p.file.Add(line, "the row has %d %s and the header has %d: check the commas, and put a value that has one in double quotes",
			len(fields), noun, len(p.columns))
		return
	}
	row := &rowReader{file: p.file, line: line, fields: fields, columns: p.columns}
	p.file.Rows = append(p.file.Rows, row.read())
}

// broken reports a line with invalid quotes. If it is the header, the file is unreadable.
func (p *parser) broken(line int, err *csv.ParseError) {
	if p.columns == nil {
		p.columns, p.file.Unreadable = columns{}, true
	}
	p.file.Add(line, "invalid quotes (column %d): close every quote on its line, and write a double quote within a value twice",
		err.Column)
}

func (p *parser) end() *File {
	switch {
	case p.columns == nil:
		p.file.Unreadable = true
		p.file.Add(1, "the file is empty: write a first line with the columns %s", strings.Join(required, ", "))
	case len(p.file.Rows) == 0 && len(p.file.problems) == 0:
		p.file.Add(1, "no rows below the header: add some")
	}
	return p.file
}

// withoutBOM removes the byte order mark that spreadsheets write.
func withoutBOM(r io.Reader) *bufio.Reader {
	buffered := bufio.NewReader(r)
	mark := []byte("\xef\xbb\xbf")
	if start, _ := buffered.Peek(len(mark)); bytes.Equal(start, mark) {
		_, _ = buffered.Discard(len(mark))
	}
	return buffered
}

// The names of the columns.
const (
	styleID   = "style_id"
	size      = "size"
	price     = "price"
	currency  = "currency"
	quantity  = "quantity"
	variantID = "variant_id"
	active    = "active"
	expiresAt = "expires_at"
)

var (
	required = []string{styleID, size, price, currency, quantity}
	optional = []string{variantID, active, expiresAt}
)

// columns are the names of the header in the order of the file.
type columns []string

// readHeader reads the line that names the columns, and reports names that are unknown, duplicate
// or missing.
func readHeader(f *File, line int, names []string) columns {
	known := slices.Concat(required, optional)
	before := len(f.problems)
	if len(names) == 1 && strings.ContainsAny(names[0], ";\t") {
		f.Add(line, "the columns are not separated by commas: save the file as comma-separated values")
		f.Unreadable = true
		return columns{}
	}
	seen := columns{}
	for _, name := range names {
		switch {
		case !slices.Contains(known, name):
			f.Add(line, "unknown column %q: the columns are %s, and optionally %s", name, strings.Join(required, ", "), strings.Join(optional, ", "))
		case slices.Contains(seen, name):
			f.Add(line, "duplicate column %s: remove one", name)
		}
		seen = append(seen, name)
	}
	for _, name := range required {
		if !slices.Contains(seen, name) {
			f.Add(line, "column %s is missing: add it", name)
		}
	}
	f.Unreadable = len(f.problems) > before
	return seen
}
