package catalog

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/govalues/decimal"
)

// Proposal is a product that a seller proposes for the catalog, with the members that a review
// reads.
type Proposal struct {
	Category    string   `json:"category"`
	Title       string   `json:"productTitle"`
	Brand       string   `json:"brand"`
	Images      []string `json:"productImages"`
	Sizes       []string `json:"variants"` // at least one
	RetailPrice string   `json:"retailPrice"`
	ReleaseDate string   `json:"releaseDate"`
	Colorway    string   `json:"colorway"`
	GTIN        string   `json:"gtin"`
	Gender      string   `json:"gender"`
	StyleCode   string   `json:"styleCode"`
}

// priceLimit is the lowest retail price that is refused as impossible.
var priceLimit = decimal.MustNew(1_000_000, 0)

// Product returns the product of a proposal. The id is a UUID. The same proposal and id always make
// equal products. An error is a reason to reject the proposal.
func (p Proposal) Product(id string) (*Product, error) {
	retail, err := decimal.Parse(p.RetailPrice)
	if err != nil || retail.Sign() < 1 || retail.Cmp(priceLimit) >= 0 {
		return nil, fmt.Errorf("retail price (%.40q): must be positive and below %s", p.RetailPrice, priceLimit)
	}
	released, err := time.Parse(time.DateOnly, p.ReleaseDate)
	if err != nil {
		return nil, fmt.Errorf("release date (%.40q): must be YYYY-MM-DD", p.ReleaseDate)
	}
	if err := checkImages(p.Images); err != nil {
		return nil, err
	}
	product := &Product{
		ID:          id,
		URLKey:      cmp.Or(urlKey(p.Title), id),
		StyleID:     p.StyleCode,
		Type:        p.Category,
		Title:       p.Title,
		Brand:       p.Brand,
		Gender:      p.Gender,
		Season:      season(released),
		ReleaseDate: released,
		Colorway:    p.Colorway,
		Color:       mainColor(p.Colorway),
		RetailPrice: retail,
	}
	return product, p.addVariants(product)
}

func (p Proposal) addVariants(product *Product) error {
	sizes := map[string]bool{}
	for _, s := range p.Sizes {
		if sizes[s] {
			return fmt.Errorf("size (%.40q): must be unique", s)
		}
		sizes[s] = true
		v, _ := product.addVariant(s)
		v.Sizes = p.conversions(s)
	}
	if p.GTIN == "" {
		return nil
	}
	g, err := ParseGTIN(p.GTIN)
	if err == nil {
		first := product.Variants[0] // assumed, since the number is of no size in particular
		first.GTINs = []GTIN{g}
	}
	return err
}

// conversions returns a size in every system that is known for shoes of that size, else only as it
// was proposed.
func (p Proposal) conversions(size string) []Size {
	if p.Category == "sneakers" || p.Category == "shoes" {
		if r, ok := runs[p.Gender]; ok {
			for i, s := range r.sizes {
				if s == size {
					return r.conversions(i)
				}
			}
		}
	}
	return []Size{{System{"Size", "size"}, size}}
}

// checkImages requires an image at least, without which there is nothing to review.
func checkImages(images []string) error {
	if len(images) == 0 {
		return errors.New("images: must have one at least")
	}
	for _, image := range images {
		if u, err := url.Parse(image); err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
			return fmt.Errorf("image (%.80q): must be an http or https URL", image)
		}
	}
	return nil
}
