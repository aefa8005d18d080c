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

// idCall is a method that takes an id. The service of these tests expects no request at all.
type idCall struct {
	op    gen.OperationID
	field string
	call  func(c *client.Client, id string) error
}

func idCalls(t *testing.T) []idCall {
	t.Helper()
	ctx := t.Context()
	return []idCall{
		{gen.OpGetListing, "listingId", func(c *client.Client, id string) error { return failure(c.Listings.Get(ctx, id)) }},
		{gen.OpUpdateListing, "listingId", func(c *client.Client, id string) error {
			return failure(c.Listings.Update(ctx, id, gen.UpdateListingRequest{Amount: "1"}))
		}},
		{gen.OpActivateListing, "listingId", func(c *client.Client, id string) error {
			return failure(c.Listings.Activate(ctx, id, gen.ActivateListingRequest{}))
		}},
		{gen.OpDeactivateListing, "listingId", func(c *client.Client, id string) error { return failure(c.Listings.Deactivate(ctx, id)) }},
		{gen.OpDeleteListing, "listingId", func(c *client.Client, id string) error { return failure(c.Listings.Delete(ctx, id)) }},
		{gen.OpCreateListing, "variantId", func(c *client.Client, id string) error {
			return failure(c.Listings.Create(ctx, gen.CreateListingRequest{VariantID: id, Amount: "1"}))
		}},
		{gen.OpListListingOperations, "listingId", func(c *client.Client, id string) error {
			return failure(c.Listings.ListOperationsPage(ctx, id, "", 0))
		}},
		{gen.OpListListingOperations, "listingId", func(c *client.Client, id string) error {
			for _, err := range c.Listings.ListOperations(ctx, id) {
				return err
			}
			return nil
		}},
		{gen.OpGetListingOperation, "listingId", func(c *client.Client, id string) error {
			return failure(c.Listings.GetOperation(ctx, id, operationID))
		}},
		{gen.OpGetListingOperation, "operationId", func(c *client.Client, id string) error {
			return failure(c.Listings.Operation(listingID, id).Poll(ctx))
		}},
		{gen.OpGetListingOperation, "operationId", func(c *client.Client, id string) error {
			return failure(c.Listings.Operation(listingID, id).Wait(ctx))
		}},

		{gen.OpGetCreateListingsBatch, "batchId", func(c *client.Client, id string) error { return failure(c.Batches.ResumeCreate(id).Poll(ctx)) }},
		{gen.OpListCreateListingsBatchItems, "batchId", func(c *client.Client, id string) error { return failure(c.Batches.ResumeCreate(id).Results(ctx)) }},
		{gen.OpGetUpdateListingsBatch, "batchId", func(c *client.Client, id string) error { return failure(c.Batches.ResumeUpdate(id).Poll(ctx)) }},
		{gen.OpListUpdateListingsBatchItems, "batchId", func(c *client.Client, id string) error { return failure(c.Batches.ResumeUpdate(id).Results(ctx)) }},
		{gen.OpGetDeleteListingsBatch, "batchId", func(c *client.Client, id string) error { return failure(c.Batches.ResumeDelete(id).Wait(ctx)) }},
		{gen.OpListDeleteListingsBatchItems, "batchId", func(c *client.Client, id string) error { return failure(c.Batches.ResumeDelete(id).Results(ctx)) }},
		{gen.OpDeleteListingsBatch, "listingIDs[1]", func(c *client.Client, id string) error {
			return failure(c.Batches.Delete(ctx, []string{listingID, id}))
		}},

		{gen.OpGetOrder, "orderNumber", func(c *client.Client, id string) error { return failure(c.Orders.Get(ctx, id)) }},
		{gen.OpGetShippingDocuments, "orderNumber", func(c *client.Client, id string) error { return failure(c.Orders.ListShippingDocuments(ctx, id)) }},
		{gen.OpGetShippingDocument, "orderNumber", func(c *client.Client, id string) error {
			return failure(c.Orders.DownloadShippingDocument(ctx, id, "label"))
		}},
		{gen.OpGetShippingDocument, "shippingId", func(c *client.Client, id string) error {
			return failure(c.Orders.DownloadShippingDocument(ctx, orderID, id))
		}},

		{gen.OpGetProduct, "productId", func(c *client.Client, id string) error { return failure(c.Catalog.GetProduct(ctx, id)) }},
		{gen.OpListVariants, "productId", func(c *client.Client, id string) error { return failure(c.Catalog.ListVariants(ctx, id)) }},
		{gen.OpGetVariant, "productId", func(c *client.Client, id string) error { return failure(c.Catalog.GetVariant(ctx, id, variantID)) }},
		{gen.OpGetVariant, "variantId", func(c *client.Client, id string) error { return failure(c.Catalog.GetVariant(ctx, productID, id)) }},
		{gen.OpGetVariantByGTIN, "gtin", func(c *client.Client, id string) error { return failure(c.Catalog.GetVariantByGTIN(ctx, id)) }},
		{gen.OpGetVariantMarketData, "productId", func(c *client.Client, id string) error {
			return failure(c.Catalog.GetMarketData(ctx, id, variantID, ""))
		}},
		{gen.OpGetVariantMarketData, "variantId", func(c *client.Client, id string) error {
			return failure(c.Catalog.GetMarketData(ctx, productID, id, ""))
		}},
		{gen.OpListProductMarketData, "productId", func(c *client.Client, id string) error { return failure(c.Catalog.ListMarketData(ctx, id, "")) }},
		{gen.OpGetIngestion, "ingestionId", func(c *client.Client, id string) error { return failure(c.Catalog.GetIngestion(ctx, id, "")) }},
	}
}

func TestIDsThatCannotStandInAPathAreRefusedBeforeAnyIO(t *testing.T) {
	bad := map[string]string{
		"empty, so the path is another one": "",
		"this directory":                    ".",
		"the directory above":               "..",
		"a line end":                        "a\nb",
		"a null byte":                       "\x00",
		"a delete character":                "a\x7f",
	}
	c := clienttest.New(t).Client()
	for _, m := range idCalls(t) {
		for why, id := range bad {
			t.Run(string(m.op)+" "+m.field+" "+why, func(t *testing.T) { refused(t, m.call(c, id), m.op, m.field) })
		}
		if m.field == "orderNumber" {
			for _, list := range []string{"active", "history"} {
				t.Run(string(m.op)+" the list "+list, func(t *testing.T) { refused(t, m.call(c, list), m.op, m.field) })
			}
		}
	}
}

func TestEveryPathParameterIsChecked(t *testing.T) {
	checked := map[string]bool{}
	for _, m := range idCalls(t) {
		checked[string(m.op)+" "+m.field] = true
	}
	for _, op := range gen.Operations() {
		for segment := range strings.SplitSeq(op.Route, "/") {
			if name, ok := strings.CutPrefix(segment, "{"); ok {
				assert.True(t, checked[string(op.ID)+" "+strings.TrimSuffix(name, "}")], "no row for %s of %s", segment, op.ID)
			}
		}
	}
}

func TestOddIDsStayWithinTheirSegment(t *testing.T) {
	for _, id := range []string{"a/b", "../orders", "a?b=c", "a#b", "a%2fb", "a b", "ключ", "active"} {
		t.Run(id, func(t *testing.T) {
			srv := clienttest.New(t)
			srv.Expect(gen.OpGetListing).Path("listingId", id).NoQuery().RespondExample()

			_, err := srv.Client().Listings.Get(t.Context(), id)

			require.NoError(t, err)
		})
	}
}
