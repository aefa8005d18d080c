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

// maxQuantity keeps a slip of the finger from becoming a million listings. It is a fifth of what an account
// may list in a day.
const maxQuantity = 10_000

// maxText is the most characters a search takes, and far more than any id or size has.
const maxText = 100

// rowReader reads the fields of one record and notes what is wrong with each.
type rowReader struct {
	file    *File
	line    int
	fields  []string
	columns columns
}

func (r *rowReader) read() Row {
	row := Row{Line: r.line, VariantID: r.text(variantID)}
	row.StyleID, row.Size = r.text(styleID), r.text(size)
	if r.value(variantID) == "" {
		r.demand(styleID, "or give the variant_id")
		r.demand(size, "or give the variant_id")
	} else if strings.Trim(row.VariantID, ".") == "" && row.VariantID != "" {
		r.wrong(variantID, "is no id")
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
		r.wrong(expiresAt, "is no date: write 2026-12-31, or 2026-12-31T18:00:00Z with a time")
	}
	return row
}

// value returns the field of a column, "" where the file has no such column.
func (r *rowReader) value(column string) string {
	if i := slices.Index(r.columns, column); i >= 0 {
		return r.fields[i]
	}
	return ""
}

// demand returns the field of a column that has to be filled in. The header has told of a missing column.
func (r *rowReader) demand(column, want string) (text string, ok bool) {
	text = r.value(column)
	if text == "" && slices.Contains(r.columns, column) {
		r.file.Add(r.line, "%s is missing: fill it in, %s", column, want)
	}
	return text, text != ""
}

func (r *rowReader) wrong(column, format string, args ...any) {
	r.file.Add(r.line, "%s %s %s", column, quoted(r.value(column)), fmt.Sprintf(format, args...))
}

// text returns an id or a size, which is one line of characters, and "" for what cannot be one.
func (r *rowReader) text(column string) string {
	switch text := r.value(column); {
	case !utf8.ValidString(text):
		r.wrong(column, "is not UTF-8: save the file as UTF-8")
	case strings.ContainsFunc(text, unicode.IsControl):
		r.wrong(column, "holds a line break or another control character")
	case utf8.RuneCountInString(text) > maxText:
		r.wrong(column, "is longer than %d characters", maxText)
	default:
		return text
	}
	return ""
}

func (r *rowReader) currency(text string) gen.CurrencyCode {
	code := gen.CurrencyCode(strings.ToUpper(text))
	if !code.Valid() {
		r.wrong(currency, "cannot be listed in: write one of %s", currencies)
		return ""
	}
	return code
}

// currencies are those of the service's document, for people to read.
const currencies = "AUD, CAD, CHF, EUR, GBP, HKD, JPY, KRW, MXN, NZD, SGD and USD"

func (r *rowReader) quantity(text string) int {
	n, err := strconv.Atoi(text)
	switch {
	case err != nil && strings.Trim(text, "0123456789") != "":
		r.wrong(quantity, "is not a whole number of 1 or more")
	case err != nil || n > maxQuantity:
		r.wrong(quantity, "is more than %d: if that is right, write several rows", maxQuantity)
	case n < 1:
		r.wrong(quantity, "lists nothing: write 1 or more, or take the row out")
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
	r.wrong(active, "is neither true nor false")
	return nil
}

// quoted shortens what would fill the screen.
func quoted(text string) string {
	const limit = 40
	if runes := []rune(text); len(runes) > limit {
		return fmt.Sprintf("%q…", string(runes[:limit]))
	}
	return fmt.Sprintf("%q", text)
}
