package sandbox

import (
	"time"

	"github.com/sellside-sdk/sellside-go/sandbox/internal/catalog"
)

// Product is a product of a catalog. The ids of Catalog are the same in every sandbox and never
// change; those of AddProduct are of one sandbox.
type Product struct {
	ID          string // UUID
	StyleID     string // of the manufacturer, such as DZ5485-612
	Title       string
	Brand       string
	Type        string // category, such as "sneakers" or "trading cards"
	RetailPrice string // US dollars as decimal text
	ReleaseDate time.Time
	Variants    []Variant // in the order of their sizes; at least one
}

// Variant is a product in one size.
type Variant struct {
	ID   string // UUID
	Size string // such as "10.5", "XL" or "One Size"
}

// Catalog returns the products of every sandbox, without ingested ones. The caller owns the slice.
func Catalog() []Product {
	c, err := catalog.Load()
	if err != nil {
		panic(err) // the catalog is embedded in the program
	}
	products := make([]Product, 0, len(c.Products()))
	for _, p := range c.Products() {
		products = append(products, productOf(p))
	}
	return products
}

func productOf(p *catalog.Product) Product {
	variants := make([]Variant, 0, len(p.Variants))
	for _, v := range p.Variants {
		variants = append(variants, Variant{ID: v.ID, Size: v.Size})
	}
	return Product{
		ID: p.ID, StyleID: p.StyleID, Title: p.Title, Brand: p.Brand, Type: p.Type,
		RetailPrice: p.RetailPrice.String(), ReleaseDate: p.ReleaseDate, Variants: variants,
	}
}
