package client_test

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/clienttest"
	"github.com/sellside-sdk/sellside-go/gen"
)

// assertRefused checks that a call was refused before any I/O, and that the error has the operation
// and the field.
func assertRefused(t *testing.T, err error, op gen.OperationID, field string) {
	t.Helper()
	require.ErrorIs(t, err, client.ErrInvalidArgument)
	require.NotErrorIs(t, err, client.ErrOutcomeUnknown)
	var argument *client.ArgumentError
	require.ErrorAs(t, err, &argument)
	assert.Equal(t, field, argument.Field)
	assert.Equal(t, op, argument.Operation)
	assert.NotEmpty(t, argument.Problem)
}

func TestArgument_InvalidFilterIsRefused(t *testing.T) {
	ctx, c := t.Context(), clienttest.New(t).Client()
	listings := func(p client.ListingFilter) error { return failure(c.Listings.ListPage(ctx, p)) }
	search := func(p client.ProductQuery) error { return failure(c.Catalog.SearchPage(ctx, p)) }
	tests := map[string]struct {
		err   error
		op    gen.OperationID
		field string
	}{
		"a negative page number":       {listings(client.ListingFilter{PageNumber: -1}), gen.OpListListings, "PageNumber"},
		"a page number beyond 32 bits": {search(client.ProductQuery{Query: "a", PageNumber: math.MaxInt32 + 1}), gen.OpSearchProducts, "PageNumber"},
		"a negative page size":         {listings(client.ListingFilter{PageSize: -1}), gen.OpListListings, "PageSize"},
		"more than 100 listings":       {listings(client.ListingFilter{PageSize: 101}), gen.OpListListings, "PageSize"},
		"more than 50 products":        {search(client.ProductQuery{Query: "a", PageSize: 51}), gen.OpSearchProducts, "PageSize"},
		"more than 100 active orders":  {failure(c.Orders.ListActivePage(ctx, client.ActiveOrderFilter{PageSize: 101})), gen.OpListActiveOrders, "PageSize"},
		"more than 100 ended orders":   {failure(c.Orders.ListHistoryPage(ctx, client.OrderHistoryFilter{PageSize: 101})), gen.OpListOrderHistory, "PageSize"},
		"more than 100 operations":     {failure(c.Listings.ListOperationsPage(ctx, listingID, "", 101)), gen.OpListListingOperations, "PageSize"},
		"a comma in an id":             {listings(client.ListingFilter{ProductIDs: []string{"a", "b,c"}}), gen.OpListListings, "ProductIDs[1]"},
		"an empty status":              {listings(client.ListingFilter{Statuses: []gen.ListingStatus{""}}), gen.OpListListings, "Statuses[0]"},
		"a comma in a shipment id":     {failure(c.Orders.ListActivePage(ctx, client.ActiveOrderFilter{ShipmentDisplayIDs: []string{","}})), gen.OpListActiveOrders, "ShipmentDisplayIDs[0]"},
		"an empty query":               {search(client.ProductQuery{}), gen.OpSearchProducts, "Query"},
		"a query that is too long":     {search(client.ProductQuery{Query: strings.Repeat("ü", 101)}), gen.OpSearchProducts, "Query"},
		"no products to ingest":        {failure(c.Catalog.Ingest(ctx, nil)), gen.OpIngestProducts, "products"},
	}
	for why, test := range tests {
		t.Run(why, func(t *testing.T) { assertRefused(t, test.err, test.op, test.field) })
	}
}

func TestArgument_InvalidAmountIsRefused(t *testing.T) {
	ctx, c := t.Context(), clienttest.New(t).Client()
	create := func(amount gen.Amount) error {
		return failure(c.Listings.Create(ctx, gen.CreateListingRequest{VariantID: variantID, Amount: amount}))
	}
	ingest := func(p gen.IngestionProduct) error {
		return failure(c.Catalog.Ingest(ctx, []gen.IngestionProduct{p}))
	}
	tests := map[string]struct {
		err   error
		op    gen.OperationID
		field string
	}{
		"no amount":                       {create(""), gen.OpCreateListing, "amount"},
		"words":                           {create("a lot"), gen.OpCreateListing, "amount"},
		"a comma":                         {create("162,50"), gen.OpCreateListing, "amount"},
		"zero":                            {create("0"), gen.OpCreateListing, "amount"},
		"a negative change":               {failure(c.Listings.Update(ctx, listingID, gen.UpdateListingRequest{Amount: "-1"})), gen.OpUpdateListing, "amount"},
		"scientific notation":             {create("1.62e2"), gen.OpCreateListing, "amount"},
		"a change in scientific notation": {failure(c.Listings.Update(ctx, listingID, gen.UpdateListingRequest{Amount: "2E2"})), gen.OpUpdateListing, "amount"},
		"no change":                       {failure(c.Listings.Update(ctx, listingID, gen.UpdateListingRequest{})), gen.OpUpdateListing, "changes"},
		"a change without a currency": {
			failure(c.Listings.Update(ctx, listingID, gen.UpdateListingRequest{Amount: "158.50"})),
			gen.OpUpdateListing, "currencyCode",
		},
		"activation without a currency": {
			failure(c.Listings.Activate(ctx, listingID, gen.ActivateListingRequest{Amount: "158.50"})),
			gen.OpActivateListing, "currencyCode",
		},
		"activation at zero":        {failure(c.Listings.Activate(ctx, listingID, gen.ActivateListingRequest{Amount: "0.00"})), gen.OpActivateListing, "amount"},
		"a product without a title": {ingest(gen.IngestionProduct{Brand: "Jordan", Category: gen.IngestionCategorySneakers}), gen.OpIngestProducts, "products[0]"},
		"a product without a price": {
			ingest(gen.IngestionProduct{Brand: "Jordan", Category: gen.IngestionCategorySneakers, ProductTitle: "Jordan 1"}),
			gen.OpIngestProducts, "products[0].retailPrice",
		},
	}
	for why, test := range tests {
		t.Run(why, func(t *testing.T) { assertRefused(t, test.err, test.op, test.field) })
	}
}

// idCall is a method that takes an id. The service of these tests expects no request.
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
			return failure(c.Listings.Update(ctx, id, gen.UpdateListingRequest{Amount: "1", CurrencyCode: "USD"}))
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
		{gen.OpListCreateListingsBatchItems, "batchId", func(c *client.Client, id string) error { return failure(c.Batches.ResumeCreate(id).Results(ctx, "")) }},
		{gen.OpGetUpdateListingsBatch, "batchId", func(c *client.Client, id string) error { return failure(c.Batches.ResumeUpdate(id).Poll(ctx)) }},
		{gen.OpListUpdateListingsBatchItems, "batchId", func(c *client.Client, id string) error { return failure(c.Batches.ResumeUpdate(id).Results(ctx, "")) }},
		{gen.OpGetDeleteListingsBatch, "batchId", func(c *client.Client, id string) error { return failure(c.Batches.ResumeDelete(id).Wait(ctx)) }},
		{gen.OpListDeleteListingsBatchItems, "batchId", func(c *client.Client, id string) error { return failure(c.Batches.ResumeDelete(id).Results(ctx, "")) }},
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

func TestArgument_InvalidIDIsRefused(t *testing.T) {
	bad := map[string]string{
		"empty":               "",
		"this directory":      ".",
		"the directory above": "..",
		"a line end":          "a\nb",
		"a null byte":         "\x00",
		"a delete character":  "a\x7f",
	}
	c := clienttest.New(t).Client()
	for _, m := range idCalls(t) {
		for why, id := range bad {
			t.Run(string(m.op)+" "+m.field+" "+why,
				func(t *testing.T) { assertRefused(t, m.call(c, id), m.op, m.field) })
		}
		if m.field == "orderNumber" {
			for _, list := range []string{"active", "history"} {
				t.Run(string(m.op)+" the list "+list,
					func(t *testing.T) { assertRefused(t, m.call(c, list), m.op, m.field) })
			}
		}
	}
}

func TestArgument_EveryPathParameterIsChecked(t *testing.T) {
	checked := map[string]bool{}
	for _, m := range idCalls(t) {
		checked[string(m.op)+" "+m.field] = true
	}
	for _, op := range gen.Operations() {
		for segment := range strings.SplitSeq(op.Route, "/") {
			if name, ok := strings.CutPrefix(segment, "{"); ok {
				assert.True(t, checked[string(op.ID)+" "+strings.TrimSuffix(name, "}")],
					"client/argument_test.go: add a call of %s to idCalls for %s", op.ID, segment)
			}
		}
	}
}

func TestArgument_UnusualIDIsEscaped(t *testing.T) {
	for _, id := range []string{"a/b", "../orders", "a?b=c", "a#b", "a%2fb", "a b", "ключ", "active"} {
		t.Run(id, func(t *testing.T) {
			srv := clienttest.New(t)
			srv.Expect(gen.OpGetListing).Path("listingId", id).NoQuery().RespondExample()

			_, err := srv.Client().Listings.Get(t.Context(), id)

			require.NoError(t, err)
		})
	}
}
