package sandbox_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/sandbox"
)

var soakFor = flag.Duration("soak", time.Second, "how long the clients of TestSoak work")

// TestSoak runs many clients of one account on one sandbox, over sockets and with a file as its
// database. Each client writes to its own listings only, so that it knows what must come out.
func TestSoak(t *testing.T) {
	const clients, each = 64, 4
	s, err := sandbox.New(sandbox.Options{DB: tempFile(t), Delay: 5 * time.Millisecond})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	transport := &http.Transport{MaxIdleConnsPerHost: clients}
	t.Cleanup(transport.CloseIdleConnections)

	all := make([]*soaker, clients)
	for i := range all {
		all[i] = &soaker{
			t: t, server: server.URL + sandbox.BasePath, sandbox: s,
			client: &http.Client{Transport: transport},
			random: rand.New(rand.NewPCG(64, uint64(i))), counts: map[string]int{},
		}
	}
	start := time.Now()
	until, stop := context.WithTimeout(t.Context(), *soakFor)
	defer stop()
	together(all, func(c *soaker) { c.work(until, each) })
	took := time.Since(start)
	together(all, (*soaker).check)
	if t.Failed() {
		return
	}
	report(t, all, took)
	soakTotals(t, all)
}

func together(clients []*soaker, f func(*soaker)) {
	var wg sync.WaitGroup
	for _, c := range clients {
		wg.Go(func() {
			f(c) // a failure ends the goroutine and fails the test
		})
	}
	wg.Wait()
}

// report logs what was done.
func report(t *testing.T, all []*soaker, took time.Duration) {
	t.Helper()
	sum := map[string]int{}
	requests := 0
	for _, c := range all {
		for name, n := range c.counts {
			sum[name] += n
		}
		requests += c.requests
	}
	t.Logf("%d clients, %v: %d requests, %.0f requests/s; %v", len(all), took.Round(time.Millisecond), requests,
		float64(requests)/took.Seconds(), sum)
}

// soakTotals checks the number of listings of all clients.
func soakTotals(t *testing.T, all []*soaker) {
	t.Helper()
	var made, active int
	for _, c := range all {
		made += len(c.listings)
		for _, l := range c.listings {
			if l.active {
				active++
			}
		}
	}
	c := all[0]
	total := func(query string) any {
		return c.must(http.MethodGet, "/selling/listings?pageSize=1"+query, nil).at("count")
	}
	assert.Equal(t, json.Number(fmt.Sprint(made)), total(""), "listings")
	assert.Equal(t, json.Number(fmt.Sprint(active)), total("&listingStatuses=ACTIVE"),
		"active listings")
	assert.Equal(t, json.Number(fmt.Sprint(made-active)), total("&listingStatuses=INACTIVE"),
		"inactive listings")
}

// soaker is one client. Its methods are called by one goroutine at a time.
type soaker struct {
	t       testing.TB
	server  string
	sandbox *sandbox.Sandbox
	client  *http.Client
	random  *rand.Rand

	listings []*owned
	requests int
	counts   map[string]int // of what was accepted
}

// owned is a listing of one client, with its expected state.
type owned struct {
	id      string
	active  bool
	amounts []int    // of all accepted writes with one, in their order
	types   []string // of all accepted writes
}

func (o *owned) last() int { return o.amounts[len(o.amounts)-1] }

// work makes some listings and then random calls until the time is up.
func (c *soaker) work(until context.Context, listings int) {
	v := chicago(c.t)
	for i := range listings {
		amount := 50_000 + i
		a := c.must(http.MethodPost, "/selling/listings", map[string]any{"variantId": v, "amount": fmt.Sprint(amount)})
		c.listings = append(c.listings, &owned{a.text("listingId"), true, []int{amount}, []string{"CREATE"}})
	}
	product, _ := variant(c.t, "DZ5485-612", "10.5")
	for until.Err() == nil {
		l := c.listings[c.random.IntN(len(c.listings))]
		switch c.random.IntN(12) {
		case 0, 1, 2, 3:
			c.reprice(l)
		case 4:
			c.flip(l)
		case 5:
			c.repriceAll()
		case 6:
			c.read("/selling/listings?pageSize=100&listingStatuses=ACTIVE&pageNumber=" + fmt.Sprint(1+c.random.IntN(4)))
		case 7:
			c.read("/selling/listings/" + l.id + "/operations?pageSize=20")
		case 8:
			c.read("/catalog/products/" + product.ID + "/variants/" + v + "/market-data")
		case 9:
			c.read("/catalog/search?query=" + url.QueryEscape(product.StyleID))
		default:
			c.read("/selling/listings/" + l.id)
		}
	}
}

func (c *soaker) read(path string) {
	c.must(http.MethodGet, path, nil)
	c.counts["reads"]++
}

// reprice raises the price by one.
func (c *soaker) reprice(l *owned) {
	c.must(http.MethodPatch, "/selling/listings/"+l.id, map[string]any{"amount": fmt.Sprint(l.last() + 1)})
	l.amounts = append(l.amounts, l.last()+1)
	l.types = append(l.types, "UPDATE")
	c.counts["updates"]++
}

// flip deactivates or activates a listing.
func (c *soaker) flip(l *owned) {
	c.wait(l)
	method, operation := "/deactivate", "DEACTIVATE"
	var body any
	if !l.active {
		method, operation, body = "/activate", "ACTIVATE", map[string]any{}
	}
	c.must(http.MethodPut, "/selling/listings/"+l.id+method, body)
	l.active = !l.active
	l.types = append(l.types, operation)
	c.counts["flips"]++
}

// wait waits until a listing has no pending operation.
func (c *soaker) wait(l *owned) {
	for c.must(http.MethodGet, "/selling/listings/"+l.id, nil).text("lastOperation", "operationStatus") == "PENDING" {
		c.counts["polls"]++
	}
}

// repriceAll raises all prices in one batch and waits for it, since single updates would overtake
// it.
func (c *soaker) repriceAll() {
	var items []any
	for _, l := range c.listings {
		c.wait(l)
		items = append(items, map[string]any{"listingId": l.id, "amount": fmt.Sprint(l.last() + 1)})
	}
	path := "/selling/batch/update-listing/"
	path += c.must(http.MethodPost, "/selling/batch/update-listing", map[string]any{"items": items}).text("batchId")
	for c.must(http.MethodGet, path, nil).at("completedAt") == nil {
		c.counts["polls"]++
	}
	done := c.must(http.MethodGet, path+"/items?status=COMPLETED", nil)
	require.Equal(c.t, len(items), done.len("items"), "every item of a batch is done")
	for _, l := range c.listings {
		l.amounts = append(l.amounts, l.last()+1)
		l.types = append(l.types, "UPDATE")
	}
	c.counts["batches"]++
	c.counts["batch items"] += len(items)
}

// check compares every listing with the accepted writes.
func (c *soaker) check() {
	for _, l := range c.listings {
		c.wait(l)
		shown := c.must(http.MethodGet, "/selling/listings/"+l.id, nil)
		assert.Equal(c.t, fmt.Sprint(l.last()), shown.text("amount"), "the last update")
		assert.Equal(c.t, l.active, shown.text("status") == "ACTIVE", "the last flip")

		var amounts []int
		var types []string
		for cursor, more := "", true; more; {
			page := c.must(http.MethodGet, "/selling/listings/"+l.id+"/operations?pageSize=100&cursor="+cursor, nil)
			for i := range page.len("operations") {
				assert.Equal(c.t, "SUCCEEDED", page.text("operations", i, "operationStatus"),
					"%v", page.at("operations", i))
				types = append(types, page.text("operations", i, "operationType"))
				ask, _ := page.at("operations", i, "changes", "additions", "askData").(map[string]any)
				if text, ok := ask["amount"].(string); ok {
					var amount int
					_, err := fmt.Sscan(text, &amount)
					require.NoError(c.t, err)
					amounts = append(amounts, amount)
				}
			}
			cursor, more = page.at("nextCursor").(string)
		}
		slices.Reverse(amounts) // the newest come first
		slices.Reverse(types)
		assert.Equal(c.t, l.types, types, "every accepted write, once")
		assert.Equal(c.t, l.amounts, amounts, "every accepted amount, once")
	}
}

// must makes a request that must succeed.
func (c *soaker) must(method, path string, body any) response {
	text, err := json.Marshal(body)
	require.NoError(c.t, err)
	if body == nil {
		text = nil
	}
	r, err := http.NewRequestWithContext(c.t.Context(), method, c.server+path, bytes.NewReader(text))
	require.NoError(c.t, err)
	r.Header.Set("Authorization", "Bearer "+c.sandbox.Token())
	r.Header.Set("x-api-key", c.sandbox.APIKey())
	r.Header.Set("Content-Type", "application/json")
	w, err := c.client.Do(r)
	require.NoError(c.t, err)
	defer w.Body.Close()
	a := response{t: c.t, status: w.StatusCode}
	d := json.NewDecoder(w.Body)
	d.UseNumber()
	require.NoError(c.t, d.Decode(&a.body))
	require.Less(c.t, a.status, 300, "%s %s: %v", method, path, a.body)
	c.requests++
	return a
}
