package stock

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
	"unicode/utf8"
)

// member is a member of a JSON object.
type member struct {
	name  string
	value string // JSON.
	at    int    // Offset of the value.
}

// checkObject returns the offset at which a text is not one JSON object, -1 if it is one.
func checkObject(text string) int {
	var raw json.RawMessage
	err := json.Unmarshal([]byte(text), &raw)
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return max(0, int(syntax.Offset)-1)
	}
	if err != nil {
		return 0
	}
	if start := skipJSONSpace(text, 0); text[start] != '{' {
		return start
	}
	return -1
}

// members yields the members of a text that is one valid JSON object.
func members(text string) iter.Seq[member] {
	return func(yield func(member) bool) {
		i := skipJSONSpace(text, 0) + len("{")
		for {
			i = skipJSONSpace(text, i)
			if text[i] == ',' {
				i = skipJSONSpace(text, i+1)
			}
			if text[i] == '}' {
				return
			}
			end := valueEnd(text, i)
			name := jsonText(text[i:end])
			at := skipJSONSpace(text, skipJSONSpace(text, end)+len(":"))
			i = valueEnd(text, at)
			if !yield(member{name, text[at:i], at}) {
				return
			}
		}
	}
}

func skipJSONSpace(text string, i int) int {
	for i < len(text) && strings.IndexByte(" \t\r\n", text[i]) >= 0 {
		i++
	}
	return i
}

// valueEnd returns the end of the valid value that begins at i.
func valueEnd(text string, i int) int {
	depth := 0
	for ; i < len(text); i++ {
		switch text[i] {
		case '"':
			for i++; text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
			if depth == 0 {
				return i + 1
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return i // of the object around a number
			}
			if depth--; depth == 0 {
				return i + 1
			}
		case ',', ':', ' ', '\t', '\r', '\n':
			if depth == 0 {
				return i
			}
		}
	}
	return i
}

// jsonText returns the characters of a valid JSON string.
func jsonText(value string) string {
	if strings.IndexByte(value, '\\') < 0 {
		return value[1 : len(value)-1]
	}
	var text string
	_ = json.Unmarshal([]byte(value), &text) // it is valid
	return text
}

// readObject reads the known values of a line of NDJSON.
func readObject(number int, text string) cells {
	c := cells{line: number, text: text}
	if !utf8.ValidString(text) {
		c.add(0, "", "the line is not UTF-8: save the file as UTF-8")
		return c
	}
	if at := checkObject(text); at >= 0 {
		c.add(at, "", "the line is no JSON object: write one object a line, without line breaks in it")
		return c
	}
	count := 0
	for m := range members(text) {
		if count++; count > maxColumns {
			c.add(m.at, "", "the object has more than %d members: remove some", maxColumns)
			return c
		}
		col := columnOf(m.name)
		if col == unknown {
			continue
		}
		value, ok := scalar(m.value)
		switch before := c.cells[col].name; {
		case before != "":
			c.add(m.at, m.name, "members %s and %s both mean %s: remove one", excerpt(before), excerpt(m.name), columnNames[col])
		case !ok:
			c.add(m.at, m.name, "%s %s is an object or an array: write a string or a number", m.name, excerpt(m.value))
		default:
			c.cells[col] = cell{text: strings.TrimSpace(value), name: m.name, at: m.at}
		}
	}
	return c
}

// scalar returns the text of a JSON value: of a string its characters, of a number its digits, and
// "" for null. It reports whether the value is one of them or a boolean.
func scalar(value string) (text string, ok bool) {
	switch value[0] {
	case '{', '[':
		return "", false
	case 'n':
		return "", true
	case '"':
		return jsonText(value), true
	}
	return value, true
}

// appendMember appends a member to an unfinished object.
func appendMember(object []byte, name, value string) []byte {
	if len(object) > len("{") {
		object = append(object, ',')
	}
	return fmt.Appendf(object, "%s:%s", jsonString(name), value)
}

// jsonValue returns a value as JSON: counts and booleans as such, and amounts as exact strings.
func jsonValue(col column, value string) string {
	if col == quantity || col == active {
		return value
	}
	return jsonString(value)
}

func jsonString(text string) string {
	b, _ := json.Marshal(text) // a string cannot fail
	return string(b)
}
