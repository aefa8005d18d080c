package report_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client/recovery"
	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/report"
	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/sell"
	"github.com/sellside-sdk/sellside-go/gen"
)

func TestFiles_SaveALinePerListing(t *testing.T) {
	files := report.FilesOf(filepath.Join(t.TempDir(), "stock.csv"))
	require.NoError(t, os.WriteFile(files.Results, []byte("an older and longer file, which is replaced as a whole\n"), 0o600))
	files.Inventory = report.Inventory{SHA256: "abc", Columns: []string{"price", "size"}, Fields: map[int][]string{2: {"162", "10.5"}}}
	require.NoError(t, files.Save([]sell.Result{
		{Line: 2, Nth: 1, ListingID: "98e2e748", Status: "COMPLETED", BatchID: "b1"},
		{Line: 2, Nth: 2, Status: "FAILED", BatchID: "b1", Error: "it said \"no\",\ntwice"},
	}, nil))
	text, err := os.ReadFile(files.Results)
	require.NoError(t, err)
	assert.Equal(t, "line,nth,listing_id,status,error,batch_id,price,size,inventory_sha256\n"+
		"2,1,98e2e748,COMPLETED,,b1,162,10.5,abc\n2,2,,FAILED,\"it said \"\"no\"\",\ntwice\",b1,162,10.5,abc\n", string(text))
	assertOnly(t, files.Results)
}

func TestFiles_LeaveNothingIfSaveFails(t *testing.T) {
	directory := filepath.Join(t.TempDir(), "taken")
	require.NoError(t, os.MkdirAll(filepath.Join(directory, "by something"), 0o700))
	require.Error(t, report.Files{Results: directory, Unsettled: directory + ".json"}.Save(nil, nil))
	assertOnly(t, directory)
	missing := filepath.Join(directory, "nowhere", "x.csv")
	require.Error(t, report.Files{Results: missing, Unsettled: missing + ".json"}.Save(nil, &sell.Unsettled{}))
}

// assertOnly checks that a directory has no other entry.
func assertOnly(t *testing.T, path string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Len(t, entries, 1)
	assert.Equal(t, filepath.Base(path), entries[0].Name())
}

func TestFiles_NeverOverwriteAnEarlierRun(t *testing.T) {
	stock := filepath.Join(t.TempDir(), "stock.csv")
	for _, want := range []string{"stock.result.csv", "stock.2.result.csv", "stock.3.result.csv"} {
		files := report.FilesOf(stock)
		assert.Equal(t, filepath.Join(filepath.Dir(stock), want), files.Results)
		assert.Equal(t, filepath.Join(filepath.Dir(stock), "stock.unsettled.json"), files.Unsettled)
		require.NoError(t, files.Save(nil, nil))
	}
	assert.Equal(t, report.Files{Results: "stock.result.csv", Unsettled: "stock.unsettled.json"}, report.FilesOf("stock"), "a name without an extension")
}

func TestFiles_KeepAnUnsettledBatchUntilItIsSettled(t *testing.T) {
	t.Chdir(t.TempDir())
	submission, err := recovery.New([]gen.CreateItem{{VariantID: "v", Amount: "76.00", Quantity: 1}})
	require.NoError(t, err)
	results := []sell.Result{{Line: 2, Nth: 1, Status: "UNKNOWN", Error: "why"}, {Line: 3, Nth: 1, Status: "NOT_SENT"}}
	want := sell.Unsettled{Submission: submission, Known: []string{"b1"}, Results: results, First: 1}
	first := report.FilesOf("stock.csv")
	first.Inventory = report.Inventory{SHA256: "abc", Columns: []string{"price"}, Fields: map[int][]string{2: {"76.00"}, 3: {"77"}}}
	require.NoError(t, first.Save(results, &want))

	second := report.FilesOf("stock.csv")
	assert.NotEqual(t, first.Results, second.Results)
	second, got, err := second.Load()
	require.NoError(t, err)
	assert.Equal(t, &want, got)
	assert.Equal(t, first.Inventory, second.Inventory)
	results[0].Status = "COMPLETED"
	require.NoError(t, second.Save(results, nil), "into the results of the first run")

	text, err := os.ReadFile(first.Results)
	require.NoError(t, err)
	assert.Contains(t, string(text), "COMPLETED")
	_, got, err = second.Load()
	require.NoError(t, err)
	assert.Nil(t, got)
}

func TestFiles_RefuseADamagedUnsettledBatch(t *testing.T) {
	files := report.FilesOf(filepath.Join(t.TempDir(), "stock.csv"))
	for _, text := range []string{"", "{", "{}", `{"resultFile":7}`} {
		require.NoError(t, os.WriteFile(files.Unsettled, []byte(text), 0o600))
		_, _, err := files.Load()
		require.ErrorContains(t, err, files.Unsettled, "the user has to remove it")
	}
}
