package bulk_test

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/sellside-sdk/sellside-go/bulk"
	"github.com/sellside-sdk/sellside-go/bulk/stock"
	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/quota"
	"github.com/sellside-sdk/sellside-go/gen"
	"github.com/sellside-sdk/sellside-go/sandbox"
	"github.com/sellside-sdk/sellside-go/sandbox/sandboxtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// variants are the ids of the catalog.
func variants() (ids []string) {
	for _, p := range sandbox.Catalog() {
		for _, v := range p.Variants {
			ids = append(ids, v.ID)
		}
	}
	return ids
}

// inventory is n rows of CSV, of one listing each, at prices from an amount on.
func inventory(n, price int) string {
	var b strings.Builder
	b.WriteString("sku,variant_id,price,currency,quantity\n")
	ids := variants()
	for i := range n {
		fmt.Fprintf(&b, "sku-%05d,%s,%d,USD,1\n", i, ids[i%len(ids)], price+i/len(ids))
	}
	return b.String()
}

func rowsOf(text string) iter.Seq2[stock.Row, error] {
	return stock.NewReader(strings.NewReader(text), stock.Options{}).Rows()
}

// open opens a ledger for a sandbox.
func open(t *testing.T, m *sandboxtest.Market, file string, change ...func(*bulk.Config)) *bulk.Bulk {
	t.Helper()
	c := bulk.Config{
		Ledger: file, Quota: quota.Unlimited,
		Connect: func(l quota.Limiter) (*client.Client, error) {
			return client.New(client.WithBaseURL(m.URL), client.WithHTTPClient(m.HTTPClient()),
				client.WithAPIKey(m.APIKey()), client.WithToken(m.Token()), client.WithLimiter(l))
		},
		OnEvent: func(text string) { t.Log(text) },
	}
	for _, f := range change {
		f(&c)
	}
	b, err := bulk.Open(t.Context(), c)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, b.Close()) })
	return b
}

func newLedger(t *testing.T) string { t.Helper(); return filepath.Join(t.TempDir(), "ledger.db") }

// live returns the live listings of the account by id.
func live(t *testing.T, m *sandboxtest.Market) map[string]gen.Listing {
	t.Helper()
	all := map[string]gen.Listing{}
	for l, err := range m.Client().Listings.List(context.Background(), client.ListingFilter{
		Statuses: []gen.ListingStatus{gen.ListingStatusActive, gen.ListingStatusInactive},
	}) {
		require.NoError(t, err)
		all[l.ListingID] = l
	}
	return all
}

// byStyle is n rows of CSV that name their items by style id and size.
func byStyle(n int) string {
	var b strings.Builder
	b.WriteString("sku,style_id,size,price,currency,quantity\n")
	for i := 0; i < n; {
		for _, p := range sandbox.Catalog() {
			for _, v := range p.Variants {
				if i == n {
					return b.String()
				}
				fmt.Fprintf(&b, "sku-%05d,%s,%s,%d,USD,1\n", i, p.StyleID, cmp.Or(v.Size, "One Size"), 200+i/100)
				i++
			}
		}
	}
	return b.String()
}
