package stock

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"iter"
	"slices"
	"strings"
	"time"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// Options are the options of a [Reader]. The zero value is valid.
type Options struct {
	// AsOf is when the stock was counted, of rows that do not state it.
	AsOf time.Time
	// Location is the zone of days in the column as_of. Nil is UTC.
	Location *time.Location
}

// Layout is how an inventory is written. The zero value is CSV with commas and [DefaultColumns].
type Layout struct {
	// NDJSON means a JSON object a line. A reader then leaves Columns empty.
	NDJSON bool
	// Comma separates the fields of a CSV line: ',', ';' or '\t'. Zero is ','.
	Comma byte
	// Columns are the names of the header, in its order.
	Columns []string
}

// Reader reads an inventory. Its memory does not grow with the file, except for 8 bytes of hash and
// 4 of line number a row (with the map about 20 to 40), by which it finds SKUs that are not unique.
// It is not safe for concurrent use.
type Reader struct {
	input   *bufio.Reader
	opts    Options
	layout  Layout
	started bool
	err     error // After the last row.

	number  int    // Of the last line that was read.
	pending []line // Lines that were read ahead.
	buffer  []byte
	failed  error // Of the input, which may not fail twice.

	columns [columnCount]int // Indices of the known columns; -1 if the file has none.
	keyed   *bool            // Whether rows have SKUs. Nil before the first row of NDJSON.
	rows    int              // Rows and problems so far.

	invalid  Row        // The row of problems.
	problems []*Problem // Of invalid, not yet yielded.

	seed maphash.Seed
	seen map[uint64]uint32 // Lines by the hash of their SKU.
}

// line is a line of a file with its line end.
type line struct {
	number int
	text   string
	long   bool
}

// NewReader returns a reader of an inventory: CSV or NDJSON, in UTF-8 or, with a byte order mark,
// UTF-16.
func NewReader(r io.Reader, opts Options) *Reader {
	return &Reader{
		input: bufio.NewReaderSize(r, 64<<10), opts: opts,
		seed: maphash.MakeSeed(), seen: map[uint64]uint32{},
	}
}

// Layout returns how the inventory is written. It is known once [Reader.Rows] has yielded.
func (r *Reader) Layout() Layout { return r.layout }

// Rows yields the rows and the problems in the order of the file. An error is a [*Problem], one for
// every mistake, beside a row that has only its Line, Fields and JSON, and reading continues; or
// the error of the underlying reader, which is the last. After a break, another range continues.
//
// A problem with the format or the header is the last one as well, since no row can be read. To
// send nothing of an inventory that has a problem, read it twice.
func (r *Reader) Rows() iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		for {
			for len(r.problems) > 0 {
				p := r.problems[0]
				r.problems = r.problems[1:]
				if !yield(r.invalid, p) {
					return
				}
			}
			if r.err != nil {
				return
			}
			row, problems, err := r.next()
			r.rows += 1 + len(problems)
			switch {
			case err != nil:
				r.err = err
				r.invalid, r.problems = row, problems
				if !errors.Is(err, io.EOF) {
					yield(Row{}, err)
				}
			case len(problems) > 0:
				r.invalid, r.problems = row, problems
			case !yield(row, nil):
				return
			}
		}
	}
}

// next returns the next row, or its problems. With an error there is no row.
func (r *Reader) next() (Row, []*Problem, error) {
	if !r.started {
		r.started = true
		if problems, err := r.start(); err != nil || len(problems) > 0 {
			return Row{Line: 1}, problems, cmp.Or(err, io.EOF)
		}
	}
	for {
		l, err := r.readLine()
		if errors.Is(err, io.EOF) && r.rows == 0 {
			return Row{Line: 1}, []*Problem{{Line: 1, Text: "no rows below the header: add some"}}, io.EOF
		}
		if err != nil {
			return Row{}, nil, err
		}
		if l.long {
			return Row{Line: l.number}, []*Problem{longLine(l)}, nil
		}
		if row, problems, ok := r.read(l); ok {
			return row, problems, nil
		}
	}
}

func longLine(l line) *Problem {
	return &Problem{Line: l.number, Text: fmt.Sprintf("the line is longer than %d bytes: check its quotes", maxLine)}
}

// foreignFormats are the first bytes of files that are no text.
var foreignFormats = []struct{ magic, problem string }{
	{"PK\x03\x04", "the file is an Excel workbook or another zip archive: save the sheet as CSV UTF-8"},
	{"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "the file is an old Excel workbook: save the sheet as CSV UTF-8"},
	{"\x1f\x8b", "the file is compressed with gzip: decompress it"},
	{"[", "the file is a JSON array: write one object a line (NDJSON)"},
}

// start finds the encoding and the format, and reads the header.
func (r *Reader) start() ([]*Problem, error) {
	head, err := r.input.Peek(8)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read inventory: %w", err)
	}
	switch {
	case bytes.HasPrefix(head, []byte("\xff\xfe")), bytes.HasPrefix(head, []byte("\xfe\xff")):
		decoder := unicode.UTF16(unicode.LittleEndian, unicode.ExpectBOM).NewDecoder()
		r.input = bufio.NewReaderSize(transform.NewReader(r.input, decoder), 64<<10)
	case bytes.HasPrefix(head, []byte("\xef\xbb\xbf")):
		_, _ = r.input.Discard(3)
	case len(head) > 1 && (head[0] == 0 || head[1] == 0):
		return []*Problem{{Line: 1, Text: "the file is not UTF-8: save it as UTF-8"}}, nil
	}
	head, err = r.input.Peek(8)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read inventory: %w", err)
	}
	for _, format := range foreignFormats {
		if bytes.HasPrefix(head, []byte(format.magic)) {
			return []*Problem{{Line: 1, Text: format.problem}}, nil
		}
	}
	for {
		l, err := r.readLine()
		switch {
		case errors.Is(err, io.EOF):
			return []*Problem{{Line: 1, Text: "the file is empty: write a first line that names the columns " + strings.Join(columnNames[:], ", ")}}, nil
		case err != nil:
			return nil, err
		case l.long:
			return []*Problem{longLine(l)}, nil
		}
		switch text := strings.TrimSpace(l.text); {
		case strings.HasPrefix(text, "{"):
			r.layout.NDJSON = true
			r.pending = append(r.pending, l)
			return nil, nil
		case strings.Trim(text, ",;\t \"") != "":
			return r.header(l), nil
		}
	}
}

// read reads a line, and further ones if a value has line breaks. It reports whether there is a row.
func (r *Reader) read(l line) (row Row, problems []*Problem, ok bool) {
	var c cells
	var fields []string
	if r.layout.NDJSON {
		text := withoutLineEnd(l.text)
		if strings.TrimSpace(text) == "" {
			return Row{}, nil, false
		}
		row.JSON = text
		c = readObject(l.number, text)
	} else {
		rec := r.record(l)
		if rec.ending == whole && !slices.ContainsFunc(rec.fields, func(f string) bool { return strings.TrimSpace(f) != "" }) {
			return Row{}, nil, false
		}
		c, fields = r.cells(rec)
	}
	if len(c.problems) > 0 {
		return Row{Line: l.number, Fields: fields, JSON: row.JSON}, c.problems, true
	}
	read := c.row(r.opts)
	r.key(&c, &read)
	slices.SortStableFunc(c.problems, func(a, b *Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	read.Fields, read.JSON = fields, row.JSON
	if len(c.problems) > 0 {
		return Row{Line: l.number, Fields: fields, JSON: row.JSON}, c.problems, true
	}
	return read, nil, true
}

// key sets the SKU, and reports one that is missing or not unique.
func (r *Reader) key(c *cells, row *Row) {
	if r.keyed == nil {
		r.keyed = new(c.has(sku))
	}
	switch {
	case *r.keyed && !c.has(sku):
		c.missing(sku, "unique in the file")
		return
	case *r.keyed:
		row.SKU = c.id(sku, maxSKU)
	case c.has(sku):
		c.invalid(sku, "is given and the first row has none: give every row one")
		return
	default:
		row.SKU = row.itemKey()
	}
	if row.SKU == "" {
		return // reported
	}
	hash := maphash.String(r.seed, row.SKU)
	first, found := r.seen[hash]
	switch {
	case !found:
		r.seen[hash] = uint32(c.line)
	case *r.keyed:
		c.invalid(sku, "is on line %d too: give every row its own sku", first)
	default:
		c.problems = append(c.problems, &Problem{Line: c.line, Text: fmt.Sprintf("the item is on line %d too: write it once, or add a column sku", first)})
	}
}

// itemKey returns the SKU of a row whose file has none: its item. "" if the item is not valid.
func (row *Row) itemKey() string {
	switch {
	case row.VariantID != "":
		return row.VariantID
	case row.GTIN != "":
		return strings.Repeat("0", 14-len(row.GTIN)) + row.GTIN
	case row.StyleID != "" && row.Size != "":
		return row.StyleID + "/" + row.Size
	}
	return ""
}

// readLine returns the next line, io.EOF after the last one.
func (r *Reader) readLine() (line, error) {
	if len(r.pending) > 0 {
		l := r.pending[0]
		r.pending = r.pending[1:]
		return l, nil
	}
	return r.readAhead()
}

// peek returns the line i lines below the last one that was read. It returns no line at the end or
// if the underlying reader fails, which the next read reports.
func (r *Reader) peek(i int) (line, bool) {
	for len(r.pending) <= i {
		l, err := r.readAhead()
		if err != nil {
			return line{}, false
		}
		r.pending = append(r.pending, l)
	}
	return r.pending[i], true
}

// readAhead returns the next line of the input.
func (r *Reader) readAhead() (line, error) {
	if r.failed != nil {
		return line{}, r.failed
	}
	r.buffer = r.buffer[:0]
	long := false
	for {
		part, err := r.input.ReadSlice('\n')
		if long = long || len(r.buffer)+len(part) > maxLine; !long {
			r.buffer = append(r.buffer, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF) && (long || len(r.buffer) > 0):
		case errors.Is(err, io.EOF):
			r.failed = io.EOF
			return line{}, r.failed
		case err != nil:
			r.failed = fmt.Errorf("read inventory: %w", err)
			return line{}, r.failed
		}
		r.number++
		l := line{number: r.number, long: long}
		if !long {
			l.text = string(r.buffer)
		}
		return l, nil
	}
}

func withoutLineEnd(text string) string {
	return strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r")
}
