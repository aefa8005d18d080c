package client_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/clienttest"
	"github.com/sellside-sdk/sellside-go/gen"
)

func TestBatches_SendOnlyWhatIsSet(t *testing.T) {
	inactive := false
	tests := map[string]struct {
		op     gen.OperationID
		submit func(*client.Client) (id string, snapshot gen.Batch, err error)
		body   string
	}{
		"create": {gen.OpCreateListingsBatch, func(c *client.Client) (string, gen.Batch, error) {
			return submitted(c.Batches.Create(t.Context(), []gen.CreateItem{
				{VariantID: variantID, Amount: "162", Quantity: 2},
				{VariantID: variantID, Amount: "170.00", Quantity: 1, Active: &inactive, CurrencyCode: "EUR"},
			}))
		}, `{"items":[{"variantId":"` + variantID + `","amount":"162","quantity":2},
			{"variantId":"` + variantID + `","amount":"170.00","quantity":1,"active":false,"currencyCode":"EUR"}]}`},
		"update": {gen.OpUpdateListingsBatch, func(c *client.Client) (string, gen.Batch, error) {
			return submitted(c.Batches.Update(t.Context(), []gen.UpdateItem{
				{ListingID: "l1", Amount: "158.50", CurrencyCode: "EUR"}, {ListingID: "l2", Active: &inactive},
			}))
		}, `{"items":[{"listingId":"l1","amount":"158.50","currencyCode":"EUR"},{"listingId":"l2","active":false}]}`},
		"delete": {gen.OpDeleteListingsBatch, func(c *client.Client) (string, gen.Batch, error) {
			return submitted(c.Batches.Delete(t.Context(), []string{"l1", "l2"}))
		}, `{"items":[{"listingId":"l1"},{"listingId":"l2"}]}`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			srv := clienttest.New(t)
			srv.Expect(test.op).BodyJSON(test.body).RespondExample()

			id, snapshot, err := test.submit(srv.Client())

			require.NoError(t, err)
			assert.Equal(t, batchID, id)
			assert.Equal(t, gen.BatchStatusQueued, snapshot.Status, "the response is the first snapshot")
			assert.EqualValues(t, 100, snapshot.TotalItems)
		})
	}
}

func submitted[T any](b *client.Batch[T], err error) (string, gen.Batch, error) {
	if err != nil {
		return "", gen.Batch{}, err
	}
	return b.ID(), b.Snapshot(), nil
}

func TestBatches_ResponseWithoutIDIsOutcomeUnknown(t *testing.T) {
	srv := clienttest.New(t)
	srv.Expect(gen.OpCreateListingsBatch).Raw(200, nil, []byte(`{"status":"QUEUED","totalItems":1}`), "batchId is missing")

	_, err := srv.Client().Batches.Create(t.Context(), items(1))

	var unreadable *client.DecodeError
	require.ErrorAs(t, err, &unreadable)
	require.ErrorIs(t, err, client.ErrOutcomeUnknown, "the batch may exist")
	assert.Equal(t, gen.OpCreateListingsBatch, unreadable.Operation)
}

// items makes n items to create.
func items(n int) []gen.CreateItem {
	return slices.Repeat([]gen.CreateItem{{VariantID: variantID, Amount: "162", Quantity: 1}}, n)
}

// updates makes n items that update a listing each.
func updates(n int) []gen.UpdateItem {
	items := make([]gen.UpdateItem, n)
	for i := range items {
		items[i] = gen.UpdateItem{ListingID: fmt.Sprintf("l%d", i+1), Amount: "162", CurrencyCode: "USD"}
	}
	return items
}

func TestBatches_TooManyItemsAreRefused(t *testing.T) {
	ctx, c := t.Context(), clienttest.New(t).Client()
	wide := clienttest.New(t).Client(client.WithMaxBatchItems(200))
	tests := map[string]struct {
		err error
		op  gen.OperationID
	}{
		"create takes 100":             {failure(c.Batches.Create(ctx, items(101))), gen.OpCreateListingsBatch},
		"update takes 100":             {failure(c.Batches.Update(ctx, updates(101))), gen.OpUpdateListingsBatch},
		"delete takes 100":             {failure(c.Batches.Delete(ctx, make([]string, 101))), gen.OpDeleteListingsBatch},
		"create takes the set limit":   {failure(wide.Batches.Create(ctx, items(201))), gen.OpCreateListingsBatch},
		"the limit of update is fixed": {failure(wide.Batches.Update(ctx, updates(101))), gen.OpUpdateListingsBatch},
		"the limit of delete is fixed": {failure(wide.Batches.Delete(ctx, make([]string, 101))), gen.OpDeleteListingsBatch},
	}
	for why, test := range tests {
		t.Run(why, func(t *testing.T) {
			assertRefused(t, test.err, test.op, "items")
			require.ErrorIs(t, test.err, client.ErrTooManyItems)
		})
	}
}

func TestWithMaxBatchItems_RaisesLimitOfCreate(t *testing.T) {
	srv := clienttest.New(t)
	srv.Expect(gen.OpCreateListingsBatch).RespondExample()

	_, err := srv.Client(client.WithMaxBatchItems(200)).Batches.Create(t.Context(), items(200))

	require.NoError(t, err)
}

func TestBatches_InvalidItemIsRefusedByIndex(t *testing.T) {
	ctx, c := t.Context(), clienttest.New(t).Client()
	create := func(spoil func(*gen.CreateItem)) error {
		all := items(5)
		spoil(&all[3])
		return failure(c.Batches.Create(ctx, all))
	}
	update := func(item gen.UpdateItem) error {
		return failure(c.Batches.Update(ctx, append(updates(3), item)))
	}
	tests := map[string]struct {
		err   error
		op    gen.OperationID
		field string
	}{
		"no items to create":    {failure(c.Batches.Create(ctx, nil)), gen.OpCreateListingsBatch, "items"},
		"no items to update":    {failure(c.Batches.Update(ctx, nil)), gen.OpUpdateListingsBatch, "items"},
		"no items to delete":    {failure(c.Batches.Delete(ctx, nil)), gen.OpDeleteListingsBatch, "items"},
		"no variant":            {create(func(i *gen.CreateItem) { i.VariantID = "" }), gen.OpCreateListingsBatch, "items[3].variantId"},
		"no amount":             {create(func(i *gen.CreateItem) { i.Amount = "" }), gen.OpCreateListingsBatch, "items[3].amount"},
		"an amount with a sign": {create(func(i *gen.CreateItem) { i.Amount = "$162" }), gen.OpCreateListingsBatch, "items[3].amount"},
		"an amount of zero":     {create(func(i *gen.CreateItem) { i.Amount = "0.00" }), gen.OpCreateListingsBatch, "items[3].amount"},
		"no quantity":           {create(func(i *gen.CreateItem) { i.Quantity = 0 }), gen.OpCreateListingsBatch, "items[3].quantity"},
		"a negative quantity":   {create(func(i *gen.CreateItem) { i.Quantity = -1 }), gen.OpCreateListingsBatch, "items[3].quantity"},
		"no listing":            {update(gen.UpdateItem{Amount: "162", CurrencyCode: "USD"}), gen.OpUpdateListingsBatch, "items[3].listingId"},
		"no currency":           {update(gen.UpdateItem{ListingID: listingID, Amount: "162"}), gen.OpUpdateListingsBatch, "items[3].currencyCode"},
		"a negative amount":     {update(gen.UpdateItem{ListingID: listingID, Amount: "-1"}), gen.OpUpdateListingsBatch, "items[3].amount"},
		"an invalid listing id": {failure(c.Batches.Delete(ctx, []string{listingID, ".."})), gen.OpDeleteListingsBatch, "listingIDs[1]"},

		"scientific notation":             {create(func(i *gen.CreateItem) { i.Amount = "1.62e2" }), gen.OpCreateListingsBatch, "items[3].amount"},
		"a change in scientific notation": {update(gen.UpdateItem{ListingID: listingID, Amount: "1E3"}), gen.OpUpdateListingsBatch, "items[3].amount"},
		"a quantity that is too large":    {create(func(i *gen.CreateItem) { i.Quantity = math.MaxInt }), gen.OpCreateListingsBatch, "items[3].quantity"},
		"a sum that is too large":         {create(func(i *gen.CreateItem) { i.Quantity = math.MaxInt32 - 2 }), gen.OpCreateListingsBatch, "items[3].quantity"},
		"an update without a change":      {update(gen.UpdateItem{ListingID: listingID}), gen.OpUpdateListingsBatch, "items[3]"},
		"one listing is updated twice":    {update(gen.UpdateItem{ListingID: "l2", Amount: "170", CurrencyCode: "USD"}), gen.OpUpdateListingsBatch, "items[3].listingId"},
		"with the same change":            {update(updates(1)[0]), gen.OpUpdateListingsBatch, "items[3].listingId"},
		"one listing is deleted twice":    {failure(c.Batches.Delete(ctx, []string{"l1", "l2", "l1"})), gen.OpDeleteListingsBatch, "listingIDs[2]"},
		"one listing in two cases":        {failure(c.Batches.Delete(ctx, []string{listingID, strings.ToUpper(listingID)})), gen.OpDeleteListingsBatch, "listingIDs[1]"},
	}
	for why, test := range tests {
		t.Run(why, func(t *testing.T) { assertRefused(t, test.err, test.op, test.field) })
	}
}

func TestBatches_CreateTakesLargestQuantities(t *testing.T) {
	srv := clienttest.New(t)
	srv.Expect(gen.OpCreateListingsBatch).RespondExample()
	limiter := &recordingLimiter{}
	_, err := srv.Client(client.WithLimiter(limiter)).Batches.Create(t.Context(), []gen.CreateItem{
		{VariantID: variantID, Amount: "162", Quantity: math.MaxInt32 - 1}, {VariantID: variantID, Amount: "162", Quantity: 1},
	})
	require.NoError(t, err, "the limit of the service is not known")
	assert.Equal(t, []int{math.MaxInt32}, limiter.items)
}
