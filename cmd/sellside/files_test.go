package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/sandbox"
)

func TestSell_OverwritesNoFile(t *testing.T) {
	env, c, _ := market(t)
	path := stockFile(t, "DZ5485-612,10.5,389,USD,1")
	dir := filepath.Dir(path)
	inventory, err := os.ReadFile(path)
	require.NoError(t, err)
	const earlier = "the results of an earlier run"
	at := func(name string) string { return filepath.Join(dir, name) }
	require.NoError(t, os.WriteFile(at("today.csv"), []byte(earlier), 0o600))
	require.NoError(t, os.Symlink("today.csv", at("link.csv")))
	require.NoError(t, os.Symlink("nowhere.csv", at("dangling.csv")))
	require.NoError(t, os.Symlink(path, at("inventory.csv")))
	require.NoError(t, os.Link(path, at("hard.csv")))
	linked := filepath.Join(t.TempDir(), "linked")
	require.NoError(t, os.Symlink(dir, linked))
	for _, row := range []struct{ result, says, why string }{
		{path, "the file exists", "its own name"},
		{at("inventory.csv"), "the file exists", "a link to it"},
		{at("hard.csv"), "the file exists", "a hard link to it"},
		{filepath.Join(linked, filepath.Base(path)), "the file exists", "through a linked directory"},
		{at("today.csv"), "the file exists", "an earlier file"},
		{at("link.csv"), "the file exists", "a link to an earlier file"},
		{at("dangling.csv"), "the file exists", "a link to nothing"},
	} {
		got := sellside(t.Context(), env, "sell", path, "--result", row.result)
		assert.Equal(t, 2, got.code, row.why)
		assert.Contains(t, got.errors, "nothing was sent", row.why)
		assert.Contains(t, got.errors, row.says, row.why)
	}
	assert.Empty(t, listings(t, c))
	for name, want := range map[string]string{path: string(inventory), at("today.csv"): earlier} {
		content, err := os.ReadFile(name)
		require.NoError(t, err)
		assert.Equal(t, want, string(content), name)
	}
	got := sellside(t.Context(), env, "sell", path, "--result", at("tomorrow.csv"))
	assert.Equal(t, 0, got.code, got.errors)
}

func TestSell_WorksWithALedgerOnceAtATime(t *testing.T) {
	env, c, m := market(t)
	require.NoError(t, m.Fail(sandbox.Fault{Operation: "SearchProducts", Kind: sandbox.FaultStatus, Status: 503, Times: 1000}))
	path := stockFile(t, "DZ5485-612,10.5,389,USD,1")
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	var first sync.WaitGroup
	var code int
	var out, log strings.Builder
	first.Go(func() { code = run(ctx, []string{"sell", path}, strings.NewReader(""), &out, &log, env.get) })
	require.Eventually(t, func() bool { return m.Counters().Of("SearchProducts") > 0 }, time.Minute, 10*time.Millisecond)
	got := sellside(t.Context(), env, "sell", stockFile(t, "DZ5485-612,10.5,389,USD,1"))
	assert.Equal(t, 2, got.code)
	assert.Contains(t, got.errors, "nothing was sent: another command works with the ledger")
	interrupt()
	first.Wait()
	assert.Equal(t, 130, code)
	assert.Empty(t, listings(t, c))

	m.ClearFaults()
	got = sellside(t.Context(), env, "sell", path)
	assert.Equal(t, 0, got.code, "a run that was stopped has released the ledger: %s", got.errors)
	assert.Len(t, listings(t, c), 1)
}
