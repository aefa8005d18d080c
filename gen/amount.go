package gen

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strings"

	"github.com/govalues/decimal"
)

// ErrAbsent reports that the service sent no value, see [Amount.Decimal] and [Figure.Decimal]. An
// absent value is not zero: a missing lowest ask does not mean that the lowest ask is 0.
var ErrAbsent = errors.New("amount is absent")

// Amount is an exact amount of money in the major unit of the currency beside it, such as "150",
// "76.0000" or "0.00". It keeps the text that the service sent and is never converted to a binary
// fraction. The zero value "" means absent, so omitzero drops an absent amount and keeps "0.00".
//
// It marshals as a JSON string, and unmarshals from a JSON string, a JSON number or null. A string
// that is not a number is kept as well: only [Amount.Decimal] reports it.
type Amount string

// AmountOf returns the amount of d, with the digits after the point that d has.
func AmountOf(d decimal.Decimal) Amount { return Amount(d.String()) }

// Decimal returns the amount for arithmetic. The error is [ErrAbsent] if there is no amount. Any
// other error means that the text is not a decimal number, or has more significant digits than a
// decimal holds: digits are never rounded away.
func (a Amount) Decimal() (decimal.Decimal, error) { return parseDecimal(string(a)) }

// Equal reports whether both amounts have the same value: "76" equals "76.0000". Two absent amounts
// are equal, and an absent one does not equal "0". Amounts without a [Amount.Decimal] are compared
// by their text.
func (a Amount) Equal(other Amount) bool { return sameValue(string(a), string(other)) }

// String returns the amount as the service sent it, "" if it is absent.
func (a Amount) String() string { return string(a) }

// MarshalJSON returns a JSON string, or null if the amount is absent.
func (a Amount) MarshalJSON() ([]byte, error) {
	if a == "" {
		return []byte("null"), nil
	}
	return json.Marshal(string(a))
}

// UnmarshalJSON reads a JSON string, a JSON number (keeping its digits) or null (absent). On an
// error the amount is absent.
func (a *Amount) UnmarshalJSON(data []byte) error {
	*a = ""
	text, _, err := readScalar(data)
	if err != nil {
		return fmt.Errorf("decode amount: %w", err)
	}
	*a = Amount(text)
	return nil
}

// Figure is an exact number that the service sends as a JSON number: a figure of a payout (in the
// major unit of its currency, negative if it is deducted), an adjustment percentage (a fraction:
// 0.05 is 5 %) or a retail price. It keeps the digits that the service sent and is never converted
// to a binary fraction. The zero value "" means absent, so omitzero drops an absent figure and
// keeps "0.00".
//
// It marshals as a JSON number, and unmarshals from a JSON number, a string that holds one, or
// null.
type Figure string

// FigureOf returns the figure of d, with the digits after the point that d has.
func FigureOf(d decimal.Decimal) Figure { return Figure(d.String()) }

// Decimal returns the figure for arithmetic. The error is [ErrAbsent] if there is no figure. Any
// other error means that the text is not a decimal number, or has more significant digits than a
// decimal holds: digits are never rounded away.
func (f Figure) Decimal() (decimal.Decimal, error) { return parseDecimal(string(f)) }

// Equal reports whether both figures have the same value: "5" equals "5.00". Two absent figures are
// equal, and an absent one does not equal "0". Figures without a [Figure.Decimal] are compared by
// their text.
func (f Figure) Equal(other Figure) bool { return sameValue(string(f), string(other)) }

// String returns the figure as the service sent it, "" if it is absent.
func (f Figure) String() string { return string(f) }

// MarshalJSON returns the number as it was read, or null if the figure is absent. It returns an
// error for a figure that was converted from text which is not a JSON number.
func (f Figure) MarshalJSON() ([]byte, error) {
	if f == "" {
		return []byte("null"), nil
	}
	if !isNumber(string(f)) {
		return nil, fmt.Errorf("encode figure: not a JSON number (%s): make figures with FigureOf",
			excerpt(string(f)))
	}
	return []byte(f), nil
}

// UnmarshalJSON reads a JSON number, a string that holds one, or null (absent). On an error the
// figure is absent.
func (f *Figure) UnmarshalJSON(data []byte) error {
	*f = ""
	text, present, err := readScalar(data)
	if err != nil {
		return fmt.Errorf("decode figure: %w", err)
	}
	if present && !isNumber(text) {
		return fmt.Errorf("decode figure: not a number (%s)", excerpt(text))
	}
	*f = Figure(text)
	return nil
}

// parseDecimal refuses text that the decimal library would round without an error.
func parseDecimal(text string) (decimal.Decimal, error) {
	if text == "" {
		return decimal.Decimal{}, ErrAbsent
	}
	d, err := decimal.Parse(text)
	if err != nil {
		return decimal.Decimal{}, fmt.Errorf("parse decimal (%s): %w", excerpt(text), err)
	}
	if len(text) <= decimal.MaxPrec && !strings.ContainsAny(text, "eE") {
		return d, nil
	}
	want, okWant := new(big.Rat).SetString(text)
	got, okGot := new(big.Rat).SetString(d.String())
	if !okWant || !okGot || want.Cmp(got) != 0 {
		return decimal.Decimal{}, fmt.Errorf("parse decimal (%s): more than %d significant digits",
			excerpt(text), decimal.MaxPrec)
	}
	return d, nil
}

func sameValue(a, b string) bool {
	if a == b {
		return true
	}
	da, errA := parseDecimal(a)
	db, errB := parseDecimal(b)
	return errA == nil && errB == nil && da.Equal(db)
}
