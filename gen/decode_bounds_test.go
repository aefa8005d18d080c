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
		{`{"LISTINGS":` + list(` null `, most+1) + `}`, new(gen.ListingPage), false, "other elements, and a name in another case"},
		{`{"payout":{"adjustments":` + list(`{}`, most+1) + `}}`, new(gen.Listing), false, "of a nested array"},
		{`{"listings":` + list(`{"payout":{"adjustments":[{},{}]}}`, most/2) + `}`, new(gen.ListingPage), false, "of all arrays together"},
		{`{"other":` + list(`0`, most+1) + `}`, new(gen.Listing), false, "of an unknown member"},
		{`{"itemStatuses":{"a":0` + strings.Repeat(`,"b":0`, most) + `}}`, new(gen.Batch), false, "members of an object become a map"},
		{`{"listings":[{"condition":"` + strings.Repeat(`,[{\"`, most) + `"}]}`, new(gen.ListingPage), true, "text in a string is not an element"},
	} {
		_, err := gen.Decode(t.Context(), []byte(tc.body), tc.target)
		assert.Equal(t, tc.ok, err == nil, "%s: %v", tc.why, err)
	}
}

// The test measures allocations, not time: bodies of 16 MiB, which compress to a few kilobytes,
// must not decode to gigabytes.
func TestDecode_BoundsMemory(t *testing.T) {
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
		{[]byte(`{"listings":` + list(`{"ask":{},"batch":{},"order":{},"payout":{}}`, 50_000) + `}`), func() any { return new(gen.ListingPage) }, 300, "as many listings as are allowed, with all their objects"},
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

// endsAfter is a context that ends when its error has been read a number of times.
type endsAfter struct {
	context.Context //nolint:containedctx // it is one
	reads           *int
}

func (c endsAfter) Err() error {
	if *c.reads--; *c.reads < 0 {
		return context.Canceled
	}
	return nil
}

func TestDecode_EndsWhenTheContextDoes(t *testing.T) {
	element := `{"listingId":"` + strings.Repeat("l", 1000) + `"}`
	large := `{"count":"12","listings":` + list(element, 4000) + `}`
	for _, tc := range []struct {
		body  string
		reads int
		err   error
		why   string
	}{
		{large, 1 << 20, nil, "ctx does not end"},
		{large, 0, context.Canceled, "ctx has ended before"},
		{large, 3000, context.Canceled, "ctx ends during the scan"},
		{large, 4000 + 2000, context.Canceled, "ctx ends while the elements are decoded"},
		{`{"listings":[` + element + `]}`, 0, nil, "a small body is decoded nevertheless: a response that has arrived is not lost"},
		{`{"count":[],"listings":[` + element + `]}`, 0, nil, "also if a member is of the wrong kind"},
	} {
		reads := tc.reads
		var page gen.ListingPage
		_, err := gen.Decode(endsAfter{t.Context(), &reads}, []byte(tc.body), &page)
		require.ErrorIs(t, err, tc.err, tc.why)
	}
}

// Large bodies are decoded in pieces.
func TestDecode_DecodesLargeBodiesAsEncodingJSONDoes(t *testing.T) {
	element := `{"listingId":"98e2e748","amount":"162","ask":{"askId":"1"},"order":null,"payout":{"totalPayout":1.50,"adjustments":[]},
		"createdAt":"2026-11-02T09:14:05.812Z","condition":"` + strings.Repeat("x", 400<<10) + `"}`
	body := []byte(`{"count":"3","hasNextPage":true,"listings":` + list(element, 3) + `,"unknown":{}}`)
	var got, want gen.ListingPage
	decoded, err := gen.Decode(t.Context(), body, &got)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(body, &want))
	assert.Equal(t, want, got)
	assert.Empty(t, decoded.Warnings)
	assert.Equal(t, map[string]gen.Kind{"count": gen.KindString, "hasNextPage": gen.KindBoolean, "listings": gen.KindArray}, kindsByName(decoded.Members))
}
