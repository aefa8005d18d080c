package resolve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/gen"
)

// maxPages bounds a search that finds ever more neighbours. The best matches come first, and 50 to a page.
const maxPages = 5

// maxStyleID is the most characters of a style id that is suggested instead of another.
const maxStyleID = 100

// product is what a style id was found to be.
type product struct {
	matches    []gen.Product // Those with exactly this style id: one, if all is well.
	neighbours []string      // Other style ids that the search found.
	variants   []gen.Variant // Those of the match, if it is the only one.
	refusal    error         // Why the service does not look this style id up.
}

// lookUp finds the product of a style id and its variants. A style id that the service refuses, and a product
// that has gone from it, are no failures: the other rows of the inventory can do without.
func lookUp(ctx context.Context, catalog Catalog, style string) (product, error) {
	p, err := search(ctx, catalog, style)
	if err == nil && len(p.matches) == 1 {
		p.variants, err = catalog.ListVariants(ctx, p.matches[0].ProductID)
	}
	if errors.Is(err, client.ErrBadRequest) || errors.Is(err, client.ErrNotFound) {
		p.refusal, err = err, nil
	}
	return p, err
}

// search reads pages until one has the style id. It is fuzzy, so the first hit may well be a neighbour.
func search(ctx context.Context, catalog Catalog, style string) (product, error) {
	var p product
	for number := 1; number <= maxPages && len(p.matches) == 0; number++ {
		page, err := catalog.SearchPage(ctx, client.ProductQuery{Query: style, PageNumber: number})
		if err != nil {
			return p, err
		}
		for _, hit := range page.Products {
			if hit.StyleID == style {
				p.matches = append(p.matches, hit)
			} else if len(hit.StyleID) <= maxStyleID {
				p.neighbours = append(p.neighbours, hit.StyleID)
			}
		}
		if !page.HasNextPage {
			break
		}
	}
	return p, nil
}

// variant returns the id of the variant in that size, or what is wrong with the row. A size that is missing
// is a mistake already.
func (p product) variant(style, size string) (id, problem string) {
	switch {
	case p.refusal != nil:
		return "", fmt.Sprintf("style_id %q cannot be looked up: %v", style, p.refusal)
	case len(p.matches) == 0:
		return "", fmt.Sprintf("style_id %q is not in the catalog%s", style, p.suggestion(style))
	case len(p.matches) > 1:
		return "", fmt.Sprintf("style_id %q is ambiguous: %s all have it, give the variant_id", style, titles(p.matches))
	case size == "":
		return "", ""
	}
	var sizes, ids []string
	for i := range p.variants {
		v := &p.variants[i]
		sizes = append(sizes, sizeOf(v))
		if strings.EqualFold(sizeOf(v), size) {
			ids = append(ids, v.VariantID)
		}
	}
	switch len(ids) {
	case 0:
		return "", fmt.Sprintf("size %q: %s (%s) has no such size, it has %s", size, p.matches[0].Title, style, cmp.Or(strings.Join(sizes, ", "), "none"))
	case 1:
		return ids[0], ""
	default:
		return "", fmt.Sprintf("size %q is ambiguous: %s (%s) has it %d times, give the variant_id", size, p.matches[0].Title, style, len(ids))
	}
}

func titles(products []gen.Product) string {
	quoted := make([]string, len(products))
	for i, p := range products {
		quoted[i] = fmt.Sprintf("%q", p.Title)
	}
	return strings.Join(quoted, " and ")
}
