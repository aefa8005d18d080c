package gen

import (
	"fmt"
	"strconv"
)

// Int is a whole number: a count, a page number or a quantity. It reads a JSON
// number, a string that holds one, or null as 0; the fraction must be zero, so
// 12.0 is 12 and 12.5 is an error. On the wire and in a query it is a plain
// number.
type Int int

// UnmarshalJSON reads 12, "12", 12.0 and null (0). Anything else, and a number
// that an int does not hold, is an error that leaves 0.
func (i *Int) UnmarshalJSON(data []byte) error {
	*i = 0
	text, present, err := readScalar(data)
	if err != nil {
		return fmt.Errorf("decode integer: %w", err)
	}
	if !present {
		return nil
	}
	n, ok := wholeNumber(text)
	if !ok {
		return fmt.Errorf("decode integer: %s is not a whole number in the range of int", excerpt(text))
	}
	*i = Int(n)
	return nil
}

// wholeNumber goes through a decimal only for the rare 12.0 and 1e2.
func wholeNumber(text string) (n int, ok bool) {
	if !isNumber(text) {
		return 0, false
	}
	if n, err := strconv.Atoi(text); err == nil {
		return n, true
	}
	d, err := parseDecimal(text)
	if err != nil || !d.IsInt() {
		return 0, false
	}
	whole, _, ok := d.Int64(0)
	return int(whole), ok && int64(int(whole)) == whole
}
