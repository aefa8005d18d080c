package inventory

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Parse reads a whole inventory. What is wrong with it stands in the file's mistakes; the error tells only
// that r could not be read. A byte order mark, either kind of line end and blank lines are tolerated.
func Parse(r io.Reader) (*File, error) {
	records := csv.NewReader(withoutBOM(r))
	records.FieldsPerRecord = -1 // the count is checked here, to say which line is short
	records.TrimLeadingSpace = true
	p := &parser{file: &File{}, records: records}
	for {
		fields, err := records.Read()
		if errors.Is(err, io.EOF) {
			return p.end(), nil
		}
		if broken := (*csv.ParseError)(nil); errors.As(err, &broken) {
			p.broken(broken)
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read inventory: %w", err)
		}
		for i := range fields {
			fields[i] = strings.TrimSpace(fields[i])
		}
		if line, _ := records.FieldPos(0); strings.Join(fields, "") != "" {
			p.record(line, fields)
		}
	}
}

// parser collects the file; columns is nil until the header has come.
type parser struct {
	file    *File
	records *csv.Reader
	columns columns
}

func (p *parser) record(line int, fields []string) {
	if p.columns == nil {
		p.columns = readHeader(p.file, line, fields)
		return
	}
	if len(p.columns) == 0 {
		return // the header could not be read, and that has been said
	}
	if len(fields) != len(p.columns) {
		p.file.Add(line, "it has %d fields where the header has %d: check the commas, and put a value that holds one in double quotes", len(fields), len(p.columns))
		return
	}
	row := &rowReader{file: p.file, line: line, fields: fields, columns: p.columns}
	p.file.Rows = append(p.file.Rows, row.read())
}

// broken notes a record whose quotes are wrong. Without a header there is no telling what follows.
func (p *parser) broken(err *csv.ParseError) {
	if p.columns == nil {
		p.columns, p.file.Unreadable = columns{}, true
	}
	p.file.Add(err.StartLine, "its quotes are not right (line %d, column %d): a double quote within a value is written twice, and the value stands in quotes", err.Line, err.Column)
}

func (p *parser) end() *File {
	switch {
	case p.columns == nil:
		p.file.Unreadable = true
		p.file.Add(1, "the file is empty: its first line names the columns %s", strings.Join(required, ", "))
	case len(p.file.Rows) == 0 && len(p.file.mistakes) == 0:
		p.file.Add(1, "there are no rows below the header")
	}
	return p.file
}

// withoutBOM drops the mark that spreadsheets put before UTF-8.
func withoutBOM(r io.Reader) io.Reader {
	buffered := bufio.NewReader(r)
	mark := []byte("\xef\xbb\xbf")
	if start, _ := buffered.Peek(len(mark)); bytes.Equal(start, mark) {
		_, _ = buffered.Discard(len(mark))
	}
	return buffered
}
