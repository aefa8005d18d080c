package inventory

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/sellside-sdk/sellside-go/gen"
)

// maxQuantity prevents a typing error from making a million listings. It is a fifth of what an
// account may list in a day.
const maxQuantity = 10_000

// maxText is the longest query of a search, in characters.
const maxText = 100

// rowReader reads the fields of one record and reports the invalid ones.
type rowReader struct {
	file    *File
	line    int
	fields  []string
	columns columns
}

func (r *rowReader) read() Row {
	row := Row{Line: r.line, Fields: r.fields, VariantID: r.text(variantID)}
	row.StyleID, row.Size = r.text(styleID), r.text(size)
	if r.value(variantID) == "" {
		r.demand(styleID, "or give the variant_id")
		r.demand(size, "or give the variant_id")
	} else {
		r.checkVariant(row.VariantID)
	}
	if text, ok := r.demand(price, "such as 162 or 162.50"); ok {
		row.Price = r.price(text)
	}
	if text, ok := r.demand(currency, "such as USD"); ok {
		row.Currency = r.currency(text)
	}
	if text, ok := r.demand(quantity, "1 or more"); ok {
		row.Quantity = r.quantity(text)
	}
	row.Active = r.active(r.value(active))
	if err := row.ExpiresAt.UnmarshalText([]byte(r.value(expiresAt))); err != nil {
		r.invalid(expiresAt, "is no date: write 2026-12-31, or 2026-12-31T18:00:00Z with a time")
	}
	return row
}

// checkVariant reports a variant id that cannot be one, or that a style id or a size may contradict.
func (r *rowReader) checkVariant(id string) {
	switch {
	case id != "" && strings.Trim(id, ".") == "":
		r.invalid(variantID, "is no id: copy it from the catalog")
	case r.value(styleID) != "" || r.value(size) != "":
		r.invalid(variantID, "is given beside a style_id or a size, which may contradict it: leave the one or the others empty")
	}
}

// value returns the field of a column, "" where the file has no such column.
func (r *rowReader) value(column string) string {
	if i := slices.Index(r.columns, column); i >= 0 {
		return r.fields[i]
	}
	return ""
}

// demand returns the field of a required column. A missing column is reported with the header.
func (r *rowReader) demand(column, want string) (text string, ok bool) {
	text = r.value(column)
	if text == "" && slices.Contains(r.columns, column) {
		r.file.Add(r.line, "%s is missing: fill it in, %s", column, want)
	}
	return text, text != ""
}

func (r *rowReader) invalid(column, format string, args ...any) {
	r.file.Add(r.line, "%s %s %s", column, quoted(r.value(column)), fmt.Sprintf(format, args...))
}

// text returns an id or a size, and "" for a text that cannot be one.
func (r *rowReader) text(column string) string {
	switch text := r.value(column); {
	case !utf8.ValidString(text):
		r.invalid(column, "is not UTF-8: save the file as UTF-8")
	case strings.ContainsFunc(text, unicode.IsControl):
		r.invalid(column, "has a line break or another control character: remove it")
	case utf8.RuneCountInString(text) > maxText:
		r.invalid(column, "is longer than %d characters: copy it from the catalog", maxText)
	default:
		return text
	}
	return ""
}

func (r *rowReader) currency(text string) gen.CurrencyCode {
	code := gen.CurrencyCode(strings.ToUpper(text))
	if !code.Valid() {
		r.invalid(currency, "cannot be listed in: write one of %s", currencies)
		return ""
	}
	return code
}

// currencies are those of the spec, for problems.
const currencies = "AUD, CAD, CHF, EUR, GBP, HKD, JPY, KRW, MXN, NZD, SGD and USD"

func (r *rowReader) quantity(text string) int {
	n, err := strconv.Atoi(text)
	switch {
	case err != nil && strings.Trim(text, "0123456789") != "":
		r.invalid(quantity, "is not a whole number: write 1 or more")
	case err != nil || n > maxQuantity:
		r.invalid(quantity, "is more than %d: if that is right, write several rows", maxQuantity)
	case n < 1:
		r.invalid(quantity, "lists nothing: write 1 or more, or remove the row")
	default:
		return n
	}
	return 0
}

func (r *rowReader) active(text string) *bool {
	switch strings.ToLower(text) {
	case "":
		return nil
	case "true", "yes":
		return new(true)
	case "false", "no":
		return new(false)
	}
	r.invalid(active, "is neither true nor false: write one of them")
	return nil
}

// quoted quotes a text, shortened to one line.
func quoted(text string) string {
	const limit = 40
	if runes := []rune(text); len(runes) > limit {
		return fmt.Sprintf("%q…", string(runes[:limit]))
	}
	return fmt.Sprintf("%q", text)
}

// price accepts digits, and optionally a point and more digits. It does not guess: 1,250 is a
// thousand times as much in one country as in another.
func (r *rowReader) price(text string) gen.Amount {
	whole, fraction, hasPoint := strings.Cut(text, ".")
	amount := gen.Amount(text)
	switch {
	case strings.Contains(text, ","):
		r.invalid(price, "has a comma: write no separators, and a point before the cents, as in 1250.00")
	case strings.ContainsFunc(text, func(c rune) bool { return unicode.Is(unicode.Sc, c) }):
		r.invalid(price, "has a currency sign: write the number alone, the currency has its own column")
	case !isDigits(whole) || hasPoint && !isDigits(fraction):
		r.invalid(price, "is not a price: write digits and a point, such as 162 or 162.50")
	case strings.Trim(text, "0.") == "":
		r.invalid(price, "is zero: write a price above zero")
	default:
		if _, err := amount.Decimal(); err != nil {
			r.invalid(price, "has too many digits: write 19 at most")
			return ""
		}
		return amount
	}
	return ""
}

func isDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}
