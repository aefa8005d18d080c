package client

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"net/http"
	"unicode/utf8"

	"github.com/sellside-sdk/sellside-go/gen"
)

// Catalog finds products and variants and reads what the market asks and bids for them.
type Catalog struct{ c *Client }

// ProductQuery is a search of the catalog.
type ProductQuery struct {
	Query      string // Free text of 1 to 100 characters.
	PageNumber int    // From 1; Search starts there. 1 by default.
	PageSize   int    // 1 to 50; 50 by default.
}

func (p ProductQuery) params() (*gen.SearchProductsParams, error) {
	const op = gen.OpSearchProducts
	if n := utf8.RuneCountInString(p.Query); n < 1 || n > 100 {
		return nil, &ArgumentError{Operation: op, Field: "Query", Problem: fmt.Sprintf("%d characters are not within 1 to 100", n)}
	}
	if err := checkPage(op, p.PageNumber, p.PageSize, 50); err != nil {
		return nil, err
	}
	return &gen.SearchProductsParams{
		Query: p.Query, PageNumber: set(int32(p.PageNumber)), PageSize: new(int32(cmp.Or(p.PageSize, 50))),
	}, nil
}

// Search yields the products that a query finds, page after page, with GET /catalog/search (documented). The
// search is fuzzy: a style id finds its neighbours too, so compare StyleID exactly. The rules of
// [Listings.List] hold. Errors: those of [Catalog.SearchPage], and [ErrPagingStuck].
func (s *Catalog) Search(ctx context.Context, search ProductQuery) iter.Seq2[gen.Product, error] {
	return numbered(gen.OpSearchProducts, search.PageNumber, func(p *gen.Product) string { return p.ProductID },
		func(number int) (page[gen.Product], error) {
			search.PageNumber = number
			p, err := s.SearchPage(ctx, search)
			if err != nil {
				return page[gen.Product]{}, err
			}
			return page[gen.Product]{entries: p.Products, more: p.HasNextPage}, nil
		})
}

// SearchPage reads one page of products with GET /catalog/search (documented). Errors: [ArgumentError],
// [ErrBadRequest], [ErrUnauthorized].
func (s *Catalog) SearchPage(ctx context.Context, search ProductQuery) (*gen.ProductPage, error) {
	params, err := search.params()
	return do1[gen.ProductPage](ctx, s.c, gen.OpSearchProducts, s.c.low.SearchProducts, params, err)
}

// GetProduct reads one product with GET /catalog/products/{productId} (documented). Ids go stale. Errors:
// [ErrNotFound], [ErrBadRequest], [ErrUnauthorized].
func (s *Catalog) GetProduct(ctx context.Context, productID string) (*gen.Product, error) {
	return do1[gen.Product](ctx, s.c, gen.OpGetProduct, s.c.low.GetProduct, productID)
}

// Variants reads all variants of a product with GET /catalog/products/{productId}/variants (public).
// VariantValue is the size; VariantName is not. Errors: [ErrNotFound], [ErrUnauthorized].
func (s *Catalog) ListVariants(ctx context.Context, productID string) ([]gen.Variant, error) {
	return list(do1[[]gen.Variant](ctx, s.c, gen.OpListVariants, s.c.low.ListVariants, productID))
}

// GetVariant reads one variant with GET /catalog/products/{productId}/variants/{variantId} (public). Errors:
// [ErrNotFound], [ErrBadRequest], [ErrUnauthorized].
func (s *Catalog) GetVariant(ctx context.Context, productID, variantID string) (*gen.Variant, error) {
	return do2[gen.Variant](ctx, s.c, gen.OpGetVariant, s.c.low.GetVariant, productID, variantID)
}

// GetVariantByGTIN finds the variant that carries a UPC, EAN or ITF-14 number with
// GET /catalog/products/variants/gtins/{gtin} (public). Errors: [ErrNotFound], [ErrBadRequest],
// [ErrUnauthorized].
func (s *Catalog) GetVariantByGTIN(ctx context.Context, gtin string) (*gen.Variant, error) {
	return do1[gen.Variant](ctx, s.c, gen.OpGetVariantByGTIN, s.c.low.GetVariantByGTIN, gtin)
}

// MarketData reads what the market asks and bids for a variant with
// GET /catalog/products/{productId}/variants/{variantId}/market-data (documented), in USD if currency is "".
// An amount that is absent says that there is no such ask or bid; it is not zero. Errors: [ErrBadRequest]
// for a variant of another product, [ErrUnauthorized], [DecodeError] for what is not market data of this variant.
func (s *Catalog) GetMarketData(ctx context.Context, productID, variantID string, currency gen.CurrencyCode) (*gen.MarketData, error) {
	call := newCall(gen.OpGetVariantMarketData, productID, variantID)
	params := &gen.GetVariantMarketDataParams{CurrencyCode: set(currency)}
	return do[gen.MarketData](ctx, s.c, call, func(ctx context.Context) (*http.Response, error) {
		return s.c.low.GetVariantMarketData(ctx, productID, variantID, params)
	})
}

// ListMarketData reads the market data of all variants of a product with
// GET /catalog/products/{productId}/market-data (public), in USD if currency is "". Errors: [ErrNotFound],
// [ErrUnauthorized].
func (s *Catalog) ListMarketData(ctx context.Context, productID string, currency gen.CurrencyCode) ([]gen.MarketData, error) {
	params := &gen.ListProductMarketDataParams{CurrencyCode: set(currency)}
	return list(do2[[]gen.MarketData](ctx, s.c, gen.OpListProductMarketData, s.c.low.ListProductMarketData, productID, params))
}

// list unwraps the answer of an operation that answers a bare array.
func list[T any](entries *[]T, err error) ([]T, error) {
	if err != nil {
		return nil, err
	}
	return *entries, nil
}

// Ingest proposes products for the catalog with POST /catalog/ingestion (public, beta, access on request) and
// returns the id to ask for their review with. It is never repeated once it may have arrived, and after
// [ErrOutcomeUnknown] nothing that can be read tells whether it has, unless the broken response still shows the
// ingestionId: it is returned beside the error then. Errors:
// [ArgumentError], [ErrBadRequest], [ErrUnauthorized], [ErrForbidden], [ErrOutcomeUnknown].
func (s *Catalog) Ingest(ctx context.Context, products []gen.IngestionProduct) (*gen.Ingestion, error) {
	const op = gen.OpIngestProducts
	if len(products) == 0 {
		return nil, &ArgumentError{Operation: op, Field: "products", Problem: "there are none"}
	}
	for i, p := range products {
		if p.ProductTitle == "" || p.Brand == "" || p.Category == "" {
			return nil, &ArgumentError{Operation: op, Field: fmt.Sprintf("products[%d]", i), Problem: "category, productTitle and brand are required"}
		}
		if p.RetailPrice == "" {
			return nil, &ArgumentError{Operation: op, Field: fmt.Sprintf("products[%d].retailPrice", i), Problem: "it is missing"}
		}
	}
	taken, err := do1[gen.Ingestion](ctx, s.c, op, s.c.low.IngestProducts, gen.IngestProductsRequest{Items: products})
	if id := salvage(err, "ingestionId"); id != "" {
		return &gen.Ingestion{IngestionID: id}, err
	}
	return taken, err
}

// GetIngestion reads how far the review of an ingestion is, with GET /catalog/ingestion/{ingestionId} (public):
// all of its products, or those in one status. Errors: [ErrBadRequest], [ErrNotFound], [ErrUnauthorized].
func (s *Catalog) GetIngestion(ctx context.Context, ingestionID string, status gen.IngestionStatus) ([]gen.IngestionItem, error) {
	params := &gen.GetIngestionParams{Status: set(status)}
	answer, err := do2[gen.IngestionItemList](ctx, s.c, gen.OpGetIngestion, s.c.low.GetIngestion, ingestionID, params)
	if err != nil {
		return nil, err
	}
	return answer.Items, nil
}
