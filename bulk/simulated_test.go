package bulk_test

import (
	"cmp"
	"flag"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/bulk"
	"github.com/sellside-sdk/sellside-go/client/quota"
	"github.com/sellside-sdk/sellside-go/sandbox"
	"github.com/sellside-sdk/sellside-go/sandbox/sandboxtest"
)

// requests returns the requests so far, and how many of them were refused for their rate.
func requests(m *sandboxtest.Market) (all, refused int) {
	for _, counts := range m.Counters() {
		for status, n := range counts {
			all += n
			if status == http.StatusTooManyRequests {
				refused += n
			}
		}
	}
	return all, refused
}

// TestApply_TakesFewRequests counts the requests of 1,000 listings that are created, updated and
// deleted. The least is 30 each: 10 batches are submitted, polled once, and their items read.
func TestApply_TakesFewRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := sandboxtest.NewInProcess(t, func(o *sandbox.Options) { o.Quota, o.Delay = quota.Public, 2*time.Second })
		b := open(t, m, ":memory:", func(c *bulk.Config) { c.Quota = quota.Public })
		const n = 1000
		for _, step := range []struct {
			what, text string
			opts       bulk.PlanOptions
			live       int
		}{
			{"create", inventory(n, 200), bulk.PlanOptions{}, n},
			{"update", inventory(n, 300), bulk.PlanOptions{}, n},
			{"delete", inventory(1, 300), bulk.PlanOptions{DeleteMissing: true, AllowDeletes: new(n)}, 1},
		} {
			began := time.Now()
			before, refusedBefore := requests(m)
			plan, err := b.Plan(t.Context(), rowsOf(step.text), step.opts)
			require.NoError(t, err)
			require.NoError(t, plan.Refused)
			_, err = b.Apply(t.Context(), plan, "apply")
			require.NoError(t, err)
			after, refused := requests(m)
			assert.Equal(t, refusedBefore, refused, "%s: responses 429", step.what)
			assert.LessOrEqual(t, after-before, 39, step.what)
			assert.Len(t, live(t, m), step.live, step.what)
			t.Logf("%s: %d requests, %s", step.what, after-before, time.Since(began).Round(time.Second))
			synctestWait(t, 6*time.Minute) // the quota for reading in the test
		}
	})
}

// synctestWait lets simulated time pass.
func synctestWait(t *testing.T, d time.Duration) {
	t.Helper()
	select {
	case <-time.After(d):
	case <-t.Context().Done():
	}
}

// pacedRows is 20,000 for the figure in the issue, which are two thirds of the items of a day.
var pacedRows = flag.Int("paced-rows", 3_000, "rows of an inventory that is created at the public quota, a multiple of 500")

// TestApply_LastsAsLongAsTheQuota creates an inventory at the public quota: 500 listings every five
// minutes. The time is counted from the plan on, with look-ups of all products.
func TestApply_LastsAsLongAsTheQuota(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := sandboxtest.NewInProcess(t, func(o *sandbox.Options) { o.Quota, o.Delay = quota.Public, 2*time.Second })
		b := open(t, m, ":memory:", func(c *bulk.Config) { c.Quota = quota.Public })
		n := *pacedRows
		began := time.Now()
		plan, err := b.Plan(t.Context(), rowsOf(byStyle(n)), bulk.PlanOptions{})
		require.NoError(t, err)
		run, err := b.Apply(t.Context(), plan, "apply")
		require.NoError(t, err)
		assert.Equal(t, n, run.Done)
		elapsed := time.Since(began)
		least := time.Duration(n/500-1) * 5 * time.Minute
		all, refused := requests(m)
		assert.Zero(t, refused)
		assert.LessOrEqual(t, elapsed, least*103/100+time.Minute, "a minute for the requests after the last group")
		t.Logf("%d rows in %s, %.4f of the item windows; %d requests, %d look-ups", n, elapsed.Round(time.Second),
			elapsed.Seconds()/least.Seconds(), all, m.Counters().Of("SearchProducts"))
	})
}

// TestApply_LastsAsLongAsTheRequests creates few listings of many products at the public quota, where
// the requests of the look-ups are the larger bound.
func TestApply_LastsAsLongAsTheRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := sandboxtest.NewInProcess(t, func(o *sandbox.Options) { o.Quota, o.Delay = quota.Public, 2*time.Second })
		b := open(t, m, ":memory:", func(c *bulk.Config) { c.Quota = quota.Public })
		var text strings.Builder
		text.WriteString("sku,style_id,size,price,currency,quantity\n")
		products := 0
		for _, p := range sandbox.Catalog() {
			if p.StyleID != "" {
				products++
				fmt.Fprintf(&text, "sku-%05d,%s,%s,200,USD,1\n", products, p.StyleID, cmp.Or(p.Variants[0].Size, "One Size"))
			}
		}
		plan, err := b.Plan(t.Context(), rowsOf(text.String()), bulk.PlanOptions{})
		require.NoError(t, err)
		require.Equal(t, products, plan.Creates)
		require.Less(t, products, quota.Public.ItemsPerWindow, "the items are no bound")
		began := time.Now()
		before, _ := requests(m)
		run, err := b.Apply(t.Context(), plan, "apply")
		require.NoError(t, err)
		elapsed := time.Since(began)
		all, refused := requests(m)
		assert.Equal(t, products, run.Done)
		assert.Zero(t, refused)
		assert.LessOrEqual(t, elapsed, plan.Least*105/100)
		t.Logf("%d products in %s, %.4f of the %s for the least requests; %d requests", products, elapsed.Round(time.Second),
			elapsed.Seconds()/plan.Least.Seconds(), plan.Least, all-before)
	})
}
