package gen_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/gen"
)

func TestDecode_DecodesAroundAMemberOfTheWrongKind(t *testing.T) {
	for _, tc := range []struct {
		body     string
		target   any
		check    func(t *testing.T, v any)
		warnings []string
		why      string
	}{
		{
			`{"listingId":"98e2e748","payout":"none","amount":"162","ask":[],"product":{"productId":"0c7b"}}`, new(gen.Listing),
			func(t *testing.T, v any) {
				l := v.(*gen.Listing)
				assert.Equal(t, "98e2e748", l.ListingID)
				assert.Equal(t, gen.Amount("162"), l.Amount)
				assert.Equal(t, "0c7b", l.Product.ProductID)
				assert.Nil(t, l.Payout, "a value of the wrong kind is absent")
				assert.Nil(t, l.Ask)
			},
			[]string{"/ask: an array, want gen.ListingAsk", "/payout: a string, want gen.Payout"},
			"text and a list instead of objects",
		},
		{
			`{"operationId":"9b2f","changes":{"additions":[],"updates":{"updatedAt":"2026-11-02T09:14:05.812Z"}},"operationStatus":"PENDING"}`, new(gen.ListingOperation),
			func(t *testing.T, v any) {
				op := v.(*gen.ListingOperation)
				assert.Equal(t, gen.OperationStatusPending, op.OperationStatus)
				assert.Equal(t, 2026, op.Changes.Updates.UpdatedAt.Year())
			},
			[]string{"/changes/additions: an array, want gen.OperationAdditions"},
			"the service has sent [] for {}",
		},
		{
			`{"count":"2","hasNextPage":true,"listings":[{"listingId":"a"},"b",{"listingId":"c","payout":{"totalPayout":"142.50","adjustments":[{"amount":-1},7]}}]}`, new(gen.ListingPage),
			func(t *testing.T, v any) {
				p := v.(*gen.ListingPage)
				require.Len(t, p.Listings, 3)
				for i, id := range []string{"a", "", "c"} {
					assert.Equal(t, id, p.Listings[i].ListingID)
				}
				assert.True(t, p.HasNextPage)
				assert.Equal(t, gen.Int(2), p.Count)
				assert.Equal(t, gen.Figure("142.50"), p.Listings[2].Payout.TotalPayout)
				assert.Equal(t, gen.Figure("-1"), p.Listings[2].Payout.Adjustments[0].Amount)
			},
			[]string{"/listings/1: a string, want gen.Listing", "/listings/2/payout/adjustments/1: a number, want gen.Adjustment"},
			"invalid elements of nested lists",
		},
		{
			`{"ListingID":"98e2e748","Amount":"162","ASK":7,"listingId":"5ee0"}`, new(gen.Listing),
			func(t *testing.T, v any) {
				assert.Equal(t, "5ee0", v.(*gen.Listing).ListingID)
				assert.Empty(t, v.(*gen.Listing).Amount)
			},
			nil,
			"names in another case are unknown",
		},
		{
			`[{"variantId":"a"},null,[],{"variantId":"d"}]`, new([]gen.Variant),
			func(t *testing.T, v any) {
				variants := *v.(*[]gen.Variant)
				require.Len(t, variants, 4)
				assert.Equal(t, "d", variants[3].VariantID)
			},
			[]string{"/2: an array, want gen.Variant"},
			"an invalid element of a bare list",
		},
		{
			`{"batchId":"5ee0","itemStatuses":"IN_PROGRESS","totalItems":[],"status":7,"completedAt":"soon","createdAt":"2026-11-02T09:14:05Z"}`, new(gen.Batch),
			func(t *testing.T, v any) {
				b := v.(*gen.Batch)
				assert.Equal(t, "5ee0", b.BatchID)
				assert.True(t, b.CompletedAt.IsZero(), "an invalid time does not end a batch")
				assert.False(t, b.CreatedAt.IsZero())
				assert.Empty(t, b.Status)
			},
			[]string{
				"/completedAt: a string, want gen.Time", "/itemStatuses: a string, want gen.Counts",
				"/status: a number, want gen.BatchStatus", "/totalItems: an array, want gen.Int",
			},
			"a text instead of counts, and more",
		},
		{
			`{"batchId":"5ee0","itemStatuses":{"queued":"3","failed":[],"completed":4}}`, new(gen.Batch),
			func(t *testing.T, v any) {
				assert.Equal(t, gen.Counts{"queued": 3, "completed": 4}, v.(*gen.Batch).ItemStatuses, "an invalid count does not hide another")
			},
			[]string{"/itemStatuses: an object, want gen.Counts"},
			"counts as text and a list",
		},
		{
			`{"itemId":"1","error":["sold"],"listingInput":{"active":"yes","amount":162.50,"variantId":"8f4d"}}`, new(gen.CreateBatchItem),
			func(t *testing.T, v any) {
				item := v.(*gen.CreateBatchItem)
				assert.Nil(t, item.ListingInput.Active, "neither true nor false")
				assert.Equal(t, gen.Amount("162.50"), item.ListingInput.Amount, "an amount as a number keeps its digits")
				assert.Equal(t, "8f4d", item.ListingInput.VariantID)
			},
			[]string{"/error: an array, want gen.Reason", "/listingInput/active: a string, want bool"},
			"text instead of a boolean",
		},
	} {
		decoded, err := gen.Decode(t.Context(), []byte(tc.body), tc.target)
		require.NoError(t, err, tc.why)
		assert.ElementsMatch(t, tc.warnings, decoded.Warnings, tc.why)
		tc.check(t, tc.target)
	}
}

func TestDecode_DoesNotWarnOfFormsOfTheService(t *testing.T) {
	for _, tc := range []struct{ body, why string }{
		{`{}`, "every member missing"},
		{` {"listingId":"98e2e748"}` + "\n", "white space around it"},
		{`{"listingId":"98e2e748","mood":"glad","tags":[1,{}]}`, "members that are unknown"},
		{`{"status":"TELEPORTED","currencyCode":"XTS","inventoryType":"LUNAR"}`, "values that are unknown"},
		{`{"ask":{"askId":"14226361841571254273"}}`, "an id of 20 digits"},
		{`{"amount":76.0000,"payout":{"totalPayout":"142.5"}}`, "text for numbers and numbers for text"},
		{`{"createdAt":"2026-11-02 09:14:05","updatedAt":"2026-11-02"}`, "times without a zone, and a date"},
	} {
		var listing gen.Listing
		decoded, err := gen.Decode(t.Context(), []byte(tc.body), &listing)
		require.NoError(t, err, tc.why)
		assert.Empty(t, decoded.Warnings, tc.why)
	}
}

func TestDecode_RefusesOtherBodies(t *testing.T) {
	for _, tc := range []struct {
		body   string
		target any
		syntax bool // The error is a json.SyntaxError.
		why    string
	}{
		{"", new(gen.Listing), false, "an empty body"},
		{" \r\n", new(gen.Listing), false, "white space"},
		{"<html>", new(gen.Listing), true, "the page of a gateway"},
		{`{"listingId":"98e2`, new(gen.Listing), true, "truncated JSON"},
		{`{"listingId":1}{`, new(gen.Listing), true, "two values"},
		{`{"listingId":"98e2e748"} trailing`, new(gen.Listing), true, "text after the value"},
		{`{"listingId":NaN}`, new(gen.Listing), true, "a value that JSON does not have"},
		{"\xef\xbb\xbf{}", new(gen.Listing), true, "a byte order mark"},
		{strings.Repeat("[", 20000), new([]gen.Variant), false, "depth"},
		{`{"listings":` + strings.Repeat("[", 20000), new(gen.ListingPage), false, "depth of a member"},
		{`[]`, new(gen.Listing), false, "an array instead of an object"},
		{`"98e2e748"`, new(gen.Listing), false, "a string instead of an object"},
		{`7`, new(gen.Listing), false, "a number instead of an object"},
		{`null`, new(gen.Listing), false, "null instead of an object"},
		{`null`, new([]gen.Variant), false, "null instead of an array"},
		{` {}`, new([]gen.Variant), false, "an object instead of an array"},
	} {
		decoded, err := gen.Decode(t.Context(), []byte(tc.body), tc.target)
		require.Error(t, err, tc.why)
		_, syntax := errors.AsType[*json.SyntaxError](err)
		assert.Equal(t, tc.syntax, syntax, tc.why)
		assert.Equal(t, gen.Decoded{}, decoded, tc.why)
	}
}

func TestDecode_WarningsAreBoundedAndQuoteNoValues(t *testing.T) {
	secret := strings.Repeat("eyJhbGciOiJSUzI1NiIs", 3)
	elements := make([]any, 1000)
	for i := range elements {
		elements[i] = map[string]any{
			"amount": secret, "askId": 7, "ask": secret, "createdAt": secret,
			"payout": map[string]any{"totalPayout": secret},
		}
	}
	body, err := json.Marshal(map[string]any{"orders": elements, "count": secret, "pageSize": secret})
	require.NoError(t, err)
	decoded, err := gen.Decode(t.Context(), body, new(gen.OrderPage))
	require.NoError(t, err)
	assert.Len(t, decoded.Warnings, 20)
	for _, warning := range decoded.Warnings {
		assert.NotContains(t, warning, "eyJ")
		assert.Less(t, len(warning), 100)
	}
}

func TestDecode_ReportsMembers(t *testing.T) {
	for _, tc := range []struct {
		body   string
		target any
		want   map[string]gen.Kind
		why    string
	}{
		{`{}`, new(gen.Batch), map[string]gen.Kind{}, "none"},
		{
			`{"batchId":"b","status":null,"completedAt":false,"totalItems":-7,"itemStatuses":{"status":[]},"createdAt":[{}]}`, new(gen.Batch),
			map[string]gen.Kind{"batchId": "a string", "status": "null", "completedAt": "a boolean", "totalItems": "a number", "itemStatuses": "an object", "createdAt": "an array"},
			"every kind, right or wrong, and no member of a member",
		},
		{" {\n\t\"batchId\" :\r\n \"b\"} ", new(gen.Batch), map[string]gen.Kind{"batchId": gen.KindString}, "white space"},
		{`{"BATCHID":"b"}`, new(gen.Batch), map[string]gen.Kind{}, "another case"},
		{`{"batch\u0049d":"b"}`, new(gen.Batch), map[string]gen.Kind{"batchId": gen.KindString}, "an escaped name"},
		{`{"status":"\\","batchId":"\""}`, new(gen.Batch), map[string]gen.Kind{"status": gen.KindString, "batchId": gen.KindString}, "values with escapes"},
		{`{"message":"{\"batchId\":\"b\"}","a":{"batchId":"b"},"b":[{"batchId":"b"}]}`, new(gen.Batch), map[string]gen.Kind{}, "neither nested members nor text in a string"},
		{`{"batchId":"b","batchId":null}`, new(gen.Batch), map[string]gen.Kind{"batchId": gen.KindNull}, "the last one counts, as for its value"},
		{`[{"variantId":"v"}]`, new([]gen.Variant), map[string]gen.Kind{}, "an array has none"},
	} {
		decoded, err := gen.Decode(t.Context(), []byte(tc.body), tc.target)
		require.NoError(t, err, tc.why)
		assert.Equal(t, tc.want, kindsByName(decoded.Members), tc.why)
	}
}

func kindsByName(members gen.Members) map[string]gen.Kind {
	kinds := map[string]gen.Kind{}
	for _, member := range members {
		kinds[member.Name] = member.Kind
	}
	return kinds
}

// Each member of each schema is of another kind in turn.
func TestDecode_WarnsOfTheMemberOfTheWrongKindOnly(t *testing.T) {
	schemas := spec(t).Components.Schemas
	for name, typ := range schemaTypes {
		if readSchemas[typ.Name()] == nil {
			continue
		}
		whole, ok := complete(schemas[name].Value).(map[string]any)
		require.True(t, ok, name)
		for field := range typ.Fields() {
			member := jsonName(field)
			if member == rawMembers {
				continue
			}
			for _, value := range []any{json.RawMessage(`[[7]]`), json.RawMessage(`{"no":"such"}`), true, "no number, no time"} {
				assertWarnsOfMember(t, typ, whole, field, member, value)
			}
		}
	}
}

func assertWarnsOfMember(
	t *testing.T, typ reflect.Type, whole map[string]any, field reflect.StructField, member string, value any,
) {
	t.Helper()
	changed := maps.Clone(whole)
	changed[member] = value
	text, err := json.Marshal(changed)
	require.NoError(t, err)
	got, want := reflect.New(typ), reflect.New(typ)
	decoded, err := gen.Decode(t.Context(), text, got.Interface())
	require.NoError(t, err, "%s.%s", typ, member)
	assert.NotEmpty(t, decoded.Members.Kind(member), "%s.%s was sent", typ, member)
	for _, warning := range decoded.Warnings {
		assert.Regexp(t, "^/"+member+"[:/]", warning, typ)
	}

	delete(changed, member)
	text, err = json.Marshal(changed)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, want.Interface()))
	for i := range typ.NumField() {
		if other := typ.Field(i); other.Name != field.Name && jsonName(other) != rawMembers {
			assert.Equal(t, want.Elem().Field(i).Interface(), got.Elem().Field(i).Interface(),
				"%s.%s beside %s", typ, other.Name, member)
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
		var page gen.ListingPage
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
		assert.Equal(t, kindsOf(t, body), kindsByName(decoded.Members))
	})
}

// kindsOf returns the kinds of the members of a listing page by the tokens of encoding/json.
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
			if name == known {
				kinds[known] = map[byte]gen.Kind{
					'{': gen.KindObject, '[': gen.KindArray, '"': gen.KindString, 'n': gen.KindNull,
					't': gen.KindBoolean, 'f': gen.KindBoolean,
				}[value[0]]
				if kinds[known] == "" {
					kinds[known] = gen.KindNumber
				}
			}
		}
	}
	return kinds
}

// FuzzDecodeSchemas decodes a body into each of the schemas that are read. A value that was decoded can be
// marshalled, and decodes without warnings to an equal value.
func FuzzDecodeSchemas(f *testing.F) {
	names := slices.Sorted(maps.Keys(readSchemas))
	for i, name := range names {
		text, err := json.Marshal(readSchemas[name])
		require.NoError(f, err)
		f.Add(uint8(i), text)
	}
	for i := range names {
		f.Add(uint8(i), []byte(`{"itemStatuses":"IN_PROGRESS","changes":{"additions":[]},"payout":{"salePrice":"1e9"},"error":{"message":1},"items":[null,[]]}`))
	}
	f.Fuzz(func(t *testing.T, which uint8, body []byte) {
		typ := reflect.TypeOf(readSchemas[names[int(which)%len(names)]])
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
