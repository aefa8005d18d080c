// Package catalog is the product catalog of the sandbox: products that exist,
// in the sizes they are made in, under ids that never change.
package catalog

import (
	_ "embed"
	"encoding/csv"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/govalues/decimal"
)

// Product is one product of the catalog. Products are shared and read-only.
type Product struct {
	ID          string // UUID
	URLKey      string
	StyleID     string // the manufacturer's style id
	Type        string // category, such as "sneakers"
	Title       string
	Brand       string
	Gender      string
	Season      string // such as "FW22"
	ReleaseDate time.Time
	Colorway    string
	Color       string // the main colour
	RetailPrice decimal.Decimal
	Variants    []*Variant // in the order of their sizes; at least one

	terms []string // what a search looks at, lower case
}

// Variant is a product in one size.
type Variant struct {
	ID      string // UUID
	Product *Product
	Name    string // "Url-Key:index"; not the size
	Size    string
	Sizes   []Size // the size in every system of the product, the default first
	GTINs   []GTIN
}

// Catalog holds all products and finds them by id and by words. It is
// immutable and safe for concurrent use.
type Catalog struct {
	products []*Product
	byID     map[string]*Product
	variants map[string]*Variant
}

//go:embed catalog.csv
var file string

// namespace is the root of all ids of the catalog: a product's id depends on
// its style id and a variant's on its product and size, and on nothing else.
var namespace = uuid.NewSHA1(uuid.NameSpaceURL, []byte("https://github.com/sellside-sdk/sellside-go/sandbox/catalog"))

// Load returns the catalog, which is read once per process.
var Load = sync.OnceValues(func() (*Catalog, error) { return parse(file) })

func parse(text string) (*Catalog, error) {
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("read catalog: %w", err)
	}
	c := &Catalog{byID: map[string]*Product{}, variants: map[string]*Variant{}}
	for i, row := range rows[1:] {
		p, err := newProduct(row)
		if err != nil {
			return nil, fmt.Errorf("read catalog: line %d: %w", i+2, err)
		}
		c.products = append(c.products, p)
		c.byID[p.ID] = p
		for _, v := range p.Variants {
			c.variants[v.ID] = v
		}
	}
	return c, nil
}

// newProduct reads one line: style_id, brand, title, product_type, retail_usd,
// release_date, colorway, sizes.
func newProduct(row []string) (*Product, error) {
	released, err := time.Parse(time.DateOnly, row[5])
	if err != nil {
		return nil, err
	}
	retail, err := decimal.Parse(row[4])
	if err != nil {
		return nil, err
	}
	run, ok := runs[row[7]]
	if !ok {
		return nil, fmt.Errorf("no such sizes: %q", row[7])
	}
	p := &Product{
		ID:          uuid.NewSHA1(namespace, []byte(row[0])).String(),
		URLKey:      slug(row[2]),
		StyleID:     row[0],
		Brand:       row[1],
		Title:       row[2],
		Type:        row[3],
		RetailPrice: retail,
		ReleaseDate: released,
		Season:      season(released),
		Colorway:    row[6],
		Color:       strings.ToLower(lastWord(row[6])),
		Gender:      run.gender,
	}
	p.terms = terms(p.Brand + " " + p.Title + " " + p.StyleID)
	for i, size := range run.sizes {
		id := uuid.NewSHA1(uuid.MustParse(p.ID), []byte(size))
		p.Variants = append(p.Variants, &Variant{
			ID:      id.String(),
			Product: p,
			Name:    fmt.Sprintf("%s:%d", p.URLKey, i),
			Size:    size,
			Sizes:   run.conversions(i),
			GTINs:   gtins(id),
		})
	}
	return p, nil
}

// Products returns all products. The caller must not change them.
func (c *Catalog) Products() []*Product { return c.products }

// Product finds a product by its id.
func (c *Catalog) Product(id string) (*Product, bool) {
	p, ok := c.byID[id]
	return p, ok
}

// Variant finds a variant of any product by its id.
func (c *Catalog) Variant(id string) (*Variant, bool) {
	v, ok := c.variants[id]
	return v, ok
}

// slug joins the words of a title with hyphens, as addresses have them.
func slug(title string) string {
	return strings.Join(strings.FieldsFunc(title, func(r rune) bool { return !isWord(r) }), "-")
}

// season is the half year a product came out in: "SS23" or "FW23".
func season(released time.Time) string {
	if released.Month() <= time.June {
		return released.Format("SS06")
	}
	return released.Format("FW06")
}

// lastWord is the main colour of a colorway, which names it last within its
// first part: "Varsity Red/Black/Sail" is red.
func lastWord(colorway string) string {
	first, _, _ := strings.Cut(colorway, "/")
	words := strings.Fields(first)
	return words[len(words)-1]
}
