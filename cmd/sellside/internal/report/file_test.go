package report_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/report"
	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/sell"
)

func TestSaveWritesALinePerListing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "stock.result.csv")
	require.NoError(t, os.WriteFile(path, []byte("an older and longer file, which is to be replaced as a whole\n"), 0o600))
	require.NoError(t, report.Save(path, []sell.Result{
		{Line: 2, Nth: 1, ListingID: "98e2e748", Status: "COMPLETED"},
		{Line: 2, Nth: 2, Status: "FAILED", Error: "it said \"no\",\ntwice"},
	}))
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, "line,nth,listing_id,status,error\n2,1,98e2e748,COMPLETED,\n2,2,,FAILED,\"it said \"\"no\"\",\ntwice\"\n", string(text))
	assertOnly(t, path)
}

func TestAFailedSaveLeavesNothingBehind(t *testing.T) {
	directory := filepath.Join(t.TempDir(), "taken")
	require.NoError(t, os.MkdirAll(filepath.Join(directory, "by something"), 0o700))
	require.ErrorContains(t, report.Save(directory, nil), "write the results: ")
	assertOnly(t, directory)
	require.ErrorContains(t, report.Save(filepath.Join(directory, "nowhere", "x.csv"), nil), "write the results: ")
}

// assertOnly checks that there is nothing else beside a file.
func assertOnly(t *testing.T, path string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Len(t, entries, 1)
	assert.Equal(t, filepath.Base(path), entries[0].Name())
}

func TestFreePathNeverTakesTheResultsOfAnEarlierRun(t *testing.T) {
	stock := filepath.Join(t.TempDir(), "stock.csv")
	for _, want := range []string{"stock.result.csv", "stock.2.result.csv", "stock.3.result.csv"} {
		path := report.FreePath(stock)
		assert.Equal(t, filepath.Join(filepath.Dir(stock), want), path)
		require.NoError(t, report.Save(path, nil))
	}
	assert.Equal(t, "stock.result.csv", report.FreePath("stock"), "a name without an extension")
}
