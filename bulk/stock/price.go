package stock

import (
	"fmt"
	"strings"

	"github.com/govalues/decimal"

	"github.com/sellside-sdk/sellside-go/gen"
)

// ParseRule parses the text of a pricing rule. The grammar, in any case and with space ignored:
//
//	lowest          the lowest ask of others
//	lowest-1.50     that less an amount
//	lowest-5%       that less a percentage above 0 and below 100
//	bid             the highest bid
//
// The limits of the price are left zero.
func ParseRule(text string) (Price, error) {
	words := strings.ToLower(strings.Join(strings.Fields(text), ""))
	name, less, hasLess := strings.Cut(words, "-")
	switch {
	case words == "bid":
		return Price{Kind: PriceAtHighest}, nil
	case words == "lowest":
		return Price{Kind: PriceBelowLowest}, nil
	case name != "lowest" || !hasLess:
		return Price{}, fmt.Errorf("parse rule: unknown rule (%s): write lowest, lowest-1, lowest-5%% or bid", excerpt(text))
	}
	digits, percent := strings.CutSuffix(less, "%")
	if problem := checkAmount(digits); problem != "" {
		return Price{}, fmt.Errorf("parse rule: %s %s", excerpt(digits), problem)
	}
	if !percent {
		return Price{Kind: PriceBelowLowest, Less: gen.Amount(digits)}, nil
	}
	d, err := gen.Amount(digits).Decimal()
	if err != nil || d.Cmp(decimal.Hundred) >= 0 {
		return Price{}, fmt.Errorf("parse rule: %s%% leaves nothing: write less than 100%%", digits)
	}
	return Price{Kind: PriceBelowLowest, LessPercent: d}, nil
}

// Rule returns the text that [ParseRule] parses, "" for a fixed price.
func (p Price) Rule() string {
	switch {
	case p.Kind == PriceAtHighest:
		return "bid"
	case p.Kind != PriceBelowLowest:
		return ""
	case p.Less != "":
		return "lowest-" + p.Less.String()
	case !p.LessPercent.IsZero():
		return "lowest-" + p.LessPercent.String() + "%"
	}
	return "lowest"
}

// checkAmount returns why a text is no amount above zero, or "". It accepts digits, and optionally
// a point and more digits. It does not guess: 1,250 is a thousand times as much in one country as
// in another.
func checkAmount(text string) string {
	first, fraction, hasPoint := strings.Cut(text, ".")
	switch {
	case strings.Contains(text, ","):
		return "has a comma: write no separators, and a point before the cents, as in 1250.00"
	case strings.ContainsFunc(text, isCurrencySign):
		return "has a currency sign: write the number alone, the currency has its own column"
	case !isDigits(first) || hasPoint && !isDigits(fraction):
		return "is not a price: write digits and a point, such as 162 or 162.50"
	case strings.Trim(text, "0.") == "":
		return "is zero: write an amount above zero"
	}
	if len(text) > maxText {
		return "has too many digits: write 19 at most"
	}
	if _, err := gen.Amount(text).Decimal(); err != nil {
		return "has too many digits: write 19 at most"
	}
	return ""
}

// hasCents reports whether amounts of the currency have a fraction.
func hasCents(code gen.CurrencyCode) bool {
	digits, _ := code.Digits()
	return digits > 0
}

func isDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}
