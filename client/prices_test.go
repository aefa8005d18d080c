package client_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/clienttest"
	"github.com/sellside-sdk/sellside-go/gen"
	"github.com/sellside-sdk/sellside-go/sandbox"
	"github.com/sellside-sdk/sellside-go/sandbox/sandboxtest"
)

func TestListPrices_MakesOneCallForEachProduct(t *testing.T) {
	market := sandboxtest.New(t, quirks)
	c := market.Client()
	var query client.PriceQuery
	for _, product := range sandbox.Catalog()[:2] {
		for _, variant := range product.Variants {
			query.Variants = append(query.Variants, client.VariantRef{ProductID: product.ID, VariantID: variant.ID})
		}
	}
	query.Variants = append(query.Variants, query.Variants[0]) // twice
	mine := query.Variants[1]
	require.NoError(t, market.SetBook(t.Context(), mine.VariantID, "USD", sandbox.Book{Asks: []string{"300"}, Bids: []string{"100"}}))
	for _, l := range []sandbox.Listing{
		{VariantID: mine.VariantID, Amount: "200"},
		{VariantID: mine.VariantID, Amount: "250"},
		{VariantID: mine.VariantID, Amount: "100", Status: string(gen.ListingStatusInactive)},
	} {
		_, err := market.AddListings(t.Context(), 1, l)
		require.NoError(t, err)
	}

	for _, own := range []bool{false, true} {
		query.Own = own
		before := market.Counters()
		var got []client.VariantRef
		for price, err := range c.Catalog.ListPrices(t.Context(), query) {
			require.NoError(t, err)
			got = append(got, price.VariantRef)
			require.NotNil(t, price.Market)
			assert.Equal(t, price.VariantID, price.Market.VariantID)
			assert.Equal(t, own && price.VariantRef == mine, price.LowestIsOwn, "%+v", price.VariantRef)
			if own && price.VariantRef == mine {
				assert.Len(t, price.Own, 2, "an inactive listing has no ask")
			} else {
				assert.Empty(t, price.Own)
			}
		}
		assert.Equal(t, query.Variants[:len(query.Variants)-1], got, "each once, in the order of the query")
		after := market.Counters()
		assert.Equal(t, 2, after.Of(string(gen.OpListProductMarketData))-before.Of(string(gen.OpListProductMarketData)))
		lists := after.Of(string(gen.OpListListings)) - before.Of(string(gen.OpListListings))
		assert.Equal(t, map[bool]int{false: 0, true: 1}[own], lists)
	}
}

func TestListPrices_ReadsAllOwnListings(t *testing.T) {
	market := sandboxtest.New(t, quirks)
	want := map[string]bool{}
	for _, product := range sandbox.Catalog()[:3] {
		for _, variant := range product.Variants[:2] {
			want[variant.ID] = true
			_, err := market.AddListings(t.Context(), 2, sandbox.Listing{VariantID: variant.ID, Amount: "200"})
			require.NoError(t, err)
		}
	}

	got := map[string]bool{}
	for price, err := range market.Client().Catalog.ListPrices(t.Context(), client.PriceQuery{Own: true}) {
		require.NoError(t, err)
		assert.Len(t, price.Own, 2)
		got[price.VariantID] = true
	}

	assert.Equal(t, want, got)
	assert.Equal(t, 1, market.Counters().Of(string(gen.OpListListings)))
	assert.Equal(t, 3, market.Counters().Of(string(gen.OpListProductMarketData)))
}

func TestListPrices_MarksOwnAskInItsCurrencyOnly(t *testing.T) {
	for _, test := range []struct {
		lowest   gen.Amount
		own      gen.Amount
		currency gen.CurrencyCode
		want     bool
		why      string
	}{
		{"162", "162.0000", "USD", true, "equal by value"},
		{"162", "163", "USD", false, "another seller is lower"},
		{"162", "162", "EUR", false, "another currency"},
		{"", "162", "USD", false, "there is no ask"},
	} {
		srv := clienttest.New(t)
		srv.Expect(gen.OpListListings).Query("productIds", productID).Query("listingStatuses", "ACTIVE").
			Respond(http.StatusOK, gen.ListingPage{Count: 1, PageNumber: 1, PageSize: 100, Listings: []gen.Listing{{
				ListingID: listingID, Amount: test.own, CurrencyCode: test.currency, Status: gen.ListingStatusActive,
				CreatedAt: gen.TimeOf(time.Unix(1, 0)), UpdatedAt: gen.TimeOf(time.Unix(1, 0)),
				Variant: gen.VariantReference{VariantID: strings.ToUpper(variantID)},
			}}})
		srv.Expect(gen.OpListProductMarketData).Respond(http.StatusOK, []gen.MarketData{{VariantID: variantID, LowestAskAmount: test.lowest}})
		query := client.PriceQuery{Own: true, Variants: []client.VariantRef{{ProductID: productID, VariantID: variantID}}}
		for price, err := range srv.Client().Catalog.ListPrices(t.Context(), query) {
			require.NoError(t, err)
			assert.Len(t, price.Own, 1)
			assert.Equal(t, test.want, price.LowestIsOwn, test.why)
		}
	}
}

func TestListPrices_ContinuesAfterProduct(t *testing.T) {
	srv := clienttest.New(t)
	stale := client.VariantRef{ProductID: "stale", VariantID: "v1"}
	missing := client.VariantRef{ProductID: productID, VariantID: "v2"}
	srv.Expect(gen.OpListProductMarketData).Path("productId", "stale").RespondError(http.StatusNotFound, "no such product")
	srv.Expect(gen.OpListProductMarketData).Path("productId", productID).Respond(http.StatusOK, []gen.MarketData{{VariantID: variantID}})
	query := client.PriceQuery{Variants: []client.VariantRef{stale, missing}}

	var prices []client.Price
	var errs []error
	for price, err := range srv.Client().Catalog.ListPrices(t.Context(), query) {
		prices, errs = append(prices, price), append(errs, err)
	}

	assert.Equal(t, []client.Price{{VariantRef: stale}, {VariantRef: missing}}, prices)
	require.Len(t, errs, 2)
	require.ErrorIs(t, errs[0], client.ErrNotFound)
	require.NoError(t, errs[1], "a variant that the product does not have is no error")

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, invalid := range []struct {
		ctx   context.Context //nolint:containedctx // a row of a table
		query client.PriceQuery
	}{{ctx, query}, {t.Context(), client.PriceQuery{Variants: []client.VariantRef{{ProductID: productID}}}}} {
		count := 0
		for _, err := range srv.Client().Catalog.ListPrices(invalid.ctx, invalid.query) {
			require.Error(t, err)
			count++
		}
		assert.Equal(t, 1, count)
	}
}
