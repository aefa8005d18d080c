package catalog

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/govalues/decimal"
)

// Proposal is what a seller says about a product that the catalog should have,
// as far as it is looked at.
type Proposal struct {
	Category    string            `json:"category"`
	Title       string            `json:"productTitle"`
	Brand       string            `json:"brand"`
	Images      []string          `json:"productImages"`
	Sizes       []ProposedVariant `json:"variants"` // at least one
	RetailPrice json.Number       `json:"retailPrice"`
	ReleaseDate string            `json:"releaseDate"`
	Colorway    string            `json:"colorway"`
	GTIN        string            `json:"gtin"`
	Gender      string            `json:"gender"`
	StyleCode   string            `json:"styleCode"`
}

// ProposedVariant is a size of a proposed product.
type ProposedVariant struct {
	Size string `json:"size"`
	GTIN string `json:"gtin"` // may be empty
}

// priceLimit is where a retail price is no longer believed.
var priceLimit = decimal.MustNew(1_000_000, 0)

// Product makes a product of a proposal, under an id that is a UUID. The same
// proposal and id always make the same product. An error is a reason to reject
// the proposal.
func (p Proposal) Product(id string) (*Product, error) {
	retail, err := decimal.Parse(p.RetailPrice.String())
	if err != nil || retail.Sign() < 1 || retail.Cmp(priceLimit) >= 0 {
		return nil, fmt.Errorf("a retail price of %.40s is not possible: it has to be positive and below %s", p.RetailPrice, priceLimit)
	}
	released, err := time.Parse(time.DateOnly, p.ReleaseDate)
	if err != nil {
		return nil, fmt.Errorf("the release date %.40q is not a day as YYYY-MM-DD", p.ReleaseDate)
	}
	if err := checkImages(p.Images); err != nil {
		return nil, err
	}
	made := &Product{
		ID:          id,
		URLKey:      cmp.Or(slug(p.Title), id),
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
	return made, p.addVariants(made)
}

func (p Proposal) addVariants(made *Product) error {
	sizes := map[string]bool{}
	numbers := map[string]bool{}
	for _, s := range p.Sizes {
		if sizes[s.Size] {
			return fmt.Errorf("the size %.40q is there twice", s.Size)
		}
		sizes[s.Size] = true
		v, _ := made.addVariant(s.Size)
		v.Sizes = p.conversions(s.Size)
		if s.GTIN == "" {
			continue
		}
		g, err := ParseGTIN(s.GTIN)
		if err != nil {
			return err
		}
		if numbers[g.keys()[0]] {
			return fmt.Errorf("two sizes have the trade item number %s", g.Identifier)
		}
		numbers[g.keys()[0]] = true
		v.GTINs = []GTIN{g}
	}
	if p.GTIN == "" {
		return nil
	}
	g, err := ParseGTIN(p.GTIN)
	if err == nil && !numbers[g.keys()[0]] {
		made.Variants[0].GTINs = append(made.Variants[0].GTINs, g) // the number of no size in particular
	}
	return err
}

// conversions returns a size in every system: those of the shoes in the catalog
// for shoes of a known size, and otherwise only the one it was proposed in.
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

// checkImages wants a picture at least, for nothing can be reviewed unseen.
func checkImages(images []string) error {
	if len(images) == 0 {
		return errors.New("there are no pictures of the product")
	}
	for _, image := range images {
		if u, err := url.Parse(image); err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
			return fmt.Errorf("%.80q is not the address of a picture", image)
		}
	}
	return nil
}
