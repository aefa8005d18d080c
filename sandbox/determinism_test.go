package sandbox_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client/quota"
	"github.com/sellside-sdk/sellside-go/sandbox"
)

// transcript has all responses of a sandbox, with their headers.
type transcript struct {
	*market
	lines []string
}

// record makes a request and records the response.
func (s *transcript) record(r *http.Request) {
	s.t.Helper()
	w := httptest.NewRecorder()
	func() {
		defer func() {
			if cause := recover(); cause != nil {
				require.Equal(s.t, http.ErrAbortHandler, cause)
				w.Code = 0
			}
		}()
		s.ServeHTTP(w, r)
	}()
	s.lines = append(s.lines, fmt.Sprintf("%s %s\n%d %v\n%s", r.Method, r.URL, w.Code, w.Header(), w.Body))
}

func (s *transcript) call(method, path string, body any) {
	s.t.Helper()
	s.record(s.request(method, path, body))
}

func (s *transcript) control(method, path, body string) {
	s.t.Helper()
	r := httptest.NewRequestWithContext(s.t.Context(), method, sandbox.ControlPath+path, strings.NewReader(body))
	r.Header.Set("x-sandbox-key", s.ControlKey())
	s.record(r)
}

// play plays a day of two sellers, with buyers and faults.
func play(t *testing.T, seed uint64) []string {
	t.Helper()
	s := &transcript{market: open(t, withQuota(quota.Quota{RequestsPerSecond: 4}), func(o *sandbox.Options) {
		o.Seed, o.ControlKey, o.RotateRefreshTokens = seed, "key", true
	})}
	product, v := variant(t, "DZ5485-612", "10.5")
	data := "/catalog/products/" + product.ID + "/variants/" + v + "/market-data"
	next := func() { s.control("POST", "/clock", `{"advance":"1s"}`); s.control("POST", "/work", "") }
	s.control("POST", "/accounts", `{"name":"second"}`)
	for _, amount := range []string{"150", "200.5", "2000", "150"} {
		s.call("GET", data, nil)
		s.call("POST", "/selling/listings", map[string]any{"variantId": v, "amount": amount})
		s.call("POST", createBatch, listings(t, 2))
		next()
	}
	s.control("POST", "/faults", `{"times":2,"kind":"cut-json","applied":true}`)
	s.control("POST", "/faults", `{"operation":"CreateListing","kind":"lost","applied":true}`)
	s.control("POST", "/faults", `{"operation":"token","kind":"status","status":503,"retryAfter":"3s"}`)
	s.control("GET", "/faults", "")
	for range 3 {
		s.call("POST", "/selling/listings", map[string]any{"variantId": v, "amount": "175"})
		s.call("GET", "/selling/listings?pageSize=3", nil)
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, sandbox.TokenPath,
			strings.NewReader("grant_type=refresh_token&refresh_token="+s.RefreshToken()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		s.record(r)
		next()
	}
	s.control("POST", "/bids", `{"variantId":"`+v+`","currencyCode":"USD","amount":"160"}`)
	s.control("POST", "/bids", `{"variantId":"`+v+`","currencyCode":"USD","amount":"5"}`)
	for range 6 {
		s.call("GET", "/selling/orders/active", nil) // more than the quota allows
	}
	require.NoError(t, s.Advance(t.Context(), 36*time.Hour))
	next()
	for _, path := range []string{
		"/selling/listings?pageSize=100", "/selling/orders/active", "/selling/orders/history", data,
	} {
		s.call("GET", path, nil)
	}
	next()
	s.call("GET", "/catalog/search?query=chicago", nil)
	s.call("GET", "/catalog/products/"+product.ID+"/market-data", nil)
	s.control("GET", "/counters", "")
	s.control("GET", "/accounts", "")
	return s.lines
}

// The worker makes ids, too.
func TestDeterminism_IDsOfCallsDoNotDependOnTheWorker(t *testing.T) {
	ids := func(between func(*market)) (given []string) {
		m := open(t)
		for range 3 {
			made := m.createListing("2000", nil)
			between(m)
			batch := m.call(http.MethodPost, createBatch, listings(t, 2)).text("batchId")
			between(m)
			deleted := m.call(http.MethodDelete, "/selling/listings/"+made.text("listingId"), nil)
			between(m)
			given = append(given, made.text("listingId"), made.text("operationId"), batch, deleted.text("operationId"))
			given = append(given, m.get("/selling/batch/create-listing/%s/items", batch).each("items", "itemId")...)
		}
		return given
	}
	late, soon := ids(func(*market) {}), ids((*market).settle)
	assert.Equal(t, late, soon)
}

func TestDeterminism_SameSeedAndCallsGiveTheSameResponses(t *testing.T) {
	first, again, other := play(t, 1), play(t, 1), play(t, 2)
	require.GreaterOrEqual(t, len(first), 60)
	require.Len(t, again, len(first))
	require.Len(t, other, len(first))
	differ := 0
	for i := range first {
		require.Equal(t, first[i], again[i], "call %d", i)
		if first[i] != other[i] {
			differ++
		}
	}
	assert.Greater(t, differ, 20, "another seed changes ids and prices")
	statuses := map[string]bool{}
	for _, line := range first {
		statuses[strings.Fields(strings.SplitN(line, "\n", 3)[1])[0]] = true
	}
	for _, status := range []string{"200", "201", "204", "429", "503", "0"} {
		assert.True(t, statuses[status], "the calls should include a %s: %v", status, statuses)
	}
}
