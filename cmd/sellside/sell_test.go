package main

import (
	"context"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/examples"
	"github.com/sellside-sdk/sellside-go/gen"
	"github.com/sellside-sdk/sellside-go/sandbox"
)

// results reads a result file without its header.
func results(t *testing.T, path string) [][]string {
	t.Helper()
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	require.NoError(t, err)
	require.Equal(t, []string{"line", "nth", "listing_id", "status", "error", "batch_id"}, rows[0][:6])
	return rows[1:]
}

// besides returns the default result file of an inventory.
func besides(path string) string { return strings.TrimSuffix(path, ".csv") + ".result.csv" }

func listings(t *testing.T, c *client.Client) []gen.Listing {
	t.Helper()
	var all []gen.Listing
	for l, err := range c.Listings.List(t.Context(), client.ListingFilter{}) {
		require.NoError(t, err)
		all = append(all, l)
	}
	return all
}

func TestSell_ListsAnInventory(t *testing.T) {
	env, c, _ := market(t)
	path := stockFile(t, "DZ5485-612,10.5,389.50,USD,2", "75192,One Size,140000,JPY,1")

	got := sellside(t.Context(), env, "sell", path)

	require.Equal(t, 0, got.code, got.errors)
	assert.Contains(t, got.out, "3 of 3 listings made\n")
	assert.Contains(t, got.out, "results: "+besides(path))
	rows := results(t, besides(path))
	require.Len(t, rows, 3)
	for i, want := range [][]string{{"2", "1"}, {"2", "2"}, {"3", "1"}} {
		assert.Equal(t, want, rows[i][:2])
		assert.Equal(t, []string{"COMPLETED", ""}, rows[i][3:5])
	}
	first, err := c.Listings.Get(t.Context(), rows[0][2])
	require.NoError(t, err)
	assert.Equal(t, "DZ5485-612", first.Product.StyleID)
	assert.Equal(t, "10.5", first.Variant.VariantValue)
	assert.True(t, first.Amount.Equal("389.5"), first.Amount)
	assert.Equal(t, gen.ListingStatusActive, first.Status)
	assert.Equal(t, []string{first.Batch.BatchID, "DZ5485-612", "10.5", "389.50", "USD", "2"}, rows[1][5:], "the row of the inventory")
	last, err := c.Listings.Get(t.Context(), rows[2][2])
	require.NoError(t, err)
	assert.Equal(t, gen.CurrencyCodeJPY, last.CurrencyCode)
	assert.Len(t, listings(t, c), 3)
}

func TestSell_SendsNothingOfAnInvalidFile(t *testing.T) {
	env, c, _ := market(t)
	path := stockFile(t,
		"DZ5485-612,10.5,389,USD,1",
		`DZ5485-612,11,"3,890",usdollar,-1`,
		"DZ5485-621,10.5,389,USD,1",
		"DZ5485-612,10.25,389,USD,1",
		"DZ5485-612,12,389,USD",
		"DZ5485-612,10.5,388,USD,1",
	)
	got := sellside(t.Context(), env, "sell", path)

	assert.Equal(t, 2, got.code)
	for _, problem := range []string{
		`line 3, column 15: price "3,890" has a comma`, `line 3, column 23: currency "usdollar"`, `line 3, column 32: quantity "-1"`,
		`line 4: style_id "DZ5485-621" is not in the catalog: did you mean DZ5485-612?`,
		`line 5: size "10.25": Jordan 1 Retro High OG Chicago Lost and Found (DZ5485-612) has the sizes 3.5, 4, `,
		`line 6`, `line 7`,
		"sellside: nothing was sent: 5 invalid rows",
	} {
		assert.Contains(t, got.errors, problem)
	}
	assert.NotContains(t, got.errors, "line 2,")
	assert.NoFileExists(t, besides(path))
	assert.Empty(t, listings(t, c))

	got = sellside(t.Context(), env, "sell", path, "--skip-invalid")

	assert.Equal(t, 1, got.code, "rows were skipped")
	assert.Contains(t, got.errors, "skipped 5 invalid rows")
	rows := results(t, besides(path))
	require.Len(t, rows, 1)
	assert.Equal(t, "COMPLETED", rows[0][3])
	assert.Len(t, listings(t, c), 1)
}

func TestSell_CountsOneInvalidRow(t *testing.T) {
	env, _, _ := market(t)
	path := stockFile(t, "DZ5485-612,10.5,389,USD,1", "DZ5485-612")
	got := sellside(t.Context(), env, "sell", path)
	assert.Equal(t, 2, got.code)
	assert.Contains(t, got.errors, "line 3")
	assert.Contains(t, got.errors, "nothing was sent: 1 invalid row: ")
	got = sellside(t.Context(), env, "sell", path, "--skip-invalid")
	assert.Equal(t, 1, got.code)
	assert.Contains(t, got.errors, "skipped 1 invalid row: ")
}

func TestSell_CannotSkipAnInvalidHeader(t *testing.T) {
	env, c, _ := market(t)
	path := stockFile(t, "style_id,size,price,currency,quantity,ask", "DZ5485-612,10.5,389,USD,1,389")
	got := sellside(t.Context(), env, "sell", path, "--skip-invalid")
	assert.Equal(t, 2, got.code)
	assert.Contains(t, got.errors, "line 1")
	assert.Empty(t, listings(t, c))
}

func TestSell_FailsIfItemsFail(t *testing.T) {
	env, _, _ := market(t)
	result := filepath.Join(t.TempDir(), "today.csv")
	got := sellside(t.Context(), env, "sell", "--result", result,
		stockFile(t, "DZ5485-612,10.5,389,USD,1", "DZ5485-612,11,100001,USD,2", "DZ5485-612,12,388,USD,1"))
	assert.Equal(t, 1, got.code)
	assert.Contains(t, got.out, "2 of 4 listings made, 2 not")
	rows := results(t, result)
	require.Len(t, rows, 4)
	for i, want := range []string{"COMPLETED", "FAILED", "FAILED", "COMPLETED"} {
		assert.Equal(t, want, rows[i][3])
		assert.Equal(t, want == "FAILED", rows[i][4] != "", "an error for those that failed")
		assert.Equal(t, want == "FAILED", rows[i][2] == "", "a listing for the others")
	}
}

func TestSell_DistributesALargeQuantityOverBatches(t *testing.T) {
	env, c, _ := market(t)
	path := stockFile(t, "DZ5485-612,10.5,389,USD,30", "75192,One Size,999,USD,250")
	got := sellside(t.Context(), env, "sell", path)
	require.Equal(t, 0, got.code, got.errors)
	ids := map[string]bool{}
	for i, row := range results(t, besides(path)) {
		ids[row[2]] = true
		assert.NotEmpty(t, row[5], "its batch")
		if i >= 30 {
			assert.Equal(t, []string{"3", fmt.Sprint(i - 29)}, row[:2])
		}
	}
	assert.Len(t, ids, 280, "every listing has its own id")
	batches := map[string]int{}
	for _, l := range listings(t, c) {
		batches[l.Batch.BatchID]++
		assert.True(t, ids[l.ListingID])
	}
	require.Len(t, batches, 3)
	for _, n := range batches {
		assert.LessOrEqual(t, n, 100)
	}
}

func TestSell_SendsNothingIfTheResultsCannotBeSaved(t *testing.T) {
	env, c, _ := market(t)
	got := sellside(t.Context(), env, "sell", stockFile(t, "DZ5485-612,10.5,389,USD,1"), "--result", filepath.Join(t.TempDir(), "no", "such", "place.csv"))
	assert.Equal(t, 2, got.code)
	assert.Contains(t, got.errors, "nothing was sent: write the results: ")
	assert.Empty(t, listings(t, c))
}

func TestSell_ReadsStandardInput(t *testing.T) {
	env, c, _ := market(t)
	t.Chdir(t.TempDir())
	var out, errors strings.Builder
	stdin := strings.NewReader("style_id,size,price,currency,quantity\nDZ5485-612,10.5,389,USD,1\n")
	require.Equal(t, 0, run(t.Context(), []string{"sell", "-"}, stdin, &out, &errors, env.get), errors.String())
	assert.Len(t, results(t, "inventory.result.csv"), 1)
	assert.Len(t, listings(t, c), 1)
}

func TestSell_SendsNothingWithoutCredentials(t *testing.T) {
	env, c, _ := market(t)
	got := sellside(t.Context(), env, "sell", "--token", "a-wrong-token", stockFile(t, "DZ5485-612,10.5,389,USD,1"))
	assert.Equal(t, 1, got.code)
	assert.Contains(t, got.errors, "nothing was sent: the service refuses the credentials: ")
	assert.NotContains(t, got.errors, "DZ5485-612", "it is no problem of the inventory")
	assert.NotContains(t, got.errors+got.out, "a-wrong-token")
	assert.Empty(t, listings(t, c))
}

func TestSell_KeepsWhatIsKnownOnCtrlC(t *testing.T) {
	env, c, m := market(t, func(o *sandbox.Options) { o.Manual = true }) // so that the batch stays QUEUED
	ctx, interrupt := context.WithCancel(t.Context())
	path := stockFile(t, "DZ5485-612,10.5,389,USD,101")
	var out, log strings.Builder
	code := make(chan int)
	go func() { code <- run(ctx, []string{"sell", path}, strings.NewReader(""), &out, &log, env.get) }()
	require.Eventually(t, func() bool { return m.Counters().Of("GetCreateListingsBatch") > 1 }, time.Minute, 10*time.Millisecond)
	interrupt()

	assert.Equal(t, 130, <-code)
	rows := results(t, besides(path))
	require.Len(t, rows, 101)
	assert.Equal(t, "UNDER_WAY", rows[0][3])
	lines := strings.Split(strings.TrimSpace(log.String()), "\n")
	last := lines[len(lines)-1]
	assert.Contains(t, last, "sellside: stopped (0 made, ")
	assert.Contains(t, last, "run the same command again")
	assert.LessOrEqual(t, screenRows(out.String())+screenRows(last), 24)
	assert.Empty(t, listings(t, c))

	done := make(chan struct{})
	var worker sync.WaitGroup // Of the service.
	worker.Go(func() {
		ticker := time.NewTicker(50 * time.Millisecond)
		defer ticker.Stop()
		for {
			select {
			case <-done:
				return
			case <-ticker.C:
				assert.NoError(t, m.Work(t.Context()))
			}
		}
	})
	got := sellside(t.Context(), env, "sell", path)
	close(done)
	worker.Wait()
	assert.Equal(t, 0, got.code, got.errors)
	assert.Contains(t, got.out, "101 of 101 listings made\n")
	made(t, c, 101, results(t, strings.TrimSuffix(path, ".csv")+".2.result.csv"))
}

// made asserts that the results list every listing of the sandbox once, and that there are n.
func made(t *testing.T, c *client.Client, n int, rows [][]string) {
	t.Helper()
	var want, got []string
	for _, l := range listings(t, c) {
		want = append(want, l.ListingID)
	}
	for _, row := range rows {
		if row[3] == "COMPLETED" {
			got = append(got, row[2])
		}
	}
	assert.Len(t, want, n)
	assert.ElementsMatch(t, want, got)
}

func TestSell_SettlesBatchesWithoutAResponse(t *testing.T) {
	for _, row := range []struct {
		fault sandbox.Fault
		times int // How often batches are submitted.
		why   string
	}{
		{sandbox.Fault{Kind: sandbox.FaultLost, Applied: true}, 2, "the response is lost"},
		{sandbox.Fault{Kind: sandbox.FaultLost}, 3, "the request is lost, and sent again"},
		{sandbox.Fault{Kind: sandbox.FaultStatus, Status: 503, Applied: true}, 2, "5xx after the batch was made"},
		{sandbox.Fault{Kind: sandbox.FaultStatus, Status: 503}, 3, "5xx before"},
		{sandbox.Fault{Kind: sandbox.FaultCutJSON, Applied: true}, 2, "half of the response"},
	} {
		t.Run(row.why, func(t *testing.T) {
			env, c, m := market(t)
			row.fault.Operation = "CreateListingsBatch"
			require.NoError(t, m.Fail(row.fault))
			path := stockFile(t, "DZ5485-612,10.5,389,USD,101")

			got := sellside(t.Context(), env, "sell", path, "--settle", "200ms")

			require.Equal(t, 0, got.code, got.errors)
			assert.Contains(t, got.out, "101 of 101 listings made\n")
			made(t, c, 101, results(t, besides(path)))
			assert.Equal(t, row.times, m.Counters().Of("CreateListingsBatch"))
		})
	}
}

func TestSell_ReportsADoubtfulBatchAsUnknown(t *testing.T) {
	env, c, m := market(t, func(o *sandbox.Options) { o.VagueOrigin = true })
	path := stockFile(t, "variant_id,price,currency,quantity", variant(0)+",389,USD,2")
	require.Equal(t, 0, sellside(t.Context(), env, "plan", path).code)
	require.NoError(t, m.Fail(sandbox.Fault{Operation: "CreateListingsBatch", Kind: sandbox.FaultLost}))
	_, err := m.AddListings(t.Context(), 1, sandbox.Listing{VariantID: variant(0), Amount: "389"}) // it may be of the batch
	require.NoError(t, err)
	for _, file := range []string{besides(path), strings.TrimSuffix(path, ".csv") + ".2.result.csv"} {
		got := sellside(t.Context(), env, "sell", path, "--settle", "200ms")

		assert.Equal(t, 1, got.code)
		assert.Contains(t, got.out, "0 of 2 listings made, 2 unknown")
		rows := results(t, file)
		require.Len(t, rows, 2)
		assert.Equal(t, "UNKNOWN", rows[0][3])
		assert.Contains(t, rows[0][4], "sellside runs resolve 1 --row "+variant(0))
		assert.Equal(t, 1, m.Counters().Of("CreateListingsBatch"), "nothing is sent again")
	}
	require.Equal(t, 0, sellside(t.Context(), env, "runs", "resolve", "1", "--row", variant(0), "--not-made").code)
	got := sellside(t.Context(), env, "sell", path)
	assert.Equal(t, 0, got.code, got.errors)
	assert.Equal(t, 3, active(t, c))
}

func TestSell_ContinuesAKilledRun(t *testing.T) {
	env, c, m := market(t)
	require.NoError(t, m.Fail(sandbox.Fault{Operation: "CreateListingsBatch", Kind: sandbox.FaultDelay, Delay: time.Hour, Applied: true}))
	path := stockFile(t, "DZ5485-612,10.5,389,USD,101")
	args := []string{"sell", path, "--settle", "1s"}
	killed := child(t, env, args...)
	require.Eventually(t, func() bool { return len(listings(t, c)) == 100 }, time.Minute, 10*time.Millisecond)
	require.NoError(t, killed.Process.Kill())
	require.Error(t, killed.Wait())

	content, err := os.ReadFile(path)
	require.NoError(t, err)
	renamed := filepath.Join(t.TempDir(), "renamed.csv")
	require.NoError(t, os.WriteFile(renamed, content, 0o600))
	args[1] = renamed
	got := sellside(t.Context(), env, args...)

	assert.Equal(t, 0, got.code, got.errors)
	assert.Contains(t, got.out, "101 of 101 listings made\n")
	made(t, c, 101, results(t, besides(renamed)))
	assert.Equal(t, 2, m.Counters().Of("CreateListingsBatch"), "what was made is not sent again")
}

func TestSell_ListsNothingTwice(t *testing.T) {
	env, c, m := market(t)
	path := stockFile(t, "DZ5485-612,10.5,389,USD,2", "DZ5485-612,11,100001,USD,1")
	for _, row := range []struct {
		args []string
		live int
		why  string
	}{
		{nil, 2, "one of them fails"},
		{nil, 2, "the same file"},
		{[]string{"--as-of", "now"}, 2, "what is live is in stock"},
	} {
		got := sellside(t.Context(), env, append([]string{"sell", path}, row.args...)...)
		assert.Equal(t, 1, got.code, "%s: %s", row.why, got.errors)
		assert.Contains(t, got.out, "2 of 3 listings made, 1 not", row.why)
		assert.Equal(t, row.live, active(t, c), row.why)
	}
	_, err := m.Buy(t.Context(), results(t, besides(path))[0][2])
	require.NoError(t, err)
	got := sellside(t.Context(), env, "sell", path)
	assert.Equal(t, 1, active(t, c), "what is sold stays sold: %s", got.errors)
	got = sellside(t.Context(), env, "sell", path, "--as-of", time.Now().Add(time.Second).Format(time.RFC3339Nano))
	assert.Equal(t, 2, active(t, c), "a restock: %s", got.errors)
	got = sellside(t.Context(), env, "sell", stockFile(t, "DZ5485-612,10.5,395,USD,1"))
	assert.Equal(t, 0, got.code, got.errors)
	assert.Equal(t, 2, active(t, c), "nothing is deleted or repriced")
	assert.Zero(t, m.Counters().Of("UpdateListingsBatch")+m.Counters().Of("DeleteListingsBatch"))
}

func TestSell_ListsAgainWhatWasRefused(t *testing.T) {
	env, c, m := market(t)
	path := stockFile(t, "DZ5485-612,10.5,389,USD,2")
	require.NoError(t, m.Fail(sandbox.Fault{Operation: "CreateListingsBatch", Kind: sandbox.FaultStatus, Status: 400}))
	assert.Equal(t, 1, sellside(t.Context(), env, "sell", path).code)
	got := sellside(t.Context(), env, "sell", path)
	assert.Equal(t, 0, got.code, got.errors)
	assert.Len(t, listings(t, c), 2)
}

func TestSell_ListsTheExampleInventory(t *testing.T) {
	env, _, _ := market(t)
	path := filepath.Join(t.TempDir(), "inventory.csv")
	require.NoError(t, os.WriteFile(path, []byte(examples.Inventory), 0o600))
	got := sellside(t.Context(), env, "sell", path, "--skip-invalid")
	assert.Equal(t, 1, got.code, "rows were skipped and listings failed")
	assert.Contains(t, got.out, "361 of 365 listings made, 4 not")
}
