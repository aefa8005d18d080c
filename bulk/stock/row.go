// Package stock reads and writes inventories: the rows that a seller wants to be listed.
//
// An inventory is CSV, separated by commas, semicolons or tabs, or NDJSON, a JSON object a line. It
// is in UTF-8 or, with a byte order mark, in UTF-16. The first line of CSV names the columns, in any
// order; the members of NDJSON have the same names. Case and what is between words do not matter
// ("Seller SKU" is seller_sku).
//
//	column      also accepted                              value
//	sku         seller sku, merchant sku, item sku         key of the row, unique
//	variant_id  variant                                    the item, without gtin, style_id and size
//	gtin        upc, ean, barcode                          the item: 8, 12, 13 or 14 digits
//	style_id    style, style code, style no, style number  the item, with size
//	size
//	price       ask, ask price, asking price, amount       fixed price
//	rule        price rule, pricing rule                   lowest, lowest-1.50, lowest-5%, bid; see ParseRule
//	floor       floor price, price floor, min price,       the least to ask; required by rules
//	            minimum price
//	ceiling     ceiling price, price ceiling, max price,   the most to ask
//	            maximum price
//	fallback    fallback price                             asked by a rule without a market
//	currency    currency code                              required
//	quantity    qty, stock, in stock, on hand              required, 0 to 10,000; 0 lists nothing
//	as_of       counted at, stock as of                    when it was counted: RFC 3339 or a day
//	active                                                 true, yes, false or no
//	expires_at  expires, expiry, expiry date,              RFC 3339 or a day, in UTC
//	            expiration date
//
// Amounts have digits and a point, and no cents in JPY and KRW. Other columns and members are kept
// in [Row.Fields] and [Row.JSON], so that they can be written again.
//
// A file without the column sku has the item as its key: the variant id, or the GTIN in 14 digits,
// or style id, slash and size. Each item must then be in the file once. Rows of NDJSON have a sku if
// the first one has.
//
// Values of known columns have no line breaks, and a quote in them is closed on its line. Values of
// other columns may have line breaks (100 lines, 64 KiB a row), unless the lines could be rows that
// a stray quote hides: if one has as many separators as the header, they are reported. A line has
// 1 MiB and 1000 columns at most.
//
// A cell that begins with =, +, -, @, a tab or a carriage return is written to CSV with an
// apostrophe before it, because a spreadsheet would take it for a formula. The reader removes the
// apostrophe.
package stock

import (
	"time"

	"github.com/govalues/decimal"

	"github.com/sellside-sdk/sellside-go/gen"
)

// Row is one line of an inventory: an item, how many of it are in stock, and what to ask for it.
type Row struct {
	Line int    // Of the file, from 1.
	SKU  string // The seller's key of the row, unique in the inventory. See the package doc.

	// The item: its id alone, or its GTIN, or its style id and size. A style id and a size beside a
	// GTIN are what the seller takes the item for.
	VariantID string
	GTIN      string
	StyleID   string
	Size      string

	Price     Price
	Currency  gen.CurrencyCode
	Quantity  int       // Items in stock at AsOf, 0 or more.
	AsOf      time.Time // When Quantity was counted. Zero if the inventory does not state it.
	Active    *bool     // False lists the items without an ask. Nil is true.
	ExpiresAt gen.Time  // When the asks end. Zero leaves it to the service.

	Fields []string // All fields of a CSV line in the order of [Layout.Columns], space included.
	JSON   string   // The line of an NDJSON inventory.
}

// PriceKind is how the price of a row is determined.
type PriceKind string

// The kinds of prices.
const (
	PriceFixed       PriceKind = "fixed"        // Amount.
	PriceBelowLowest PriceKind = "below-lowest" // The lowest ask of others, less Less or LessPercent.
	PriceAtHighest   PriceKind = "at-highest"   // The highest bid, so that the item sells at once.
)

// Price is the price of a row, in the currency of the row: an amount, or a rule on the market.
// Zero amounts of a rule are not set.
type Price struct {
	Kind        PriceKind
	Amount      gen.Amount      // Of PriceFixed.
	Less        gen.Amount      // Of PriceBelowLowest: an amount below the lowest ask.
	LessPercent decimal.Decimal // Of PriceBelowLowest: percent of the lowest ask, instead of Less.
	Floor       gen.Amount      // The least that a rule asks. An amount of PriceFixed is not below it.
	Ceiling     gen.Amount      // The most that a rule asks. An amount of PriceFixed is not above it.
	Fallback    gen.Amount      // Asked if the market has no such price. Without it the row waits for one.
}
