package client_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/clienttest"
	"github.com/sellside-sdk/sellside-go/client/quota"
	"github.com/sellside-sdk/sellside-go/gen"
)

// measuredCall is a call whose cost is measured over a transport in memory.
type measuredCall struct {
	name string
	body []byte
	call func(context.Context, *client.Client) error
	into func() any // What the body is decoded into.
}

// measuredCalls are one market-data call, a page of 100 listings and the 500 items of a batch.
func measuredCalls(tb testing.TB) []measuredCall {
	tb.Helper()
	return []measuredCall{
		{"MarketData", clienttest.ExampleOf(gen.OpGetVariantMarketData), func(ctx context.Context, c *client.Client) error {
			_, err := c.Catalog.GetMarketData(ctx, productID, variantID, "USD")
			return err
		}, func() any { return new(gen.MarketData) }},
		{"PageOf100", repeated(tb, gen.OpListListings, "listings", "listingId", 100), func(ctx context.Context, c *client.Client) error {
			p, err := c.Listings.ListPage(ctx, client.ListingFilter{})
			require.Len(tb, p.Listings, 100)
			return err
		}, func() any { return new(gen.ListingPage) }},
		{"BatchItems500", repeated(tb, gen.OpListCreateListingsBatchItems, "items", "itemId", 500), func(ctx context.Context, c *client.Client) error {
			items, err := c.Batches.ResumeCreate(batchID).Results(ctx, "")
			require.Len(tb, items, 500)
			return err
		}, func() any { return new(gen.CreateBatchItemList) }},
	}
}

// repeated returns the example of an operation with n copies of the first element of its array, each
// with its own id.
func repeated(tb testing.TB, op gen.OperationID, array, id string, n int) []byte {
	tb.Helper()
	var page map[string]json.RawMessage
	require.NoError(tb, json.Unmarshal(clienttest.ExampleOf(op), &page))
	var elements []map[string]any
	require.NoError(tb, json.Unmarshal(page[array], &elements))
	all := make([]json.RawMessage, n)
	for i := range all {
		elements[0][id] = fmt.Sprintf("98e2e748-8000-45bf-a624-%012d", i)
		var err error
		all[i], err = json.Marshal(elements[0])
		require.NoError(tb, err)
	}
	var err error
	page[array], err = json.Marshal(all)
	require.NoError(tb, err)
	body, err := json.Marshal(page)
	require.NoError(tb, err)
	return body
}

// memoryTransport responds to every request with a body; it allocates a response and a reader.
func memoryTransport(body []byte) transportFunc {
	header := http.Header{"Content-Type": {"application/json"}}
	return func(r *http.Request) (*http.Response, error) {
		return &http.Response{
			StatusCode: http.StatusOK, Header: header, Body: io.NopCloser(bytes.NewReader(body)),
			ContentLength: int64(len(body)), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r,
		}, nil
	}
}

func BenchmarkCall(b *testing.B) {
	for _, m := range measuredCalls(b) {
		b.Run(m.name, func(b *testing.B) {
			c := newBenchClient(b, memoryTransport(m.body))
			b.SetBytes(int64(len(m.body)))
			b.ReportAllocs()
			for b.Loop() {
				require.NoError(b, m.call(b.Context(), c))
			}
		})
		b.Run(m.name+"/decode", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, err := gen.Decode(b.Context(), m.body, m.into())
				require.NoError(b, err)
			}
		})
	}
}

// TestCall_AllocatesLittle compares a whole call with decoding its body. The limit leaves a margin
// of 30 % for the race detector and for other versions of Go.
func TestCall_AllocatesLittle(t *testing.T) {
	for _, m := range measuredCalls(t) {
		c := newBenchClient(t, memoryTransport(m.body))
		whole := testing.AllocsPerRun(20, func() { require.NoError(t, m.call(t.Context(), c)) })
		decode := testing.AllocsPerRun(20, func() {
			_, err := gen.Decode(t.Context(), m.body, m.into())
			require.NoError(t, err)
		})
		t.Logf("%s: %.0f allocations, %.0f without decoding", m.name, whole, whole-decode)
		assert.LessOrEqual(t, whole-decode, 95.0, m.name)
	}
}

// TestCall_ResultsDoNotPointIntoBuffers keeps what calls return while later calls use their buffers.
func TestCall_ResultsDoNotPointIntoBuffers(t *testing.T) {
	bodyOf := func(i int) []byte {
		return fmt.Appendf(nil, `{"listingId":"%04d","status":"S-%04d","errorMessage":"%04d","product":{"productName":"name %04d"}}`, i, i, i, i)
	}
	calls := 0
	c := newBenchClient(t, transportFunc(func(r *http.Request) (*http.Response, error) {
		return memoryTransport(bodyOf(calls))(r)
	}))
	var listings []*gen.Listing
	var refused []*client.DecodeError
	const n = 200
	for ; calls < n; calls++ {
		listing, err := c.Listings.Get(t.Context(), fmt.Sprintf("%04d", calls))
		require.NoError(t, err)
		listings = append(listings, listing)
		_, err = c.Listings.Get(t.Context(), "another")
		e, ok := errors.AsType[*client.DecodeError](err)
		require.True(t, ok)
		refused = append(refused, e)
	}
	for i := range n {
		var want gen.Listing
		_, err := gen.Decode(t.Context(), bodyOf(i), &want)
		require.NoError(t, err)
		assert.Equal(t, want, *listings[i])
		assert.Equal(t, string(bodyOf(i)), string(refused[i].Body))
	}
}

// TestCall_BodiesThatMiddlewareKeepsDoNotChange reads bodies after later calls.
func TestCall_BodiesThatMiddlewareKeepsDoNotChange(t *testing.T) {
	var kept []io.Reader
	calls := 0
	c := newBenchClient(t, transportFunc(func(r *http.Request) (*http.Response, error) {
		calls++
		return memoryTransport(fmt.Appendf(nil, `{"listingId":"%04d"}`, calls))(r)
	}), client.WithMiddleware(func(next client.Doer) client.Doer {
		return client.DoerFunc(func(r *http.Request) (*http.Response, error) {
			resp, err := next.Do(r)
			if err == nil {
				kept = append(kept, resp.Body)
			}
			return resp, err
		})
	}))
	for i := range 50 {
		require.NoError(t, failure(c.Listings.Get(t.Context(), fmt.Sprintf("%04d", i+1))))
	}
	for i, body := range kept {
		text, err := io.ReadAll(body)
		require.NoError(t, err)
		assert.JSONEq(t, fmt.Sprintf(`{"listingId":"%04d"}`, i+1), string(text))
	}
}

var pagingListings = flag.Int("paging-listings", 200_000, "how many listings TestPaging_MemoryDoesNotGrow reads")

// TestPaging_MemoryDoesNotGrow reads a list that is larger than what the loop remembers. A million:
// go test ./client -run TestPaging_MemoryDoesNotGrow -v -paging-listings 1000000.
func TestPaging_MemoryDoesNotGrow(t *testing.T) {
	const pageSize = 100
	pages := *pagingListings / pageSize
	number := 0
	c := newBenchClient(t, transportFunc(func(r *http.Request) (*http.Response, error) {
		number++
		body := bytes.NewBufferString(`{"listings":[`)
		for i := range pageSize {
			if i > 0 {
				body.WriteByte(',')
			}
			fmt.Fprintf(body, `{"listingId":"98e2e748-8000-45bf-a624-%012d"}`, number*pageSize+i)
		}
		fmt.Fprintf(body, `],"hasNextPage":%t}`, number < pages)
		return memoryTransport(body.Bytes())(r)
	}))
	var memory runtime.MemStats
	live := func() uint64 {
		runtime.GC()
		runtime.ReadMemStats(&memory)
		return memory.HeapAlloc
	}
	before, n, peak, peakLive := live(), 0, uint64(0), uint64(0)
	for _, err := range c.Listings.List(t.Context(), client.ListingFilter{}) {
		require.NoError(t, err)
		if n++; n%10_000 == 0 {
			runtime.ReadMemStats(&memory)
			peak = max(peak, memory.HeapAlloc)
			peakLive = max(peakLive, live())
		}
	}
	require.Equal(t, pages*pageSize, n)
	t.Logf("%d listings: at most %d KB live and %d KB with garbage, of which %d KB before",
		n, peakLive/1000, peak/1000, before/1000)
	assert.Less(t, peakLive-min(before, peakLive), uint64(16<<20))
}

func newBenchClient(tb testing.TB, transport http.RoundTripper, opts ...client.Option) *client.Client {
	tb.Helper()
	c, err := client.New(append([]client.Option{client.WithDefaults(
		client.WithBaseURL("https://"+fakeHost+"/v2"), client.WithAPIKey(clienttest.APIKey), client.WithToken(clienttest.Token),
		client.WithHTTPClient(&http.Client{Transport: transport}), client.WithQuota(quota.Unlimited),
	)}, opts...)...)
	require.NoError(tb, err)
	return c
}
