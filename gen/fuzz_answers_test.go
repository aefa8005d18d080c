package gen_test

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/gen"
)

// FuzzDecodeAnswers reads any body into each of the schemas. What was read can be written, and is then read
// without warnings as the same.
func FuzzDecodeAnswers(f *testing.F) {
	names := slices.Sorted(maps.Keys(schemaTypes))
	for i, name := range names {
		text, err := json.Marshal(reflect.New(schemaTypes[name]).Interface())
		require.NoError(f, err)
		f.Add(uint8(i), text)
	}
	for i := range names {
		f.Add(uint8(i), []byte(`{"itemStatuses":"IN_PROGRESS","changes":{"additions":[]},"payout":{"salePrice":"1e9"},"error":{"message":1},"items":[null,[]]}`))
	}
	f.Fuzz(func(t *testing.T, which uint8, body []byte) {
		typ := schemaTypes[names[int(which)%len(names)]]
		if typ.Kind() != reflect.Struct {
			return // it stands inside others only
		}
		first := reflect.New(typ)
		decoded, err := gen.Decode(t.Context(), body, first.Interface())
		require.LessOrEqual(t, len(decoded.Warnings), 20)
		if err != nil {
			return
		}
		text, err := json.Marshal(first.Interface())
		require.NoError(t, err)
		second := reflect.New(typ)
		decoded, err = gen.Decode(t.Context(), text, second.Interface())
		require.NoError(t, err)
		require.Empty(t, decoded.Warnings, "%s", text)
		again, err := json.Marshal(second.Interface())
		require.NoError(t, err)
		require.Equal(t, string(text), string(again))
	})
}
