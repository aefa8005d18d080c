package main

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/gen"
	"github.com/sellside-sdk/sellside-go/sandbox"
)

// outcomes returns the statuses in lines of JSON, with the number of each.
func outcomes(t *testing.T, text string) map[string]int {
	t.Helper()
	found := map[string]int{}
	for line := range strings.Lines(text) {
		var result struct{ Status string }
		require.NoError(t, json.Unmarshal([]byte(line), &result))
		found[result.Status]++
	}
	return found
}

// drop makes the next call of an operation get no response. The service does not see it.
func (s *shop) drop(operation gen.OperationID) {
	s.t.Helper()
	require.NoError(s.t, s.market.Fail(sandbox.Fault{
		Operation: string(operation), Kind: sandbox.FaultStatus, Status: http.StatusGatewayTimeout,
	}))
}

func TestListings_ReportChangesThatDidNotArrive(t *testing.T) {
	s := newShop(t)
	ids := s.offer(2, sandbox.Listing{Amount: "162"})
	for _, row := range []struct {
		operation gen.OperationID
		args      []string
		want      map[string]int
		why       string
	}{
		{gen.OpUpdateListing, []string{"reprice", "158", ids[0]}, map[string]int{"NOT_SEEN": 1}, "proved by its operations"},
		{gen.OpUpdateListingsBatch, []string{"reprice", "158", ids[0], ids[1]}, map[string]int{"NOT_SEEN": 2}, "a batch"},
		{gen.OpDeleteListingsBatch, []string{"delete", ids[0], ids[1], "--yes"}, map[string]int{"NOT_SEEN": 2}, "another batch"},
		{gen.OpCreateListing, []string{"create", variant(0), "162", "--currency", "USD"}, map[string]int{"UNKNOWN": 1}, "a listing that is not shown may come"},
		{gen.OpCreateListing, []string{"create", variant(0), "162", "--currency", "USD", "--inactive"}, map[string]int{"UNKNOWN": 1}, "a listing without a mark"},
	} {
		s.drop(row.operation)
		got := s.run(append(append([]string{"listings"}, row.args...), "--json", "--settle", "50ms")...)
		assert.Equal(t, exitFailed, got.code, "%s: %s", row.why, got.errors)
		assert.Equal(t, row.want, outcomes(t, got.out), row.why)
		assert.NotContains(t, got.errors, "failed", row.why)
	}
	assert.Equal(t, 1, s.market.Counters().Of(string(gen.OpUpdateListing)), "sent once")
}

func TestListings_SendMoreThanABatch(t *testing.T) {
	s := newShop(t)
	ids := s.offer(101, sandbox.Listing{Amount: "162"})
	sold := s.offer(1, sandbox.Listing{Amount: "162", Status: "MATCHED"})
	unknown := "98e2e748-8000-45bf-a624-5531d6a68318"
	all := strings.Join(append(append(ids, sold...), unknown, ids[0]), " ")
	got := s.runWith(all, "listings", "reprice", "158", "-", "--json")
	assert.Equal(t, map[string]int{"SUCCEEDED": 101, "FAILED": 1, "NOT_SENT": 1}, outcomes(t, got.out), got.errors)
	assert.Equal(t, 2, s.market.Counters().Of(string(gen.OpUpdateListingsBatch)))

	require.NoError(t, s.market.Fail(sandbox.Fault{
		Operation: string(gen.OpDeleteListingsBatch), Kind: sandbox.FaultStatus, Status: http.StatusForbidden,
	}))
	got = s.runWith(strings.Join(ids, " "), "listings", "delete", "-", "--json", "--yes")
	assert.Equal(t, exitFailed, got.code)
	assert.Equal(t, map[string]int{"REFUSED": 100, "NOT_SENT": 1}, outcomes(t, got.out), "nothing is sent after a refusal of the credentials")
}

// TestListings_AreUnknownIfTheyAreStopped stops a command while the service works on a change.
func TestListings_AreUnknownIfTheyAreStopped(t *testing.T) {
	s := newShop(t)
	ids := s.offer(2, sandbox.Listing{Amount: "162"})
	s.lose(gen.OpDeactivateListing)
	require.NoError(t, s.market.Fail(sandbox.Fault{
		Operation: string(gen.OpListListingOperations), Kind: sandbox.FaultStatus, Status: http.StatusServiceUnavailable, Times: 1000,
	}))
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	out, stderr := watch("never"), watch("no response to the change")
	code := make(chan int, 1)
	go func() {
		code <- run(ctx, []string{"listings", "deactivate", ids[0], ids[1], "--json"}, strings.NewReader(""), out, stderr, s.env.get)
	}()
	<-stderr.seen
	stop()
	assert.Equal(t, exitStopped, <-code)
	assert.Equal(t, map[string]int{"UNKNOWN": 1, "NOT_SENT": 1}, outcomes(t, out.String()))
}

func TestConfirm_StopsWithoutAReply(t *testing.T) {
	s := newShop(t)
	id := s.offer(1, sandbox.Listing{Amount: "162"})[0]
	ctx, stop := context.WithCancel(t.Context())
	stderr := watch("[y/N]")
	code := make(chan int, 1)
	silent := make(chan struct{})
	go func() {
		code <- run(ctx, []string{"listings", "delete", id}, blocked(silent), watch(""), stderr, s.env.get)
	}()
	<-stderr.seen
	stop()
	assert.Equal(t, exitStopped, <-code)
	close(silent)
	assert.Zero(t, s.market.Counters().Of(string(gen.OpDeleteListing)))
}

// blocked is a reader whose Read waits until the channel is closed.
type blocked chan struct{}

// Read implements [io.Reader].
func (b blocked) Read([]byte) (int, error) {
	<-b
	return 0, context.Canceled
}

func TestService_ColoursNothingThatIsNoTerminal(t *testing.T) {
	s := newShop(t)
	s.offer(1, sandbox.Listing{Amount: "162"})
	got := s.run("listings", "ls")
	assert.NotContains(t, got.out, "\x1b")
}

func TestDryRun_SendsNoWrite(t *testing.T) {
	s := newShop(t)
	ids := s.offer(2, sandbox.Listing{Amount: "162"})
	for why, args := range map[string][]string{
		"one listing":       {"listings", "create", variant(0), "162", "--currency", "USD"},
		"a price":           {"listings", "reprice", "158", ids[0]},
		"prices":            {"listings", "reprice", "158", ids[0], ids[1]},
		"activations":       {"listings", "activate", ids[0], ids[1]},
		"deactivations":     {"listings", "deactivate", ids[0], ids[1]},
		"one to delete":     {"listings", "delete", ids[0]},
		"two to delete":     {"listings", "delete", ids[0], ids[1]},
		"proposed products": {"products", "ingest", proposalFile(t, proposal)},
		"an inactive one":   {"listings", "create", variant(0), "162", "--currency", "USD", "--inactive"},
	} {
		got := s.run(append(args, "--dry-run", "--json")...)
		assert.Equal(t, 0, got.code, "%s: %s", why, got.errors)
		for line := range strings.Lines(got.out) {
			var shown request
			require.NoError(t, json.Unmarshal([]byte(line), &shown), why)
			path := strings.TrimPrefix(shown.URL, s.market.URL)
			_, ok := gen.MatchOperation(shown.Method, path)
			assert.True(t, ok, "%s: %s %s", why, shown.Method, shown.URL)
		}
		assert.NotEmpty(t, got.out, why)
	}
	for _, op := range gen.Operations() {
		if op.Method != http.MethodGet {
			assert.Zero(t, s.market.Counters().Of(string(op.ID)), op.ID)
		}
	}
}
