package client_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/clienttest"
	"github.com/sellside-sdk/sellside-go/gen"
)

func TestAnAttemptIsRefusedBeforeAnyIO(t *testing.T) {
	item := gen.CreateItem{VariantID: variantID, Amount: "76", Quantity: 1}
	tests := map[string]struct {
		items []gen.CreateItem
		field string
	}{
		"no items":     {nil, "items"},
		"no variant":   {[]gen.CreateItem{{Amount: "76", Quantity: 1}}, "items[0].variantId"},
		"no amount":    {[]gen.CreateItem{item, {VariantID: variantID, Quantity: 1}}, "items[1].amount"},
		"no money":     {[]gen.CreateItem{{VariantID: variantID, Amount: "0.00", Quantity: 1}}, "items[0].amount"},
		"no listing":   {[]gen.CreateItem{{VariantID: variantID, Amount: "76"}}, "items[0].quantity"},
		"not a number": {[]gen.CreateItem{{VariantID: variantID, Amount: "7,6", Quantity: 1}}, "items[0].amount"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := client.NewAttempt(test.items)
			var refused *client.ArgumentError
			require.ErrorAs(t, err, &refused)
			assert.Equal(t, test.field, refused.Field)
		})
	}
}

func TestSubmitSendsWhatCreateWouldSend(t *testing.T) {
	srv := clienttest.New(t)
	srv.Expect(gen.OpCreateListingsBatch).
		BodyJSON(`{"items":[{"variantId":"` + variantID + `","amount":"76.0000","quantity":2}]}`).AnswerExample()
	attempt, err := client.NewAttempt([]gen.CreateItem{{VariantID: variantID, Amount: "76.0000", Quantity: 2}})
	require.NoError(t, err)

	b, err := srv.Client().Batches.Submit(t.Context(), attempt)

	require.NoError(t, err)
	assert.Equal(t, batchID, b.ID())
}

func TestSubmitRefusesWhatItCannotRecover(t *testing.T) {
	made, err := client.NewAttempt([]gen.CreateItem{{VariantID: variantID, Amount: "76", Quantity: 1}})
	require.NoError(t, err)
	tests := map[string]struct {
		spoil func(*client.Attempt)
		says  string
	}{
		"one without an id cannot be named":      {func(a *client.Attempt) { a.ID = "" }, "use NewAttempt"},
		"one without a time cannot be found":     {func(a *client.Attempt) { a.MadeAt = time.Time{} }, "use NewAttempt"},
		"one without items is none":              {func(a *client.Attempt) { a.Items = nil }, "use NewAttempt"},
		"an old one may have been submitted":     {func(a *client.Attempt) { a.MadeAt = a.MadeAt.Add(-61 * time.Minute) }, "more than an hour old"},
		"one that was edited is checked anew":    {func(a *client.Attempt) { a.Items = []gen.CreateItem{{VariantID: variantID}} }, "amount"},
		"one with too many items for the client": {func(a *client.Attempt) { a.Items = make([]gen.CreateItem, 101) }, "slices.Chunk"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			attempt := made
			test.spoil(&attempt)

			_, err := clienttest.New(t).Client().Batches.Submit(t.Context(), attempt)

			require.ErrorIs(t, err, client.ErrInvalidArgument)
			assert.ErrorContains(t, err, test.says)
		})
	}
}

func TestSubmitWaitsNoLongerThanTheAttemptMayBeSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := clienttest.New(t, clienttest.InProcess())
		srv.Expect(gen.OpCreateListingsBatch).AnswerExample()
		c := srv.Client(client.WithQuota(client.Quota{ItemsPerWindow: 1, ItemsWindow: 2 * time.Hour}))
		first, err := client.NewAttempt([]gen.CreateItem{{VariantID: variantID, Amount: "76", Quantity: 1}})
		require.NoError(t, err)
		_, err = c.Batches.Submit(t.Context(), first)
		require.NoError(t, err)
		second, err := client.NewAttempt(first.Items)
		require.NoError(t, err)

		_, err = c.Batches.Submit(t.Context(), second)

		require.Error(t, err)
		assert.NotErrorIs(t, err, client.ErrOutcomeUnknown, "it was never sent")
		assert.WithinDuration(t, second.MadeAt, time.Now(), time.Hour)
	})
}
