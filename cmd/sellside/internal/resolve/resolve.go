// Package resolve finds the item, the variant of a product, that each row of an inventory is about.
package resolve

import (
	"cmp"
	"context"
	"fmt"
	"sync"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/inventory"
	"github.com/sellside-sdk/sellside-go/gen"
)

// atOnce is how many products are looked up at the same time. Where a quota holds requests back it makes
// no difference.
const atOnce = 8

// Catalog is the part of the client's catalog that is used.
type Catalog interface {
	SearchPage(context.Context, client.ProductQuery) (*gen.ProductPage, error)
	ListVariants(ctx context.Context, productID string) ([]gen.Variant, error)
}

// Variants gives every row of f its variant id and notes the rows for which there is none. Rows that have
// one are left alone. Each product is looked up once, however many rows it has; progress is told after each
// of them, from one goroutine at a time. The error is that of a look-up that failed, after which f is of no use.
func Variants(ctx context.Context, catalog Catalog, f *inventory.File, progress func(done, of int)) error {
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

// wanted reports whether a row has to be looked up; one without a style id is a mistake already.
func wanted(row *inventory.Row) bool { return row.VariantID == "" && row.StyleID != "" }

// stylesOf lists the style ids to look up, each once, in the order of the file.
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

// lookUpAll looks up a few products at a time. The first failure ends it.
func lookUpAll(ctx context.Context, catalog Catalog, styles []string, progress func(done, of int)) (map[string]product, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var (
		mu      sync.Mutex
		found   = make(map[string]product, len(styles))
		queue   = make(chan string)
		workers sync.WaitGroup
	)
	for range min(atOnce, len(styles)) {
		workers.Go(func() {
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
	workers.Wait()
	return found, context.Cause(ctx)
}

// sizeOf returns the size of a variant as a seller writes it.
func sizeOf(v *gen.Variant) string { return cmp.Or(v.VariantValue, "One Size") }
