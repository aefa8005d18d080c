package catalog

import (
	"cmp"
	_ "embed"
	"encoding/csv"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/govalues/decimal"
)

//go:embed catalog.csv
var file string

// namespace is the root of all ids: that of a product depends on its style id only, and that of a
// variant on its product and size.
var namespace = uuid.NewSHA1(uuid.NameSpaceURL, []byte("https://github.com/sellside-sdk/sellside-go/sandbox/catalog"))

var loadBase = sync.OnceValues(func() (*index, error) { return parse(file) })

func parse(text string) (*index, error) {
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("read catalog: %w", err)
	}
	base := newIndex()
	for i, row := range rows[1:] {
		p, err := newProduct(row)
		if err != nil {
			return nil, fmt.Errorf("read catalog: line %d: %w", i+2, err)
		}
		base.add(p)
	}
	return base, nil
}

// newProduct reads one line: style_id, brand, title, product_type, retail_usd, release_date,
// colorway, sizes.
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
		return nil, fmt.Errorf("sizes (%q): not found", row[7])
	}
	p := &Product{
		ID:          uuid.NewSHA1(namespace, []byte(row[0])).String(),
		URLKey:      urlKey(row[2]),
		StyleID:     row[0],
		Brand:       row[1],
		Title:       row[2],
		Type:        row[3],
		RetailPrice: retail,
		ReleaseDate: released,
		Season:      season(released),
		Colorway:    row[6],
		Color:       mainColor(row[6]),
		Gender:      run.gender,
	}
	for i, size := range run.sizes {
		v, id := p.addVariant(size)
		v.Sizes, v.GTINs = run.conversions(i), inventGTINs(id)
	}
	return p, nil
}

// addVariant adds the next size of a product and returns it with its id.
func (p *Product) addVariant(size string) (*Variant, uuid.UUID) {
	id := uuid.NewSHA1(uuid.MustParse(p.ID), []byte(size))
	name := fmt.Sprintf("%s:%d", cmp.Or(hyphenate(p.Title), p.ID), len(p.Variants))
	v := &Variant{ID: id.String(), Product: p, Name: name, Size: size}
	p.Variants = append(p.Variants, v)
	return v, id
}

// urlKey returns the URL key of a product with a title.
func urlKey(title string) string { return strings.ToLower(hyphenate(title)) }

// hyphenate joins the words of a title with hyphens.
func hyphenate(title string) string {
	return strings.Join(strings.FieldsFunc(title, func(r rune) bool { return !isWord(r) }), "-")
}

// season returns the half year of a release: "SS23" or "FW23".
func season(released time.Time) string {
	if released.Month() <= time.June {
		return released.Format("SS06")
	}
	return released.Format("FW06")
}

// mainColor returns the main colour of a colorway, which is the last word of its first part: red of
// "Varsity Red/Black/Sail". It may be empty.
func mainColor(colorway string) string {
	first, _, _ := strings.Cut(colorway, "/")
	words := strings.Fields(strings.ToLower(first))
	if len(words) == 0 {
		return ""
	}
	return words[len(words)-1]
}
