package market

import (
	"fmt"
	"strings"

	"github.com/govalues/decimal"
)

// CheckNumeric reports whether text is a positive decimal number: digits, and
// optionally a point and more digits. Signs, exponents, spaces and separators
// are refused. It is all that can be said about an amount before its currency
// is known.
func CheckNumeric(text string) error {
	whole, frac, hasPoint := strings.Cut(text, ".")
	if !isDigits(whole) || hasPoint && !isDigits(frac) {
		return fmt.Errorf("amount %.40q is not a decimal number such as \"125\" or \"125.50\"", text)
	}
	if strings.Trim(text, "0.") == "" {
		return fmt.Errorf("amount %.40q must be greater than zero", text)
	}
	return nil
}

func isDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// ParseAmount reads the price of a listing and returns it in the currency's
// smallest unit. It refuses what CheckNumeric refuses, more decimal places than
// the currency has (trailing zeros aside), less than one whole unit and more
// than [Currency.MaxUnits]. The errors are fit to be shown to the seller.
func ParseAmount(text string, c Currency) (int64, error) {
	if err := CheckNumeric(text); err != nil {
		return 0, err
	}
	outOfRange := fmt.Errorf("amount %.40s is out of range: a listing costs 1 to %d %s", text, c.MaxUnits, c.Code)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	d, err := decimal.Parse(text)
	if err != nil {
		return 0, outOfRange
	}
	if d.Scale() > c.Digits {
		return 0, fmt.Errorf("amount %.40s has more than the %d decimal places of %s", text, c.Digits, c.Code)
	}
	whole, frac, ok := d.Int64(c.Digits)
	if !ok || whole < 1 || whole > c.MaxUnits || whole == c.MaxUnits && frac > 0 {
		return 0, outOfRange
	}
	return whole*c.unit() + frac, nil
}

// FormatAmount writes an amount the way the service does: whole units without
// a point ("125"), anything else with all decimal places ("125.50").
func FormatAmount(minor int64, c Currency) string {
	if unit := c.unit(); minor%unit == 0 {
		return fmt.Sprint(minor / unit)
	}
	return Decimal(minor, c).String()
}

// Decimal returns an amount for exact arithmetic.
func Decimal(minor int64, c Currency) decimal.Decimal {
	return decimal.MustNew(minor, c.Digits)
}
