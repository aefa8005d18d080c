package client_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/clienttest"
	"github.com/sellside-sdk/sellside-go/gen"
)

func TestCatalog_SearchSendsOnlyWhatIsSet(t *testing.T) {
	longest := strings.Repeat("ü", 100)
	tests := map[string]struct {
		search client.ProductQuery
		want   string
	}{
		"the largest page by default": {client.ProductQuery{Query: "DZ5485-612"}, "query=DZ5485-612&pageSize=50"},
		"a page":                      {client.ProductQuery{Query: "jordan 1 & co", PageNumber: 2, PageSize: 10}, "query=jordan+1+%26+co&pageNumber=2&pageSize=10"},
		"a hundred characters":        {client.ProductQuery{Query: longest}, "pageSize=50&query=" + longest},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			srv := clienttest.New(t)
			srv.Expect(gen.OpSearchProducts).RespondExample()

			page, err := srv.Client().Catalog.SearchPage(t.Context(), test.search)

			require.NoError(t, err)
			assert.Equal(t, "DZ5485-612", page.Products[0].StyleID)
			assert.Equal(t, query(t, test.want), srv.Requests(gen.OpSearchProducts)[0].Query)
		})
	}
}

func TestCatalog_ReadsVariantsByIDAndGTIN(t *testing.T) {
	srv := clienttest.New(t)
	srv.Expect(gen.OpListVariants).Path("productId", productID).NoQuery().RespondExample()
	srv.Expect(gen.OpGetVariant).Path("productId", productID).Path("variantId", variantID).RespondExample()
	srv.Expect(gen.OpGetVariantByGTIN).Path("gtin", "0195866137516").RespondExample()
	c := srv.Client()

	all, err := c.Catalog.ListVariants(t.Context(), productID)
	require.NoError(t, err)
	one, err := c.Catalog.GetVariant(t.Context(), productID, variantID)
	require.NoError(t, err)
	scanned, err := c.Catalog.GetVariantByGTIN(t.Context(), "0195866137516")
	require.NoError(t, err)

	assert.Equal(t, []gen.Variant{*one}, all)
	assert.Equal(t, one, scanned)
	assert.Equal(t, "10.5", one.VariantValue, "the size is the value, not the name")
}

func TestCatalog_AbsentPriceIsNotZero(t *testing.T) {
	srv := clienttest.New(t)
	srv.Expect(gen.OpGetVariantMarketData).Path("variantId", variantID).NoQuery().RespondExample()
	srv.Expect(gen.OpListProductMarketData).Path("productId", productID).
		Query("currencyCode", "EUR").RespondExample()
	c := srv.Client()

	one, err := c.Catalog.GetMarketData(t.Context(), productID, variantID, "")
	require.NoError(t, err)
	all, err := c.Catalog.ListMarketData(t.Context(), productID, "EUR")
	require.NoError(t, err)

	assert.Equal(t, gen.Amount("171"), one.LowestAskAmount)
	_, err = one.FlexLowestAskAmount.Decimal()
	require.ErrorIs(t, err, gen.ErrAbsent, "null: there is no such ask")
	assert.Equal(t, []gen.MarketData{*one}, all)
}

func TestCatalog_BareListMayBeEmpty(t *testing.T) {
	tests := map[string]struct {
		body string
		ok   bool
	}{
		"no variants":   {`[]`, true},
		"null":          {`null`, false},
		"an object":     {`{"variants":[]}`, false},
		"a page":        {`<html>`, false},
		"an empty body": {``, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			srv := clienttest.New(t)
			srv.Expect(gen.OpListVariants).Raw(200, nil, []byte(test.body), name)

			variants, err := srv.Client().Catalog.ListVariants(t.Context(), productID)

			assert.Empty(t, variants)
			if test.ok {
				require.NoError(t, err)
				return
			}
			var unreadable *client.DecodeError
			require.ErrorAs(t, err, &unreadable)
			require.NotErrorIs(t, err, client.ErrOutcomeUnknown, "a read has no outcome")
		})
	}
}

func TestCatalog_IngestReturnsID(t *testing.T) {
	srv := clienttest.New(t)
	srv.Expect(gen.OpIngestProducts).BodyJSON(clienttest.RequestExampleOf(gen.OpIngestProducts)).
		RespondExample()
	srv.Expect(gen.OpGetIngestion).Path("ingestionId", "3f1f5d0e-0f6e-4d53-9a35-0a7f3d4a8a11").
		NoQuery().RespondExample()
	srv.Expect(gen.OpGetIngestion).Query("status", "In Review").Respond(200, `{"items":[]}`)
	c := srv.Client()

	ingestion, err := c.Catalog.Ingest(t.Context(),
		requestOf[gen.IngestProductsRequest](t, gen.OpIngestProducts).Items)
	require.NoError(t, err)
	all, err := c.Catalog.GetIngestion(t.Context(), ingestion.IngestionID, "")
	require.NoError(t, err)
	waiting, err := c.Catalog.GetIngestion(t.Context(), ingestion.IngestionID, gen.IngestionStatusInReview)
	require.NoError(t, err)

	assert.Equal(t, gen.IngestionStatusCompleted, all[0].Status)
	assert.Empty(t, waiting)
}

func TestCatalog_IngestSendsTexts(t *testing.T) {
	srv := clienttest.New(t)
	srv.Expect(gen.OpIngestProducts).BodyJSON(`{"items":[{"category":"apparel","productTitle":"Box Logo Tee",
		"brand":"Supreme","productImages":["https://images.example.com/tee.png"],"variants":["S","M"],
		"retailPrice":"54.00","releaseDate":"2026-03-01","countryOfOrigin":"PT","colorway":"White","material":"Cotton",
		"gender":"men","productCode":{"code":"SS26T1","name":"Model number"}}]}`).RespondExample()

	_, err := srv.Client().Catalog.Ingest(t.Context(), []gen.IngestionProduct{{
		Category: gen.IngestionCategoryApparel, ProductTitle: "Box Logo Tee", Brand: "Supreme",
		ProductImages: []string{"https://images.example.com/tee.png"}, Variants: []string{"S", "M"},
		RetailPrice: "54.00", ReleaseDate: "2026-03-01", CountryOfOrigin: "PT", Colorway: "White", Material: "Cotton",
		Gender: "men", ProductCode: gen.IngestionProductCode{Code: "SS26T1", Name: "Model number"},
	}})

	require.NoError(t, err)
}

func TestCatalog_IngestWithoutIDIsOutcomeUnknown(t *testing.T) {
	srv := clienttest.New(t)
	srv.Expect(gen.OpIngestProducts).Raw(201, nil, []byte(`{"ingestionId":null}`), "the id is missing")

	_, err := srv.Client().Catalog.Ingest(t.Context(),
		requestOf[gen.IngestProductsRequest](t, gen.OpIngestProducts).Items)

	var unreadable *client.DecodeError
	require.ErrorAs(t, err, &unreadable)
	require.ErrorIs(t, err, client.ErrOutcomeUnknown)
	assert.Equal(t, gen.OpIngestProducts, unreadable.Operation)
}
