//go:build postgres

package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/sandbox"
)

// newDatabase returns the URL of an empty schema.
func newDatabase(t *testing.T) string {
	t.Helper()
	const variable = "SELLSIDE_TEST_DATABASE_URL"
	u, err := url.Parse(os.Getenv(variable))
	require.NoError(t, err)
	require.NotEmpty(t, u.Scheme, "%s names no server: use make test-postgres", variable)
	conn, err := pgx.Connect(t.Context(), u.String())
	require.NoError(t, err)
	schema := "test_" + strings.ToLower(rand.Text())
	_, err = conn.Exec(t.Context(), `CREATE SCHEMA `+schema)
	require.NoError(t, err)
	t.Cleanup(func() {
		_, err := conn.Exec(context.Background(), `DROP SCHEMA `+schema+` CASCADE`)
		assert.NoError(t, err)
		assert.NoError(t, conn.Close(context.Background()))
	})
	q := u.Query()
	q.Set("search_path", schema)
	u.RawQuery = q.Encode()
	return u.String()
}

// TestDatabase_HasTheLedgersOfManyAccounts keeps the inventories of three accounts at once.
func TestDatabase_HasTheLedgersOfManyAccounts(t *testing.T) {
	database := newDatabase(t)
	var running sync.WaitGroup
	for i := range 3 {
		env, c, _ := market(t)
		env["SELLSIDE_DATABASE"] = database
		path := filepath.Join(t.TempDir(), "stock.csv")
		rewrite(t, path, fmt.Sprintf("A,DZ5485-612,10.5,389,USD,%d,left", i+1))
		running.Go(func() {
			got := sellside(t.Context(), env, "plan", path)
			assert.Equal(t, 0, got.code, got.errors)
			got = sellside(t.Context(), env, "apply", path, "--yes")
			assert.Equal(t, 0, got.code, got.errors)
			got = sellside(t.Context(), env, "sync", path)
			assert.Equal(t, 0, got.code, got.errors)
			assert.Contains(t, got.out, "unchanged  1 row")
			got = sellside(t.Context(), env, "runs", "--json")
			assert.Equal(t, 0, got.code, got.errors)
			assert.Equal(t, 2, strings.Count(got.out, "\n"), "runs of the account: %s", got.out)
			got = sellside(t.Context(), env, "export", "rows")
			assert.Equal(t, 0, got.code, got.errors)
			assert.Contains(t, got.out, "A,DZ5485-612")
			assert.Equal(t, i+1, active(t, c))
		})
	}
	running.Wait()
}

func TestDatabase_RefusesOtherForms(t *testing.T) {
	env, _, m := market(t)
	path := filepath.Join(t.TempDir(), "stock.csv")
	rewrite(t, path, "A,DZ5485-612,10.5,389,USD,1,left")
	const secret = "s3cret"
	for _, row := range []struct {
		args []string
		why  string
	}{
		{[]string{"--database", "stock.db"}, "a file"},
		{[]string{"--database", "mysql://u:" + secret + "@h/x"}, "another engine"},
		{[]string{"--ledger", "postgres://u:" + secret + "@h/x"}, "a URL as file"},
		{[]string{"--ledger", "l.db", "--database", "postgres://u:" + secret + "@h/x"}, "both"},
		{[]string{"--database", "postgres://u:" + secret + "@127.0.0.1:1/x"}, "no server"},
		{[]string{"--database", "postgres://u:" + secret + "@[bad"}, "no URL"},
	} {
		got := sellside(t.Context(), env, append([]string{"plan", path}, row.args...)...)
		assert.NotZero(t, got.code, row.why)
		assert.NotContains(t, got.out+got.errors, secret, row.why)
	}
	assert.Empty(t, m.Counters(), "nothing was requested")
}

// TestDatabase_ContinuesAfterKills kills commands of an account. The next one, as on another machine,
// waits for the lease of the killed one, and continues: nothing is lost, nothing is made twice.
func TestDatabase_ContinuesAfterKills(t *testing.T) {
	const rows = 500
	env, c, m := market(t, func(o *sandbox.Options) { o.Delay = 100 * time.Millisecond })
	env["SELLSIDE_DATABASE"] = newDatabase(t)
	path := filepath.Join(t.TempDir(), "stock.csv")
	require.NoError(t, os.WriteFile(path, []byte(manyRows(rows, 200)), 0o600))
	args := []string{"apply", path, "--yes", "--settle", "1s"}
	var killed time.Time
	for _, batches := range []int{1, 3} {
		require.NoError(t, m.Fail(sandbox.Fault{
			Operation: "CreateListingsBatch", Kind: sandbox.FaultDelay, Delay: 300 * time.Millisecond, Applied: batches%2 == 0,
		}))
		cmd := child(t, env, append(args, "--wait")...)
		require.Eventually(t, func() bool { return m.Counters().Of("CreateListingsBatch") >= batches },
			2*time.Minute, 5*time.Millisecond)
		if !killed.IsZero() {
			t.Logf("%s from a kill to the next batch", time.Since(killed).Round(time.Millisecond))
		}
		refused := sellside(t.Context(), env, args...)
		assert.Equal(t, 2, refused.code, "without --wait: %s", refused.errors)
		require.NoError(t, cmd.Process.Kill())
		killed = time.Now()
		require.Error(t, cmd.Wait())
	}
	got := sellside(t.Context(), env, append(args, "--wait")...)
	assert.Equal(t, 0, got.code, got.errors)
	terms := liveTerms(t, c)
	assert.Len(t, terms, rows, "nothing is lost")
	for key, n := range terms {
		assert.Equal(t, 1, n, "%s: nothing is made twice", key)
	}
	again := sellside(t.Context(), env, "sync", path, "--settle", "1s")
	assert.Equal(t, 0, again.code, again.errors)
	assert.Contains(t, again.out, "0 listings done", "a sync has nothing to do")
}
