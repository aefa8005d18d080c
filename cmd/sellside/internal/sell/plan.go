// Package sell lists an inventory in batches and finds out what became of every listing.
package sell

import (
	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/inventory"
	"github.com/sellside-sdk/sellside-go/gen"
)

// maxListings is how many listings one batch makes at most. What the service takes is not documented for
// creations; it is 100 for all other batches.
const maxListings = 100

// batch is one call: the items that are sent, and the listings that they make. Equal listings are one item
// with a quantity, and each has an input and a result here, at the same index.
type batch struct {
	items   []gen.CreateItem
	inputs  []terms
	results []Result // a part of the results of the whole run
}

// plan spreads rows over batches in their order. A row whose quantity a batch cannot hold goes on in the next.
func plan(rows []inventory.Row) ([]Result, []batch) {
	var results []Result
	var batches []batch
	for i := range rows {
		row := &rows[i]
		for left := row.Quantity; left > 0; {
			if n := len(batches); n == 0 || len(batches[n-1].inputs) == maxListings {
				batches = append(batches, batch{})
			}
			b := &batches[len(batches)-1]
			n := min(left, maxListings-len(b.inputs))
			item := itemOf(row, n)
			b.items = append(b.items, item)
			for range n {
				b.inputs = append(b.inputs, termsOf(&item))
				results = append(results, Result{
					Line: row.Line, Nth: row.Quantity - left + 1, Status: StatusNotSent, Error: adviceNotSent,
				})
				left--
			}
		}
	}
	from := 0
	for i := range batches {
		to := from + len(batches[i].inputs)
		batches[i].results = results[from:to:to]
		from = to
	}
	return results, batches
}

func itemOf(row *inventory.Row, quantity int) gen.CreateItem {
	return gen.CreateItem{
		VariantID: row.VariantID, Amount: row.Price, CurrencyCode: row.Currency, Quantity: gen.Int(quantity),
		Active: row.Active, ExpiresAt: row.ExpiresAt,
	}
}
