package stock

import (
	"slices"
	"unicode"
	"unicode/utf8"
)

// column is a column that the reader knows.
type column int

const (
	unknown column = iota - 1
	sku
	variantID
	gtin
	styleID
	size
	price
	rule
	floor
	ceiling
	fallback
	currency
	quantity
	asOf
	active
	expiresAt
	columnCount
)

// columnNames are the names that problems and the [Writer] use.
var columnNames = [columnCount]string{
	sku: "sku", variantID: "variant_id", gtin: "gtin", styleID: "style_id", size: "size",
	price: "price", rule: "rule", floor: "floor", ceiling: "ceiling", fallback: "fallback",
	currency: "currency", quantity: "quantity", asOf: "as_of", active: "active", expiresAt: "expires_at",
}

// columnOf returns the column that a header or a member names. Case does not matter, nor does what
// is between words. All accepted names are listed here; no name is guessed.
func columnOf(name string) column {
	letters := make([]byte, 0, 32)
	for _, c := range name {
		if unicode.IsLetter(c) || unicode.IsDigit(c) {
			letters = utf8.AppendRune(letters, unicode.ToLower(c))
		}
	}
	switch string(letters) {
	case "sku", "sellersku", "merchantsku", "itemsku":
		return sku
	case "variantid", "variant":
		return variantID
	case "gtin", "upc", "ean", "barcode":
		return gtin
	case "styleid", "style", "stylecode", "styleno", "stylenumber":
		return styleID
	case "size":
		return size
	case "price", "ask", "askprice", "askingprice", "amount":
		return price
	case "rule", "pricerule", "pricingrule":
		return rule
	case "floor", "floorprice", "pricefloor", "minprice", "minimumprice":
		return floor
	case "ceiling", "ceilingprice", "priceceiling", "maxprice", "maximumprice":
		return ceiling
	case "fallback", "fallbackprice":
		return fallback
	case "currency", "currencycode":
		return currency
	case "quantity", "qty", "stock", "instock", "onhand":
		return quantity
	case "asof", "countedat", "stockasof":
		return asOf
	case "active":
		return active
	case "expiresat", "expires", "expiry", "expirydate", "expirationdate":
		return expiresAt
	}
	return unknown
}

// DefaultColumns returns the names of all columns that the reader knows.
func DefaultColumns() []string { return slices.Clone(columnNames[:]) }
