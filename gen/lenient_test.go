package gen_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/gen"
)

// The rules of leniency, each for every member of every schema that is read.

// wrongKinds are values, most of which are of the wrong kind for any member.
var wrongKinds = []string{`null`, `true`, `7`, `-1.5e3`, `"no number"`, `""`, `[]`, `[[7]]`, `{}`, `{"no":"such"}`}

// eachMember calls check with each member of the schemas that are read, and a valid value of it.
func eachMember(t *testing.T, check func(typ reflect.Type, field reflect.StructField, member, valid string)) {
	t.Helper()
	schemas, found := spec(t).Components.Schemas, 0
	for name, typ := range schemaTypes {
		if readSchemas[typ.Name()] == nil {
			continue
		}
		whole, ok := complete(schemas[name].Value).(map[string]any)
		require.True(t, ok, name)
		for field := range typ.Fields() {
			if member := jsonName(field); member != rawMembers {
				valid, err := json.Marshal(whole[member])
				require.NoError(t, err)
				check(typ, field, member, string(valid))
				found++
			}
		}
	}
	assert.Greater(t, found, 150)
}

// decodeAs decodes a body as a schema.
func decodeAs(t *testing.T, typ reflect.Type, body string) (value reflect.Value, warnings []string) {
	t.Helper()
	v := reflect.New(typ)
	decoded, err := gen.Decode(t.Context(), []byte(body), v.Interface())
	require.NoError(t, err, "%s: %s", typ, body)
	return v.Elem(), decoded.Warnings
}

func TestDecode_NullAndMissingAreZero(t *testing.T) {
	eachMember(t, func(typ reflect.Type, field reflect.StructField, member, _ string) {
		for _, body := range []string{`{}`, `{"` + member + `":null}`, `{"` + member + `" : null , "other" : [ null ] }`} {
			v, warnings := decodeAs(t, typ, body)
			assert.True(t, v.FieldByIndex(field.Index).IsZero(), "%s: %s", typ, body)
			assert.Empty(t, warnings, "%s: %s", typ, body)
		}
	})
}

// A field of an object may keep some of its members, and counts those that are counts.
func TestDecode_WrongKindIsZeroAndReported(t *testing.T) {
	eachMember(t, func(typ reflect.Type, field reflect.StructField, member, valid string) {
		for _, value := range wrongKinds {
			body := `{"` + member + `":` + value + `}`
			v, warnings := decodeAs(t, typ, body)
			strict := json.Unmarshal([]byte(body), reflect.New(typ).Interface())
			require.Equal(t, strict != nil, len(warnings) > 0, "%s: %s: %v", typ, body, strict)
			if strict == nil {
				continue
			}
			assert.Regexp(t, `^/`+member+`[:/]`, warnings[0], typ)
			if at := v.FieldByIndex(field.Index); value[0] != valid[0] {
				assert.True(t, at.IsZero(), "%s: %s", typ, body)
			}
		}
	})
}

func TestDecode_NumbersAndStringsReplaceEachOther(t *testing.T) {
	found := 0
	eachMember(t, func(typ reflect.Type, field reflect.StructField, member, _ string) {
		switch field.Type {
		case reflect.TypeFor[gen.Amount](), reflect.TypeFor[gen.Figure](), reflect.TypeFor[gen.Int]():
			found++
			for _, number := range []string{"0", "12", "-7", "12.0", "1e2"} {
				asNumber, warnings := decodeAs(t, typ, `{"`+member+`":`+number+`}`)
				assert.Empty(t, warnings)
				asString, warnings := decodeAs(t, typ, `{"`+member+`":"`+number+`"}`)
				assert.Empty(t, warnings)
				assert.Equal(t, asNumber.Interface(), asString.Interface(), "%s.%s: %s", typ, member, number)
			}
		}
		if field.Type == reflect.TypeFor[string]() {
			v, warnings := decodeAs(t, typ, `{"`+member+`":12}`)
			assert.True(t, v.IsZero(), "%s.%s: an id as a number may be rounded", typ, member)
			assert.Len(t, warnings, 1)
		}
	})
	assert.Greater(t, found, 20)
}

func TestDecode_UnknownMembersAreSkipped(t *testing.T) {
	eachMember(t, func(typ reflect.Type, _ reflect.StructField, member, valid string) {
		want, _ := decodeAs(t, typ, `{"`+member+`":`+valid+`}`)
		for _, value := range append([]string{`{"a":[{"` + member + `":7}]}`, `"\"}"`}, wrongKinds...) {
			body := `{"unknown":` + value + `,"` + member + `":` + valid + `,"":` + value + `,"` + member + `x":` + value + `}`
			got, warnings := decodeAs(t, typ, body)
			assert.Empty(t, warnings)
			assert.Equal(t, withoutMembers(want), withoutMembers(got), "%s: %s", typ, body)
		}
	})
}

// withoutMembers returns an object without its raw members.
func withoutMembers(v reflect.Value) any {
	if members := v.FieldByName("Members"); members.IsValid() {
		members.SetZero()
	}
	return v.Interface()
}

func TestDecode_LastOfAMemberCounts(t *testing.T) {
	eachMember(t, func(typ reflect.Type, _ reflect.StructField, member, valid string) {
		for _, first := range append([]string{valid}, wrongKinds...) {
			for _, last := range append([]string{valid}, wrongKinds...) {
				want, _ := decodeAs(t, typ, `{"`+member+`":`+last+`}`)
				got, _ := decodeAs(t, typ, `{"`+member+`":`+first+`,"`+member+`":`+last+`}`)
				assert.Equal(t, want.Interface(), got.Interface(), "%s.%s: %s, then %s", typ, member, first, last)
			}
		}
	})
}

func TestDecode_OnlyAnArrayIsNotNil(t *testing.T) {
	found := 0
	eachMember(t, func(typ reflect.Type, field reflect.StructField, member, _ string) {
		if field.Type.Kind() != reflect.Slice {
			return
		}
		found++
		for _, value := range wrongKinds {
			v, _ := decodeAs(t, typ, `{"`+member+`":`+value+`}`)
			assert.Equal(t, value[0] != '[', v.FieldByIndex(field.Index).IsNil(), "%s.%s: %s", typ, member, value)
		}
	})
	assert.Greater(t, found, 10)
}

func TestDecode_NamesMatchExactly(t *testing.T) {
	eachMember(t, func(typ reflect.Type, _ reflect.StructField, member, valid string) {
		for _, name := range []string{strings.ToUpper(member), strings.ToUpper(member[:1]) + member[1:], member + " ", member + `\u0000`} {
			v, warnings := decodeAs(t, typ, `{"`+name+`":`+valid+`}`)
			assert.Empty(t, warnings)
			assert.True(t, reflect.ValueOf(withoutMembers(v)).IsZero(), "%s: %s", typ, name)
		}
		escaped := fmt.Sprintf(`\u%04x%s`, member[0], member[1:])
		want, _ := decodeAs(t, typ, `{"`+member+`":`+valid+`}`)
		got, _ := decodeAs(t, typ, `{"`+escaped+`":`+valid+`}`)
		assert.Equal(t, want.Interface(), got.Interface(), "%s: %s is %s", typ, escaped, member)
	})
}

func TestDecode_RefusesEveryPrefix(t *testing.T) {
	bodies := map[any][]byte{
		new(gen.ListingPage): pageBody(2), new(gen.CreateBatchItemList): itemsBody(3), new(gen.MarketData): []byte(marketBody),
	}
	for target, body := range bodies {
		for n := range body {
			_, err := gen.Decode(t.Context(), body[:n], target)
			require.Error(t, err, "%s", body[:n])
		}
		for _, tail := range []string{"x", "{}", ",", "]", "\x00", " null", `{"a":`, "[", `"`} {
			_, err := gen.Decode(t.Context(), append(slices.Clip(body), tail...), target)
			require.Error(t, err, tail)
		}
	}
}

func TestDecode_BoundsDepth(t *testing.T) {
	nested := func(open, end string, depth int) string {
		return strings.Repeat(open, depth) + strings.Repeat(end, depth)
	}
	for _, tc := range []struct {
		body  string
		depth int // of the brackets around it
		why   string
	}{
		{`{"unknown":%s}`, 1, "an unknown member"},
		{`{"listings":[%s]}`, 2, "an element of the wrong kind"},
		{`{"listings":%s}`, 1, "an array of arrays"},
		{`{"listings":[{"lastOperation":{"changes":{"removals":{"x":%s}}}}]}`, 6, "an open object"},
		{`{"listings":[{"lastOperation":{"error":{"x":%s}}}]}`, 5, "a reason"},
	} {
		for _, most := range []int{100, 101} {
			body := fmt.Sprintf(tc.body, nested("[", "]", most-tc.depth))
			_, err := gen.Decode(t.Context(), []byte(body), new(gen.ListingPage))
			assert.Equal(t, most == 100, err == nil, "%s: %d: %v", tc.why, most, err)
		}
	}
}

func TestDecode_KnownValuesAreNotAllocated(t *testing.T) {
	allocs := func(status string) float64 { //nolint:forbidigo // of testing.AllocsPerRun
		body := []byte(`{"status":` + status + `}`)
		return testing.AllocsPerRun(100, func() {
			var listing gen.Listing
			_, err := gen.Decode(t.Context(), body, &listing)
			require.NoError(t, err)
		})
	}
	none := allocs(`null`)
	for _, status := range enumValues(spec(t).Components.Schemas["ListingStatus"].Value) {
		assert.Equal(t, none, allocs(`"`+status+`"`), status) //nolint:testifylint // whole numbers
	}
	assert.Greater(t, allocs(`"TELEPORTED"`), none)
}

func TestDecode_SharesStringsOfAPage(t *testing.T) {
	var page gen.ListingPage
	_, err := gen.Decode(t.Context(), pageBody(100), &page)
	require.NoError(t, err)
	texts := func(l gen.Listing) []string {
		return []string{string(l.CurrencyCode), l.Product.ProductName, l.Product.ProductID, l.Batch.BatchID, l.Variant.VariantName}
	}
	first := texts(page.Listings[0])
	shared := 0
	for _, listing := range page.Listings {
		for i, text := range texts(listing) {
			require.Equal(t, first[i], text)
			if unsafe.StringData(first[i]) == unsafe.StringData(text) {
				shared++
			}
		}
	}
	assert.Greater(t, shared, 400, "of 500")
	assert.LessOrEqual(t, cap(page.Listings), 130, "sized by the first element")
}

// One id of a page must not keep the page, nor its body, in memory.
func TestDecode_StringsKeepNoPage(t *testing.T) {
	heap := func() int64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := heap()
	ids := idsOfLargePage(t)
	assert.Less(t, heap(), before+1<<20)
	runtime.KeepAlive(ids)
}

// idsOfLargePage returns strings of a page of 16 MiB.
func idsOfLargePage(t *testing.T) []string {
	t.Helper()
	condition := `"condition":"` + strings.Repeat("x", 800<<10) + `"`
	var page gen.ListingPage
	_, err := gen.Decode(t.Context(), []byte(strings.ReplaceAll(string(pageBody(20)), `"condition":null`, condition)), &page)
	require.NoError(t, err)
	l := page.Listings[7]
	return []string{l.ListingID, l.Product.ProductName, string(l.Amount), l.Ask.AskID}
}

func TestDecode_KeepsNothingOfTheBody(t *testing.T) {
	eachMember(t, func(typ reflect.Type, _ reflect.StructField, member, valid string) {
		for _, value := range append([]string{valid}, wrongKinds...) {
			text := `{"` + member + `":` + value + `}`
			want, _ := decodeAs(t, typ, text)
			body, got := []byte(text), reflect.New(typ)
			_, err := gen.Decode(t.Context(), body, got.Interface())
			require.NoError(t, err)
			clear(body) // as a pool does
			assert.Equal(t, want.Interface(), got.Elem().Interface(), "%s: %s", typ, text)
		}
	})
}

func TestDecode_RefusesOtherTypes(t *testing.T) {
	for _, v := range []any{new(gen.CreateListingRequest), gen.Listing{}, new([]gen.Listing), new(string), nil} {
		_, err := gen.Decode(t.Context(), []byte(`[]`), v)
		require.Error(t, err, "%T", v)
	}
}
