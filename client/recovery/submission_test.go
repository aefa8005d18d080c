package recovery_test

import (
	"encoding/json"
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

func TestSubmission_SurvivesJSON(t *testing.T) {
	abroad := time.Date(2027, 1, 2, 3, 4, 5, 678_912_345, time.FixedZone("", 3600))
	for why, items := range map[string][]gen.CreateItem{
		"the text of an amount":        {{VariantID: "v1", Amount: "76.0000", Quantity: 2}},
		"more digits than a float has": {{VariantID: "v1", Amount: "1234567890123456.78", Quantity: 1}},
		"false is not left out":        {{VariantID: "v1", Amount: "76", Quantity: 1, Active: new(false)}},
		"every field": {{
			VariantID: "v1", Amount: "23500", Quantity: 9, CurrencyCode: "JPY", Active: new(true), InventoryType: gen.InventoryTypeDirect, ExpiresAt: gen.Time{Time: abroad},
		}},
		"an order": append(one("76"), append(one("75"), one("76")...)...),
	} {
		for _, opts := range [][]recovery.Option{nil, {recovery.WithoutMark()}} {
			made := newSubmission(t, items, opts...)
			saved, err := json.Marshal(made)
			require.NoError(t, err, why)
			var restored recovery.Submission
			require.NoError(t, json.Unmarshal(saved, &restored), why)
			assert.Equal(t, made, restored, why)
		}
	}
}

func TestSubmission_HasAStableFormat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pass(1500 * time.Microsecond)
		submission := newSubmission(t, []gen.CreateItem{{
			VariantID: "v1", Amount: "76", Quantity: 1,
			ExpiresAt: gen.Time{Time: time.Date(2001, 2, 3, 5, 5, 6, 7_999_999, time.FixedZone("", 3600))},
		}})
		submission.ID = "A"
		saved, err := json.Marshal(submission)
		require.NoError(t, err)
		assert.JSONEq(t, `{"id":"A","madeAt":"2000-01-01T00:00:00.001Z","items":[
			{"variantId":"v1","amount":"76","quantity":1,"expiresAt":"2001-02-03T04:05:06.007Z"}
		]}`, string(saved), "files of earlier versions can be read; times have milliseconds")
	})
}

func TestSubmission_IsACopyOfItsItems(t *testing.T) {
	active := true
	items := one("76", func(i *gen.CreateItem) { i.Active = &active })
	submission := newSubmission(t, items)

	items[0].Amount, active = "77", false

	assert.Equal(t, gen.Amount("76"), submission.Items[0].Amount)
	assert.True(t, *submission.Items[0].Active)
	assert.True(t, items[0].ExpiresAt.IsZero(), "the mark is not set in the argument")
}

func TestSubmission_HasAMark(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		own := gen.TimeOf(time.Now().Add(time.Hour))
		seen := map[string]bool{}
		for range 1000 {
			a := newSubmission(t, []gen.CreateItem{
				{VariantID: "v1", Amount: "76", Quantity: 1},
				{VariantID: "v1", Amount: "77", Quantity: 1, ExpiresAt: own},
				{VariantID: "v1", Amount: "78", Quantity: 1},
			})

			mark := a.Items[0].ExpiresAt
			seen[a.ID], seen[mark.String()] = true, true
			assert.Equal(t, mark, a.Items[2].ExpiresAt, "a submission has one mark")
			assert.Equal(t, own, a.Items[1].ExpiresAt, "an expiry that was given is not replaced")
			assert.WithinRange(t, mark.Time, a.MadeAt.AddDate(0, 0, 947), a.MadeAt.AddDate(0, 0, 997))
			assert.Zero(t, mark.Nanosecond()%int(time.Millisecond))
		}
		assert.Len(t, seen, 2000, "ids and marks of a thousand submissions made in the same moment")
	})
}

func TestWithoutMark_LeavesTheExpiryToTheService(t *testing.T) {
	assert.True(t, newSubmission(t, one("76"), recovery.WithoutMark()).Items[0].ExpiresAt.IsZero())
	_, err := recovery.New(one("76"), nil)
	assert.ErrorIs(t, err, client.ErrInvalidArgument, "a nil option")
}

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

func TestSubmit_RefusesInvalidSubmissions(t *testing.T) {
	made, err := recovery.New([]gen.CreateItem{{VariantID: variantID, Amount: "76", Quantity: 1}})
	require.NoError(t, err)
	for why, row := range map[string]struct {
		spoil func(*recovery.Submission)
		field string
	}{
		"without an id":              {func(s *recovery.Submission) { s.ID = "" }, "submission"},
		"without a time":             {func(s *recovery.Submission) { s.MadeAt = time.Time{} }, "submission"},
		"without items":              {func(s *recovery.Submission) { s.Items = nil }, "submission"},
		"it may have been submitted": {func(s *recovery.Submission) { s.MadeAt = s.MadeAt.Add(-61 * time.Minute) }, "submission"},
		"an item was edited":         {func(s *recovery.Submission) { s.Items = []gen.CreateItem{{VariantID: variantID}} }, "items[0].amount"},
		"too many items":             {func(s *recovery.Submission) { s.Items = make([]gen.CreateItem, 101) }, "items"},
	} {
		t.Run(why, func(t *testing.T) {
			submission := made
			row.spoil(&submission)

			_, err := recovery.Submit(t.Context(), clienttest.New(t).Client(), submission)

			var refused *client.ArgumentError
			require.ErrorAs(t, err, &refused)
			assert.Equal(t, row.field, refused.Field)
		})
	}
	_, err = recovery.Submit(t.Context(), nil, made)
	require.ErrorIs(t, err, client.ErrInvalidArgument, "without a client")
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
		assert.NotErrorIs(t, err, client.ErrOutcomeUnknown, "not sent")
		assert.WithinDuration(t, second.MadeAt, time.Now(), time.Hour)
	})
}
