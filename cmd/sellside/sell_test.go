package main

import (
	"context"
	"encoding/csv"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
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
	require.Equal(t, "inventory_sha256", rows[0][len(rows[0])-1])
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
	assert.Equal(t, []string{first.Batch.BatchID, "DZ5485-612", "10.5", "389.50", "USD", "2"}, rows[1][5:11], "the row of the inventory")
	assert.Regexp(t, `batch 1 of 1: `+first.Batch.BatchID+` submitted, 3 listings`, got.errors)
	last, err := c.Listings.Get(t.Context(), rows[2][2])
	require.NoError(t, err)
	assert.Equal(t, gen.CurrencyCodeJPY, last.CurrencyCode)
	assert.Len(t, listings(t, c), 3)
}

func TestSell_SendsNothingOfAnInvalidFile(t *testing.T) {
	env, c, _ := market(t)
	path := stockFile(t,
		"DZ5485-612,10.5,389,USD,1",
		`DZ5485-612,10.5,"3,890",usdollar,0`,
		"DZ5485-621,10.5,389,USD,1",
		"DZ5485-612,10.25,389,USD,1",
		"DZ5485-612,10.5,389,USD",
	)
	got := sellside(t.Context(), env, "sell", path)

	assert.Equal(t, 2, got.code)
	for _, problem := range []string{
		`line 3: price "3,890" has a comma`, `line 3: currency "usdollar"`, `line 3: quantity "0"`,
		`line 4: style_id "DZ5485-621" is not in the catalog: did you mean DZ5485-612?`,
		`line 5: size "10.25": Jordan 1 Retro High OG Chicago Lost and Found (DZ5485-612) has the sizes 3.5, 4, `,
		`line 6: the row has 4 fields`,
		"sellside: nothing was sent: 4 invalid rows",
	} {
		assert.Contains(t, got.errors, problem)
	}
	assert.NotContains(t, got.errors, "line 2")
	assert.NoFileExists(t, besides(path))
	assert.Empty(t, listings(t, c))

	got = sellside(t.Context(), env, "sell", path, "--skip-invalid")

	assert.Equal(t, 1, got.code, "rows were skipped")
	assert.Contains(t, got.errors, "skipped 4 invalid rows")
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
	assert.Contains(t, got.errors, "line 3: the row has 1 field and the header has 5")
	assert.Contains(t, got.errors, "nothing was sent: 1 invalid row: ")
	got = sellside(t.Context(), env, "sell", path, "--skip-invalid")
	assert.Equal(t, 1, got.code)
	assert.Contains(t, got.errors, "skipped 1 invalid row: ")
}

func TestSell_CannotSkipAnInvalidHeader(t *testing.T) {
	env, c, _ := market(t)
	path := stockFile(t, "style_id,size,price,currency,quantity,note", "DZ5485-612,10.5,389,USD,1,nice")
	got := sellside(t.Context(), env, "sell", path, "--skip-invalid")
	assert.Equal(t, 2, got.code)
	assert.Contains(t, got.errors, `line 1: unknown column "note"`)
	assert.Empty(t, listings(t, c))
}

func TestSell_FailsIfItemsFail(t *testing.T) {
	env, _, _ := market(t)
	result := filepath.Join(t.TempDir(), "today.csv")
	got := sellside(t.Context(), env, "sell", "--result", result,
		stockFile(t, "DZ5485-612,10.5,389,USD,1", "DZ5485-612,10.5,100001,USD,2", "DZ5485-612,10.5,388,USD,1"))
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
	for id, n := range batches {
		assert.LessOrEqual(t, n, 100)
		assert.Contains(t, got.errors, id+" submitted")
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
	log := watch("submitted")
	var out strings.Builder
	code := make(chan int)
	go func() { code <- run(ctx, []string{"sell", path}, strings.NewReader(""), &out, log, env.get) }()
	<-log.seen
	interrupt()

	assert.Equal(t, 130, <-code)
	assert.Contains(t, out.String(), "0 of 101 listings made, 1 not, 100 under way\n")
	lines := strings.Split(strings.TrimSpace(log.String()), "\n")
	last := lines[len(lines)-1]
	assert.Contains(t, last, "sellside: stopped (0 made, 1 not made, 100 under way): ")
	assert.Contains(t, last, "run the same command again")
	assert.LessOrEqual(t, screenRows(out.String())+screenRows(last), 24)
	rows := results(t, besides(path))
	require.Len(t, rows, 101)
	assert.Equal(t, "QUEUED", rows[0][3])
	_, id, _ := strings.Cut(log.String(), "batch 1 of 2: ")
	assert.Contains(t, rows[0][4], id[:36], "the batch can be found")
	assert.Equal(t, "NOT_SENT", rows[100][3])
	assert.Empty(t, listings(t, c))

	require.NoError(t, m.Work(t.Context()))
	got := sellside(t.Context(), env, "sell", path)
	assert.Equal(t, 1, got.code)
	assert.Contains(t, got.out, "100 of 101 listings made, 1 not\n")
	assert.Contains(t, got.errors, "settled the batch of an earlier run (100 made, 1 not made)")
	made(t, c, 100, results(t, besides(path)))
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
			assert.NoFileExists(t, unsettled(path))
		})
	}
}

// unsettled returns the file of an unsettled batch of an inventory.
func unsettled(path string) string { return strings.TrimSuffix(path, ".csv") + ".unsettled.json" }

func TestSell_ReportsADoubtfulBatchAsUnknown(t *testing.T) {
	env, c, m := market(t)
	equal := []gen.CreateItem{{VariantID: sandbox.Catalog()[0].Variants[0].ID, Amount: "389", CurrencyCode: "USD", Quantity: 100}}
	other, err := c.Batches.Create(t.Context(), equal)
	require.NoError(t, err)
	require.NoError(t, m.Fail(sandbox.Fault{Operation: "CreateListingsBatch", Kind: sandbox.FaultLost}))
	path := stockFile(t, "variant_id,style_id,size,price,currency,quantity", equal[0].VariantID+",,,389,USD,101")
	for range 2 { // the second run settles the batch of the first, which is as doubtful
		got := sellside(t.Context(), env, "sell", path, "--settle", "50ms")

		assert.Equal(t, 1, got.code)
		assert.Contains(t, got.out, "0 of 101 listings made, 1 not, 100 unknown")
		assert.Contains(t, got.errors, unsettled(path))
		rows := results(t, besides(path))
		require.Len(t, rows, 101)
		assert.Equal(t, "UNKNOWN", rows[0][3])
		assert.Contains(t, rows[0][4], other.ID(), "with its reason")
		assert.Equal(t, "NOT_SENT", rows[100][3])
		assert.FileExists(t, unsettled(path))
		assert.Equal(t, 2, m.Counters().Of("CreateListingsBatch"), "nothing is sent again")
	}
}

func TestSell_SettlesTheBatchOfAKilledRun(t *testing.T) {
	env, c, m := market(t)
	require.NoError(t, m.Fail(sandbox.Fault{Operation: "CreateListingsBatch", Kind: sandbox.FaultDelay, Delay: time.Hour, Applied: true}))
	path := stockFile(t, "DZ5485-612,10.5,389,USD,101")
	killed := exec.CommandContext(t.Context(), os.Args[0], "sell", path)
	killed.Env = append(os.Environ(), asProcess+"=1")
	for name, value := range env {
		killed.Env = append(killed.Env, name+"="+value)
	}
	require.NoError(t, killed.Start())
	require.Eventually(t, func() bool { return len(listings(t, c)) == 100 }, time.Minute, 10*time.Millisecond)
	require.NoError(t, killed.Process.Kill())
	require.Error(t, killed.Wait())
	require.Equal(t, "UNKNOWN", results(t, besides(path))[0][3], "the results are true at every moment")

	got := sellside(t.Context(), env, "sell", path)

	assert.Equal(t, 1, got.code)
	assert.Contains(t, got.out, "100 of 101 listings made, 1 not")
	made(t, c, 100, results(t, besides(path)))
	assert.NoFileExists(t, unsettled(path))
	assert.Equal(t, 1, m.Counters().Of("CreateListingsBatch"), "nothing was sent")

	got = sellside(t.Context(), env, "sell", path)
	assert.Equal(t, 2, got.code, "the inventory was listed")
	got = sellside(t.Context(), env, "sell", path, "--again")
	assert.Equal(t, 0, got.code, "the next run lists the inventory: %s", got.errors)
}

func TestSell_RefusesADamagedUnsettledBatch(t *testing.T) {
	env, c, _ := market(t)
	path := stockFile(t, "DZ5485-612,10.5,389,USD,1")
	require.NoError(t, os.WriteFile(unsettled(path), []byte("{"), 0o600))
	got := sellside(t.Context(), env, "sell", path)
	assert.Equal(t, 2, got.code)
	assert.Contains(t, got.errors, unsettled(path))
	assert.Empty(t, listings(t, c))
}

func TestSell_ListsTheExampleInventory(t *testing.T) {
	env, _, _ := market(t)
	path := filepath.Join(t.TempDir(), "inventory.csv")
	require.NoError(t, os.WriteFile(path, []byte(examples.Inventory), 0o600))
	got := sellside(t.Context(), env, "sell", path, "--skip-invalid")
	assert.Equal(t, 1, got.code, "rows were skipped and listings failed")
	assert.Contains(t, got.out, "361 of 367 listings made, 6 not")
}
