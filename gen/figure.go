package gen

import (
	"encoding/json"
	"fmt"

	"github.com/govalues/decimal"
)

// Figure is an exact number that is a JSON number on the wire: the figures of a
// payout (in the major unit of its currency, negative when deducting), an
// adjustment percentage (a fraction: 0.05 is 5 %) or a retail price. It keeps
// the digits the service sent and never goes through a binary fraction.
//
// It reads a JSON number, a string that holds one, or null. The zero value ""
// means absent, so omitzero drops an absent figure and keeps "0.00".
type Figure string

// FigureOf returns the figure of d, with the digits after the point that d has.
func FigureOf(d decimal.Decimal) Figure { return Figure(d.String()) }

// Decimal returns the figure for arithmetic. The error is [ErrAbsent] when there
// is no figure; otherwise it says that the text is not a decimal number, or that
// it has more significant digits than a decimal holds: digits are never rounded
// away.
func (f Figure) Decimal() (decimal.Decimal, error) { return parseDecimal(string(f)) }

// Equal reports whether both figures have the same value: "5" equals "5.00".
// Two absent figures are equal, and an absent one does not equal "0". Figures
// without a [Figure.Decimal] are compared by their text.
func (f Figure) Equal(other Figure) bool { return sameValue(string(f), string(other)) }

// String returns the figure as the service wrote it, "" when it is absent.
func (f Figure) String() string { return string(f) }

// MarshalJSON writes the number as it was read, or null when it is absent. It
// returns an error for a figure made by hand from text that is no JSON number.
func (f Figure) MarshalJSON() ([]byte, error) {
	if f == "" {
		return []byte("null"), nil
	}
	if !isNumber(string(f)) {
		return nil, fmt.Errorf("encode figure: %s is not a JSON number, make figures with FigureOf", excerpt(string(f)))
	}
	return []byte(f), nil
}

// UnmarshalJSON reads a JSON number, a string that holds one, or null (absent).
// On an error the figure is absent.
func (f *Figure) UnmarshalJSON(data []byte) error {
	*f = ""
	text, present, err := readScalar(data)
	if err != nil {
		return fmt.Errorf("decode figure: %w", err)
	}
	if present && !isNumber(text) {
		return fmt.Errorf("decode figure: %s is not a number", excerpt(text))
	}
	*f = Figure(text)
	return nil
}

// readScalar returns the text of a JSON string or the literal of a JSON number;
// null is not present.
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

// isNumber reports whether text is exactly one JSON number. Its first and last
// byte rule out the other kinds and the white space that json.Valid lets pass.
func isNumber(text string) bool {
	if text == "" {
		return false
	}
	first, last := text[0], text[len(text)-1]
	return (first == '-' || isDigit(first)) && isDigit(last) && json.Valid([]byte(text))
}

func isDigit(b byte) bool { return '0' <= b && b <= '9' }

// kindOf names a JSON value by its first byte, for error messages.
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
	return "no JSON"
}

// excerpt quotes at most 40 bytes of text, so that a hostile answer cannot fill
// errors and logs.
func excerpt(text string) string {
	const limit = 40
	if len(text) <= limit {
		return fmt.Sprintf("%q", text)
	}
	return fmt.Sprintf("%q…", text[:limit])
}
