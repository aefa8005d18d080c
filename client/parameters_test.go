package client_test

import (
	"context"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/api"
	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/clienttest"
	"github.com/sellside-sdk/sellside-go/gen"
)

// notOffered are the query parameters that typed methods cannot send, and the reasons.
var notOffered = map[gen.OperationID]map[string]string{
	gen.OpGetVariantMarketData: {"country": "deprecated, without effect, and refused by a live service"},
}

// fullCalls are calls of the typed methods with every query parameter that they can send.
func fullCalls() map[gen.OperationID]func(context.Context, *client.Client) error {
	types, shipments := []gen.InventoryType{gen.InventoryTypeDirect}, []string{"SHP-2041"}
	return map[gen.OperationID]func(context.Context, *client.Client) error{
		gen.OpListListings: func(ctx context.Context, c *client.Client) error {
			return failure(c.Listings.ListPage(ctx, client.ListingFilter{
				ProductIDs: []string{"p1"}, VariantIDs: []string{"v1"}, BatchIDs: []string{"b1"},
				Statuses: []gen.ListingStatus{gen.ListingStatusActive}, InventoryTypes: types,
				From: evening, To: evening, Expired: true, ShipmentDisplayIDs: shipments, PageNumber: 2, PageSize: 5,
			}))
		},
		gen.OpListListingOperations: func(ctx context.Context, c *client.Client) error {
			return failure(c.Listings.ListOperationsPage(ctx, listingID, "c2", 5))
		},
		gen.OpListCreateListingsBatchItems: func(ctx context.Context, c *client.Client) error {
			return failure(c.Batches.ResumeCreate(batchID).Results(ctx, gen.BatchItemStatusFailed))
		},
		gen.OpListUpdateListingsBatchItems: func(ctx context.Context, c *client.Client) error {
			return failure(c.Batches.ResumeUpdate(batchID).Results(ctx, gen.BatchItemStatusFailed))
		},
		gen.OpListDeleteListingsBatchItems: func(ctx context.Context, c *client.Client) error {
			return failure(c.Batches.ResumeDelete(batchID).Results(ctx, gen.BatchItemStatusFailed))
		},
		gen.OpListActiveOrders: func(ctx context.Context, c *client.Client) error {
			return failure(c.Orders.ListActivePage(ctx, client.ActiveOrderFilter{
				Status: gen.OrderStatusShipped, ProductID: "p1", VariantID: "v1", Sort: gen.OrderSortShipByDate,
				InventoryTypes: types, ShipmentDisplayIDs: shipments, PageNumber: 2, PageSize: 5,
			}))
		},
		gen.OpListOrderHistory: func(ctx context.Context, c *client.Client) error {
			return failure(c.Orders.ListHistoryPage(ctx, client.OrderHistoryFilter{
				Status: gen.OrderStatusReturned, From: evening, To: evening, ProductID: "p1", VariantID: "v1",
				InventoryTypes: types, ShipmentDisplayIDs: shipments, PageNumber: 2, PageSize: 5,
			}))
		},
		gen.OpSearchProducts: func(ctx context.Context, c *client.Client) error {
			return failure(c.Catalog.SearchPage(ctx, client.ProductQuery{Query: "chicago", PageNumber: 2, PageSize: 5}))
		},
		gen.OpGetVariantMarketData: func(ctx context.Context, c *client.Client) error {
			return failure(c.Catalog.GetMarketData(ctx, productID, variantID, gen.CurrencyCodeEUR))
		},
		gen.OpListProductMarketData: func(ctx context.Context, c *client.Client) error {
			return failure(c.Catalog.ListMarketData(ctx, productID, gen.CurrencyCodeEUR))
		},
		gen.OpGetIngestion: func(ctx context.Context, c *client.Client) error {
			return failure(c.Catalog.GetIngestion(ctx, "i1", gen.IngestionStatusInReview))
		},
	}
}

// Fields need no such test: the models are generated, and the methods pass them on whole.
func TestParameters_AreReachable(t *testing.T) {
	doc, err := openapi3.NewLoader().LoadFromData(api.Spec)
	require.NoError(t, err)
	calls := fullCalls()
	for _, op := range gen.Operations() {
		var names []string
		for _, p := range doc.Paths.Value(op.Route).GetOperation(op.Method).Parameters {
			if p.Value.In == openapi3.ParameterInQuery {
				names = append(names, p.Value.Name)
			}
		}
		if len(names) == 0 {
			continue
		}
		call := calls[op.ID]
		if !assert.NotNil(t, call, "client/parameters_test.go: add a call of %s with all of its parameters to fullCalls", op.ID) {
			continue
		}
		srv := clienttest.New(t, clienttest.InProcess())
		srv.Expect(op.ID).RespondExample()
		_ = call(t.Context(), srv.Client()) // the example may be about another id
		sent := srv.Requests(op.ID)[0].Query
		for _, name := range names {
			assert.NotEqual(t, sent.Has(name), notOffered[op.ID][name] != "",
				"client: let the method of %s send %q and set it in client/parameters_test.go, or give the reason in notOffered",
				op.ID, name)
		}
	}
}
