package main

import (
	"bytes"
	"encoding/json"
	"os"
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

const stockHeader = "sku,style_id,size,price,currency,quantity,shelf\n"

// rewrite writes an inventory to a path.
func rewrite(t *testing.T, path string, rows ...string) {
	t.Helper()
	require.NoError(t, os.WriteFile(path, []byte(stockHeader+strings.Join(rows, "\n")+"\n"), 0o600))
}

// typing runs a command line with text on its standard input.
func typing(t *testing.T, env settings, text string, args ...string) ending {
	t.Helper()
	var out, errors bytes.Buffer
	code := run(t.Context(), args, strings.NewReader(text), &out, &errors, env.get)
	return ending{code, out.String(), errors.String()}
}

func active(t *testing.T, c *client.Client) int {
	t.Helper()
	n := 0
	for _, err := range c.Listings.List(t.Context(), client.ListingFilter{Statuses: []gen.ListingStatus{gen.ListingStatusActive}}) {
		require.NoError(t, err)
		n++
	}
	return n
}

func TestApply_AsksBeforeItDeletes(t *testing.T) {
	env, c, _ := market(t)
	dir := t.TempDir()
	env["XDG_STATE_HOME"] = dir
	path := filepath.Join(dir, "stock.csv")
	rewrite(t, path, "A,DZ5485-612,10.5,389,USD,3,left", "B,DZ5485-612,11,395,USD,1,right")
	got := typing(t, env, "", "apply", path)
	require.Equal(t, 0, got.code, got.errors)
	require.Equal(t, 4, active(t, c), "creates are not confirmed")

	rewrite(t, path, "A,DZ5485-612,10.5,389,USD,1,left", "B,DZ5485-612,11,395,USD,1,right")
	for _, row := range []struct {
		text string
		code int
		live int
		why  string
	}{
		{"", 2, 4, "no response"},
		{"n\n", 2, 4, "no"},
		{"y\n", 0, 2, "yes"},
	} {
		got = typing(t, env, row.text, "apply", path)
		assert.Equal(t, row.code, got.code, "%s: %s", row.why, got.errors)
		assert.Equal(t, row.live, active(t, c), row.why)
	}
	assert.Contains(t, got.errors, "Delete 2 listings?")
}

func TestPlan_ReportsAllMistakesAndSendsNothing(t *testing.T) {
	env, _, m := market(t)
	dir := t.TempDir()
	path := filepath.Join(dir, "stock.csv")
	rewrite(t, path, "A,DZ5485-612,10.5,38x,USD,3,left", "A,DZ5485-612,11,395,USD,-1,right")
	got := sellside(t.Context(), env, "plan", path, "--ledger", filepath.Join(dir, "l.db"))
	assert.Equal(t, 2, got.code)
	assert.Contains(t, got.errors, "line 2, column ")
	assert.Contains(t, got.errors, "line 3, column ")
	assert.Empty(t, m.Counters(), "nothing was requested")
}

// TestExport_IsTheInverseOfPlan exports what was planned, with its unknown columns, and plans it
// again.
func TestExport_IsTheInverseOfPlan(t *testing.T) {
	env, c, _ := market(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "l.db")
	path := filepath.Join(dir, "stock.csv")
	rewrite(t, path, "A,DZ5485-612,10.5,389,USD,3,left", "B,DZ5485-612,11,395,USD,1,right")
	require.Equal(t, 0, sellside(t.Context(), env, "apply", path, "--yes", "--ledger", file).code)
	content, err := os.ReadFile(path)
	require.NoError(t, err)

	got := sellside(t.Context(), env, "export", "rows", "--ledger", file)
	assert.Equal(t, 0, got.code, got.errors)
	assert.Equal(t, string(content), got.out)
	for _, what := range []string{"rows", "listings"} {
		for _, format := range [][]string{nil, {"--json"}} {
			got = sellside(t.Context(), env, append([]string{"export", what, "--ledger", file}, format...)...)
			require.Equal(t, 0, got.code, got.errors)
			exported := filepath.Join(dir, "exported")
			require.NoError(t, os.WriteFile(exported, []byte(got.out), 0o600))
			got = sellside(t.Context(), env, "sync", exported, "--ledger", file)
			assert.Equal(t, 0, got.code, "%s %v: %s", what, format, got.errors)
			assert.Contains(t, got.out, "unchanged  2 rows", "%s %v", what, format)
			assert.Equal(t, 4, active(t, c), "%s %v", what, format)
		}
	}
	got = sellside(t.Context(), env, "export", "orders", "--ledger", file)
	assert.Equal(t, "order_number,listing_id,sku,sold_at,status\n", got.out)
	got = sellside(t.Context(), env, "export", "prices", "--ledger", file)
	assert.Equal(t, 2, got.code)
}

func TestRuns_ShowAndRetryWhatFailed(t *testing.T) {
	env, c, m := market(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "l.db")
	path := filepath.Join(dir, "stock.csv")
	rewrite(t, path, "A,DZ5485-612,10.5,389,USD,1,left", "B,DZ5485-612,11,395,USD,1,right")
	require.NoError(t, m.FailWork(t.Context(), sandbox.Failure{Operation: "CREATE", Error: "not today"}))
	got := sellside(t.Context(), env, "sync", path, "--ledger", file, "--json")
	assert.Equal(t, 1, got.code)
	lines := strings.Split(strings.TrimSpace(got.out), "\n")
	var last struct {
		ID                 int64
		State              string
		Done, Failed, Open int
	}
	require.NoError(t, json.Unmarshal([]byte(lines[len(lines)-1]), &last))
	assert.Equal(t, int64(1), last.ID)
	assert.Equal(t, "done", last.State)
	assert.Equal(t, []int{1, 1, 0}, []int{last.Done, last.Failed, last.Open})

	got = sellside(t.Context(), env, "runs", "show", "1", "--rows", "failed", "--ledger", file)
	assert.Equal(t, 0, got.code, got.errors)
	assert.Contains(t, got.out, "not today")
	got = sellside(t.Context(), env, "runs", "--ledger", file)
	assert.Contains(t, got.out, "sync")
	for _, row := range []struct {
		args []string
		why  string
	}{
		{[]string{"runs", "show", "7"}, "no such run"},
		{[]string{"runs", "cancel", "one"}, "no number"},
		{[]string{"runs", "resolve", "1", "--row", "A"}, "neither made nor not"},
		{[]string{"runs", "resolve", "1", "--row", "A", "--not-made"}, "its outcome is known"},
	} {
		got = sellside(t.Context(), env, append(row.args, "--ledger", file)...)
		assert.Equal(t, 2, got.code, "%s: %s", row.why, got.errors)
	}
	require.Equal(t, 1, active(t, c))
	assert.Equal(t, 1, sellside(t.Context(), env, "sync", path, "--ledger", file).code, "sync leaves it")
	assert.Equal(t, 1, active(t, c))
	assert.Equal(t, 0, sellside(t.Context(), env, "runs", "retry", "1", "--ledger", file).code)
	assert.Equal(t, 0, sellside(t.Context(), env, "sync", path, "--ledger", file).code)
	assert.Equal(t, 2, active(t, c))
}

// TestSync_FollowsTheFile changes the file between rounds, and ends sync with SIGINT.
func TestSync_FollowsTheFile(t *testing.T) {
	env, c, _ := market(t)
	dir := t.TempDir()
	path := filepath.Join(dir, "stock.csv")
	rewrite(t, path, "A,DZ5485-612,10.5,389,USD,1,left")
	cmd := child(t, env, "sync", path, "--every", "1s", "--ledger", filepath.Join(dir, "l.db"))
	require.Eventually(t, func() bool { return active(t, c) == 1 }, time.Minute, 50*time.Millisecond)
	rewrite(t, path, "A,DZ5485-612,10.5,389,USD,2,left", "B,DZ5485-612,11,395,USD,1,right")
	require.Eventually(t, func() bool { return active(t, c) == 3 }, time.Minute, 50*time.Millisecond)
	second := sellside(t.Context(), env, "plan", path, "--ledger", filepath.Join(dir, "l.db"))
	assert.Equal(t, 2, second.code, "one command at a time works with a ledger")
	assert.Contains(t, second.errors, "another command")
	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	require.Error(t, cmd.Wait())
	assert.Equal(t, 130, cmd.ProcessState.ExitCode())
}
