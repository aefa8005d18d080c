package sandbox_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/sandbox"
)

var soakFor = flag.Duration("soak", time.Second, "how long the clients of TestSoak work")

// TestSoak lets many clients loose on one sandbox, over sockets and with a file
// as its database. Each owns a few listings that nobody else writes to, so it
// knows exactly what has to come out. All of them share the account.
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
			t: t, server: server.URL + sandbox.BasePath, sandbox: s, client: &http.Client{Transport: transport},
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
			// What fails ends this client's goroutine only, and fails the test.
			f(c)
		})
	}
	wg.Wait()
}

// report prints what was done.
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

// soakTotals checks that the sandbox has the listings of all clients and no
// others.
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
	assert.Equal(t, json.Number(fmt.Sprint(active)), total("&listingStatuses=ACTIVE"), "active listings")
	assert.Equal(t, json.Number(fmt.Sprint(made-active)), total("&listingStatuses=INACTIVE"), "inactive listings")
}
