package client_test

import (
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/clienttest"
	"github.com/sellside-sdk/sellside-go/gen"
)

func TestAnAttemptSurvivesJSON(t *testing.T) {
	inactive := false
	expires := time.Date(2027, 1, 2, 3, 4, 5, 678_912_345, time.FixedZone("", 3600))
	made, err := client.NewAttempt([]gen.CreateItem{
		{VariantID: variantID, Amount: "76.0000", Quantity: 2},
		{VariantID: variantID, Amount: "1234567890123456.78", Quantity: 1, CurrencyCode: "EUR", Active: &inactive, InventoryType: gen.InventoryTypeDirect},
		{VariantID: variantID, Amount: "23500", Quantity: 1, CurrencyCode: "JPY", ExpiresAt: gen.Time{Time: expires}},
	}, client.Marked())
	require.NoError(t, err)

	saved, err := json.Marshal(made)
	require.NoError(t, err)
	var restored client.Attempt
	require.NoError(t, json.Unmarshal(saved, &restored))

	assert.Equal(t, made, restored)
	assert.Equal(t, "2027-01-02T02:04:05.678Z", restored.Items[2].ExpiresAt.Format(time.RFC3339Nano), "services keep milliseconds at most")
}

func TestAnAttemptIsACopyOfItsItems(t *testing.T) {
	active := true
	items := []gen.CreateItem{{VariantID: variantID, Amount: "76", Quantity: 1, Active: &active}}
	attempt, err := client.NewAttempt(items, client.Marked())
	require.NoError(t, err)

	items[0].Amount, active = "77", false

	assert.Equal(t, gen.Amount("76"), attempt.Items[0].Amount)
	assert.True(t, *attempt.Items[0].Active)
	assert.True(t, items[0].ExpiresAt.IsZero(), "nor does marking change what was given")
}

func TestMarksTellEqualAttemptsApart(t *testing.T) {
	own := gen.TimeOf(time.Now().Add(time.Hour).Truncate(time.Millisecond))
	seen := map[string]bool{}
	for range 1000 {
		a, err := client.NewAttempt([]gen.CreateItem{
			{VariantID: variantID, Amount: "76", Quantity: 1},
			{VariantID: variantID, Amount: "77", Quantity: 1, ExpiresAt: own},
			{VariantID: variantID, Amount: "78", Quantity: 1},
		}, client.Marked())
		require.NoError(t, err)

		mark := a.Items[0].ExpiresAt
		seen[a.ID], seen[mark.String()] = true, true
		assert.Equal(t, mark, a.Items[2].ExpiresAt, "an attempt has one mark")
		assert.Equal(t, own, a.Items[1].ExpiresAt, "an expiry that was asked for stays")
		assert.WithinRange(t, mark.Time, a.MadeAt.AddDate(0, 0, 946), a.MadeAt.AddDate(0, 0, 997))
		assert.Zero(t, mark.Nanosecond()%int(time.Millisecond))
	}
	assert.Len(t, seen, 2000)
}

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
