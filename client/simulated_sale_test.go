package client_test

import (
	"flag"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/quota"
	"github.com/sellside-sdk/sellside-go/gen"
	"github.com/sellside-sdk/sellside-go/sandbox"
)

// simulated is a sandbox that enforces a quota, and counts what it answers. It is its own transport: no socket
// works in simulated time.
type simulated struct {
	*sandbox.Sandbox
	answered map[int]int // by status
}

func (m *simulated) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	m.ServeHTTP(w, r.Clone(r.Context())) // a handler may change its request, a transport may not
	m.answered[w.Code]++
	return w.Result(), nil
}

func openMarket(t *testing.T, q quota.Quota) *simulated {
	t.Helper()
	s, err := sandbox.New(sandbox.Options{Quota: q})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, s.Close()) })
	return &simulated{s, map[int]int{}}
}

// inventory is so many listings, no two of them with the same variant and amount.
func inventory(n int) []gen.CreateItem {
	var variants []string
	for _, p := range sandbox.Catalog() {
		for _, v := range p.Variants {
			variants = append(variants, v.ID)
		}
	}
	items := make([]gen.CreateItem, n)
	for i := range items {
		items[i] = gen.CreateItem{
			VariantID: variants[i%len(variants)], Amount: gen.Amount(strconv.Itoa(200 + i/len(variants))), Quantity: 1,
		}
	}
	return items
}

// saleListings is 10,000 in make sale; make test has the race detector to bear.
var saleListings = flag.Int("sale-listings", 2_000, "listings of the simulated sale, a multiple of 500")

// The quota alone makes the sale last: 500 listings every five minutes, so that of 10,000 there are 20 groups
// of batches, and 19 times five minutes between them. What comes on top are the requests that follow the last.
func TestASaleTakesWhatTheQuotaTakes(t *testing.T) {
	groups := *saleListings / 500
	began := time.Now()
	var simulated time.Duration
	synctest.Test(t, func(t *testing.T) {
		m := openMarket(t, quota.Public)
		c, err := client.New(
			client.WithBaseURL("http://127.0.0.1"+sandbox.BasePath), client.WithHTTPClient(&http.Client{Transport: m}),
			client.WithAPIKey(m.APIKey()), client.WithToken(m.Token()),
			client.WithQuota(quota.Public))
		require.NoError(t, err)

		start := time.Now()
		sold := map[string]bool{}
		for items := range slices.Chunk(inventory(groups*500), 100) {
			batch, err := c.Batches.Create(t.Context(), items)
			require.NoError(t, err)
			results, err := batch.Wait(t.Context())
			require.NoError(t, err)
			for _, r := range results {
				sold[r.Result.ListingID] = true
			}
		}
		simulated = time.Since(start)

		assert.Len(t, sold, groups*500)
		least := time.Duration(groups-1) * 300 * time.Second
		assert.GreaterOrEqual(t, simulated, least)
		assert.LessOrEqual(t, simulated, least*103/100)
		assert.Zero(t, m.answered[http.StatusTooManyRequests])
		assert.Len(t, m.answered, 1, "nothing but 200: %v", m.answered)
		t.Logf("%d listings took %s of simulated time, %.4f times %d x 300 s, and %d requests; 429: %d",
			groups*500, simulated, simulated.Seconds()/least.Seconds(), groups-1, m.answered[http.StatusOK], m.answered[http.StatusTooManyRequests])
	})
	t.Logf("in %s of real time", time.Since(began).Round(time.Millisecond))
}
