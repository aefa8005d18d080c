// Package market has currencies, the order book of every variant, the prices that market data
// suggests, and the fees of a sale. Money is exact: an amount is an int64 count of the smallest
// unit of a currency, and arithmetic on it is decimal.
package market

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/govalues/decimal"
)

// Currency is one row of the currency table.
type Currency struct {
	// Code is the ISO 4217 code.
	Code string
	// Digits is the number of decimal places of the smallest unit: 2 for cents, 0 for the yen and
	// the won.
	Digits int
	// PerUSD is the price of one US dollar. It is fixed, so that the same seed always gives the
	// same prices.
	PerUSD decimal.Decimal
	// MaxUnits is the highest price of a listing, in whole units. The limit of the service is not
	// published; about 100,000 dollars are assumed.
	MaxUnits int64
	// StepUnits is the distance between two prices of the order book in whole units, about a
	// dollar.
	StepUnits int64
}

// USD is the default currency of requests.
const USD = "USD"

// currencies are those of listings and market data, by code.
var currencies = map[string]Currency{
	"AUD": {"AUD", 2, decimal.MustParse("1.50"), 150_000, 1},
	"CAD": {"CAD", 2, decimal.MustParse("1.38"), 138_000, 1},
	"CHF": {"CHF", 2, decimal.MustParse("0.88"), 88_000, 1},
	"EUR": {"EUR", 2, decimal.MustParse("0.92"), 92_000, 1},
	"GBP": {"GBP", 2, decimal.MustParse("0.79"), 79_000, 1},
	"HKD": {"HKD", 2, decimal.MustParse("7.80"), 780_000, 8},
	"JPY": {"JPY", 0, decimal.MustParse("150"), 15_000_000, 100},
	"KRW": {"KRW", 0, decimal.MustParse("1380"), 138_000_000, 1000},
	"MXN": {"MXN", 2, decimal.MustParse("18.50"), 1_850_000, 20},
	"NZD": {"NZD", 2, decimal.MustParse("1.64"), 164_000, 1},
	"SGD": {"SGD", 2, decimal.MustParse("1.34"), 134_000, 1},
	"USD": {"USD", 2, decimal.MustParse("1"), 100_000, 1},
}

// Lookup returns the currency of an ISO 4217 code, and false if listings cannot have it.
func Lookup(code string) (Currency, bool) {
	c, ok := currencies[code]
	return c, ok
}

// unit returns the number of smallest units in one whole unit.
func (c Currency) unit() int64 {
	u := int64(1)
	for range c.Digits {
		u *= 10
	}
	return u
}

// maxAmount is the most characters that an amount may have; assumed. Amounts of batches are stored
// as they were sent.
const maxAmount = 40

// CheckNumeric refuses a text that is not a positive decimal number: digits, and optionally a point
// and more digits, but no signs, exponents, spaces and separators, in 40 characters at most. An
// amount can be checked no further while its currency is not known.
func CheckNumeric(text string) error {
	if len(text) > maxAmount {
		return fmt.Errorf("amount (%.40q): must have %d characters at most", text, maxAmount)
	}
	whole, frac, hasPoint := strings.Cut(text, ".")
	if !isDigits(whole) || hasPoint && !isDigits(frac) {
		return fmt.Errorf("amount (%.40q): must be a decimal number, such as 125 or 125.50", text)
	}
	if strings.Trim(text, "0.") == "" {
		return fmt.Errorf("amount (%.40q): must be greater than zero", text)
	}
	return nil
}

func isDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// ParseAmount returns the price of a listing in the smallest unit of the currency. It refuses what
// CheckNumeric refuses, more decimal places than the currency has (trailing zeros aside), less than
// one whole unit and more than [Currency.MaxUnits]. Its errors are for sellers.
func ParseAmount(text string, c Currency) (int64, error) {
	if err := CheckNumeric(text); err != nil {
		return 0, err
	}
	outOfRange := fmt.Errorf("amount (%.40s): must be from 1 to %d %s", text, c.MaxUnits, c.Code)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	d, err := decimal.Parse(text)
	if err != nil {
		return 0, outOfRange
	}
	if d.Scale() > c.Digits {
		return 0, fmt.Errorf("amount (%.40s): must have no more than the %d decimal places of %s",
			text, c.Digits, c.Code)
	}
	whole, frac, ok := d.Int64(c.Digits)
	if !ok || whole < 1 || whole > c.MaxUnits || whole == c.MaxUnits && frac > 0 {
		return 0, outOfRange
	}
	return whole*c.unit() + frac, nil
}

// FormatAmount formats an amount as the service does: whole units without a point ("125"), others
// with all decimal places ("125.50").
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

// Codes returns the ISO 4217 codes of all currencies of listings, in alphabetical order.
func Codes() []string { return slices.Sorted(maps.Keys(currencies)) }
