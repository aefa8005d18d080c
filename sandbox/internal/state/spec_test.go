package state

import (
	"encoding/json"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/api"
)

// values returns the values that the document lists for a schema, of an open or of a closed set.
func values(t *testing.T, doc *openapi3.T, schema string) []string {
	t.Helper()
	require.Contains(t, doc.Components.Schemas, schema)
	s := doc.Components.Schemas[schema].Value
	list := any(map[string]any{"enum": s.Enum})
	if open, ok := s.Extensions["x-open-enum"]; ok {
		list = open
	}
	text, err := json.Marshal(list)
	require.NoError(t, err)
	var set struct{ Enum []string }
	require.NoError(t, json.Unmarshal(text, &set))
	require.NotEmpty(t, set.Enum, schema)
	return set.Enum
}

func TestSpec_HasTheSameStates(t *testing.T) {
	doc, err := openapi3.NewLoader().LoadFromData(api.Spec)
	require.NoError(t, err)
	all := func(m *Machine) []string { return append(m.Names(false), m.Names(true)...) }
	for _, row := range []struct {
		schema string
		want   []string
		why    string
	}{
		{"BatchStatus", all(Batch), "the states of batches"},
		{"BatchItemStatus", all(Item), "the states of items"},
		{"ListingStatus", all(Listing), "the states of listings"},
		{"OperationStatus", all(Operation), "the states of operations"},
		{"OrderStatus", append(all(Order), "UNKNOWN"), "the states of orders, and one that is never reached"},
		{"ActiveOrderStatus", Order.Names(false), "filters of active orders"},
		{"HistoricalOrderStatus", Order.Names(true), "filters of history"},
	} {
		assert.ElementsMatch(t, row.want, values(t, doc, row.schema), row.why)
	}
	assert.Subset(t, values(t, doc, "OperationType"), []string{Create, Update, Delete, Activate, Deactivate, CancelOrder},
		"the types of operations that are recorded")
}
