package main

import (
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client"
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
	require.Equal(t, []string{"line", "nth", "listing_id", "status", "error"}, rows[0])
	return rows[1:]
}

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

func TestSellListsAnInventory(t *testing.T) {
	env, c := market(t, sandbox.Options{})
	path := stock(t, "DZ5485-612,10.5,389.50,USD,2", "75192,One Size,140000,JPY,1")

	got := sellside(t.Context(), env, "sell", path)

	require.Equal(t, 0, got.code, got.errors)
	assert.Contains(t, got.out, "3 of 3 listings made\n")
	assert.Contains(t, got.out, "results: "+besides(path))
	rows := results(t, besides(path))
	require.Len(t, rows, 3)
	for i, want := range [][]string{{"2", "1"}, {"2", "2"}, {"3", "1"}} {
		assert.Equal(t, want, rows[i][:2])
		assert.Equal(t, []string{"COMPLETED", ""}, rows[i][3:])
	}
	first, err := c.Listings.Get(t.Context(), rows[0][2])
	require.NoError(t, err)
	assert.Equal(t, "DZ5485-612", first.Product.StyleID)
	assert.Equal(t, "10.5", first.Variant.VariantValue)
	assert.True(t, first.Amount.Equal("389.5"), first.Amount)
	assert.Equal(t, gen.ListingStatusActive, first.Status)
	assert.Regexp(t, `batch 1 of 1: `+first.Batch.BatchID+` submitted, 3 listings`, got.errors)
	last, err := c.Listings.Get(t.Context(), rows[2][2])
	require.NoError(t, err)
	assert.Equal(t, gen.CurrencyCodeJPY, last.CurrencyCode)
	assert.Len(t, listings(t, c), 3)
}

func TestAFileWithMistakesIsNotSent(t *testing.T) {
	env, c := market(t, sandbox.Options{})
	path := stock(t,
		"DZ5485-612,10.5,389,USD,1",
		`DZ5485-612,10.5,"3,890",usdollar,0`,
		"DZ5485-621,10.5,389,USD,1",
		"DZ5485-612,10.25,389,USD,1",
		"DZ5485-612,10.5,389,USD",
	)
	got := sellside(t.Context(), env, "sell", path)

	assert.Equal(t, 2, got.code)
	for _, mistake := range []string{
		`line 3: price "3,890" has a comma`, `line 3: currency "usdollar"`, `line 3: quantity "0"`,
		`line 4: style_id "DZ5485-621" is not in the catalog: did you mean DZ5485-612?`,
		`line 5: size "10.25": Jordan 1 Retro High OG Chicago Lost and Found (DZ5485-612) has no such size, it has 3.5, 4, `,
		`line 6: it has 4 fields where the header has 5`,
		"sellside: nothing was sent: 4 of the lines are wrong",
	} {
		assert.Contains(t, got.errors, mistake)
	}
	assert.NotContains(t, got.errors, "line 2")
	assert.NoFileExists(t, besides(path))
	assert.Empty(t, listings(t, c))

	got = sellside(t.Context(), env, "sell", path, "--skip-invalid")

	assert.Equal(t, 1, got.code, "something was left out")
	assert.Contains(t, got.errors, "4 wrong lines were left out")
	rows := results(t, besides(path))
	require.Len(t, rows, 1)
	assert.Equal(t, "COMPLETED", rows[0][3])
	assert.Len(t, listings(t, c), 1)
}

func TestAWrongHeaderCannotBeSkipped(t *testing.T) {
	env, c := market(t, sandbox.Options{})
	path := stock(t, "style_id,size,price,currency,quantity,note", "DZ5485-612,10.5,389,USD,1,nice")
	got := sellside(t.Context(), env, "sell", path, "--skip-invalid")
	assert.Equal(t, 2, got.code)
	assert.Contains(t, got.errors, `line 1: unknown column "note"`)
	assert.Empty(t, listings(t, c))
}

func TestItemsThatFailAreInTheResultsAndFailTheCommand(t *testing.T) {
	env, _ := market(t, sandbox.Options{})
	result := filepath.Join(t.TempDir(), "today.csv")
	got := sellside(t.Context(), env, "sell", "--result", result,
		stock(t, "DZ5485-612,10.5,389,USD,1", "DZ5485-612,10.5,100001,USD,2", "DZ5485-612,10.5,388,USD,1"))
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

func TestALargeQuantityIsSpreadOverBatches(t *testing.T) {
	env, c := market(t, sandbox.Options{})
	path := stock(t, "DZ5485-612,10.5,389,USD,30", "75192,One Size,999,USD,250")
	got := sellside(t.Context(), env, "sell", path)
	require.Equal(t, 0, got.code, got.errors)
	ids := map[string]bool{}
	for i, row := range results(t, besides(path)) {
		ids[row[2]] = true
		if i >= 30 {
			assert.Equal(t, []string{"3", fmt.Sprint(i - 29)}, row[:2])
		}
	}
	assert.Len(t, ids, 280, "every listing has an id of its own")
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

func TestNothingIsSentWhenTheResultsHaveNowhereToGo(t *testing.T) {
	env, c := market(t, sandbox.Options{})
	got := sellside(t.Context(), env, "sell", stock(t, "DZ5485-612,10.5,389,USD,1"), "--result", filepath.Join(t.TempDir(), "no", "such", "place.csv"))
	assert.Equal(t, 2, got.code)
	assert.Contains(t, got.errors, "nothing was sent: write the results: ")
	assert.Empty(t, listings(t, c))
}

func TestAnInventoryCanComeFromStandardInput(t *testing.T) {
	env, c := market(t, sandbox.Options{})
	t.Chdir(t.TempDir())
	var out, errors strings.Builder
	stdin := strings.NewReader("style_id,size,price,currency,quantity\nDZ5485-612,10.5,389,USD,1\n")
	require.Equal(t, 0, run(t.Context(), []string{"sell", "-"}, stdin, &out, &errors, env.get), errors.String())
	assert.Len(t, results(t, "inventory.result.csv"), 1)
	assert.Len(t, listings(t, c), 1)
}
