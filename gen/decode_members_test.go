package gen_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/gen"
)

// TestEveryMemberMayBeOfTheWrongKind puts another kind in the place of each member of each schema in turn: the
// others are read, and nothing but this member is named.
func TestEveryMemberMayBeOfTheWrongKind(t *testing.T) {
	schemas := spec(t).Components.Schemas
	for name, typ := range schemaTypes {
		if typ.Kind() != reflect.Struct {
			continue
		}
		whole, ok := complete(schemas[name].Value).(map[string]any)
		require.True(t, ok, name)
		for field := range typ.Fields() {
			member := jsonName(field)
			for _, odd := range []any{json.RawMessage(`[[7]]`), json.RawMessage(`{"no":"such"}`), true, "no number, no time"} {
				assertOnlyThisIsOdd(t, typ, whole, field, member, odd)
			}
		}
	}
}

func assertOnlyThisIsOdd(t *testing.T, typ reflect.Type, whole map[string]any, field reflect.StructField, member string, odd any) {
	t.Helper()
	bent := maps.Clone(whole)
	bent[member] = odd
	text, err := json.Marshal(bent)
	require.NoError(t, err)
	got, want := reflect.New(typ), reflect.New(typ)
	decoded, err := gen.Decode(t.Context(), text, got.Interface())
	require.NoError(t, err, "%s.%s", typ, member)
	assert.NotEmpty(t, decoded.Members[member], "%s.%s was sent", typ, member)
	for _, o := range decoded.Warnings {
		assert.True(t, strings.HasPrefix(o, "/"+member+":") || strings.HasPrefix(o, "/"+member+"/"), "%s: %s", typ, o)
	}

	delete(bent, member)
	text, err = json.Marshal(bent)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, want.Interface()))
	for i := range typ.NumField() {
		if other := typ.Field(i); other.Name != field.Name {
			assert.Equal(t, want.Elem().Field(i).Interface(), got.Elem().Field(i).Interface(), "%s.%s beside an odd %s", typ, other.Name, member)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		`{"count":2,"listings":[{"listingId":"a","payout":{"adjustments":[]}}]}`, `{"listings":{}}`, `{"listings":[7]}`,
		`{"listings":[{"ask":[],"lastOperation":{"changes":{"additions":[]}}}]}`, `null`, ``, `[`, `{"count":1e999}`, `{"c\u006funt":"\\\"","a":{"count":{}},"hasNextPage" : true}`, `{"Listings":[{"Ask":[]}]}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var page, strict gen.ListingPage
		decoded, err := gen.Decode(t.Context(), body, &page)
		if err != nil {
			assert.Equal(t, gen.Decoded{}, decoded)
			return
		}
		require.True(t, json.Valid(body), "only JSON is decoded")
		assert.LessOrEqual(t, len(decoded.Warnings), 20)
		for _, warning := range decoded.Warnings {
			assert.True(t, strings.HasPrefix(warning, "/"), warning)
		}
		assert.Equal(t, kindsOf(t, body), decoded.Members)
		if json.Unmarshal(body, &strict) == nil {
			assert.Equal(t, strict, page, "what encoding/json accepts is decoded as it does")
			assert.Empty(t, decoded.Warnings)
			return
		}
		text := withoutDuplicates(t, body) // The last one counts.
		if decoded, err = gen.Decode(t.Context(), text, &page); err == nil && json.Unmarshal(text, &strict) != nil {
			assert.NotEmpty(t, decoded.Warnings, "nothing is left out in silence")
		}
	})
}

// kindsOf reads the kinds of the members of a listing page by the tokens of encoding/json.
func kindsOf(t *testing.T, body []byte) map[string]gen.Kind {
	t.Helper()
	kinds := map[string]gen.Kind{}
	decoder := json.NewDecoder(bytes.NewReader(body))
	_, err := decoder.Token()
	require.NoError(t, err)
	for decoder.More() {
		name, err := decoder.Token()
		require.NoError(t, err)
		var value json.RawMessage
		require.NoError(t, decoder.Decode(&value))
		for _, known := range []string{"count", "hasNextPage", "listings", "pageNumber", "pageSize"} {
			if strings.EqualFold(name.(string), known) {
				kinds[known] = map[byte]gen.Kind{
					'{': gen.KindObject, '[': gen.KindArray, '"': gen.KindString, 'n': gen.KindNull, 't': gen.KindBoolean, 'f': gen.KindBoolean,
				}[value[0]]
				if kinds[known] == "" {
					kinds[known] = gen.KindNumber
				}
			}
		}
	}
	return kinds
}

func withoutDuplicates(t *testing.T, body []byte) []byte {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	var value any
	require.NoError(t, decoder.Decode(&value))
	text, err := json.Marshal(value)
	require.NoError(t, err)
	return text
}
