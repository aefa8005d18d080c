// Package resolve looks up the variant of each row of an inventory in the catalog.
package resolve

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

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

	// patience is how long a request is repeated that fails for another reason than a 429.
	patience = 30 * time.Minute
	// minPause and maxPause bound the pauses between calls, each of which has retries.
	minPause, maxPause = time.Second, 30 * time.Second
)

// Lookup looks up products in the catalog of a service. It is used by one goroutine at a time. A 429
// or a failure that may pass is not an error: the request is repeated, for as long as the service
// limits the rate, and otherwise for half an hour.
type Lookup struct {
	Catalog *client.Catalog
	Cache   *Cache // Of earlier runs; nil keeps nothing.
	// Progress is called after each product, by one goroutine at a time.
	Progress func(done, of int)
	// Retrying is called before the pause when a request has failed and will be repeated, by one
	// goroutine at a time.
	Retrying func(error)

	mu        sync.Mutex // Locked during calls of Progress and Retrying.
	responded atomic.Bool
}

// Variants sets the products and the variants of the rows of f that have no variant, and adds a
// problem to f for each row without a variant in the catalog. Each product is looked up once. If a
// lookup fails, the error is returned and f is incomplete.
func (l *Lookup) Variants(ctx context.Context, f *inventory.File) error {
	if f.Unreadable {
		return nil
	}
	products, cached := map[string]product{}, l.cached(f)
	styles := slices.DeleteFunc(stylesOf(f), func(style string) bool {
		p, ok := cached[style]
		if ok {
			products[style] = p
		}
		return ok
	})
	found, err := all(ctx, l, styles, l.product, l.Progress)
	if err != nil {
		return err
	}
	maps.Copy(products, found)
	for i := range f.Rows {
		if row := &f.Rows[i]; wanted(row) {
			p := products[row.StyleID]
			id, problem := p.variant(row.StyleID, row.Size)
			if problem != "" {
				f.Add(row.Line, "%s", problem)
			}
			row.VariantID = id
			if id != "" {
				row.ProductID = p.Matches[0].ProductID
			}
		}
	}
	return nil
}

// Requests returns how many requests the lookups of f need at least: a search and the variants of
// each product that is not in the cache, and the prices of each product in each currency.
func (l *Lookup) Requests(f *inventory.File) int {
	markets := map[market]bool{}
	for i := range f.Rows {
		if row := &f.Rows[i]; wanted(row) {
			markets[market{style: row.StyleID, currency: row.Currency}] = true
		}
	}
	return 2*(len(stylesOf(f))-len(l.cached(f))) + len(markets)
}

// cached returns the products of the cache that have the sizes of all rows. A product without one
// of them may have got it since.
func (l *Lookup) cached(f *inventory.File) map[string]product {
	products := map[string]product{}
	for _, style := range stylesOf(f) {
		if p, ok := l.Cache.get(style); ok {
			products[style] = p
		}
	}
	for i := range f.Rows {
		if row := &f.Rows[i]; wanted(row) {
			if _, problem := products[row.StyleID].variant(row.StyleID, row.Size); problem != "" {
				delete(products, row.StyleID)
			}
		}
	}
	return products
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

// all looks up several keys at a time. It stops at the first failure. Progress is called after each.
func all[K comparable, V any](
	ctx context.Context, l *Lookup, keys []K, lookUp func(context.Context, K) (V, error), progress func(done, of int),
) (map[K]V, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var (
		found = make(map[K]V, len(keys))
		queue = make(chan K)
		group sync.WaitGroup
	)
	for range min(workers, len(keys)) {
		group.Go(func() {
			for key := range queue {
				v, err := lookUp(ctx, key)
				if err != nil {
					cancel(err)
					return
				}
				l.mu.Lock()
				found[key] = v
				progress(len(found), len(keys))
				l.mu.Unlock()
			}
		})
	}
	for _, key := range keys {
		select {
		case queue <- key:
		case <-ctx.Done():
		}
	}
	close(queue)
	group.Wait()
	return found, context.Cause(ctx)
}

// call makes a request until it succeeds or fails for good.
func (l *Lookup) call(ctx context.Context, request func() error) error {
	giveUp := time.Now().Add(patience)
	for pause := minPause; ; pause = min(2*pause, maxPause) {
		err := request()
		if err == nil {
			l.responded.Store(true)
			return nil
		}
		wait := pause
		switch throttled, ok := errors.AsType[*client.ThrottledError](err); {
		case ctx.Err() != nil:
			return ctx.Err()
		case ok:
			wait = max(pause, time.Until(throttled.Until))
			giveUp = time.Now().Add(wait + patience)
		case errors.Is(err, client.ErrRateLimited):
			giveUp = time.Now().Add(patience) // the client starts a cooldown, and the next call waits for it
		case !client.IsTransient(err) || !l.responded.Load() && isMisdirected(err) || time.Now().After(giveUp):
			return err
		}
		l.mu.Lock()
		l.Retrying(err)
		l.mu.Unlock()
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// isMisdirected reports whether a failure of the first request shows that this is no address of the
// service: there is nothing that listens, or what listens is something else.
func isMisdirected(err error) bool {
	_, isOther := errors.AsType[*client.DecodeError](err)
	return isOther || IsUnreachable(err)
}

// IsUnreachable reports whether a request was not sent because the host is not known, refuses
// connections, or does not prove its identity.
func IsUnreachable(err error) bool {
	if failed, ok := errors.AsType[*net.OpError](err); ok {
		return failed.Op == "dial" && !failed.Timeout()
	}
	_, untrusted := errors.AsType[*tls.CertificateVerificationError](err)
	_, plain := errors.AsType[tls.RecordHeaderError](err)
	return untrusted || plain
}

// sizeOf returns the size of a variant as sellers write it.
func sizeOf(v *gen.Variant) string { return cmp.Or(v.VariantValue, "One Size") }

// product is the result of looking up a style id. A product with one match and without a refusal is
// saved as JSON.
type product struct {
	Matches    []match  `json:"matches"`  // With exactly this style id; usually one.
	Variants   []size   `json:"variants"` // Of the match, if it is the only one.
	neighbours []string // Other style ids that the search returned.
	refusal    error    // Why the service refuses this style id.
}

type match struct {
	ProductID string `json:"productId"`
	Title     string `json:"title"`
}

type size struct {
	VariantID string `json:"variantId"`
	Size      string `json:"size"`
}

// product looks up the product of a style id and its variants. A style id that the service refuses,
// and a product that it no longer has, are problems of their rows and no failures. A search is never
// responded to with a 404 by the service itself.
func (l *Lookup) product(ctx context.Context, style string) (product, error) {
	p, err := l.search(ctx, style)
	refused := errors.Is(err, client.ErrBadRequest)
	if err == nil && len(p.Matches) == 1 {
		err = l.call(ctx, func() error {
			variants, err := l.Catalog.ListVariants(ctx, p.Matches[0].ProductID)
			for i := range variants {
				p.Variants = append(p.Variants, size{variants[i].VariantID, sizeOf(&variants[i])})
			}
			return err
		})
		refused = errors.Is(err, client.ErrBadRequest) || errors.Is(err, client.ErrNotFound)
	}
	switch {
	case refused:
		l.Cache.Drop(style)
		p.refusal, err = err, nil
	case err != nil:
		return p, fmt.Errorf("look up style_id %q: %w", style, err)
	case len(p.Matches) == 1:
		l.Cache.put(style, p)
	}
	return p, err
}

// search reads pages until one has the style id. Search is fuzzy: the first hit may be a neighbour.
func (l *Lookup) search(ctx context.Context, style string) (product, error) {
	var p product
	for number := 1; number <= maxPages && len(p.Matches) == 0; number++ {
		var page *gen.ProductPage
		err := l.call(ctx, func() (err error) {
			page, err = l.Catalog.SearchPage(ctx, client.ProductQuery{Query: style, PageNumber: number})
			return err
		})
		if err != nil {
			return p, err
		}
		for _, hit := range page.Products {
			if hit.StyleID == style {
				p.Matches = append(p.Matches, match{hit.ProductID, hit.Title})
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
	case len(p.Matches) == 0:
		return "", fmt.Sprintf("style_id %q is not in the catalog%s", style, p.suggestion(style))
	case len(p.Matches) > 1:
		return "", fmt.Sprintf("style_id %q is ambiguous: %s have it: give the variant_id instead",
			style, titles(p.Matches))
	case size == "":
		return "", ""
	}
	var sizes, ids []string
	for _, v := range p.Variants {
		sizes = append(sizes, v.Size)
		if strings.EqualFold(v.Size, size) {
			ids = append(ids, v.VariantID)
		}
	}
	switch len(ids) {
	case 0:
		return "", fmt.Sprintf("size %q: %s (%s) has the sizes %s", size, p.Matches[0].Title, style, cmp.Or(strings.Join(sizes, ", "), "none"))
	case 1:
		return ids[0], ""
	default:
		return "", fmt.Sprintf("size %q is ambiguous: %s (%s) has it %d times: give the variant_id instead",
			size, p.Matches[0].Title, style, len(ids))
	}
}

func titles(products []match) string {
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
