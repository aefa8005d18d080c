package stock

import (
	"fmt"
	"strings"
)

// Bounds of a file. Anything larger is a mistake, such as a quote that is never closed.
const (
	maxLine       = 1 << 20 // Bytes of a line.
	maxColumns    = 1000
	maxValue      = 64 << 10 // Bytes of a row with line breaks.
	maxValueLines = 100      // Lines of a row with line breaks.
)

// separators separate the fields of a line.
const separators = ",;\t"

// ending is how the split of a record ended.
type ending int

const (
	whole ending = iota
	open         // Within a quoted value.
	stray        // At a quote that RFC 4180 does not allow there.
	wide         // With more fields than the limit.
)

// record is a line that was split into fields. Offsets are those of bytes in text.
type record struct {
	line   int
	text   string
	fields []string
	starts []int // Offsets of the fields.
	comma  byte
	ending ending
	at     int // Offset of the quote, unless ending is whole.
}

// split splits a record without its line end. Space before a quote and after one is ignored; all
// other space belongs to the fields.
func split(line int, text string, comma byte, limit int) record {
	rec := record{line: line, text: text, comma: comma}
	rec.fields, rec.starts = make([]string, 0, min(limit, 16)), make([]int, 0, min(limit, 16))
	for i := 0; ; i++ {
		start := skipSpace(text, i, comma)
		var field string
		if start < len(text) && text[start] == '"' {
			value, rest, closed := unquote(text[start+1:])
			if !closed {
				rec.ending, rec.at = open, start
				return rec
			}
			field, i = value, skipSpace(text, len(text)-len(rest), comma)
			if i < len(text) && text[i] != comma {
				rec.ending, rec.at = stray, i
				return rec
			}
		} else {
			end := len(text)
			if n := strings.IndexByte(text[i:], comma); n >= 0 {
				end = i + n
			}
			if n := strings.IndexByte(text[i:end], '"'); n >= 0 {
				rec.ending, rec.at = stray, i+n
				return rec
			}
			field, start, i = text[i:end], min(start, end), end
		}
		if len(rec.fields) == limit {
			rec.ending = wide
			return rec
		}
		rec.fields, rec.starts = append(rec.fields, field), append(rec.starts, start)
		if i == len(text) {
			return rec
		}
	}
}

// record splits a line. If a column that the reader does not know has line breaks in quotes, the
// record has the lines of that value too. In every other place a quote that is not closed on its
// line is a stray one. So is one that would hide a row: if a line within the value has all
// separators of a row, or if both the first and the last line have them.
func (r *Reader) record(l line) record {
	comma, limit := r.layout.Comma, len(r.layout.Columns)
	hasRow := func(text string) bool { return strings.Count(text, string(comma)) >= limit-1 }
	first := split(l.number, withoutLineEnd(l.text), comma, limit)
	rec, text := first, l.text
	for n := range maxValueLines {
		if rec.ending != open || len(rec.fields) >= limit || columnOf(r.layout.Columns[len(rec.fields)]) != unknown {
			break
		}
		next, ok := r.peek(n)
		if !ok || next.long || len(text)+len(next.text) > maxValue {
			break
		}
		text += next.text
		if strings.Contains(next.text, `"`) {
			rec = split(l.number, withoutLineEnd(text), comma, limit)
		}
		if rec.ending == whole && len(rec.fields) == limit && (!hasRow(l.text) || !hasRow(next.text)) {
			r.pending = r.pending[n+1:]
			return rec
		}
		if hasRow(next.text) {
			break
		}
	}
	return first
}

const quotesRemedy = "close every quote on its line, and write a double quote within a value twice"

// cells returns the known values of a record and all of its fields.
func (r *Reader) cells(rec record) (cells, []string) {
	c := cells{line: rec.line, text: rec.text}
	want := len(r.layout.Columns)
	switch {
	case rec.ending == open || rec.ending == stray:
		c.add(rec.at, "", "invalid quotes: %s", quotesRemedy)
	case rec.ending == wide:
		c.problems = append(c.problems, &Problem{
			Line: c.line,
			Text: fmt.Sprintf("the row has more fields than the header, which has %d: put a value that has a separator in double quotes", want),
		})
	case len(rec.fields) != want:
		c.problems = append(c.problems, &Problem{
			Line: c.line,
			Text: fmt.Sprintf("the row has %d of the %d fields of the header: check the separators", len(rec.fields), want),
		})
	}
	for i := range rec.fields {
		rec.fields[i] = unprotect(rec.fields[i])
	}
	if len(c.problems) > 0 {
		return c, rec.fields
	}
	for col, i := range r.columns {
		if i >= 0 {
			c.cells[col] = cell{text: strings.TrimSpace(rec.fields[i]), name: r.layout.Columns[i], at: rec.starts[i]}
		}
	}
	return c, rec.fields
}

// unquote returns the value of a quoted field whose first quote was removed, and the text below its
// last quote.
func unquote(text string) (value, rest string, closed bool) {
	doubled := false
	for end := 0; ; end += 2 {
		n := strings.IndexByte(text[end:], '"')
		if n < 0 {
			return "", "", false
		}
		end += n
		if end+1 == len(text) || text[end+1] != '"' {
			value, rest = text[:end], text[end+1:]
			break
		}
		doubled = true
	}
	if doubled {
		value = strings.ReplaceAll(value, `""`, `"`)
	}
	return value, rest, true
}

func skipSpace(text string, i int, comma byte) int {
	for i < len(text) && (text[i] == ' ' || text[i] == '\t') && text[i] != comma {
		i++
	}
	return i
}

// A spreadsheet takes a cell that begins with one of formulaStarts for a formula. The writer puts an
// apostrophe before it, and before apostrophes that precede it, so that the reader can remove one.
const formulaStarts = "=+-@\t\r"

func protect(field string) string {
	if isFormula(field) {
		return "'" + field
	}
	return field
}

func unprotect(field string) string {
	if strings.HasPrefix(field, "'") && isFormula(field) {
		return field[1:]
	}
	return field
}

func isFormula(field string) bool {
	field = strings.TrimLeft(field, "'")
	return field != "" && strings.IndexByte(formulaStarts, field[0]) >= 0
}

// appendField appends a field, quoted unless it is plain.
func appendField(b []byte, field string) []byte {
	field = protect(field)
	if isPlain(field) {
		return append(b, field...)
	}
	b = append(b, '"')
	b = append(b, strings.ReplaceAll(field, `"`, `""`)...)
	return append(b, '"')
}

func isPlain(field string) bool {
	for i := range len(field) {
		c := field[i]
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
		inner := c == ' ' && i > 0 && i < len(field)-1
		if !letter && !inner && strings.IndexByte("-_.:/%+'", c) < 0 && c < 0x80 {
			return false
		}
	}
	return true
}
