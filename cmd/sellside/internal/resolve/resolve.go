// Package resolve looks up the variant of each row of an inventory in the catalog.
package resolve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/inventory"
	"github.com/sellside-sdk/sellside-go/gen"
)

const (
	// workers is how many products are looked up at the same time.
	workers = 8
	// maxPages bounds a search that finds ever more neighbours. The best matches come first.
	maxPages = 5
	// maxStyleID is the longest style id that is suggested, in bytes.
	maxStyleID = 100
)

// Variants sets the variant ids of the rows of f that have none, and adds a problem to f for each
// row without a variant in the catalog. Each product is looked up once; progress is called after
// each, by one goroutine at a time. If a lookup fails, the error is returned and f is incomplete.
func Variants(ctx context.Context, catalog *client.Catalog, f *inventory.File, progress func(done, of int)) error {
	if f.Unreadable {
		return nil
	}
	styles := stylesOf(f)
	products, err := lookUpAll(ctx, catalog, styles, progress)
	if err != nil {
		return err
	}
	for i := range f.Rows {
		if row := &f.Rows[i]; wanted(row) {
			p := products[row.StyleID]
			id, problem := p.variant(row.StyleID, row.Size)
			if problem != "" {
				f.Add(row.Line, "%s", problem)
			}
			row.VariantID = id
		}
	}
	return nil
}

// wanted reports whether a row has to be looked up. A row without a style id has a problem already.
func wanted(row *inventory.Row) bool { return row.VariantID == "" && row.StyleID != "" }

// stylesOf returns the style ids to look up, each once, in the order of the file.
func stylesOf(f *inventory.File) []string {
	var styles []string
	seen := map[string]bool{}
	for i := range f.Rows {
		if row := &f.Rows[i]; wanted(row) && !seen[row.StyleID] {
			seen[row.StyleID] = true
			styles = append(styles, row.StyleID)
		}
	}
	return styles
}

// lookUpAll looks up several products at a time. It stops at the first failure.
func lookUpAll(
	ctx context.Context, catalog *client.Catalog, styles []string, progress func(done, of int),
) (map[string]product, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var (
		mu    sync.Mutex
		found = make(map[string]product, len(styles))
		queue = make(chan string)
		group sync.WaitGroup
	)
	for range min(workers, len(styles)) {
		group.Go(func() {
			for style := range queue {
				p, err := lookUp(ctx, catalog, style)
				if err != nil {
					cancel(fmt.Errorf("look up style_id %q: %w", style, err))
					return
				}
				mu.Lock()
				found[style] = p
				progress(len(found), len(styles))
				mu.Unlock()
			}
		})
	}
	for _, style := range styles {
		select {
		case queue <- style:
		case <-ctx.Done():
		}
	}
	close(queue)
	group.Wait()
	return found, context.Cause(ctx)
}

// sizeOf returns the size of a variant as sellers write it.
func sizeOf(v *gen.Variant) string { return cmp.Or(v.VariantValue, "One Size") }

// product is the result of looking up a style id.
type product struct {
	matches    []gen.Product // With exactly this style id; usually one.
	neighbours []string      // Other style ids that the search returned.
	variants   []gen.Variant // Of the match, if it is the only one.
	refusal    error         // Why the service refuses this style id.
}

// lookUp looks up the product of a style id and its variants. A style id that the service refuses,
// and a product that it no longer has, are problems of their rows and no failures.
func lookUp(ctx context.Context, catalog *client.Catalog, style string) (product, error) {
	p, err := search(ctx, catalog, style)
	if err == nil && len(p.matches) == 1 {
		p.variants, err = catalog.ListVariants(ctx, p.matches[0].ProductID)
	}
	if errors.Is(err, client.ErrBadRequest) || errors.Is(err, client.ErrNotFound) {
		p.refusal, err = err, nil
	}
	return p, err
}

// search reads pages until one has the style id. Search is fuzzy: the first hit may be a neighbour.
func search(ctx context.Context, catalog *client.Catalog, style string) (product, error) {
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

// variant returns the id of the variant of a size, or the problem of the row. A row without a size
// has a problem already.
func (p product) variant(style, size string) (id, problem string) {
	switch {
	case p.refusal != nil:
		return "", fmt.Sprintf("style_id %q cannot be looked up: %v", style, p.refusal)
	case len(p.matches) == 0:
		return "", fmt.Sprintf("style_id %q is not in the catalog%s", style, p.suggestion(style))
	case len(p.matches) > 1:
		return "", fmt.Sprintf("style_id %q is ambiguous: %s have it: add the variant_id",
			style, titles(p.matches))
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
		return "", fmt.Sprintf("size %q: %s (%s) has the sizes %s", size, p.matches[0].Title, style, cmp.Or(strings.Join(sizes, ", "), "none"))
	case 1:
		return ids[0], ""
	default:
		return "", fmt.Sprintf("size %q is ambiguous: %s (%s) has it %d times: add the variant_id",
			size, p.matches[0].Title, style, len(ids))
	}
}

func titles(products []gen.Product) string {
	quoted := make([]string, len(products))
	for i, p := range products {
		quoted[i] = fmt.Sprintf("%q", p.Title)
	}
	return strings.Join(quoted, " and ")
}

// suggestion names the neighbour that is closest to a style id.
func (p product) suggestion(style string) string {
	if len(p.neighbours) == 0 {
		return ": the search finds nothing like it"
	}
	closest := slices.MinFunc(p.neighbours, func(a, b string) int { return distance(style, a) - distance(style, b) })
	if distance(style, closest) > 2 {
		return fmt.Sprintf(": the search finds only others, such as %s", closest)
	}
	return fmt.Sprintf(": did you mean %s?", closest)
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
