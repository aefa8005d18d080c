package recovery_test

import (
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/recovery"
	"github.com/sellside-sdk/sellside-go/gen"
)

func TestSubmission_SurvivesJSON(t *testing.T) {
	abroad := time.Date(2027, 1, 2, 3, 4, 5, 678_912_345, time.FixedZone("", 3600))
	for why, items := range map[string][]gen.CreateItem{
		"the text of an amount":        {{VariantID: "v1", Amount: "76.0000", Quantity: 2}},
		"more digits than a float has": {{VariantID: "v1", Amount: "1234567890123456.78", Quantity: 1}},
		"false is not left out":        {{VariantID: "v1", Amount: "76", Quantity: 1, Active: new(false)}},
		"everything said": {{
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

func TestSubmission_KeepsTheNamesThatAreSaved(t *testing.T) {
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
		]}`, string(saved), "what an older program saved can be recovered, and services keep milliseconds at most")
	})
}

func TestSubmission_IsACopyOfItsItems(t *testing.T) {
	active := true
	items := one("76", func(i *gen.CreateItem) { i.Active = &active })
	submission := newSubmission(t, items)

	items[0].Amount, active = "77", false

	assert.Equal(t, gen.Amount("76"), submission.Items[0].Amount)
	assert.True(t, *submission.Items[0].Active)
	assert.True(t, items[0].ExpiresAt.IsZero(), "nor does marking change what was given")
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
			assert.Equal(t, own, a.Items[1].ExpiresAt, "an expiry that was asked for stays")
			assert.WithinRange(t, mark.Time, a.MadeAt.AddDate(0, 0, 947), a.MadeAt.AddDate(0, 0, 997))
			assert.Zero(t, mark.Nanosecond()%int(time.Millisecond))
		}
		assert.Len(t, seen, 2000, "ids and marks of a thousand submissions made in the same moment")
	})
}

func TestWithoutMark_LeavesTheExpiryToTheService(t *testing.T) {
	assert.True(t, newSubmission(t, one("76"), recovery.WithoutMark()).Items[0].ExpiresAt.IsZero())
	_, err := recovery.New(one("76"), nil)
	assert.ErrorIs(t, err, client.ErrInvalidArgument, "a nil option is named and does not panic")
}
