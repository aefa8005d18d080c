package stock

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"unicode/utf8"
)

// member is a member of a JSON object.
type member struct {
	name  string
	value json.RawMessage
	at    int // Offset of the value.
}

var (
	errNoObject = errors.New("no object")
	errTrailing = errors.New("more than one object on the line")
)

// members yields the members of the object that is a line. The error is the last.
func members(text string) iter.Seq2[member, error] {
	return func(yield func(member, error) bool) {
		decoder := json.NewDecoder(strings.NewReader(text))
		fail := func(err error) {
			yield(member{at: int(decoder.InputOffset())}, fmt.Errorf("decode object: %w", err))
		}
		if token, err := decoder.Token(); err != nil || token != json.Delim('{') {
			fail(errors.Join(err, errNoObject))
			return
		}
		for decoder.More() {
			token, err := decoder.Token()
			if err != nil {
				fail(err)
				return
			}
			name, _ := token.(string)
			var m member
			if err := decoder.Decode(&m.value); err != nil {
				fail(err)
				return
			}
			m.name, m.at = name, int(decoder.InputOffset())-len(m.value)
			if !yield(m, nil) {
				return
			}
		}
		if _, err := decoder.Token(); err != nil {
			fail(err)
			return
		}
		if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
			fail(errTrailing)
		}
	}
}

// readObject reads the known values of a line of NDJSON.
func readObject(number int, text string) cells {
	c := cells{line: number, text: text}
	if !utf8.ValidString(text) {
		c.add(0, "", "the line is not UTF-8: save the file as UTF-8")
		return c
	}
	count := 0
	for m, err := range members(text) {
		if count++; count > maxColumns {
			c.add(m.at, "", "the object has more than %d members: remove some", maxColumns)
			return c
		}
		if err != nil {
			c.add(m.at, "", "the line is no JSON object: write one object a line, without line breaks in it")
			return c
		}
		col := columnOf(m.name)
		if col == unknown {
			continue
		}
		value, problem := scalar(m.value)
		got := cell{text: strings.TrimSpace(value), name: m.name, at: m.at}
		switch before := c.cells[col].name; {
		case before != "":
			c.add(m.at, m.name, "members %s and %s both mean %s: remove one", excerpt(before), excerpt(m.name), columnNames[col])
		case problem != "":
			c.add(m.at, m.name, "%s %s: write a string or a number", m.name, problem)
		default:
			c.cells[col] = got
		}
	}
	return c
}

// scalar returns the text of a JSON value: of a string its characters, of a number its digits, and
// "" for null. The problem is empty if the value is a scalar.
func scalar(value json.RawMessage) (text, problem string) {
	switch value[0] {
	case '{':
		return "", "is an object"
	case '[':
		return "", "is an array"
	case 'n':
		return "", ""
	case '"':
		if err := json.Unmarshal(value, &text); err != nil {
			return "", "is no string"
		}
		return text, ""
	}
	return string(value), ""
}
