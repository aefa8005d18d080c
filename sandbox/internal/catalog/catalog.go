// Package catalog has the products of the sandbox: real ones in the sizes they are made in, with
// ids that never change, and those that sellers have ingested.
package catalog

import (
	"strings"
	"sync"
	"time"

	"github.com/govalues/decimal"
)

// Product is one product. Products are shared and read-only.
type Product struct {
	ID          string // UUID
	URLKey      string // lower-case words, joined by hyphens
	StyleID     string // the manufacturer's style id; empty if it has none
	Type        string // category, such as "sneakers"
	Title       string
	Brand       string
	Gender      string // may be empty, as the other attributes that are text
	Season      string // such as "FW22"
	ReleaseDate time.Time
	Colorway    string
	Color       string // the main colour
	RetailPrice decimal.Decimal
	Variants    []*Variant // in the order of their sizes; at least one
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

// Catalog finds the products of one sandbox by id, trade item number and name. It is safe for
// concurrent use.
type Catalog struct {
	base *index // the products of every sandbox; shared and read-only

	mu       sync.RWMutex
	ingested *index
}

// Load returns a catalog with the products of every sandbox. They are read once per process.
func Load() (*Catalog, error) {
	base, err := loadBase()
	if err != nil {
		return nil, err
	}
	return &Catalog{base: base, ingested: newIndex()}, nil
}

// Products returns the products of every sandbox, without ingested ones. The caller must not change
// them.
func (c *Catalog) Products() []*Product { return c.base.all }

// Ingested returns the products that were ingested or added, the oldest first, without older versions
// of those that were replaced.
func (c *Catalog) Ingested() []*Product {
	c.mu.RLock()
	defer c.mu.RUnlock()
	var all []*Product
	for _, p := range c.ingested.all {
		if c.ingested.products[p.ID] == p {
			all = append(all, p)
		}
	}
	return all
}

// Add adds an ingested product, or replaces the one with its id.
func (c *Catalog) Add(p *Product) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ingested.add(p)
}

// Reset removes the ingested products.
func (c *Catalog) Reset() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ingested = newIndex()
}

// Product finds a product by its id.
func (c *Catalog) Product(id string) (*Product, bool) {
	return find(c, func(i *index) (*Product, bool) { p, ok := i.products[id]; return p, ok })
}

// Variant finds a variant of any product by its id.
func (c *Catalog) Variant(id string) (*Variant, bool) {
	return find(c, func(i *index) (*Variant, bool) { v, ok := i.variants[id]; return v, ok })
}

// VariantByGTIN finds the variant with a trade item number in any form, or the variant in the
// package with that number.
func (c *Catalog) VariantByGTIN(g GTIN) (*Variant, bool) {
	for _, key := range g.keys() {
		if v, ok := find(c, func(i *index) (*Variant, bool) { v, ok := i.gtins[key]; return v, ok }); ok {
			return v, true
		}
	}
	return nil, false
}

// Named finds the product that a query names exactly: by a trade item number of one of its variants,
// or by its URL key.
func (c *Catalog) Named(query string) (*Product, bool) {
	query = strings.ToLower(strings.TrimSpace(query))
	if g, err := ParseGTIN(query); err == nil {
		if v, ok := c.VariantByGTIN(g); ok {
			return v.Product, true
		}
	}
	return find(c, func(i *index) (*Product, bool) { p, ok := i.keys[query]; return p, ok })
}

// Namesake finds the product that p would be confused with: of the same brand and style id or, if p
// has no style id, of the same brand and title.
func (c *Catalog) Namesake(p *Product) (*Product, bool) {
	n := p.names()[0]
	return find(c, func(i *index) (*Product, bool) { p, ok := i.named[n]; return p, ok })
}

// find looks up in the products of every sandbox and then in the ingested ones.
func find[T any](c *Catalog, in func(*index) (T, bool)) (T, bool) {
	if found, ok := in(c.base); ok {
		return found, true
	}
	c.mu.RLock()
	defer c.mu.RUnlock()
	return in(c.ingested)
}

// index finds products by everything that is unique about them.
type index struct {
	all      []*Product
	products map[string]*Product // by id
	variants map[string]*Variant // by id
	gtins    map[string]*Variant // by key
	keys     map[string]*Product // by URL key
	named    map[name]*Product
}

func newIndex() *index {
	return &index{
		products: map[string]*Product{}, variants: map[string]*Variant{},
		gtins: map[string]*Variant{}, keys: map[string]*Product{}, named: map[name]*Product{},
	}
}

func (i *index) add(p *Product) {
	i.all = append(i.all, p)
	i.products[p.ID] = p
	i.keys[p.URLKey] = p
	for _, n := range p.names() {
		i.named[n] = p
	}
	for _, v := range p.Variants {
		i.variants[v.ID] = v
		for _, g := range v.GTINs {
			i.gtins[g.keys()[0]] = v
		}
	}
}

// name identifies a product, in lower case. One of style and title is empty.
type name struct {
	brand, style, title string
}

// names returns the names of a product, the most specific one first.
func (p *Product) names() []name {
	brand := strings.ToLower(p.Brand)
	byTitle := name{brand: brand, title: strings.ToLower(p.Title)}
	if p.StyleID == "" {
		return []name{byTitle}
	}
	return []name{{brand: brand, style: strings.ToLower(p.StyleID)}, byTitle}
}
