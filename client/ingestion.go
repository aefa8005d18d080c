package client

import (
	"context"
	"fmt"

	"github.com/sellside-sdk/sellside-go/gen"
)

// Ingest proposes products for the catalog with POST /catalog/ingestion (public, beta, access on request) and
// returns the id to ask for their review with. It is never repeated once it may have arrived. Errors:
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
	return do1[gen.Ingestion](ctx, s.c, op, s.c.low.IngestProducts, gen.IngestProductsRequest{Items: products})
}

// Ingestion reads how far the review of an ingestion is, with GET /catalog/ingestion/{ingestionId} (public):
// all of its products, or those in one status. Errors: [ErrBadRequest], [ErrNotFound], [ErrUnauthorized].
func (s *Catalog) Ingestion(ctx context.Context, ingestionID string, status gen.IngestionStatus) ([]gen.IngestionItem, error) {
	params := &gen.GetIngestionParams{Status: set(status)}
	answer, err := do2[gen.IngestionItemList](ctx, s.c, gen.OpGetIngestion, s.c.low.GetIngestion, ingestionID, params)
	if err != nil {
		return nil, err
	}
	return answer.Items, nil
}
