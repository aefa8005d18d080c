package main

import (
	"encoding/csv"
	"fmt"
	"io"
	"math/rand/v2"
	"strconv"
	"time"
)

// Prices are whole US dollars. The order book has its lowest ask at bookAsk, and rules keep between
// floor and ceiling. Fixed prices are below the book, prices set from outside may be above it.
const (
	bookAsk = 400
	floor   = 300
	ceiling = 600
)

// group is the stock of one variant: one SKU, or two that share it and have equal terms, which are
// the hardest to distinguish.
type group struct {
	variant, style, size string
	rows                 []*row

	stock  int  // Items that the seller really has.
	listed bool // The inventory has its rows.
	// isCut means that stock was taken away, or moved between rows, while more of it may be listed:
	// until the listings are seen to be no more than stock, a buyer may be faster than the delete.
	isCut bool
	// isUnpaid means that an order was canceled since stock was counted, which the ledger reports as a
	// conflict. The item does not come back.
	isUnpaid bool

	price  int
	isRule bool // The price is 1 below the lowest ask.
	active bool
}

// row is one line of the inventory.
type row struct {
	sku      string
	byStyle  bool // Names the item by style id and size.
	quantity int
	asOf     time.Time // Zero if the inventory does not state it.
}

// newGroups draws the stock of an inventory of n rows.
func newGroups(random *rand.Rand, n int, variant func(i int) (id, style, size string)) []*group {
	var groups []*group
	for made := 0; made < n; {
		g := &group{listed: true, active: random.IntN(20) > 0, price: floor + random.IntN(90), isRule: random.IntN(10) == 0}
		g.variant, g.style, g.size = variant(len(groups))
		rows := 1
		if random.IntN(20) == 0 && n-made > 1 {
			rows = 2
		}
		for range rows {
			r := &row{sku: fmt.Sprintf("sku-%06d", made), byStyle: random.IntN(10) == 0, quantity: random.IntN(3)}
			if random.IntN(2) == 0 {
				r.asOf = time.Now().Add(-time.Hour)
			}
			g.rows = append(g.rows, r)
			g.stock += r.quantity
			made++
		}
		groups = append(groups, g)
	}
	return groups
}

// edit changes what the seller wants, as of a time at which nothing is sold.
func (g *group) edit(random *rand.Rand, asOf time.Time) {
	stock := g.stock
	switch n := random.IntN(100); {
	case !g.listed:
		g.listed = true
		stock = 1 + random.IntN(2)
	case n < 35:
		g.price = floor + random.IntN(90)
		return
	case n < 60:
		stock += 1 + random.IntN(2)
	case n < 75:
		stock = max(0, stock-1)
	case n < 85:
		g.isRule = !g.isRule
		return
	case n < 95:
		g.active = !g.active
		return
	default:
		g.listed, g.stock, g.isCut = false, 0, true
		return
	}
	g.count(random, stock, asOf)
}

// count states how much is in stock as of a time at which nothing is sold.
func (g *group) count(random *rand.Rand, stock int, asOf time.Time) {
	g.isCut = g.isCut || stock < g.stock || len(g.rows) > 1
	g.stock, g.isUnpaid = stock, false
	for i, r := range g.rows {
		r.asOf = asOf
		r.quantity = stock
		if i < len(g.rows)-1 {
			r.quantity = random.IntN(stock + 1)
		}
		stock -= r.quantity
	}
}

// writeInventory writes the rows of groups as CSV.
func writeInventory(w io.Writer, groups []*group) error {
	c := csv.NewWriter(w)
	if err := c.Write([]string{
		"sku", "variant_id", "style_id", "size", "price", "rule", "floor", "ceiling", "fallback", "currency", "quantity", "as_of", "active",
	}); err != nil {
		return err
	}
	for _, g := range groups {
		if !g.listed {
			continue
		}
		for _, r := range g.rows {
			variant, style, size := g.variant, "", ""
			if r.byStyle || g.isRule { // the market is read by product, which a variant id does not name
				variant, style, size = "", g.style, g.size
			}
			price, rule, least, most, fallback := strconv.Itoa(g.price), "", "", "", ""
			if g.isRule {
				price, rule, least, most, fallback = "", "lowest-1", strconv.Itoa(floor), strconv.Itoa(ceiling), strconv.Itoa(g.price)
			}
			asOf := ""
			if !r.asOf.IsZero() {
				asOf = r.asOf.UTC().Format(time.RFC3339Nano)
			}
			if err := c.Write([]string{
				r.sku, variant, style, size, price, rule, least, most, fallback, "USD",
				strconv.Itoa(r.quantity), asOf, strconv.FormatBool(g.active),
			}); err != nil {
				return err
			}
		}
	}
	c.Flush()
	return c.Error()
}
