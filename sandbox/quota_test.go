package sandbox_test

import (
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client/quota"
	"github.com/sellside-sdk/sellside-go/sandbox"
)

// withQuota sets a quota.
func withQuota(q quota.Quota) func(*sandbox.Options) {
	return func(o *sandbox.Options) { o.Quota = q }
}

// listings returns the body of a create batch of n listings.
func listings(tb testing.TB, n int) map[string]any {
	tb.Helper()
	return map[string]any{"items": []any{map[string]any{"variantId": chicago(tb), "amount": "200", "quantity": n}}}
}

const createBatch = "/selling/batch/create-listing"

func TestQuota_SlidesItsWindows(t *testing.T) {
	type step struct {
		after  time.Duration // since the step before
		items  int           // of a create batch; a read if zero
		status int
		retry  string
	}
	itemsOnly := quota.Unlimited
	itemsOnly.ItemsPerWindow = 10
	for name, test := range map[string]struct {
		q     quota.Quota
		steps []step
	}{
		"requests per second": {quota.Quota{RequestsPerSecond: 2}, []step{
			{0, 0, 200, ""},
			{900 * time.Millisecond, 0, 200, ""},
			{0, 0, 429, "1"},
			{99 * time.Millisecond, 0, 429, "1"},
			{time.Millisecond, 0, 200, ""}, // the first has left the window, not the second
			{0, 0, 429, "1"},
			{900 * time.Millisecond, 0, 200, ""},
		}},
		"requests per day": {quota.Quota{RequestsPerDay: 2}, []step{
			{0, 0, 200, ""},
			{time.Hour, 0, 200, ""},
			{11 * time.Hour, 0, 429, "43200"}, // midnight UTC, but not a day after the first
			{12*time.Hour - time.Nanosecond, 0, 429, "1"},
			{time.Nanosecond, 0, 200, ""},
			{0, 0, 429, "3600"},
		}},
		"items per window": {quota.Quota{ItemsPerWindow: 500}, []step{
			{0, 100, 200, ""},
			{time.Minute, 300, 200, ""},
			{0, 101, 429, "240"}, // when the first leaves
			{0, 100, 200, ""},    // refused items do not count
			{0, 0, 200, ""},      // reads have no items
			{4*time.Minute - 1, 1, 429, "1"},
			{1, 100, 200, ""},
			{0, 400, 429, "60"}, // when all after the first leave
		}},
		"a window of another length": {quota.Quota{ItemsPerWindow: 10, ItemsWindow: 90 * time.Second}, []step{
			{0, 10, 200, ""},
			{500 * time.Millisecond, 10, 429, "90"}, // seconds are rounded up
			{89500 * time.Millisecond, 10, 200, ""},
		}},
		"items per day": {quota.Quota{ItemsPerWindow: 60, ItemsPerDay: 100}, []step{
			{0, 60, 200, ""},
			{time.Hour, 50, 429, "82800"},
			{0, 40, 200, ""}, // items that the day refused do not count in the window
			{0, 1, 429, "82800"},
			{23 * time.Hour, 60, 200, ""},
		}},
		"a batch larger than a window": {quota.Quota{ItemsPerWindow: 10, ItemsPerDay: 100}, []step{
			{0, 11, 400, ""}, // it will never fit
			{0, 10, 200, ""},
		}},
		"a batch that is not valid": {quota.Quota{RequestsPerDay: 2, ItemsPerWindow: 10}, []step{
			{0, -1, 400, ""},
			{0, 10, 200, ""},     // its items do not count
			{0, 0, 429, "86400"}, // its request does
		}},
		"the zero quota": {quota.Quota{}, []step{{0, 501, 200, ""}, {0, 0, 200, ""}, {0, 0, 200, ""}}},
		"no quota":       {quota.Unlimited, []step{{0, 501, 200, ""}, {0, 0, 200, ""}, {0, 0, 200, ""}}},
		"one limit only": {itemsOnly, []step{{0, 10, 200, ""}, {0, 0, 200, ""}, {0, 1, 429, "300"}}},
	} {
		t.Run(name, func(t *testing.T) {
			m := open(t, withQuota(test.q))
			for i, s := range test.steps {
				m.tick(s.after)
				method, path, body := http.MethodGet, "/selling/listings", any(nil)
				if s.items != 0 {
					method, path, body = http.MethodPost, createBatch, listings(t, s.items)
				}
				w := m.raw(method, path, body)
				require.Equal(t, s.status, w.Code, "step %d: %s", i, w.Body)
				require.Equal(t, s.retry, w.Header().Get("Retry-After"), "step %d", i)
			}
		})
	}
}

func TestQuota_RefusesWhatNeverFits(t *testing.T) {
	m := open(t, withQuota(quota.Quota{RequestsPerSecond: 1}))
	m.get("/selling/listings")
	m.call(http.MethodGet, "/selling/listings", nil).
		refused(http.StatusTooManyRequests, "quota", "a request too many")

	m = open(t, withQuota(quota.Quota{ItemsPerWindow: 5}))
	m.batch("create-listing", listings(t, 5)["items"].([]any)[0].(map[string]any))
	m.call(http.MethodPost, createBatch, listings(t, 5)).
		refused(http.StatusTooManyRequests, "quota", "items too many")
	m.call(http.MethodPost, createBatch, listings(t, 6)).
		refused(http.StatusBadRequest, "/items", "more than the window")
}

func TestQuota_CountsItemsOfEveryKind(t *testing.T) {
	one := map[string]any{"items": []any{map[string]any{"listingId": "98e2e748-8000-45bf-a624-5531d6a68318"}}}
	m := open(t, withQuota(quota.Quota{ItemsPerDay: 3}))
	for _, kind := range []string{"update-listing", "delete-listing"} {
		require.Equal(t, http.StatusOK, m.raw(http.MethodPost, "/selling/batch/"+kind, one).Code, kind)
	}
	require.Equal(t, http.StatusOK, m.raw(http.MethodPost, createBatch, listings(t, 1)).Code)
	for _, kind := range []string{"update-listing", "delete-listing"} {
		assert.Equal(t, http.StatusTooManyRequests,
			m.raw(http.MethodPost, "/selling/batch/"+kind, one).Code, kind)
	}
	assert.Equal(t, http.StatusTooManyRequests, m.raw(http.MethodPost, createBatch, listings(t, 1)).Code)
}

func TestQuota_CanLeaveRetryAfterOut(t *testing.T) {
	m := open(t, withQuota(quota.Quota{RequestsPerSecond: 1}), func(o *sandbox.Options) { o.NoRetryAfter = true })
	m.get("/selling/listings")
	w := m.raw(http.MethodGet, "/selling/listings", nil)
	assert.Equal(t, http.StatusTooManyRequests, w.Code)
	assert.NotContains(t, w.Header(), "Retry-After")
}

func TestQuota_DoesNotCountUnauthorizedRequests(t *testing.T) {
	m := open(t, withQuota(quota.Quota{RequestsPerDay: 1}))
	for range 3 {
		r := m.request(http.MethodGet, "/selling/listings", nil)
		r.Header.Set("x-api-key", "wrong")
		m.send(r).refused(http.StatusUnauthorized, "x-api-key header", "an unknown API key")
	}
	m.get("/selling/listings")
}

func TestQuota_LimitsConcurrentRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := open(t, inBackground, withQuota(quota.Quota{RequestsPerSecond: 5}))
		for range 3 { // seconds
			var served atomic.Int32
			var all sync.WaitGroup
			for range 20 {
				all.Go(func() {
					if m.raw(http.MethodGet, "/selling/listings", nil).Code == http.StatusOK {
						served.Add(1)
					}
				})
			}
			all.Wait()
			assert.EqualValues(t, 5, served.Load())
			<-time.After(time.Second)
		}
	})
}

func TestQuota_MustNotBeNegative(t *testing.T) {
	_, err := sandbox.New(sandbox.Options{Quota: quota.Quota{RequestsPerDay: -1}})
	require.ErrorIs(t, err, sandbox.ErrInvalidOptions)
}
