package client_test

import (
	"context"
	"io"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/clienttest"
	"github.com/sellside-sdk/sellside-go/gen"
)

// typedCalls are calls of the typed method of every operation, with the arguments of the examples
// of the spec.
func typedCalls(t *testing.T) map[gen.OperationID]func(context.Context, *client.Client) error {
	t.Helper()
	return map[gen.OperationID]func(context.Context, *client.Client) error{
		gen.OpListListings: func(ctx context.Context, c *client.Client) error {
			return failure(c.Listings.ListPage(ctx, client.ListingFilter{}))
		},
		gen.OpCreateListing: func(ctx context.Context, c *client.Client) error {
			return failure(c.Listings.Create(ctx, requestOf[gen.CreateListingRequest](t, gen.OpCreateListing)))
		},
		gen.OpGetListing: func(ctx context.Context, c *client.Client) error { return failure(c.Listings.Get(ctx, listingID)) },
		gen.OpUpdateListing: func(ctx context.Context, c *client.Client) error {
			return failure(c.Listings.Update(ctx, listingID, requestOf[gen.UpdateListingRequest](t, gen.OpUpdateListing)))
		},
		gen.OpDeleteListing: func(ctx context.Context, c *client.Client) error {
			return failure(c.Listings.Delete(ctx, listingID))
		},
		gen.OpActivateListing: func(ctx context.Context, c *client.Client) error {
			return failure(c.Listings.Activate(ctx, listingID, requestOf[gen.ActivateListingRequest](t, gen.OpActivateListing)))
		},
		gen.OpDeactivateListing: func(ctx context.Context, c *client.Client) error {
			return failure(c.Listings.Deactivate(ctx, listingID))
		},
		gen.OpListListingOperations: func(ctx context.Context, c *client.Client) error {
			return failure(c.Listings.ListOperationsPage(ctx, listingID, "", 0))
		},
		gen.OpGetListingOperation: func(ctx context.Context, c *client.Client) error {
			return failure(c.Listings.GetOperation(ctx, listingID, operationID))
		},

		gen.OpCreateListingsBatch: func(ctx context.Context, c *client.Client) error {
			return failure(c.Batches.Create(ctx, requestOf[gen.CreateListingsBatchRequest](t, gen.OpCreateListingsBatch).Items))
		},
		gen.OpGetCreateListingsBatch: func(ctx context.Context, c *client.Client) error {
			return failure(c.Batches.ResumeCreate(batchID).Poll(ctx))
		},
		gen.OpListCreateListingsBatchItems: func(ctx context.Context, c *client.Client) error {
			return failure(c.Batches.ResumeCreate(batchID).Results(ctx, ""))
		},
		gen.OpUpdateListingsBatch: func(ctx context.Context, c *client.Client) error {
			return failure(c.Batches.Update(ctx, requestOf[gen.UpdateListingsBatchRequest](t, gen.OpUpdateListingsBatch).Items))
		},
		gen.OpGetUpdateListingsBatch: func(ctx context.Context, c *client.Client) error {
			return failure(c.Batches.ResumeUpdate(batchID).Poll(ctx))
		},
		gen.OpListUpdateListingsBatchItems: func(ctx context.Context, c *client.Client) error {
			return failure(c.Batches.ResumeUpdate(batchID).Results(ctx, ""))
		},
		gen.OpDeleteListingsBatch: func(ctx context.Context, c *client.Client) error {
			return failure(c.Batches.Delete(ctx, []string{listingID}))
		},
		gen.OpGetDeleteListingsBatch: func(ctx context.Context, c *client.Client) error {
			return failure(c.Batches.ResumeDelete(batchID).Poll(ctx))
		},
		gen.OpListDeleteListingsBatchItems: func(ctx context.Context, c *client.Client) error {
			return failure(c.Batches.ResumeDelete(batchID).Results(ctx, ""))
		},

		gen.OpListActiveOrders: func(ctx context.Context, c *client.Client) error {
			return failure(c.Orders.ListActivePage(ctx, client.ActiveOrderFilter{}))
		},
		gen.OpListOrderHistory: func(ctx context.Context, c *client.Client) error {
			return failure(c.Orders.ListHistoryPage(ctx, client.OrderHistoryFilter{}))
		},
		gen.OpGetOrder: func(ctx context.Context, c *client.Client) error { return failure(c.Orders.Get(ctx, orderID)) },
		gen.OpGetShippingDocuments: func(ctx context.Context, c *client.Client) error {
			return failure(c.Orders.ListShippingDocuments(ctx, orderID))
		},
		gen.OpGetShippingDocument: func(ctx context.Context, c *client.Client) error {
			document, err := c.Orders.DownloadShippingDocument(ctx, orderID, "SHP-2041")
			if err != nil {
				return err
			}
			return document.Close()
		},

		gen.OpSearchProducts: func(ctx context.Context, c *client.Client) error {
			return failure(c.Catalog.SearchPage(ctx, client.ProductQuery{Query: "chicago"}))
		},
		gen.OpGetProduct: func(ctx context.Context, c *client.Client) error {
			return failure(c.Catalog.GetProduct(ctx, productID))
		},
		gen.OpListVariants: func(ctx context.Context, c *client.Client) error {
			return failure(c.Catalog.ListVariants(ctx, productID))
		},
		gen.OpGetVariant: func(ctx context.Context, c *client.Client) error {
			return failure(c.Catalog.GetVariant(ctx, productID, variantID))
		},
		gen.OpGetVariantByGTIN: func(ctx context.Context, c *client.Client) error {
			return failure(c.Catalog.GetVariantByGTIN(ctx, "0195866137516"))
		},
		gen.OpGetVariantMarketData: func(ctx context.Context, c *client.Client) error {
			return failure(c.Catalog.GetMarketData(ctx, productID, variantID, ""))
		},
		gen.OpListProductMarketData: func(ctx context.Context, c *client.Client) error {
			return failure(c.Catalog.ListMarketData(ctx, productID, "EUR"))
		},
		gen.OpIngestProducts: func(ctx context.Context, c *client.Client) error {
			return failure(c.Catalog.Ingest(ctx, requestOf[gen.IngestProductsRequest](t, gen.OpIngestProducts).Items))
		},
		gen.OpGetIngestion: func(ctx context.Context, c *client.Client) error {
			return failure(c.Catalog.GetIngestion(ctx, "3f1f5d0e", gen.IngestionStatusInReview))
		},
	}
}

// wholeCalls are typedCalls that read a document to its end.
func wholeCalls(t *testing.T) map[gen.OperationID]func(context.Context, *client.Client) error {
	t.Helper()
	calls := typedCalls(t)
	calls[gen.OpGetShippingDocument] = func(ctx context.Context, c *client.Client) error {
		return readDocument(ctx, c, orderID, "SHP-2041")
	}
	return calls
}

func readDocument(ctx context.Context, c *client.Client, orderNumber, shippingID string) error {
	document, err := c.Orders.DownloadShippingDocument(ctx, orderNumber, shippingID)
	if err != nil {
		return err
	}
	defer document.Close()
	_, err = io.Copy(io.Discard, document)
	return err
}

func TestDo_EveryOperationHasAMethod(t *testing.T) {
	calls := typedCalls(t)
	for _, op := range gen.Operations() {
		t.Run(string(op.ID), func(t *testing.T) {
			call := calls[op.ID]
			require.NotNil(t, call, "client/do_test.go: add a call of %s to typedCalls; its method belongs to the service %s",
				op.ID, op.Tag)
			srv := clienttest.New(t)
			line := srv.Expect(op.ID)
			if body := clienttest.RequestExampleOf(op.ID); body != nil {
				line.BodyJSON(body)
			}
			line.RespondExample()

			require.NoError(t, call(t.Context(), srv.Client()))
		})
		delete(calls, op.ID)
	}
	assert.Empty(t, calls, "rows of operations that the spec does not have")
}

func TestDo_UndeclaredStatusIsAPIError(t *testing.T) {
	for id, call := range typedCalls(t) {
		t.Run(string(id), func(t *testing.T) {
			op, _ := gen.LookupOperation(id)
			srv := clienttest.New(t)
			srv.Expect(op.ID).RespondError(403, "ask for access")

			err := call(t.Context(), srv.Client())

			require.ErrorIs(t, err, client.ErrForbidden)
			require.NotErrorIs(t, err, client.ErrOutcomeUnknown, "a refused write was not applied")
			var failed *client.APIError
			require.ErrorAs(t, err, &failed)
			assert.Equal(t,
				client.CallInfo{Operation: op.ID, Method: op.Method, Route: op.Route, Attempts: 1},
				failed.CallInfo)
			assert.Equal(t, "ask for access", failed.Message)
		})
	}
}
