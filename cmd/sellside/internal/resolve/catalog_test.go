package resolve_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/inventory"
	"github.com/sellside-sdk/sellside-go/gen"
)

// catalog is a small one that counts what it is asked. The pages of a search are those of its style id.
type catalog struct {
	pages    map[string][][]gen.Product
	variants map[string][]gen.Variant
	err      error

	hold chan struct{} // if set, searches wait for it or for their context

	mu                   sync.Mutex
	searches, variantsOf map[string]int
	now                  int // searches under way
}

func (c *catalog) SearchPage(ctx context.Context, s client.ProductQuery) (*gen.ProductPage, error) {
	c.mu.Lock()
	if c.searches == nil {
		c.searches = map[string]int{}
	}
	c.searches[s.Query]++
	c.now++
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		c.now--
		c.mu.Unlock()
	}()
	if c.hold != nil {
		select {
		case <-c.hold:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if c.err != nil {
		return nil, c.err
	}
	pages := c.pages[s.Query]
	if len(pages) == 0 {
		return &gen.ProductPage{}, nil
	}
	return &gen.ProductPage{Products: pages[s.PageNumber-1], HasNextPage: s.PageNumber < len(pages)}, nil
}

func (c *catalog) ListVariants(_ context.Context, productID string) ([]gen.Variant, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.variantsOf == nil {
		c.variantsOf = map[string]int{}
	}
	c.variantsOf[productID]++
	if v, ok := c.variants[productID]; ok {
		return v, nil
	}
	return nil, &client.APIError{StatusCode: http.StatusNotFound, Message: "the product is gone"}
}

func products(styles ...string) []gen.Product {
	var list []gen.Product
	for _, style := range styles {
		list = append(list, gen.Product{ProductID: "p-" + style, StyleID: style, Title: "Title of " + style})
	}
	return list
}

func sizes(values ...string) []gen.Variant {
	var list []gen.Variant
	for i, value := range values {
		list = append(list, gen.Variant{VariantID: fmt.Sprintf("v%d-%s", i, value), VariantValue: value})
	}
	return list
}

func file(t *testing.T, rows ...string) *inventory.File {
	t.Helper()
	text := "style_id,size,variant_id,price,currency,quantity\n"
	for _, row := range rows {
		text += row + ",100,USD,1\n"
	}
	f, err := inventory.Parse(strings.NewReader(text))
	require.NoError(t, err)
	return f
}

func nothing(int, int) {}
