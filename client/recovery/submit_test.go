package recovery_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/clienttest"
	"github.com/sellside-sdk/sellside-go/client/quota"
	"github.com/sellside-sdk/sellside-go/client/recovery"
	"github.com/sellside-sdk/sellside-go/gen"
)

// The ids that the examples of the spec use.
const (
	batchID   = "5ee0ab0e-2a2b-4a3e-9a46-bd8d4ee8c54f"
	variantID = "8f4d2c4e-9d57-4a87-8a34-6b2f5d6d1e21"
)

func TestNew_RefusesItemsBeforeAnyIO(t *testing.T) {
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
			_, err := recovery.New(test.items)
			var refused *client.ArgumentError
			require.ErrorAs(t, err, &refused)
			assert.Equal(t, test.field, refused.Field)
		})
	}
}

func TestSubmit_SendsWhatCreateSends(t *testing.T) {
	srv := clienttest.New(t)
	srv.Expect(gen.OpCreateListingsBatch).
		BodyJSON(`{"items":[{"variantId":"` + variantID + `","amount":"76.0000","quantity":2}]}`).RespondExample()
	submission, err := recovery.New([]gen.CreateItem{{VariantID: variantID, Amount: "76.0000", Quantity: 2}}, recovery.WithoutMark())
	require.NoError(t, err)

	b, err := recovery.Submit(t.Context(), srv.Client(), submission)

	require.NoError(t, err)
	assert.Equal(t, batchID, b.ID())
}

func TestSubmit_RefusesWhatCannotBeRecovered(t *testing.T) {
	made, err := recovery.New([]gen.CreateItem{{VariantID: variantID, Amount: "76", Quantity: 1}})
	require.NoError(t, err)
	tests := map[string]struct {
		spoil func(*recovery.Submission)
		says  string
	}{
		"one without an id cannot be named":      {func(a *recovery.Submission) { a.ID = "" }, "use New"},
		"one without a time cannot be found":     {func(a *recovery.Submission) { a.MadeAt = time.Time{} }, "use New"},
		"one without items is none":              {func(a *recovery.Submission) { a.Items = nil }, "use New"},
		"an old one may have been submitted":     {func(a *recovery.Submission) { a.MadeAt = a.MadeAt.Add(-61 * time.Minute) }, "more than an hour old"},
		"one that was edited is checked anew":    {func(a *recovery.Submission) { a.Items = []gen.CreateItem{{VariantID: variantID}} }, "amount"},
		"one with too many items for the client": {func(a *recovery.Submission) { a.Items = make([]gen.CreateItem, 101) }, "slices.Chunk"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			submission := made
			test.spoil(&submission)

			_, err := recovery.Submit(t.Context(), clienttest.New(t).Client(), submission)

			require.ErrorIs(t, err, client.ErrInvalidArgument)
			assert.ErrorContains(t, err, test.says)
		})
	}
}

func TestSubmit_WaitsUntilTheLastMomentOfSending(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := clienttest.New(t, clienttest.InProcess())
		srv.Expect(gen.OpCreateListingsBatch).RespondExample()
		c := srv.Client(client.WithQuota(quota.Quota{ItemsPerWindow: 1, ItemsWindow: 2 * time.Hour}))
		first, err := recovery.New([]gen.CreateItem{{VariantID: variantID, Amount: "76", Quantity: 1}})
		require.NoError(t, err)
		_, err = recovery.Submit(t.Context(), c, first)
		require.NoError(t, err)
		second, err := recovery.New(first.Items)
		require.NoError(t, err)

		_, err = recovery.Submit(t.Context(), c, second)

		require.Error(t, err)
		assert.NotErrorIs(t, err, client.ErrOutcomeUnknown, "it was never sent")
		assert.WithinDuration(t, second.MadeAt, time.Now(), time.Hour)
	})
}
