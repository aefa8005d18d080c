package gen_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/gen"
)

func TestOneOddMemberHidesNothingElse(t *testing.T) {
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
				assert.Equal(t, []string{"98e2e748", "162", "0c7b"}, []string{l.ListingID, l.Amount.String(), l.Product.ProductID})
				assert.Nil(t, l.Payout, "what cannot be read is absent")
				assert.Nil(t, l.Ask)
			},
			[]string{"/ask: an array that is no gen.ListingAsk", "/payout: a string that is no gen.Payout"},
			"text and a list where objects belong",
		},
		{
			`{"operationId":"9b2f","changes":{"additions":[],"updates":{"updatedAt":"2026-11-02T09:14:05.812Z"}},"operationStatus":"PENDING"}`, new(gen.ListingOperation),
			func(t *testing.T, v any) {
				op := v.(*gen.ListingOperation)
				assert.Equal(t, gen.OperationStatusPending, op.OperationStatus)
				assert.Equal(t, 2026, op.Changes.Updates.UpdatedAt.Year())
			},
			[]string{"/changes/additions: an array that is no gen.OperationAdditions"},
			"a service once wrote [] for {}",
		},
		{
			`{"count":"2","hasNextPage":true,"listings":[{"listingId":"a"},"b",{"listingId":"c","payout":{"totalPayout":"142.50","adjustments":[{"amount":-1},7]}}]}`, new(gen.ListingPage),
			func(t *testing.T, v any) {
				p := v.(*gen.ListingPage)
				require.Len(t, p.Listings, 3)
				assert.Equal(t, []string{"a", "", "c"}, []string{p.Listings[0].ListingID, p.Listings[1].ListingID, p.Listings[2].ListingID})
				assert.True(t, p.HasNextPage)
				assert.Equal(t, gen.Int(2), p.Count)
				assert.Equal(t, gen.Figure("142.50"), p.Listings[2].Payout.TotalPayout)
				assert.Equal(t, gen.Figure("-1"), p.Listings[2].Payout.Adjustments[0].Amount)
			},
			[]string{"/listings/1: a string that is no gen.Listing", "/listings/2/payout/adjustments/1: a number that is no gen.Adjustment"},
			"bad elements of nested lists",
		},
		{
			`{"ListingID":"98e2e748","Amount":"162","ASK":7}`, new(gen.Listing),
			func(t *testing.T, v any) {
				assert.Equal(t, []string{"98e2e748", "162"}, []string{v.(*gen.Listing).ListingID, v.(*gen.Listing).Amount.String()})
			},
			[]string{"/ASK: a number that is no gen.ListingAsk"},
			"names in another case, which encoding/json reads too",
		},
		{
			`[{"variantId":"a"},null,[],{"variantId":"d"}]`, new([]gen.Variant),
			func(t *testing.T, v any) {
				variants := *v.(*[]gen.Variant)
				require.Len(t, variants, 4)
				assert.Equal(t, "d", variants[3].VariantID)
			},
			[]string{"/2: an array that is no gen.Variant"},
			"a bad element of a bare list",
		},
		{
			`{"batchId":"5ee0","itemStatuses":"IN_PROGRESS","totalItems":[],"status":7,"completedAt":"soon","createdAt":"2026-11-02T09:14:05Z"}`, new(gen.Batch),
			func(t *testing.T, v any) {
				b := v.(*gen.Batch)
				assert.Equal(t, "5ee0", b.BatchID)
				assert.True(t, b.CompletedAt.IsZero(), "a batch does not end by an odd time")
				assert.False(t, b.CreatedAt.IsZero())
				assert.Empty(t, b.Status)
			},
			[]string{
				"/completedAt: a string that is no gen.Time", "/itemStatuses: a string that is no gen.Counts",
				"/status: a number that is no gen.BatchStatus", "/totalItems: an array that is no gen.Int",
			},
			"a text where counts belong, and more",
		},
		{
			`{"batchId":"5ee0","itemStatuses":{"queued":"3","failed":[],"completed":4}}`, new(gen.Batch),
			func(t *testing.T, v any) {
				assert.Equal(t, gen.Counts{"queued": 3, "completed": 4}, v.(*gen.Batch).ItemStatuses, "a count that is odd hides no other")
			},
			[]string{"/itemStatuses: an object that is no gen.Counts"},
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
			[]string{"/error: an array that is no gen.Reason", "/listingInput/active: a string that is no bool"},
			"text where a boolean belongs",
		},
	} {
		decoded, err := gen.Decode(t.Context(), []byte(tc.body), tc.target)
		require.NoError(t, err, tc.why)
		assert.ElementsMatch(t, tc.warnings, decoded.Warnings, tc.why)
		tc.check(t, tc.target)
	}
}

func TestWhatTheServiceMayWriteIsNotOdd(t *testing.T) {
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

func TestWhatIsNoAnswerIsAnError(t *testing.T) {
	for _, tc := range []struct {
		body   string
		target any
		want   string
	}{
		{"", new(gen.Listing), "the body is empty"},
		{" \r\n", new(gen.Listing), "the body is empty"},
		{"<html>", new(gen.Listing), "the body is not JSON: invalid character '<'"},
		{`{"listingId":"98e2`, new(gen.Listing), "the body is not JSON: unexpected end"},
		{`{"listingId":1}{`, new(gen.Listing), "the body is not JSON"},
		{`{"listingId":"98e2e748"} trailing`, new(gen.Listing), "the body is not JSON: invalid character 't' after"},
		{`{"listingId":NaN}`, new(gen.Listing), "the body is not JSON"},
		{strings.Repeat("[", 20000), new([]gen.Variant), "nested deeper than 10000"},
		{`{"listings":` + strings.Repeat("[", 20000), new(gen.ListingPage), "nested deeper than 10000"},
		{"\xef\xbb\xbf{}", new(gen.Listing), "the body is not JSON"},
		{`[]`, new(gen.Listing), "the body is an array, want an object"},
		{`"98e2e748"`, new(gen.Listing), "the body is a string, want an object"},
		{`7`, new(gen.Listing), "the body is a number, want an object"},
		{`null`, new(gen.Listing), "the body is null, want an object"},
		{`null`, new([]gen.Variant), "the body is null, want an array"},
		{` {}`, new([]gen.Variant), "the body is an object, want an array"},
	} {
		decoded, err := gen.Decode(t.Context(), []byte(tc.body), tc.target)
		require.ErrorContains(t, err, tc.want)
		assert.Equal(t, gen.Decoded{}, decoded)
	}
}

func TestDecode_WarningsAreBoundedAndQuoteNothing(t *testing.T) {
	secret := strings.Repeat("eyJhbGciOiJSUzI1NiIs", 3)
	elements := make([]any, 1000)
	for i := range elements {
		elements[i] = map[string]any{"amount": secret, "askId": 7, "ask": secret, "createdAt": secret, "payout": map[string]any{"totalPayout": secret}}
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
