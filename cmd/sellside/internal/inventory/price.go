package inventory

import (
	"strings"
	"unicode"

	"github.com/sellside-sdk/sellside-go/gen"
)

// price takes digits, and optionally a point and more digits. It guesses nothing: 1,250 is a thousand times
// as much in one country as in another.
func (r *rowReader) price(text string) gen.Amount {
	whole, fraction, hasPoint := strings.Cut(text, ".")
	amount := gen.Amount(text)
	switch {
	case strings.Contains(text, ","):
		r.wrong(price, "has a comma: write no separators, and a point before the cents, as in 1250.00")
	case strings.ContainsFunc(text, func(c rune) bool { return unicode.Is(unicode.Sc, c) }):
		r.wrong(price, "has a currency sign: write the number alone, the currency has a column of its own")
	case !isDigits(whole) || hasPoint && !isDigits(fraction):
		r.wrong(price, "is not a price: write digits and a point, such as 162 or 162.50")
	case strings.Trim(text, "0.") == "":
		r.wrong(price, "gives the item away: write a price above zero")
	default:
		if _, err := amount.Decimal(); err != nil {
			r.wrong(price, "has more digits than any price")
			return ""
		}
		return amount
	}
	return ""
}

func isDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}
