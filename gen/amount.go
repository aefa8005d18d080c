package gen

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strings"

	"github.com/govalues/decimal"
)

// ErrAbsent is reported by [Amount.Decimal] and [Figure.Decimal] when the
// service sent no value. An absent value is not zero: a missing lowest ask does
// not mean that the lowest ask is 0.
var ErrAbsent = errors.New("amount is absent")

// Amount is an exact amount of money in the major unit of the currency beside
// it, such as "150", "76.0000" or "0.00". It keeps the text the service sent
// and never goes through a binary fraction.
//
// On the wire it is a JSON string. It reads a JSON string, a JSON number or
// null. The zero value "" means absent, so omitzero drops an absent amount and
// keeps "0.00". A string that is no number is kept as well: only
// [Amount.Decimal] reports it.
type Amount string

// AmountOf returns the amount of d, with the digits after the point that d has.
func AmountOf(d decimal.Decimal) Amount { return Amount(d.String()) }

// Decimal returns the amount for arithmetic. The error is [ErrAbsent] when there
// is no amount; otherwise it says that the text is not a decimal number, or that
// it has more significant digits than a decimal holds: digits are never rounded
// away.
func (a Amount) Decimal() (decimal.Decimal, error) { return parseDecimal(string(a)) }

// Equal reports whether both amounts have the same value: "76" equals "76.0000".
// Two absent amounts are equal, and an absent one does not equal "0". Amounts
// without a [Amount.Decimal] are compared by their text.
func (a Amount) Equal(other Amount) bool { return sameValue(string(a), string(other)) }

// String returns the amount as the service wrote it, "" when it is absent.
func (a Amount) String() string { return string(a) }

// MarshalJSON writes the amount as a JSON string, or null when it is absent.
func (a Amount) MarshalJSON() ([]byte, error) {
	if a == "" {
		return []byte("null"), nil
	}
	return json.Marshal(string(a))
}

// UnmarshalJSON reads a JSON string, a JSON number (keeping its digits) or null
// (absent). On an error the amount is absent.
func (a *Amount) UnmarshalJSON(data []byte) error {
	*a = ""
	text, _, err := readScalar(data)
	if err != nil {
		return fmt.Errorf("decode amount: %w", err)
	}
	*a = Amount(text)
	return nil
}

// parseDecimal refuses what the decimal library would round in silence.
func parseDecimal(text string) (decimal.Decimal, error) {
	if text == "" {
		return decimal.Decimal{}, ErrAbsent
	}
	d, err := decimal.Parse(text)
	if err != nil {
		return decimal.Decimal{}, fmt.Errorf("read %s as a decimal number: %w", excerpt(text), err)
	}
	if len(text) <= decimal.MaxPrec && !strings.ContainsAny(text, "eE") {
		return d, nil
	}
	want, okWant := new(big.Rat).SetString(text)
	got, okGot := new(big.Rat).SetString(d.String())
	if !okWant || !okGot || want.Cmp(got) != 0 {
		return decimal.Decimal{}, fmt.Errorf("read %s as a decimal number: more than %d significant digits",
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
