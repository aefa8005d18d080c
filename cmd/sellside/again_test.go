package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/sandbox"
)

func TestSell_RefusesAnInventoryThatWasListed(t *testing.T) {
	env, c, _ := market(t)
	path := stockFile(t, "DZ5485-612,10.5,389,USD,2", "DZ5485-612,10.5,100001,USD,1")
	first := sellside(t.Context(), env, "sell", path)
	require.Equal(t, 1, first.code, "one of them fails")
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	renamed := filepath.Join(filepath.Dir(path), "tomorrow.csv")
	require.NoError(t, os.WriteFile(renamed, content, 0o600))
	elsewhere := filepath.Join(t.TempDir(), "results.csv")
	for _, row := range []struct {
		args []string
		why  string
	}{
		{[]string{"sell", path}, "the same file"},
		{[]string{"sell", renamed}, "a copy of it"},
		{[]string{"sell", path, "--result", elsewhere}, "other results"},
	} {
		got := sellside(t.Context(), env, row.args...)
		assert.Equal(t, 2, got.code, row.why)
		assert.Contains(t, got.errors, "listed before (2 made, 1 not made), see "+besides(path), row.why)
		assert.Contains(t, got.errors, "--again", row.why)
		assert.Len(t, listings(t, c), 2, row.why)
	}

	got := sellside(t.Context(), env, "sell", path, "--again", "--result", elsewhere)
	assert.Equal(t, 1, got.code)
	assert.Len(t, listings(t, c), 4)
	require.NoError(t, os.Remove(besides(path)))
	got = sellside(t.Context(), env, "sell", path, "--result", filepath.Join(filepath.Dir(elsewhere), "more.csv"))
	assert.Equal(t, 2, got.code, "results beside the result file count too")

	changed := stockFile(t, "DZ5485-612,10.5,389,USD,2", "DZ5485-612,10.5,100001,USD,1", "")
	got = sellside(t.Context(), env, "sell", changed)
	assert.Equal(t, 1, got.code, "another file: %s", got.errors)
}

func TestSell_ListsAnInventoryAgainOfWhichNothingWasMade(t *testing.T) {
	env, c, m := market(t)
	path := stockFile(t, "DZ5485-612,10.5,389,USD,2")
	require.NoError(t, m.Fail(sandbox.Fault{Operation: "CreateListingsBatch", Kind: sandbox.FaultStatus, Status: 403}))
	assert.Equal(t, 1, sellside(t.Context(), env, "sell", path).code)
	assert.Equal(t, 0, sellside(t.Context(), env, "sell", path).code, "nothing can be listed twice")
	assert.Len(t, listings(t, c), 2)
}

func TestSell_KnowsTheBatchesOfEarlierRuns(t *testing.T) {
	env, c, m := market(t)
	// An explicit expiry leaves no mark, so that the batches are equal.
	path := stockFile(t, "style_id,size,price,currency,quantity,expires_at", "DZ5485-612,10.5,389,USD,2,2030-12-31")
	require.Equal(t, 0, sellside(t.Context(), env, "sell", path).code)
	require.NoError(t, m.Fail(sandbox.Fault{Operation: "CreateListingsBatch", Kind: sandbox.FaultLost}))

	got := sellside(t.Context(), env, "sell", path, "--again", "--settle", "200ms")

	require.Equal(t, 0, got.code, "the batch of the earlier run is not that of the lost request: %s", got.errors)
	assert.Equal(t, 3, m.Counters().Of("CreateListingsBatch"))
	assert.Len(t, listings(t, c), 4)
	assert.NoFileExists(t, unsettled(path))
}
