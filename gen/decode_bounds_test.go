package gen_test

import (
	"context"
	"encoding/json"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/gen"
)

// list is an array of n elements.
func list(element string, n int) string {
	return "[" + strings.TrimSuffix(strings.Repeat(element+",", n), ",") + "]"
}

func TestDecode_BoundsTheElementsOfArrays(t *testing.T) {
	const most = 50_000
	for _, tc := range []struct {
		body   string
		target any
		ok     bool
		why    string
	}{
		{list(`{}`, most), new([]gen.Variant), true, "as many as are allowed"},
		{list(`{}`, most+1), new([]gen.Variant), false, "one more"},
		{`{"listings":` + list(`{}`, most) + `}`, new(gen.ListingPage), true, "of a page"},
		{`{"listings":` + list(`{}`, most+1) + `}`, new(gen.ListingPage), false, "one more of a page"},
		{`{"LISTINGS":` + list(` null `, most+1) + `}`, new(gen.ListingPage), false, "whatever the elements and the name"},
		{`{"payout":{"adjustments":` + list(`{}`, most+1) + `}}`, new(gen.Listing), false, "of a nested array"},
		{`{"listings":` + list(`{"payout":{"adjustments":[{},{}]}}`, most/2) + `}`, new(gen.ListingPage), false, "of all arrays together"},
		{`{"other":` + list(`0`, most+1) + `}`, new(gen.Listing), false, "of a member that is not known"},
		{`{"itemStatuses":{"a":0` + strings.Repeat(`,"b":0`, most) + `}}`, new(gen.Batch), false, "members of an object become a map"},
		{`{"listings":[{"condition":"` + strings.Repeat(`,[{\"`, most) + `"}]}`, new(gen.ListingPage), true, "what a string holds is no element"},
	} {
		_, err := gen.Decode(t.Context(), []byte(tc.body), tc.target)
		assert.Equal(t, tc.ok, err == nil, "%s: %v", tc.why, err)
		if !tc.ok {
			assert.ErrorContains(t, err, "more than 50000 elements", tc.why)
		}
	}
}

// TestDecode_TakesMemoryInProportion measures what is allocated, and not for how long: bodies of 16 MiB that are small
// on the wire, because they are compressed, must not become gigabytes.
func TestDecode_TakesMemoryInProportion(t *testing.T) {
	const size = 16 << 20
	fill := func(begin, element, end string) []byte {
		return []byte(begin + strings.Repeat(element+",", (size-len(begin+element+end))/(len(element)+1)) + element + end)
	}
	for _, tc := range []struct {
		body   []byte
		target func() any
		most   uint64 // In MiB.
		why    string
	}{
		{fill(`{"listings":[`, `{}`, `]}`), func() any { return new(gen.ListingPage) }, 1, "5.6 million listings"},
		{fill(`{"listings":[`, `0`, `]}`), func() any { return new(gen.ListingPage) }, 1, "8.4 million elements of the wrong kind"},
		{fill(`[`, `{}`, `]`), func() any { return new([]gen.MarketData) }, 1, "a bare array"},
		{fill(`{"listings":[{"payout":{"adjustments":[`, `{}`, `]}}]}`), func() any { return new(gen.ListingPage) }, 1, "a nested array"},
		{fill(`{"listings":[`, `{"payout":{"adjustments":[{},{},{},{},{},{},{},{},{}]}}`, `]}`), func() any { return new(gen.ListingPage) }, 1, "many nested arrays"},
		{fill(`{"itemStatuses":{`, `"a":1`, `}}`), func() any { return new(gen.Batch) }, 1, "a map"},
		{[]byte(strings.Repeat("[", size)), func() any { return new([]gen.Variant) }, 2, "depth"},
		{[]byte(`{"listings":` + list(`{"ask":{},"batch":{},"order":{},"payout":{}}`, 50_000) + `}`), func() any { return new(gen.ListingPage) }, 300, "as many listings as are allowed, with all that they point to"},
	} {
		target := tc.target()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := gen.Decode(t.Context(), tc.body, target)
		runtime.ReadMemStats(&after)
		assert.Equal(t, tc.most > 2, err == nil, "%s: %v", tc.why, err)
		assert.Less(t, (after.TotalAlloc-before.TotalAlloc)>>20, tc.most, "MiB for %s", tc.why)
	}
}

// endsAfter is a context that ends when it has been asked so many times.
type endsAfter struct {
	context.Context //nolint:containedctx // it is one
	looks           *int
}

func (c endsAfter) Err() error {
	if *c.looks--; *c.looks < 0 {
		return context.Canceled
	}
	return nil
}

func TestDecode_EndsWhenTheContextDoes(t *testing.T) {
	element := `{"listingId":"` + strings.Repeat("l", 1000) + `"}`
	large := `{"count":"12","listings":` + list(element, 4000) + `}`
	pass := strings.Count(large, "") / (256 << 10) // Looks while the outline is read.
	for _, tc := range []struct {
		body  string
		looks int
		err   error
		why   string
	}{
		{large, 1 << 20, nil, "ctx does not end"},
		{large, 0, context.Canceled, "it has ended before"},
		{large, pass / 2, context.Canceled, "it ends while the outline is read"},
		{large, pass + 2000, context.Canceled, "it ends while the elements are decoded"},
		{`{"listings":[` + element + `]}`, 0, nil, "a small body is decoded all the same: a response that has arrived is not lost"},
		{`{"count":[],"listings":[` + element + `]}`, 0, nil, "also if a member is of the wrong kind"},
	} {
		looks := tc.looks
		var page gen.ListingPage
		_, err := gen.Decode(endsAfter{t.Context(), &looks}, []byte(tc.body), &page)
		require.ErrorIs(t, err, tc.err, tc.why)
	}
}

// TestDecode_ReadsLargeBodiesAsSmallOnes compares the decoding in pieces with that of encoding/json.
func TestDecode_ReadsLargeBodiesAsSmallOnes(t *testing.T) {
	element := `{"listingId":"98e2e748","amount":"162","ask":{"askId":"1"},"order":null,"payout":{"totalPayout":1.50,"adjustments":[]},
		"createdAt":"2026-11-02T09:14:05.812Z","condition":"` + strings.Repeat("x", 400<<10) + `"}`
	body := []byte(`{"count":"3","hasNextPage":true,"listings":` + list(element, 3) + `,"unknown":{}}`)
	var got, want gen.ListingPage
	decoded, err := gen.Decode(t.Context(), body, &got)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(body, &want))
	assert.Equal(t, want, got)
	assert.Empty(t, decoded.Warnings)
	assert.Equal(t, map[string]gen.Kind{"count": gen.KindString, "hasNextPage": gen.KindBoolean, "listings": gen.KindArray}, decoded.Members)
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
		{`{"BATCHID":"b"}`, new(gen.Batch), map[string]gen.Kind{"batchId": gen.KindString}, "another case, which encoding/json accepts"},
		{`{"batch\u0049d":"b"}`, new(gen.Batch), map[string]gen.Kind{"batchId": gen.KindString}, "an escaped name"},
		{`{"status":"\\","batchId":"\""}`, new(gen.Batch), map[string]gen.Kind{"status": gen.KindString, "batchId": gen.KindString}, "values with escapes"},
		{`{"message":"{\"batchId\":\"b\"}","a":{"batchId":"b"},"b":[{"batchId":"b"}]}`, new(gen.Batch), map[string]gen.Kind{}, "what is deeper or in a string is no member"},
		{`{"batchId":"b","batchId":null}`, new(gen.Batch), map[string]gen.Kind{"batchId": gen.KindNull}, "the last one counts, as for its value"},
		{`[{"variantId":"v"}]`, new([]gen.Variant), map[string]gen.Kind{}, "an array has none"},
	} {
		decoded, err := gen.Decode(t.Context(), []byte(tc.body), tc.target)
		require.NoError(t, err, tc.why)
		assert.Equal(t, tc.want, decoded.Members, tc.why)
	}
}
