package catalog

import "strings"

// index finds products by all that is unique about them.
type index struct {
	all      []*Product
	products map[string]*Product // by id
	variants map[string]*Variant // by id
	gtins    map[string]*Variant // by key
	named    map[name]*Product
}

func newIndex() *index {
	return &index{
		products: map[string]*Product{}, variants: map[string]*Variant{}, gtins: map[string]*Variant{}, named: map[name]*Product{},
	}
}

func (i *index) add(p *Product) {
	i.all = append(i.all, p)
	i.products[p.ID] = p
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

// name is what people know a product by, in lower case. One of style and title
// is empty.
type name struct {
	brand, style, title string
}

// names returns the names of a product, the one that tells it best first.
func (p *Product) names() []name {
	brand := strings.ToLower(p.Brand)
	byTitle := name{brand: brand, title: strings.ToLower(p.Title)}
	if p.StyleID == "" {
		return []name{byTitle}
	}
	return []name{{brand: brand, style: strings.ToLower(p.StyleID)}, byTitle}
}
