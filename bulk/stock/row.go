// Package stock reads and writes inventories: the rows that a seller wants to be listed.
package stock

import (
	"time"

	"github.com/govalues/decimal"

	"github.com/sellside-sdk/sellside-go/gen"
)

// Row is one line of an inventory: an item, how many of it are in stock, and what to ask for it.
type Row struct {
	Line int    // Of the file, from 1.
	SKU  string // The seller's key of the row, unique in the inventory.

	// The item: its id, or its GTIN, or its style id and size. The first that is set is used.
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

	Fields []string // All fields as they are in the file, in the order of its columns.
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
	Floor       gen.Amount      // The least that a rule asks.
	Ceiling     gen.Amount      // The most that a rule asks.
	Fallback    gen.Amount      // Asked if the market has no such price. Without it the row waits for one.
}
