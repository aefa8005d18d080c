package bulk_test

import (
	"net/http"
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

func TestApply_TakesFewRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := sandboxtest.NewInProcess(t, func(o *sandbox.Options) { o.Quota, o.Delay = quota.Public, 2*time.Second })
		b := open(t, m, ":memory:", func(c *bulk.Config) { c.Quota = quota.Public })
		const n = 1000
		began := time.Now()
		apply := func(text string, opts bulk.PlanOptions) *bulk.Plan {
			t.Helper()
			plan, err := b.Plan(t.Context(), rowsOf(text), opts)
			require.NoError(t, err)
			_, err = b.Apply(t.Context(), plan, "apply")
			require.NoError(t, err)
			return plan
		}
		apply(inventory(n), bulk.PlanOptions{})
		all, refused := requests(m)
		t.Logf("%d requests to create, %s", all, time.Since(began))
		assert.Zero(t, refused)
		assert.LessOrEqual(t, all, 39)
		t.Log(m.Counters())
	})
}
