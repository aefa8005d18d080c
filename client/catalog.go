package client

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"unicode/utf8"

	"github.com/sellside-sdk/sellside-go/gen"
)

// Catalog finds products and variants, and reads their market data.
type Catalog struct{ c *Client }

// ProductQuery is a search of the catalog.
type ProductQuery struct {
	Query      string // Free text of 1 to 100 characters.
	PageNumber int    // The page to start from, 1 or more; 1 by default.
	PageSize   int    // 1 to 50; 50 by default.
}

func (p ProductQuery) params() (*gen.SearchProductsParams, error) {
	const op = gen.OpSearchProducts
	if n := utf8.RuneCountInString(p.Query); n < 1 || n > 100 {
		return nil, invalid(op, "Query", "has %d characters, want 1 to 100", n)
	}
	if err := checkPage(op, p.PageNumber, p.PageSize, 50); err != nil {
		return nil, err
	}
	return &gen.SearchProductsParams{
		Query: p.Query, PageNumber: set(int32(p.PageNumber)), PageSize: new(int32(cmp.Or(p.PageSize, 50))),
	}, nil
}

// Search yields the products that a query finds, with GET /catalog/search. The search is fuzzy: a
// style id also finds similar ones, so compare StyleID exactly. Pages work as in [Listings.List].
// Errors: those of [Catalog.SearchPage], and [ErrPagingStuck].
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

// SearchPage reads one page of products with GET /catalog/search. Errors: [ArgumentError],
// [ErrBadRequest], [ErrUnauthorized].
func (s *Catalog) SearchPage(ctx context.Context, search ProductQuery) (*gen.ProductPage, error) {
	params, err := search.params()
	return s.c.calls(err).SearchProducts(ctx, params)
}

// GetProduct reads one product with GET /catalog/products/{productId}. Errors: [ErrNotFound], also
// for an id that was valid once; [ErrBadRequest], [ErrUnauthorized].
func (s *Catalog) GetProduct(ctx context.Context, productID string) (*gen.Product, error) {
	return s.c.calls().GetProduct(ctx, productID)
}

// ListVariants reads all variants of a product with GET /catalog/products/{productId}/variants.
// VariantValue is the size; VariantName is not. Errors: [ErrNotFound], [ErrUnauthorized].
func (s *Catalog) ListVariants(ctx context.Context, productID string) ([]gen.Variant, error) {
	return list(s.c.calls().ListVariants(ctx, productID))
}

// GetVariant reads one variant with GET /catalog/products/{productId}/variants/{variantId}. Errors:
// [ErrNotFound], [ErrBadRequest], [ErrUnauthorized].
func (s *Catalog) GetVariant(ctx context.Context, productID, variantID string) (*gen.Variant, error) {
	return s.c.calls().GetVariant(ctx, productID, variantID)
}

// GetVariantByGTIN reads the variant with a UPC, EAN or ITF-14 number, with GET
// /catalog/products/variants/gtins/{gtin}. Errors: [ErrNotFound], [ErrBadRequest],
// [ErrUnauthorized].
func (s *Catalog) GetVariantByGTIN(ctx context.Context, gtin string) (*gen.Variant, error) {
	return s.c.calls().GetVariantByGTIN(ctx, gtin)
}

// GetMarketData reads the asks and bids for a variant with GET
// /catalog/products/{productId}/variants/{variantId}/market-data, in USD if currency is "". An
// absent amount means that there is no such ask or bid; it does not mean zero. Errors:
// [ErrBadRequest] for a variant of another product, [ErrUnauthorized], [DecodeError] if the
// response is not market data of this variant.
func (s *Catalog) GetMarketData(
	ctx context.Context, productID, variantID string, currency gen.CurrencyCode,
) (*gen.MarketData, error) {
	params := &gen.GetVariantMarketDataParams{CurrencyCode: set(currency)}
	return s.c.calls().GetVariantMarketData(ctx, productID, variantID, params)
}

// ListMarketData reads the market data of all variants of a product with GET
// /catalog/products/{productId}/market-data, in USD if currency is "". Errors: [ErrNotFound],
// [ErrUnauthorized].
func (s *Catalog) ListMarketData(
	ctx context.Context, productID string, currency gen.CurrencyCode,
) ([]gen.MarketData, error) {
	params := &gen.ListProductMarketDataParams{CurrencyCode: set(currency)}
	return list(s.c.calls().ListProductMarketData(ctx, productID, params))
}

// list returns the elements of a response that is a bare array.
func list[T any](entries *[]T, err error) ([]T, error) {
	if err != nil {
		return nil, err
	}
	return *entries, nil
}

// Ingest proposes products for the catalog with POST /catalog/ingestion and returns the id of their
// review. The operation is beta, and the service grants access on request. After
// [ErrOutcomeUnknown] no operation can show whether the products arrived, unless the broken
// response contains the ingestionId, which Ingest then returns beside the error. Errors:
// [ArgumentError], [ErrBadRequest], [ErrUnauthorized], [ErrForbidden], [ErrOutcomeUnknown].
func (s *Catalog) Ingest(ctx context.Context, products []gen.IngestionProduct) (*gen.Ingestion, error) {
	const op = gen.OpIngestProducts
	if len(products) == 0 {
		return nil, invalid(op, "products", "must not be empty")
	}
	for i, p := range products {
		if p.ProductTitle == "" || p.Brand == "" || p.Category == "" {
			return nil, invalid(op, fmt.Sprintf("products[%d]", i),
				"category, productTitle and brand are required")
		}
		if p.RetailPrice == "" {
			return nil, invalid(op, fmt.Sprintf("products[%d].retailPrice", i), "is required")
		}
	}
	body := gen.IngestProductsRequest{Items: products}
	ingestion, err := s.c.calls().IngestProducts(ctx, body)
	if id := salvage(err, "ingestionId"); id != "" {
		return &gen.Ingestion{IngestionID: id}, err
	}
	return ingestion, err
}

// GetIngestion reads the products of an ingestion and the status of their review, with GET
// /catalog/ingestion/{ingestionId}: those in a status, or all if status is "". Errors:
// [ErrBadRequest], [ErrNotFound], [ErrUnauthorized].
func (s *Catalog) GetIngestion(
	ctx context.Context, ingestionID string, status gen.IngestionStatus,
) ([]gen.IngestionItem, error) {
	params := &gen.GetIngestionParams{Status: set(status)}
	list, err := s.c.calls().GetIngestion(ctx, ingestionID, params)
	if err != nil {
		return nil, err
	}
	return list.Items, nil
}
