package client_test

import (
	"context"
	"maps"
	"path"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/gen"
	"github.com/sellside-sdk/sellside-go/sandbox"
)

// reads find something: a listing that nothing else touches, its batches and operations, an order and a product.
func (m *wireMarket) reads(t *testing.T, product sandbox.Product) map[gen.OperationID]func() wireCall {
	t.Helper()
	ctx, productID, variantID := t.Context(), product.ID, product.Variants[0].ID
	createdID, made := m.sell(t, gen.CreateItem{VariantID: variantID, Amount: "102", Quantity: 2, InventoryType: gen.InventoryTypeDirect})
	listingID, soldID := made.take(), made.take()
	order, err := m.Buy(ctx, soldID)
	require.NoError(t, err)
	operation, err := m.direct.Listings.Update(ctx, listingID, gen.UpdateListingRequest{Amount: "120"})
	require.NoError(t, err)
	updated, err := m.direct.Batches.Update(ctx, []gen.UpdateItem{{ListingID: listingID, Amount: "121"}})
	require.NoError(t, err)
	deleted, err := m.direct.Batches.Delete(ctx, []string{soldID}) // which fails, and is a batch all the same
	require.NoError(t, err)
	shown, err := m.direct.Catalog.Variant(ctx, productID, variantID)
	require.NoError(t, err)
	require.NotEmpty(t, shown.GTINs)
	document, ingestion := m.document(t, order), m.ingestion(t)

	calls := map[gen.OperationID]func() wireCall{}
	read := func(op gen.OperationID, do func(context.Context, *client.Client) error) {
		calls[op] = func() wireCall { return wireCall{do: do} }
	}
	read(gen.OpListListings, func(ctx context.Context, c *client.Client) error {
		return failure(c.Listings.ListPage(ctx, client.ListListings{PageSize: 1}))
	})
	read(gen.OpGetListing, func(ctx context.Context, c *client.Client) error { return failure(c.Listings.Get(ctx, listingID)) })
	read(gen.OpListListingOperations, func(ctx context.Context, c *client.Client) error {
		return failure(c.Listings.OperationsPage(ctx, listingID, "", 0))
	})
	read(gen.OpGetListingOperation, func(ctx context.Context, c *client.Client) error {
		return failure(c.Listings.GetOperation(ctx, listingID, operation.ID()))
	})
	read(gen.OpGetCreateListingsBatch, func(ctx context.Context, c *client.Client) error {
		return failure(c.Batches.OpenCreate(createdID).Poll(ctx))
	})
	read(gen.OpListCreateListingsBatchItems, func(ctx context.Context, c *client.Client) error {
		return failure(c.Batches.OpenCreate(createdID).Results(ctx))
	})
	read(gen.OpGetUpdateListingsBatch, func(ctx context.Context, c *client.Client) error {
		return failure(c.Batches.OpenUpdate(updated.ID()).Poll(ctx))
	})
	read(gen.OpListUpdateListingsBatchItems, func(ctx context.Context, c *client.Client) error {
		return failure(c.Batches.OpenUpdate(updated.ID()).Results(ctx))
	})
	read(gen.OpGetDeleteListingsBatch, func(ctx context.Context, c *client.Client) error {
		return failure(c.Batches.OpenDelete(deleted.ID()).Poll(ctx))
	})
	read(gen.OpListDeleteListingsBatchItems, func(ctx context.Context, c *client.Client) error {
		return failure(c.Batches.OpenDelete(deleted.ID()).Results(ctx))
	})
	read(gen.OpListActiveOrders, func(ctx context.Context, c *client.Client) error {
		return failure(c.Orders.ActivePage(ctx, client.ListActiveOrders{}))
	})
	read(gen.OpListOrderHistory, func(ctx context.Context, c *client.Client) error {
		return failure(c.Orders.HistoryPage(ctx, client.ListOrderHistory{}))
	})
	read(gen.OpGetOrder, func(ctx context.Context, c *client.Client) error { return failure(c.Orders.Get(ctx, order)) })
	read(gen.OpGetShippingDocuments, func(ctx context.Context, c *client.Client) error {
		return failure(c.Orders.ShippingDocuments(ctx, order))
	})
	read(gen.OpGetShippingDocument, func(ctx context.Context, c *client.Client) error { return readDocument(ctx, c, order, document) })
	read(gen.OpSearchProducts, func(ctx context.Context, c *client.Client) error {
		return failure(c.Catalog.SearchPage(ctx, client.SearchProducts{Query: product.StyleID}))
	})
	read(gen.OpGetProduct, func(ctx context.Context, c *client.Client) error { return failure(c.Catalog.Product(ctx, productID)) })
	read(gen.OpListVariants, func(ctx context.Context, c *client.Client) error { return failure(c.Catalog.Variants(ctx, productID)) })
	read(gen.OpGetVariant, func(ctx context.Context, c *client.Client) error {
		return failure(c.Catalog.Variant(ctx, productID, variantID))
	})
	read(gen.OpGetVariantByGTIN, func(ctx context.Context, c *client.Client) error {
		return failure(c.Catalog.VariantByGTIN(ctx, shown.GTINs[0].Identifier))
	})
	read(gen.OpGetVariantMarketData, func(ctx context.Context, c *client.Client) error {
		return failure(c.Catalog.MarketData(ctx, productID, variantID, ""))
	})
	read(gen.OpListProductMarketData, func(ctx context.Context, c *client.Client) error {
		return failure(c.Catalog.ProductMarketData(ctx, productID, "EUR"))
	})
	read(gen.OpGetIngestion, func(ctx context.Context, c *client.Client) error {
		return failure(c.Catalog.Ingestion(ctx, ingestion, ""))
	})
	return calls
}

// document is the id of a shipping document of the order: the last part of the address of one of them.
func (m *wireMarket) document(t *testing.T, orderNumber string) string {
	t.Helper()
	answer, err := m.direct.Orders.ShippingDocuments(t.Context(), orderNumber)
	require.NoError(t, err)
	documents := slices.Collect(maps.Values(answer.ShippingDocuments.RequiredDocuments))
	require.NotEmpty(t, documents)
	return path.Base(documents[0])
}

// ingestion is the id of products that were proposed.
func (m *wireMarket) ingestion(t *testing.T) string {
	t.Helper()
	answer, err := m.direct.Catalog.Ingest(t.Context(), requestOf[gen.IngestProductsRequest](t, gen.OpIngestProducts).Items)
	require.NoError(t, err)
	return answer.IngestionID
}
