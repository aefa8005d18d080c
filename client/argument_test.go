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

// refused checks that a call was refused before any I/O, with the operation and the field named.
func refused(t *testing.T, err error, op gen.OperationID, field string) {
	t.Helper()
	require.ErrorIs(t, err, client.ErrInvalidArgument)
	require.NotErrorIs(t, err, client.ErrOutcomeUnknown)
	var argument *client.ArgumentError
	require.ErrorAs(t, err, &argument)
	assert.Equal(t, field, argument.Field)
	assert.Equal(t, op, argument.Operation)
	assert.NotEmpty(t, argument.Problem)
	assert.Contains(t, err.Error(), string(op)+": "+field+": ")
}

func TestFiltersThatTheServiceWouldMisreadAreRefusedBeforeAnyIO(t *testing.T) {
	ctx, c := t.Context(), clienttest.New(t).Client()
	listings := func(p client.ListingFilter) error { return failure(c.Listings.ListPage(ctx, p)) }
	search := func(p client.ProductQuery) error { return failure(c.Catalog.SearchPage(ctx, p)) }
	tests := map[string]struct {
		err   error
		op    gen.OperationID
		field string
	}{
		"page numbers begin at 1":        {listings(client.ListingFilter{PageNumber: -1}), gen.OpListListings, "PageNumber"},
		"page numbers are of 32 bits":    {search(client.ProductQuery{Query: "a", PageNumber: math.MaxInt32 + 1}), gen.OpSearchProducts, "PageNumber"},
		"a page has an entry":            {listings(client.ListingFilter{PageSize: -1}), gen.OpListListings, "PageSize"},
		"a page has 100 listings":        {listings(client.ListingFilter{PageSize: 101}), gen.OpListListings, "PageSize"},
		"a page has 50 products":         {search(client.ProductQuery{Query: "a", PageSize: 51}), gen.OpSearchProducts, "PageSize"},
		"a page has 100 active orders":   {failure(c.Orders.ListActivePage(ctx, client.ActiveOrderFilter{PageSize: 101})), gen.OpListActiveOrders, "PageSize"},
		"a page has 100 ended orders":    {failure(c.Orders.ListHistoryPage(ctx, client.OrderHistoryFilter{PageSize: 101})), gen.OpListOrderHistory, "PageSize"},
		"a page has 100 operations":      {failure(c.Listings.ListOperationsPage(ctx, listingID, "", 101)), gen.OpListListingOperations, "PageSize"},
		"a comma makes two values":       {listings(client.ListingFilter{ProductIDs: []string{"a", "b,c"}}), gen.OpListListings, "ProductIDs[1]"},
		"an empty value filters nothing": {listings(client.ListingFilter{Statuses: []gen.ListingStatus{""}}), gen.OpListListings, "Statuses[0]"},
		"a comma in a shipment":          {failure(c.Orders.ListActivePage(ctx, client.ActiveOrderFilter{ShipmentDisplayIDs: []string{","}})), gen.OpListActiveOrders, "ShipmentDisplayIDs[0]"},
		"a search has words":             {search(client.ProductQuery{}), gen.OpSearchProducts, "Query"},
		"but not too many":               {search(client.ProductQuery{Query: strings.Repeat("ü", 101)}), gen.OpSearchProducts, "Query"},
		"no products to ingest":          {failure(c.Catalog.Ingest(ctx, nil)), gen.OpIngestProducts, "products"},
	}
	for why, test := range tests {
		t.Run(why, func(t *testing.T) { refused(t, test.err, test.op, test.field) })
	}
}

func TestAmountsThatTheServiceWouldRefuseAreRefusedBeforeAnyIO(t *testing.T) {
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
		"a listing has a price":    {create(""), gen.OpCreateListing, "amount"},
		"that is a number":         {create("a lot"), gen.OpCreateListing, "amount"},
		"with a point":             {create("162,50"), gen.OpCreateListing, "amount"},
		"above zero":               {create("0"), gen.OpCreateListing, "amount"},
		"also when it is changed":  {failure(c.Listings.Update(ctx, listingID, gen.UpdateListingRequest{Amount: "-1"})), gen.OpUpdateListing, "amount"},
		"written out":              {create("1.62e2"), gen.OpCreateListing, "amount"},
		"written out when changed": {failure(c.Listings.Update(ctx, listingID, gen.UpdateListingRequest{Amount: "2E2"})), gen.OpUpdateListing, "amount"},
		"and not left out":         {failure(c.Listings.Update(ctx, listingID, gen.UpdateListingRequest{})), gen.OpUpdateListing, "changes"},
		"and when it is activated": {failure(c.Listings.Activate(ctx, listingID, gen.ActivateListingRequest{Amount: "0.00"})), gen.OpActivateListing, "amount"},
		"a product has a title":    {ingest(gen.IngestionProduct{Brand: "Jordan", Category: gen.IngestionCategorySneakers}), gen.OpIngestProducts, "products[0]"},
		"a product has its own price": {
			ingest(gen.IngestionProduct{Brand: "Jordan", Category: gen.IngestionCategorySneakers, ProductTitle: "Jordan 1"}),
			gen.OpIngestProducts, "products[0].retailPrice",
		},
	}
	for why, test := range tests {
		t.Run(why, func(t *testing.T) { refused(t, test.err, test.op, test.field) })
	}
}
