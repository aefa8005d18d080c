package stock

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/sellside-sdk/sellside-go/gen"
)

const (
	// maxQuantity prevents a typing error from making a million listings. It is a fifth of what an
	// account may list in a day.
	maxQuantity = 10_000

	// maxText is the longest query of a search, in characters.
	maxText = 100

	// maxSKU is longer than any key that is made of an item.
	maxSKU = 255

	// clockSkew is how far ahead of this machine's clock the clock of a counter may be.
	clockSkew = 5 * time.Minute
)

// cell is a known value of a line.
type cell struct {
	text string // Without space around it.
	name string // As the file names the column or the member. Empty if the line has none.
	at   int    // Offset in the text of the line.
}

// cells reads the known values of one line and collects their problems.
type cells struct {
	line     int
	text     string // Of the line, or of several if a value has line breaks.
	cells    [columnCount]cell
	problems []*Problem
}

// add adds a problem at an offset of the text.
func (c *cells) add(at int, name, format string, args ...any) {
	c.problems = append(c.problems, problemAt(c.line, c.text, at, name, fmt.Sprintf(format, args...)))
}

// problemAt converts an offset to a line and a column.
func problemAt(line int, text string, at int, name, message string) *Problem {
	before := text[:min(at, len(text))]
	column := 1 + utf8.RuneCountInString(before[1+strings.LastIndexByte(before, '\n'):])
	return &Problem{Line: line + strings.Count(before, "\n"), Column: column, Name: name, Text: message}
}

// invalid adds a problem of a value.
func (c *cells) invalid(col column, format string, args ...any) {
	got := c.cells[col]
	c.add(got.at, got.name, "%s %s %s", got.name, excerpt(got.text), fmt.Sprintf(format, args...))
}

// missing adds the problem that a value is empty or that the line has no such member. A header
// without the column was reported before.
func (c *cells) missing(col column, want string) {
	got := c.cells[col]
	if got.name == "" {
		c.problems = append(c.problems, &Problem{Line: c.line, Name: columnNames[col], Text: columnNames[col] + " is missing: fill it in, " + want})
		return
	}
	c.add(got.at, got.name, "%s is missing: fill it in, %s", got.name, want)
}

func (c *cells) has(col column) bool { return c.cells[col].text != "" }

// row returns the row without its SKU and its fields. It is valid if no problem was added.
func (c *cells) row(opts Options) Row {
	row := Row{Line: c.line, AsOf: opts.AsOf}
	c.item(&row)
	if c.has(currency) {
		row.Currency = c.currency()
	} else {
		c.missing(currency, "such as USD")
	}
	row.Price = c.price(row.Currency)
	if c.has(quantity) {
		row.Quantity = c.quantity()
	} else {
		c.missing(quantity, "0 or more")
	}
	if c.has(asOf) {
		row.AsOf = c.asOf(opts.Location)
	}
	row.Active = c.active()
	if c.has(expiresAt) {
		if err := row.ExpiresAt.UnmarshalText([]byte(c.cells[expiresAt].text)); err != nil || row.ExpiresAt.IsZero() {
			c.invalid(expiresAt, "is no date: write 2026-12-31, or 2026-12-31T18:00:00Z with a time")
		}
	}
	return row
}

// item reads what identifies the item. A GTIN may be beside a style id and a size, as in the stock
// lists of most sellers.
func (c *cells) item(row *Row) {
	row.VariantID, row.StyleID, row.Size = c.id(variantID, maxText), c.id(styleID, maxText), c.id(size, maxText)
	row.GTIN = c.gtin()
	switch {
	case c.has(variantID):
		if strings.Trim(c.cells[variantID].text, ".") == "" {
			c.invalid(variantID, "is no id: copy it from the catalog")
		} else if c.has(styleID) || c.has(size) || c.has(gtin) {
			c.invalid(variantID, "is given beside a gtin, a style_id or a size, which may contradict it: leave the one or the others empty")
		}
	case c.has(gtin):
	default:
		if !c.has(styleID) {
			c.missing(styleID, "or give the gtin or the variant_id")
		}
		if !c.has(size) {
			c.missing(size, "or give the gtin or the variant_id")
		}
	}
}

// id returns an id, a size or a SKU, and "" for a text that cannot be one.
func (c *cells) id(col column, limit int) string {
	text := c.cells[col].text
	switch {
	case !utf8.ValidString(text) || strings.ContainsRune(text, utf8.RuneError):
		c.invalid(col, "is not UTF-8: save the file as UTF-8")
	case strings.ContainsFunc(text, unicode.IsControl):
		c.invalid(col, "has a line break or another control character: remove it")
	case utf8.RuneCountInString(text) > limit:
		c.invalid(col, "is longer than %d characters: shorten it, or copy it from the catalog", limit)
	default:
		return text
	}
	return ""
}

func (c *cells) gtin() string {
	text := c.cells[gtin].text
	switch {
	case text == "":
	case !isDigits(text):
		c.invalid(gtin, "is not digits alone: format the column as text before the barcodes are entered")
	case len(text) != 8 && (len(text) < 12 || len(text) > 14):
		c.invalid(gtin, "has %d digits and a barcode 8, 12, 13 or 14: format the column as text, spreadsheets drop zeros in front", len(text))
	case !hasCheckDigit(text):
		c.invalid(gtin, "has a wrong check digit: copy the barcode again")
	default:
		return text
	}
	return ""
}

// hasCheckDigit reports whether the digits of a GTIN, weighted by 3 and 1 from the right, add up to
// a multiple of ten.
func hasCheckDigit(digits string) bool {
	sum := 0
	for i := range len(digits) {
		weight := 1
		if (len(digits)-i)%2 == 0 {
			weight = 3
		}
		sum += weight * int(digits[i]-'0')
	}
	return sum%10 == 0
}

func (c *cells) currency() gen.CurrencyCode {
	code := gen.CurrencyCode(strings.ToUpper(c.cells[currency].text))
	if !code.Valid() {
		c.invalid(currency, "cannot be listed in: write one of %s", currencies)
		return ""
	}
	return code
}

// currencies are those of the spec, for problems.
const currencies = "AUD, CAD, CHF, EUR, GBP, HKD, JPY, KRW, MXN, NZD, SGD and USD"

// amount returns an amount above zero in a currency, "" if there is none or it is invalid.
func (c *cells) amount(col column, code gen.CurrencyCode) gen.Amount {
	text := c.cells[col].text
	if text == "" {
		return ""
	}
	if problem := checkAmount(text); problem != "" {
		c.invalid(col, "%s", problem)
		return ""
	}
	if first, fraction, _ := strings.Cut(text, "."); !hasCents(code) {
		if strings.Trim(fraction, "0") != "" {
			c.invalid(col, "has a fraction and %s has none: write a whole number", code)
			return ""
		}
		text = first
	}
	return gen.Amount(text)
}

func (c *cells) price(code gen.CurrencyCode) Price {
	p := Price{Kind: PriceFixed}
	if c.has(rule) {
		var err error
		if p, err = ParseRule(c.cells[rule].text); err != nil {
			c.invalid(rule, "is not valid: %s", strings.TrimPrefix(err.Error(), "parse rule: "))
		}
	}
	p.Amount, p.Floor = c.amount(price, code), c.amount(floor, code)
	p.Ceiling, p.Fallback = c.amount(ceiling, code), c.amount(fallback, code)
	switch {
	case c.has(rule) && c.has(price):
		c.invalid(price, "is given beside a rule: leave one empty, the price without a market is the fallback")
	case !c.has(rule) && c.has(fallback):
		c.invalid(fallback, "is given without a rule: leave it empty")
	case !c.has(rule) && !c.has(price):
		c.missing(price, "such as 162 or 162.50")
	}
	if c.has(rule) && !c.has(floor) {
		c.missing(floor, "the least that the rule may ask")
	}
	if p.Less != "" && !hasCents(code) && strings.Contains(p.Less.String(), ".") {
		c.invalid(rule, "has a fraction and %s has none: write a whole number", code)
	}
	c.ordered(p.Floor, p.Ceiling, ceiling, "is below the floor")
	for _, limited := range []struct {
		amount gen.Amount
		col    column
	}{{p.Amount, price}, {p.Fallback, fallback}} {
		c.ordered(p.Floor, limited.amount, limited.col, "is below the floor")
		c.ordered(limited.amount, p.Ceiling, limited.col, "is above the ceiling")
	}
	return p
}

// ordered reports a column if low is above high. Absent and invalid amounts are not compared.
func (c *cells) ordered(low, high gen.Amount, col column, problem string) {
	l, errLow := low.Decimal()
	h, errHigh := high.Decimal()
	if errLow == nil && errHigh == nil && l.Cmp(h) > 0 {
		c.invalid(col, "%s: correct one of them", problem)
	}
}

func (c *cells) quantity() int {
	text := c.cells[quantity].text
	n, err := strconv.Atoi(text)
	switch {
	case !isDigits(text):
		c.invalid(quantity, "is not a whole number: write 0 or more")
	case err != nil || n > maxQuantity:
		c.invalid(quantity, "is more than %d: if that is right, write several rows, each with its own sku", maxQuantity)
	default:
		return n
	}
	return 0
}

// asOf reads a time, or a day, which begins at midnight: sales of the day are after it.
func (c *cells) asOf(location *time.Location) time.Time {
	text := c.cells[asOf].text
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		if location == nil {
			location = time.UTC
		}
		at, err = time.ParseInLocation(time.DateOnly, text, location)
	}
	at = at.UTC()
	switch {
	case err != nil:
		c.invalid(asOf, "is no time: write 2026-11-21T18:00:00Z, or a day such as 2026-11-21")
	case at.Year() < 2000:
		c.invalid(asOf, "is too long ago: write when the stock was counted")
	case time.Until(at) > clockSkew:
		c.invalid(asOf, "is in the future, which would ignore sales until then: write when the stock was counted")
	default:
		return at
	}
	return time.Time{}
}

func (c *cells) active() *bool {
	switch strings.ToLower(c.cells[active].text) {
	case "":
		return nil
	case "true", "yes":
		return new(true)
	case "false", "no":
		return new(false)
	}
	c.invalid(active, "is neither true nor false: write one of them")
	return nil
}

func isCurrencySign(c rune) bool { return unicode.Is(unicode.Sc, c) }
