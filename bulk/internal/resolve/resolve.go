// Package resolve finds the variants of items in the catalog.
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

const (
	// maxPages bounds a search that finds ever more neighbours. The best matches come first.
	maxPages = 5
	// maxStyleID is the longest style id that is suggested, in bytes.
	maxStyleID = 100
)

// Product is what the catalog has of an item key, to be kept as JSON. The zero value has nothing.
type Product struct {
	Matches  []Match `json:"matches,omitempty"`  // Usually one.
	Variants []Size  `json:"variants,omitempty"` // Of the match, if it is the only one.
	Closest  string  `json:"closest,omitempty"`  // The style id that is most like one that was not found.
	Refusal  string  `json:"refusal,omitempty"`  // Why the service refuses the key.
}

// Match is a product.
type Match struct {
	ID    string `json:"id"`
	Title string `json:"title,omitempty"`
}

// Size is a variant of a product.
type Size struct {
	Variant string `json:"variant"`
	Size    string `json:"size"`
}

// LookUp reads what the catalog has of an item key, "gtin:" and a GTIN or "style:" and a style id:
// with one request for a GTIN, and usually two for a style id.
func LookUp(ctx context.Context, c *client.Catalog, item string) (Product, error) {
	var p Product
	var err error
	if gtin, ok := strings.CutPrefix(item, "gtin:"); ok {
		p, err = byGTIN(ctx, c, gtin)
	} else {
		p, err = byStyle(ctx, c, strings.TrimPrefix(item, "style:"))
	}
	if errors.Is(err, client.ErrBadRequest) || errors.Is(err, client.ErrNotFound) {
		return Product{Refusal: gen.OneLine(err.Error())}, nil
	}
	if err != nil {
		return Product{}, fmt.Errorf("look up %s: %w", item, err)
	}
	return p, nil
}

func byGTIN(ctx context.Context, c *client.Catalog, gtin string) (Product, error) {
	v, err := c.GetVariantByGTIN(ctx, gtin)
	if errors.Is(err, client.ErrNotFound) {
		return Product{}, nil
	}
	if err != nil {
		return Product{}, err
	}
	return Product{Matches: []Match{{ID: v.ProductID}}, Variants: []Size{{v.VariantID, sizeOf(v)}}}, nil
}

// byStyle reads pages until one has the style id. Search is fuzzy: the first hit may be a neighbour.
func byStyle(ctx context.Context, c *client.Catalog, style string) (Product, error) {
	var p Product
	for number := 1; number <= maxPages && len(p.Matches) == 0; number++ {
		page, err := c.SearchPage(ctx, client.ProductQuery{Query: style, PageNumber: number})
		if err != nil {
			return p, err
		}
		for _, hit := range page.Products {
			switch {
			case hit.StyleID == style:
				p.Matches = append(p.Matches, Match{hit.ProductID, hit.Title})
			case len(hit.StyleID) > maxStyleID:
			case p.Closest == "" || distance(style, hit.StyleID) < distance(style, p.Closest):
				p.Closest = hit.StyleID
			}
		}
		if !page.HasNextPage {
			break
		}
	}
	if len(p.Matches) != 1 {
		return p, nil
	}
	p.Closest = ""
	variants, err := c.ListVariants(ctx, p.Matches[0].ID)
	for i := range variants {
		p.Variants = append(p.Variants, Size{variants[i].VariantID, sizeOf(&variants[i])})
	}
	return p, err
}

// sizeOf returns the size of a variant as sellers write it.
func sizeOf(v *gen.Variant) string { return cmp.Or(v.VariantValue, "One Size") }

// Variant returns the variant of an item key in a size and its product, or the problem of the row.
func (p Product) Variant(item, size string) (variant, product, problem string) {
	gtin, isGTIN := strings.CutPrefix(item, "gtin:")
	style := strings.TrimPrefix(item, "style:")
	switch {
	case p.Refusal != "":
		return "", "", fmt.Sprintf("%q cannot be looked up: %s", cmp.Or(gtin, style), p.Refusal)
	case len(p.Matches) == 0 && isGTIN:
		return "", "", fmt.Sprintf("gtin %q is not in the catalog", gtin)
	case len(p.Matches) == 0:
		return "", "", fmt.Sprintf("style_id %q is not in the catalog%s", style, p.suggestion(style))
	case len(p.Matches) > 1:
		return "", "", fmt.Sprintf("style_id %q is ambiguous: %s have it: give the variant_id instead", style, titles(p.Matches))
	case isGTIN && len(p.Variants) == 1:
		return p.Variants[0].Variant, p.Matches[0].ID, ""
	}
	var sizes, ids []string
	for _, v := range p.Variants {
		sizes = append(sizes, v.Size)
		if strings.EqualFold(v.Size, size) {
			ids = append(ids, v.Variant)
		}
	}
	switch len(ids) {
	case 1:
		return ids[0], p.Matches[0].ID, ""
	case 0:
		return "", "", fmt.Sprintf("size %q: %s (%s) has the sizes %s", size, p.Matches[0].Title, style,
			cmp.Or(strings.Join(sizes, ", "), "none"))
	default:
		return "", "", fmt.Sprintf("size %q is ambiguous: %s (%s) has it %d times: give the variant_id instead",
			size, p.Matches[0].Title, style, len(ids))
	}
}

func titles(products []Match) string {
	quoted := make([]string, len(products))
	for i, p := range products {
		quoted[i] = fmt.Sprintf("%q", p.Title)
	}
	return strings.Join(quoted, " and ")
}

func (p Product) suggestion(style string) string {
	switch {
	case p.Closest == "":
		return ": the search finds nothing like it"
	case distance(style, p.Closest) > 2:
		return ": the search finds only others, such as " + p.Closest
	default:
		return ": did you mean " + p.Closest + "?"
	}
}

// distance returns how many edits turn a into b: a letter replaced, added or removed, or two
// adjacent ones swapped.
func distance(a, b string) int {
	a, b = strings.ToUpper(a), strings.ToUpper(b)
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			changed := rows[i-1][j-1]
			if a[i-1] != b[j-1] {
				changed++
			}
			rows[i][j] = min(changed, rows[i-1][j]+1, rows[i][j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}
