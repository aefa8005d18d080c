package main

import (
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
	"github.com/sellside-sdk/sellside-go/gen"
	"github.com/sellside-sdk/sellside-go/sandbox"
)

// child starts a command as a process of its own.
func child(t *testing.T, env settings, args ...string) *exec.Cmd {
	t.Helper()
	program, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Env = append(os.Environ(), asProcess+"=1")
	for name, value := range env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	require.NoError(t, cmd.Start())
	return cmd
}

// manyRows is an inventory of rows of one listing each, no two of them with the same terms.
func manyRows(n, price int) string {
	var ids []string
	for _, p := range sandbox.Catalog() {
		for _, v := range p.Variants {
			ids = append(ids, v.ID)
		}
	}
	var b strings.Builder
	b.WriteString("sku,variant_id,price,currency,quantity\n")
	for i := range n {
		fmt.Fprintf(&b, "sku-%05d,%s,%d,USD,1\n", i, ids[i%len(ids)], price+i/len(ids))
	}
	return b.String()
}

// liveTerms counts the live listings of the account by variant and amount, which are those of one row.
func liveTerms(t *testing.T, c *client.Client) map[string]int {
	t.Helper()
	terms := map[string]int{}
	for l, err := range c.Listings.List(t.Context(), client.ListingFilter{Statuses: []gen.ListingStatus{gen.ListingStatusActive}}) {
		require.NoError(t, err)
		terms[l.Variant.VariantID+" "+string(l.Amount)]++
	}
	return terms
}

// TestApply_ContinuesAfterKills kills the process at moments when a batch is recorded, sent, or has
// no id yet: nothing is lost, nothing is made twice, and a plan then has nothing to do.
func TestApply_ContinuesAfterKills(t *testing.T) {
	const rows = 1500
	env, c, m := market(t, func(o *sandbox.Options) { o.Delay = 100 * time.Millisecond })
	dir := t.TempDir()
	path, file := filepath.Join(dir, "stock.csv"), filepath.Join(dir, "ledger.db")
	require.NoError(t, os.WriteFile(path, []byte(manyRows(rows, 200)), 0o600))
	args := []string{"apply", path, "--yes", "--ledger", file, "--settle", "1s"}
	for _, batches := range []int{1, 3, 4, 8} {
		require.NoError(t, m.Fail(sandbox.Fault{
			Operation: "CreateListingsBatch", Kind: sandbox.FaultDelay, Delay: 300 * time.Millisecond, Applied: batches%2 == 0,
		}))
		cmd := child(t, env, args...)
		require.Eventually(t, func() bool { return m.Counters().Of("CreateListingsBatch") >= batches },
			30*time.Second, 5*time.Millisecond)
		require.NoError(t, cmd.Process.Kill())
		require.Error(t, cmd.Wait())
	}

	got := sellside(t.Context(), env, args...)
	assert.Equal(t, 0, got.code, got.errors)
	terms := liveTerms(t, c)
	assert.Len(t, terms, rows, "nothing is lost")
	for key, n := range terms {
		assert.Equal(t, 1, n, "%s: nothing is made twice", key)
	}
	again := sellside(t.Context(), env, "sync", path, "--ledger", file, "--settle", "1s")
	assert.Equal(t, 0, again.code, again.errors)
	assert.Contains(t, again.out, fmt.Sprintf("unchanged  %d rows", rows))
	assert.Contains(t, again.out, "0 listings done", "a sync has nothing to do")
}
