package gen

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
)

// readScalar returns the text of a JSON string or the literal of a JSON number; null is not
// present.
func readScalar(data []byte) (text string, present bool, err error) {
	switch {
	case string(data) == "null":
		return "", false, nil
	case isNumber(string(data)):
		return string(data), true, nil
	case len(data) > 0 && data[0] == '"':
		if err := json.Unmarshal(data, &text); err != nil {
			return "", false, err
		}
		return text, true, nil
	}
	return "", false, fmt.Errorf("want a string or a number, got %s", kindOf(data))
}

// isNumber reports whether text is exactly one JSON number. Its first and last byte rule out the
// other kinds and the white space that json.Valid accepts.
func isNumber(text string) bool {
	if text == "" {
		return false
	}
	first, last := text[0], text[len(text)-1]
	return (first == '-' || isDigit(first)) && isDigit(last) && json.Valid([]byte(text))
}

func isDigit(b byte) bool { return '0' <= b && b <= '9' }

// kindOf returns the kind of a JSON value by its first byte. For errors it also names what is not a
// value.
func kindOf(data []byte) Kind {
	if len(data) == 0 {
		return "nothing"
	}
	switch b := data[0]; {
	case b == '{':
		return KindObject
	case b == '[':
		return KindArray
	case b == '"':
		return KindString
	case b == 't' || b == 'f':
		return KindBoolean
	case b == 'n':
		return KindNull
	case b == '-' || isDigit(b):
		return KindNumber
	}
	return "invalid JSON"
}

// excerpt quotes at most 40 bytes of text, so that a hostile response cannot fill errors and logs.
func excerpt(text string) string {
	const limit = 40
	if len(text) <= limit {
		return fmt.Sprintf("%q", text)
	}
	return fmt.Sprintf("%q…", text[:limit])
}

// OneLine returns text from outside as one line of at most 300 bytes, for errors and logs.
func OneLine(text string) string {
	const limit = 300
	blank := func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }
	text = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(text, "\uFFFD"), blank), " ")
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "") + "…"
}
