package gen_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/gen"
)

func TestActive_FalseIsSentAndUnsetIsNot(t *testing.T) {
	for _, tc := range []struct{ unset, set any }{
		{gen.CreateItem{}, gen.CreateItem{Active: new(false)}},
		{gen.UpdateItem{}, gen.UpdateItem{Active: new(false)}},
		{gen.CreateListingRequest{}, gen.CreateListingRequest{Active: new(false)}},
	} {
		assert.NotContains(t, members(t, tc.unset), "active", "%T: the service has a default", tc.unset)
		assert.Equal(t, false, members(t, tc.set)["active"], "%T: false overrides the default", tc.set)
	}
}

// Write schemas that are added later need pointers as well.
func TestWriteModels_HaveNoPlainBooleans(t *testing.T) {
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

// eachField visits the fields of a struct and of the structs in it. It does not visit the fields of
// types with an encoding of their own.
func eachField(typ reflect.Type, visit func(owner reflect.Type, field reflect.StructField)) {
	for typ != nil && (typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Slice || typ.Kind() == reflect.Map) {
		typ = typ.Elem()
	}
	if typ == nil || typ.Kind() != reflect.Struct ||
		reflect.PointerTo(typ).Implements(reflect.TypeFor[json.Unmarshaler]()) {
		return
	}
	for field := range typ.Fields() {
		visit(typ, field)
		eachField(field.Type, visit)
	}
}

func TestWriteModels_OmitUnsetMembers(t *testing.T) {
	for _, tc := range []struct {
		body any
		want string
		why  string
	}{
		{gen.UpdateListingRequest{}, `{}`, "a zero amount or time would change the listing"},
		{gen.ActivateListingRequest{}, `{}`, "a zero amount or time would change the listing"},
		{gen.UpdateItem{ListingID: "98e2e748"}, `{"listingId":"98e2e748"}`, "the same in a batch"},
		{gen.UpdateItem{Amount: "0.00"}, `{"listingId":"","amount":"0.00"}`, "an amount of zero is sent: the service refuses it"},
	} {
		text, err := json.Marshal(tc.body)
		require.NoError(t, err)
		assert.JSONEq(t, tc.want, string(text), "%T: %s", tc.body, tc.why)
	}
}

func TestIDs_AreOpaqueText(t *testing.T) {
	for _, tc := range []struct{ id, why string }{
		{"", "a type that parses ids would fail the whole response"},
		{"air-jordan-1-retro-high-og", "a slug instead of an id"},
		{"98E2E748-8000-45BF-A624-5531D6A68318", "the case is the service's own"},
		{"14226361841571254273", "above 2^63, and no binary fraction holds it"},
	} {
		var listing gen.Listing
		body := strings.ReplaceAll(`{"listingId":"ID","product":{"productId":"ID"},"ask":{"askId":"ID"},"amount":"162"}`, "ID", tc.id)
		require.NoError(t, json.Unmarshal([]byte(body), &listing), tc.why)
		for _, id := range []string{listing.ListingID, listing.Product.ProductID, listing.Ask.AskID} {
			assert.Equal(t, tc.id, id, tc.why)
		}
		assert.Equal(t, gen.Amount("162"), listing.Amount, "the rest of the response is decoded")
	}
}

// members returns the members of the JSON object that value marshals as.
func members(t *testing.T, value any) map[string]any {
	t.Helper()
	text, err := json.Marshal(value)
	require.NoError(t, err)
	var object map[string]any
	require.NoError(t, json.Unmarshal(text, &object))
	return object
}
