package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/sellside-sdk/sellside-go/gen"
)

// variantsOfProduct is how many variants a product has.
const variantsOfProduct = 20

// id returns a UUID of a kind of thing.
func id(kind, n int) string { return fmt.Sprintf("%08x-0000-4000-8000-%012x", kind, n) }

func variant(i int) string { return id(2, i) }

func price(i int) int { return 100 + i%400 }

// write writes an inventory of a row for each listing: unless it is edited, with the terms that the
// listing has.
func (p *planner) write(name string, isEdited bool) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	fmt.Fprintln(w, "sku,variant_id,price,currency,quantity")
	for i := range p.rows {
		amount, item := price(i), variant(i)
		switch {
		case isEdited && i%10 == 3:
			amount += 25
		case isEdited && i%100 == 7:
			item = variant(p.rows + i)
		}
		sku := i
		if item != variant(i) {
			sku += p.rows
		}
		fmt.Fprintf(w, "sku-%07d,%s,%d,USD,1\n", sku, item, amount)
	}
	return errors.Join(w.Flush(), f.Close())
}

// service is a marketplace with a listing of each of so many variants, and without orders.
type service struct {
	rows   int
	madeAt time.Time
}

func (s service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	number, _ := strconv.Atoi(r.URL.Query().Get("pageNumber"))
	size, _ := strconv.Atoi(r.URL.Query().Get("pageSize"))
	number, size = max(number, 1), max(size, 1)
	var page any
	switch {
	case r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/selling/listings"):
		page = s.listings(number, size)
	case r.Method == http.MethodGet && strings.Contains(r.URL.Path, "/selling/orders/"):
		page = gen.OrderPage{Orders: []gen.Order{}, PageNumber: gen.Int(number), PageSize: gen.Int(size)}
	default:
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(page) // the client may be gone
}

func (s service) listings(number, size int) gen.ListingPage {
	first := min((number-1)*size, s.rows)
	end := min(first+size, s.rows)
	page := gen.ListingPage{
		Count: gen.Int(s.rows), PageNumber: gen.Int(number), PageSize: gen.Int(size), HasNextPage: end < s.rows,
		Listings: make([]gen.Listing, 0, size),
	}
	at := gen.Time{Time: s.madeAt}
	for i := first; i < end; i++ {
		page.Listings = append(page.Listings, gen.Listing{
			ListingID: id(3, i), Status: gen.ListingStatusActive, Amount: gen.Amount(strconv.Itoa(price(i))),
			CurrencyCode: gen.CurrencyCodeUSD, CreatedAt: at, UpdatedAt: at, InventoryType: gen.InventoryTypeStandard,
			Product: gen.ProductReference{ProductID: id(1, i/variantsOfProduct)}, Variant: gen.VariantReference{VariantID: variant(i)},
			Ask: &gen.ListingAsk{AskID: id(4, i), AskCreatedAt: at, AskUpdatedAt: at, AskExpiresAt: gen.Time{Time: s.madeAt.AddDate(2, 0, 0)}},
		})
	}
	return page
}
