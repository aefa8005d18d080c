package resolve_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/bulk/internal/resolve"
	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/clienttest"
	"github.com/sellside-sdk/sellside-go/gen"
)

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

func TestLookUp_TakesTheExactStyleIDAndNotTheFirstHit(t *testing.T) {
	srv := clienttest.New(t)
	srv.Expect(gen.OpSearchProducts).Query("query", "DZ-1").Query("pageNumber", "1").Respond(200, page(true, "DZ-2", "DZ-10"))
	srv.Expect(gen.OpSearchProducts).Query("query", "DZ-1").Query("pageNumber", "2").Respond(200, page(true, "DZ-3", "DZ-1"))
	srv.Expect(gen.OpListVariants).Path("productId", "p-DZ-1").Respond(200, sizes("9", "10"))
	p, err := resolve.LookUp(t.Context(), srv.Client().Catalog, "style:DZ-1")
	require.NoError(t, err)
	variant, product, problem := p.Variant("style:DZ-1", "10")
	assert.Equal(t, []string{"v1-10", "p-DZ-1", ""}, []string{variant, product, problem})
}

func TestLookUp_ReadsFivePagesAtMost(t *testing.T) {
	srv := clienttest.New(t)
	srv.Expect(gen.OpSearchProducts).Times(5).Respond(200, page(true, "DZ-2"))
	p, err := resolve.LookUp(t.Context(), srv.Client().Catalog, "style:DZ-1")
	require.NoError(t, err)
	assert.Empty(t, p.Matches)
}

func TestLookUp_StopsAtARefusalOfTheCredentials(t *testing.T) {
	srv := clienttest.New(t)
	srv.Expect(gen.OpSearchProducts).RespondError(403, "no")
	_, err := resolve.LookUp(t.Context(), srv.Client().Catalog, "style:DZ-1")
	require.ErrorIs(t, err, client.ErrForbidden)
}

func TestVariant_ReportsItemsWithoutAVariant(t *testing.T) {
	variants := func(values ...string) func(*clienttest.Expectation) {
		return func(e *clienttest.Expectation) { e.Respond(200, sizes(values...)) }
	}
	for _, row := range []struct {
		style, size string
		hits        []string
		variants    func(*clienttest.Expectation)
		problem     string
		why         string
	}{
		{"DZ-1", "9", []string{"DZ-1"}, variants("9", "10"), "", "found"},
		{"PS5", "one size", []string{"PS5"}, variants(""), "", "a product without sizes has one"},
		{"DZ-1", "11", []string{"DZ-1"}, variants("9", "10"), "has the sizes 9, 10", "the sizes are named"},
		{"DZ-12", "9", []string{"AB-77", "DZ-21"}, nil, "did you mean DZ-21?", "swapped digits are one edit"},
		{"DZ-99", "9", []string{"AB-1234", "XY-1234"}, nil, "the search finds only others, such as AB-1234", "nothing close"},
		{"NONE", "9", nil, nil, "the search finds nothing like it", "no hits"},
		{"DZ-7", "9", []string{"DZ-7", "DZ-7"}, nil, "ambiguous", "two products"},
		{"DZ-8", "9", []string{"DZ-8"}, variants("9", "9"), "ambiguous", "two variants"},
		{"DZ-9", "9", []string{"DZ-9"}, func(e *clienttest.Expectation) { e.RespondError(404, "no such product") }, "cannot be looked up", "a stale id"},
	} {
		t.Run(row.why, func(t *testing.T) {
			srv := clienttest.New(t)
			srv.Expect(gen.OpSearchProducts).Respond(200, page(false, row.hits...))
			if row.variants != nil {
				row.variants(srv.Expect(gen.OpListVariants))
			}
			p, err := resolve.LookUp(t.Context(), srv.Client().Catalog, "style:"+row.style)
			require.NoError(t, err)
			variant, _, problem := p.Variant("style:"+row.style, row.size)
			assert.Equal(t, row.problem == "", variant != "")
			assert.Contains(t, problem, row.problem)
		})
	}
}
