package resolve_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/clienttest"
	"github.com/sellside-sdk/sellside-go/client/quota"
	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/inventory"
	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/resolve"
	"github.com/sellside-sdk/sellside-go/gen"
	"github.com/sellside-sdk/sellside-go/sandbox"
	"github.com/sellside-sdk/sellside-go/sandbox/sandboxtest"
)

// catalogOf returns the catalog of a sandbox.
func catalogOf(t *testing.T, m *sandboxtest.Market) *client.Catalog {
	t.Helper()
	c, err := client.New(
		client.WithBaseURL(m.URL), client.WithHTTPClient(m.HTTPClient()), client.WithAPIKey(m.APIKey()),
		client.WithToken(m.Token()), client.WithQuota(quota.Unlimited), client.WithRetry(client.RetryPolicy{MaxAttempts: 1}),
	)
	require.NoError(t, err)
	return c.Catalog
}

// page is a page of a search with a product of each style id.
func page(hasNextPage bool, styles ...string) gen.ProductPage {
	p := gen.ProductPage{Products: []gen.Product{}, HasNextPage: hasNextPage, PageNumber: 1, PageSize: 50, Count: gen.Int(len(styles))}
	for _, style := range styles {
		p.Products = append(p.Products, gen.Product{ProductID: "p-" + style, StyleID: style, Title: "Title of " + style})
	}
	return p
}

func sizes(values ...string) []gen.Variant {
	var list []gen.Variant
	for i, value := range values {
		list = append(list, gen.Variant{VariantID: fmt.Sprintf("v%d-%s", i, value), VariantValue: value})
	}
	return list
}

// file is an inventory of rows of a style id, a size and a variant id.
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

// lookup returns a lookup without a cache.
func lookup(catalog *client.Catalog) *resolve.Lookup {
	return &resolve.Lookup{Catalog: catalog, Progress: func(int, int) {}, Retrying: func(error) {}}
}

func TestVariants_TakesTheExactStyleIDAndNotTheFirstHit(t *testing.T) {
	srv := clienttest.New(t)
	srv.Expect(gen.OpSearchProducts).Query("query", "DZ-1").Query("pageNumber", "1").Respond(200, page(true, "DZ-2", "DZ-10"))
	srv.Expect(gen.OpSearchProducts).Query("query", "DZ-1").Query("pageNumber", "2").Respond(200, page(true, "DZ-3", "DZ-1"))
	srv.Expect(gen.OpListVariants).Path("productId", "p-DZ-1").Respond(200, sizes("9", "10"))
	f := file(t, "DZ-1,10,")
	require.NoError(t, lookup(srv.Client().Catalog).Variants(t.Context(), f))
	require.Empty(t, f.Problems())
	assert.Equal(t, "v1-10", f.Valid()[0].VariantID)
}

func TestVariants_ReadsFivePagesAtMost(t *testing.T) {
	srv := clienttest.New(t)
	srv.Expect(gen.OpSearchProducts).Times(5).Respond(200, page(true, "DZ-2"))
	f := file(t, "DZ-1,10,")
	require.NoError(t, lookup(srv.Client().Catalog).Variants(t.Context(), f))
	assert.Len(t, f.Problems(), 1)
}

func TestVariants_LooksUpEachProductOnce(t *testing.T) {
	m := sandboxtest.New(t)
	products := sandbox.Catalog()[:2]
	var rows []string
	for _, p := range products {
		rows = append(rows, p.StyleID+","+p.Variants[0].Size+",", p.StyleID+","+p.Variants[1].Size+",", p.StyleID+",no such size,")
	}
	var reported []string
	f := file(t, rows...)
	l := lookup(catalogOf(t, m))
	l.Progress = func(done, of int) { reported = append(reported, fmt.Sprint(done, "/", of)) }
	require.NoError(t, l.Variants(t.Context(), f))
	assert.Equal(t, sandbox.Counters{"SearchProducts": {200: 2}, "ListVariants": {200: 2}}, m.Counters())
	assert.Equal(t, []string{"1/2", "2/2"}, reported)
	assert.Equal(t, []int{4, 7}, f.InvalidLines())
	for i, row := range f.Valid() {
		assert.Equal(t, products[i/2].Variants[i%2].ID, row.VariantID)
	}
}

func TestVariants_LeavesRowsWithAVariantID(t *testing.T) {
	f := file(t, ",,8f4d2c4e", ",,98e2e748")
	require.NoError(t, lookup(clienttest.New(t).Client().Catalog).Variants(t.Context(), f))
	require.Empty(t, f.Problems())
	assert.Equal(t, "8f4d2c4e", f.Valid()[0].VariantID)
}

func TestVariants_ReportsRowsWithoutAVariant(t *testing.T) {
	variants := func(values ...string) func(*clienttest.Expectation) {
		return func(e *clienttest.Expectation) { e.Respond(200, sizes(values...)) }
	}
	for _, row := range []struct {
		row      string
		hits     []string
		variants func(*clienttest.Expectation)
		problem  string
		why      string
	}{
		{"DZ-1,9,", []string{"DZ-1"}, variants("9", "10"), "", "found"},
		{"PS5,one size,", []string{"PS5"}, variants(""), "", "a product without sizes has one"},
		{"DZ-1,11,", []string{"DZ-1"}, variants("9", "10"), "has the sizes 9, 10", "the sizes are named"},
		{"DZ-12,9,", []string{"AB-77", "DZ-21"}, nil, "did you mean DZ-21?", "swapped digits are one edit"},
		{"DZ-99,9,", []string{"AB-1234", "XY-1234"}, nil, "the search finds only others, such as AB-1234", "nothing close"},
		{"NONE,9,", nil, nil, "the search finds nothing like it", "no hits"},
		{"DZ-7,9,", []string{"DZ-7", "DZ-7"}, nil, "ambiguous", "two products"},
		{"DZ-8,9,", []string{"DZ-8"}, variants("9", "9"), "ambiguous", "two variants"},
		{"DZ-9,9,", []string{"DZ-9"}, func(e *clienttest.Expectation) { e.RespondError(404, "no such product") }, "cannot be looked up", "a stale id"},
	} {
		t.Run(row.why, func(t *testing.T) {
			srv := clienttest.New(t)
			srv.Expect(gen.OpSearchProducts).Respond(200, page(false, row.hits...))
			if row.variants != nil {
				row.variants(srv.Expect(gen.OpListVariants))
			}
			f := file(t, row.row)
			require.NoError(t, lookup(srv.Client().Catalog).Variants(t.Context(), f))
			if row.problem == "" {
				assert.Empty(t, f.Problems())
				return
			}
			require.Len(t, f.Problems(), 1)
			assert.Equal(t, 2, f.Problems()[0].Line)
			assert.Contains(t, f.Problems()[0].Text, row.problem)
		})
	}
}

func TestVariants_LooksUpRowsWithOtherProblems(t *testing.T) {
	f, err := inventory.Parse(strings.NewReader("style_id,size,price,currency,quantity\nNONE,9,$1,USD,1\nNONE,,1,USD,1\n"))
	require.NoError(t, err)
	require.NoError(t, lookup(catalogOf(t, sandboxtest.New(t))).Variants(t.Context(), f))
	assert.Len(t, f.Problems(), 4, "a price and a style id, a size and a style id")
}

func TestVariants_StopsAtAFailedLookup(t *testing.T) {
	m := sandboxtest.New(t)
	require.NoError(t, m.Fail(sandbox.Fault{Operation: "SearchProducts", Kind: sandbox.FaultStatus, Status: http.StatusForbidden, Times: 100}))
	err := lookup(catalogOf(t, m)).Variants(t.Context(), file(t, "DZ-1,9,", "DZ-2,9,", "DZ-3,9,"))
	require.ErrorIs(t, err, client.ErrForbidden)
}

func TestVariants_BoundsLookupsAndStopsWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := sandboxtest.NewInProcess(t)
		require.NoError(t, m.Fail(sandbox.Fault{Operation: "SearchProducts", Kind: sandbox.FaultDelay, Delay: time.Hour, Times: 100}))
		started := func() int { return 100 - m.Faults()[0].Times }
		var rows []string
		for i := range 100 {
			rows = append(rows, fmt.Sprintf("DZ-%d,9,", i))
		}
		f := file(t, rows...)
		ctx, cancel := context.WithCancel(t.Context())
		ended, catalog := make(chan error), catalogOf(t, m)
		go func() { ended <- lookup(catalog).Variants(ctx, f) }()
		synctest.Wait()
		assert.Equal(t, 8, started())
		cancel()
		require.ErrorIs(t, <-ended, context.Canceled)
		assert.Equal(t, 8, started(), "no other search is started")
	})
}
