package gen_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/gen"
)

func TestInactiveIsSentAndUnsetIsNot(t *testing.T) {
	inactive := false
	for _, tc := range []struct{ unset, set any }{
		{gen.CreateItem{}, gen.CreateItem{Active: &inactive}},
		{gen.UpdateItem{}, gen.UpdateItem{Active: &inactive}},
		{gen.CreateListingRequest{}, gen.CreateListingRequest{Active: &inactive}},
	} {
		assert.NotContains(t, members(t, tc.unset), "active", "%T: the service decides", tc.unset)
		assert.Equal(t, false, members(t, tc.set)["active"], "%T: false is a decision", tc.set)
	}
}

// TestWrittenBooleansSayWhetherTheyAreSet holds for write schemas to come as well.
func TestWrittenBooleansSayWhetherTheyAreSet(t *testing.T) {
	found := 0
	for _, op := range gen.Operations() {
		eachField(bodyType(t, op.ID), func(owner reflect.Type, field reflect.StructField) {
			assert.NotEqual(t, reflect.Bool, field.Type.Kind(), "%s.%s: false could not be sent", owner, field.Name)
			if field.Type == reflect.TypeFor[*bool]() {
				found++
			}
		})
	}
	assert.Equal(t, 3, found, "active of create item, update item and listing")
}

func TestEmptyWritesAreEmpty(t *testing.T) {
	for _, body := range []any{gen.UpdateListingRequest{}, gen.ActivateListingRequest{}} {
		text, err := json.Marshal(body)
		require.NoError(t, err)
		assert.Equal(t, "{}", string(text), "%T: a zero amount or time would change the listing", body)
	}
}

func TestAmountsKeepTheirText(t *testing.T) {
	for _, amount := range []string{"0.00", "23500.0000", "76", "0.10"} {
		var listing gen.Listing
		require.NoError(t, json.Unmarshal([]byte(`{"amount":"`+amount+`","payout":{"totalPayout":`+amount+`}}`), &listing))
		assert.Equal(t, gen.Amount(amount), listing.Amount)
		assert.Equal(t, gen.Figure(amount), listing.Payout.TotalPayout)

		text, err := json.Marshal(listing)
		require.NoError(t, err)
		assert.Contains(t, string(text), `"amount":"`+amount+`"`, "money is a string")
		assert.Contains(t, string(text), `"totalPayout":`+amount, "payout figures are numbers")
	}
}

func TestAbsentAmountIsNotZeroAndIsNotSent(t *testing.T) {
	for _, body := range []string{`{}`, `{"lowestAskAmount":null}`} {
		var data gen.MarketData
		require.NoError(t, json.Unmarshal([]byte(body), &data))
		assert.Empty(t, data.LowestAskAmount, body)
		_, err := data.LowestAskAmount.Decimal()
		require.ErrorIs(t, err, gen.ErrAbsent, "no ask is not an ask of 0")
	}
	assert.NotContains(t, members(t, gen.UpdateItem{ListingID: "98e2e748"}), "amount")
	assert.Equal(t, "0.00", members(t, gen.UpdateItem{Amount: "0.00"})["amount"], "zero is for the service to refuse")
}

func TestPayoutFiguresReadNumbersAndStrings(t *testing.T) {
	for _, body := range []string{`{"totalPayout":142.50}`, `{"totalPayout":"142.50"}`} {
		var payout gen.Payout
		require.NoError(t, json.Unmarshal([]byte(body), &payout))
		assert.Equal(t, gen.Figure("142.50"), payout.TotalPayout, body)
	}
}

func TestIdsAreOpaqueText(t *testing.T) {
	for _, tc := range []struct{ id, why string }{
		{"", "an id type that parses fails the whole answer"},
		{"air-jordan-1-retro-high-og", "a slug where an id belongs"},
		{"98E2E748-8000-45BF-A624-5531D6A68318", "the case is the service's own"},
	} {
		var listing gen.Listing
		body := `{"listingId":"` + tc.id + `","product":{"productId":"` + tc.id + `"},"amount":"162"}`
		require.NoError(t, json.Unmarshal([]byte(body), &listing), tc.why)
		assert.Equal(t, tc.id, listing.ListingID, tc.why)
		assert.Equal(t, tc.id, listing.Product.ProductID, tc.why)
		assert.Equal(t, gen.Amount("162"), listing.Amount, "the rest of the answer is there")
	}
}

func TestAskIdOfTwentyDigitsIsKept(t *testing.T) {
	const id = "14226361841571254273" // above 2^63, and no binary fraction holds it
	var ask gen.ListingAsk
	require.NoError(t, json.Unmarshal([]byte(`{"askId":"`+id+`"}`), &ask))
	assert.Equal(t, id, ask.AskID)
	assert.Equal(t, id, members(t, ask)["askId"])
}

func TestNullMembersAreZero(t *testing.T) {
	for name, typ := range schemaTypes {
		if typ.Kind() != reflect.Struct {
			continue
		}
		nulls := map[string]any{}
		for field := range typ.Fields() {
			nulls[jsonName(field)] = nil
		}
		text, err := json.Marshal(nulls)
		require.NoError(t, err)
		value := reflect.New(typ)
		require.NoError(t, json.Unmarshal(text, value.Interface()), "%s: any field can be null", name)
		assert.True(t, value.Elem().IsZero(), name)
	}
}

// members returns what value is on the wire.
func members(t *testing.T, value any) map[string]any {
	t.Helper()
	text, err := json.Marshal(value)
	require.NoError(t, err)
	var object map[string]any
	require.NoError(t, json.Unmarshal(text, &object))
	return object
}
