package bulk_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"iter"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/bulk"
	"github.com/sellside-sdk/sellside-go/bulk/stock"
	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/quota"
	"github.com/sellside-sdk/sellside-go/gen"
)

// millionRows is 1,000,000 in make bulk-million.
var millionRows = flag.Int("million-rows", 2_000, "rows of the plan whose memory is measured")

// listingService serves n active listings a page at a time, without keeping them.
func listingService(t *testing.T, n int) string {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v2/selling/listings", func(w http.ResponseWriter, r *http.Request) {
		page, _ := strconv.Atoi(r.URL.Query().Get("pageNumber"))
		first := (page - 1) * 100
		listings := []map[string]any{}
		for i := first; i < min(n, first+100); i++ {
			listings = append(listings, map[string]any{
				"listingId": fmt.Sprintf("listing-%07d", i), "status": "ACTIVE", "amount": "200", "currencyCode": "USD",
				"createdAt": "2026-01-01T00:00:00Z", "updatedAt": "2026-01-01T00:00:00Z",
				"variant": map[string]any{"variantId": fmt.Sprintf("variant-%07d", i)},
			})
		}
		_ = json.NewEncoder(w).Encode(map[string]any{
			"listings": listings, "count": n, "pageNumber": page, "pageSize": 100, "hasNextPage": first+100 < n,
		})
	})
	mux.HandleFunc("GET /v2/selling/orders/", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"orders":[],"count":0,"pageNumber":1,"pageSize":100,"hasNextPage":false}`))
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL + "/v2"
}

// manyRows are n rows, each of the item of one listing.
func manyRows(n, price int) iter.Seq2[stock.Row, error] {
	return func(yield func(stock.Row, error) bool) {
		for i := range n {
			row := stock.Row{
				Line: i + 2, SKU: fmt.Sprintf("sku-%07d", i), VariantID: fmt.Sprintf("variant-%07d", i), Currency: "USD",
				Price: stock.Price{Kind: stock.PriceFixed, Amount: gen.Amount(strconv.Itoa(price))}, Quantity: 1,
			}
			if !yield(row, nil) {
				return
			}
		}
	}
}

// peakMemory returns the most memory that the process has had, in MiB, 0 if the system does not say.
func peakMemory() int {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(status)) {
		if kib, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			n, _ := strconv.Atoi(strings.Fields(kib)[0])
			return n >> 10
		}
	}
	return 0
}

// TestPlan_NeedsLittleMemory plans many rows against as many live listings, which the rows adopt, and
// plans them again with another price.
func TestPlan_NeedsLittleMemory(t *testing.T) {
	n := *millionRows
	url := listingService(t, n)
	b, err := bulk.Open(t.Context(), bulk.Config{
		Ledger: newLedger(t), Quota: quota.Unlimited,
		Connect: func(l quota.Limiter) (*client.Client, error) {
			return client.New(client.WithBaseURL(url), client.WithAPIKey("key"), client.WithToken("token"), client.WithLimiter(l))
		},
	})
	require.NoError(t, err)
	defer func() { assert.NoError(t, b.Close()) }()
	for _, step := range []struct {
		what    string
		price   int
		opts    bulk.PlanOptions
		updates int
	}{
		{"read the listings, adopt them", 200, bulk.PlanOptions{Adopt: true}, 0},
		{"change every price", 300, bulk.PlanOptions{Adopt: true}, n},
	} {
		began := time.Now()
		plan, err := b.Plan(t.Context(), manyRows(n, step.price), step.opts)
		require.NoError(t, err)
		assert.Equal(t, step.updates, plan.Updates, step.what)
		assert.Zero(t, plan.Creates, step.what)
		elapsed := time.Since(began)
		t.Logf("%s: %d rows in %s, %d a second, peak memory %d MiB", step.what, n, elapsed.Round(time.Millisecond),
			int(time.Duration(n)*time.Second/elapsed), peakMemory())
	}
	assert.Less(t, peakMemory(), 400)
}
