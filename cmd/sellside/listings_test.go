package main

import (
	"encoding/csv"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/gen"
	"github.com/sellside-sdk/sellside-go/sandbox"
)

func TestListings_ReadAtAPrompt(t *testing.T) {
	s := newShop(t)
	s.run("listings", "ls")
	ids := s.offer(2, sandbox.Listing{Amount: "162"})
	s.offer(1, sandbox.Listing{Amount: "23500", Currency: "JPY", Status: "INACTIVE", VariantID: variant(30)})
	s.run("listings", "ls")
	s.run("listings", "ls", "--status", "inactive", "--csv")
	s.run("listings", "get", ids[0])
	s.run("listings", "get", ids[0], "--operations")
	operations := s.run("listings", "get", ids[0], "--operations", "--json")
	var operation gen.ListingOperation
	require.NoError(t, json.Unmarshal([]byte(operations.out), &operation))
	s.run("listings", "get", ids[0], "--operation", operation.OperationID)
	s.run("listings", "get", "98e2e748-8000-45bf-a624-5531d6a68318")
	s.golden("listings_read")
}

func TestListings_ChangeAtAPrompt(t *testing.T) {
	s := newShop(t)
	s.run("listings", "create", variant(0), "162", "--currency", "usd", "--dry-run", "--expires-at", "2028-12-31")
	created := s.run("listings", "create", variant(0), "162", "--currency", "usd")
	id := strings.Fields(created.out)[5]
	s.run("listings", "reprice", "158.50", id, "--dry-run")
	s.run("listings", "reprice", "158.50", id)
	s.run("listings", "deactivate", id)
	s.run("listings", "deactivate", id)
	s.run("listings", "activate", id, "--amount", "149")
	more := s.offer(2, sandbox.Listing{Amount: "162"})
	s.run("listings", "reprice", "150", more[0], more[1], "--dry-run")
	s.run("listings", "reprice", "150", more[0], more[1])
	s.runWith("n\n", "listings", "delete", id)
	s.runWith("y\n", "listings", "delete", id)
	s.runWith(strings.Join(more, "\n"), "listings", "delete", "-", "--yes")
	s.run("listings", "delete", more[0], "--yes")
	s.golden("listings_change")
}

func TestListings_KeepTheTermsThatARepriceDoesNotName(t *testing.T) {
	s := newShop(t)
	created := s.run("listings", "create", variant(0), "162", "--currency", "EUR", "--expires-at", "2028-06-30", "--json")
	var result struct{ ListingID string }
	require.NoError(t, json.Unmarshal([]byte(created.out), &result))
	other := s.offer(1, sandbox.Listing{Amount: "100", Currency: "EUR"})[0]
	require.Equal(t, 0, s.run("listings", "reprice", "158.50", result.ListingID).code)
	require.Equal(t, 0, s.run("listings", "reprice", "158.50", result.ListingID, other).code)

	for _, id := range []string{result.ListingID, other} {
		listing, err := s.c.Listings.Get(t.Context(), id)
		require.NoError(t, err)
		assert.Equal(t, gen.CurrencyCodeEUR, listing.CurrencyCode)
		assert.True(t, listing.Amount.Equal("158.50"))
		if id == result.ListingID {
			assert.Equal(t, "2028-06-30", listing.Ask.AskExpiresAt.Format("2006-01-02"))
		}
	}
}

func TestListings_PassEveryFilter(t *testing.T) {
	s := newShop(t)
	s.offer(3, sandbox.Listing{Amount: "162"})
	product := sandbox.Catalog()[0]
	for _, row := range []struct {
		args []string
		want int
		why  string
	}{
		{[]string{"--status", "active"}, 3, "a status in lower case"},
		{[]string{"--status", "INACTIVE,DELETED"}, 0, "several statuses"},
		{[]string{"--product", product.ID}, 3, "a product"},
		{[]string{"--product", sandbox.Catalog()[1].ID}, 0, "another product"},
		{[]string{"--variant", product.Variants[0].ID}, 3, "a variant"},
		{[]string{"--variant", product.Variants[1].ID}, 0, "another variant"},
		{[]string{"--batch", "98e2e748-8000-45bf-a624-5531d6a68318"}, 0, "a batch that made nothing"},
		{[]string{"--inventory-type", "DIRECT"}, 0, "another inventory type"},
		{[]string{"--inventory-type", "standard"}, 3, "an inventory type"},
		{[]string{"--from", "2020-01-01"}, 3, "a first day"},
		{[]string{"--to", "2020-01-01"}, 0, "a last day"},
		{[]string{"--shipment", "none"}, 0, "a shipment"},
		{[]string{"--expired"}, 3, "expired ones too"},
		{[]string{"--page", "2", "--page-size", "2"}, 1, "the second page"},
		{[]string{"--limit", "2"}, 2, "a limit"},
	} {
		got := sellside(t.Context(), s.env, append([]string{"listings", "ls", "--csv"}, row.args...)...)
		require.Equal(t, 0, got.code, "%s: %s", row.why, got.errors)
		lines, err := csv.NewReader(strings.NewReader(got.out)).ReadAll()
		require.NoError(t, err)
		assert.Len(t, lines[1:], row.want, row.why)
	}
}

func TestListings_RefuseWhatIsInvalid(t *testing.T) {
	s := newShop(t)
	for why, args := range map[string][]string{
		"a page size that the service does not allow": {"ls", "--page-size", "101"},
		"a page below 1":                      {"ls", "--page", "-1"},
		"a limit below 1":                     {"ls", "--limit", "-1"},
		"a day that is none":                  {"ls", "--from", "yesterday"},
		"no id":                               {"get"},
		"two formats":                         {"ls", "--json", "--csv"},
		"an amount that is no number":         {"create", variant(0), "much", "--currency", "USD"},
		"an amount without a currency":        {"create", variant(0), "162"},
		"a negative amount":                   {"reprice", "-5", "98e2e748-8000-45bf-a624-5531d6a68318"},
		"an expiry that is no time":           {"reprice", "5", "x", "--expires-at", "soon"},
		"a question that cannot be asked":     {"delete", "-"},
		"a question without a reply":          {"delete", "98e2e748-8000-45bf-a624-5531d6a68318"},
		"an unknown command":                  {"buy"},
		"no time to look for a lost response": {"deactivate", "x", "--settle", "0s"},
	} {
		got := sellside(t.Context(), s.env, append([]string{"listings"}, args...)...)
		assert.Equal(t, exitInvalid, got.code, "%s: %s", why, got.errors)
		assert.Empty(t, got.out, why)
	}
	for operation, counts := range s.market.Counters() {
		assert.Fail(t, "nothing was to be sent", "%s: %v", operation, counts)
	}
}

// TestListings_SettleLostResponses loses the response to each write. The write arrived, which is
// found out by reading.
func TestListings_SettleLostResponses(t *testing.T) {
	for _, row := range []struct {
		operation gen.OperationID
		args      func(ids []string) []string
	}{
		{gen.OpCreateListing, func([]string) []string { return []string{"create", variant(0), "162", "--currency", "USD"} }},
		{gen.OpUpdateListing, func(ids []string) []string { return []string{"reprice", "158", ids[0]} }},
		{gen.OpUpdateListingsBatch, func(ids []string) []string { return []string{"reprice", "158", ids[0], ids[1]} }},
		{gen.OpDeactivateListing, func(ids []string) []string { return []string{"deactivate", ids[0]} }},
		{gen.OpActivateListing, func(ids []string) []string { return []string{"activate", ids[2]} }},
		{gen.OpDeleteListing, func(ids []string) []string { return []string{"delete", ids[0], "--yes"} }},
		{gen.OpDeleteListingsBatch, func(ids []string) []string { return []string{"delete", ids[0], ids[1], "--yes"} }},
	} {
		t.Run(string(row.operation), func(t *testing.T) {
			s := newShop(t)
			ids := append(s.offer(2, sandbox.Listing{Amount: "162"}), s.offer(1, sandbox.Listing{Amount: "162", Status: "INACTIVE"})...)
			lost := sandbox.Fault{
				Operation: string(row.operation), Kind: sandbox.FaultStatus, Status: http.StatusGatewayTimeout, Applied: true,
			}
			require.NoError(t, s.market.Fail(lost))
			got := s.run(append([]string{"listings"}, append(row.args(ids), "--json")...)...)
			assert.Equal(t, 0, got.code, got.errors)
			assert.NotContains(t, got.out, "UNKNOWN")
			assert.Equal(t, 1, s.market.Counters().Of(string(row.operation)), "sent once")
		})
	}
}

// TestListings_ReportAnUnknownOutcome loses the response to a write and everything that could be
// read about it.
func TestListings_ReportAnUnknownOutcome(t *testing.T) {
	s := newShop(t)
	id := s.offer(1, sandbox.Listing{Amount: "162"})[0]
	for _, f := range []sandbox.Fault{
		{Operation: string(gen.OpUpdateListing), Kind: sandbox.FaultStatus, Status: http.StatusGatewayTimeout, Applied: true},
		{Operation: string(gen.OpListListingOperations), Kind: sandbox.FaultStatus, Status: http.StatusForbidden, Times: 100},
	} {
		require.NoError(t, s.market.Fail(f))
	}
	got := s.run("listings", "reprice", "158", id, "--json")
	assert.Equal(t, exitFailed, got.code)
	var result struct{ Status, Error string }
	require.NoError(t, json.Unmarshal([]byte(got.out), &result))
	assert.Equal(t, "UNKNOWN", result.Status)
	assert.Contains(t, result.Error, "sellside listings get "+id, "what to do")
	assert.Contains(t, got.errors, "1 may have been made")
	assert.NotContains(t, got.errors, "failed")
}
