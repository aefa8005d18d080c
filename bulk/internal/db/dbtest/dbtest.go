// Package dbtest gives tests the databases that they run on.
package dbtest

import (
	"context"
	"crypto/rand"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// Databases returns the names of empty databases for a test, by engine: "memory", "file", and
// "postgres" if the environment variable SELLSIDE_TEST_DATABASE_URL names a server.
func Databases(t testing.TB) map[string]string {
	t.Helper()
	all := Shared(t)
	all["memory"] = ":memory:"
	return all
}

// Shared returns the databases that several processes can open: those of [Databases] but memory.
func Shared(t testing.TB) map[string]string {
	t.Helper()
	all := map[string]string{"file": filepath.Join(t.TempDir(), "ledger.db")}
	if server := os.Getenv("SELLSIDE_TEST_DATABASE_URL"); server != "" {
		all["postgres"] = newSchema(t, server)
	}
	return all
}

// newSchema creates an empty schema, which is dropped when the test ends, and returns the URL under
// which it is the default.
func newSchema(t testing.TB, server string) string {
	t.Helper()
	u, err := url.Parse(server)
	if err != nil {
		t.Fatal("SELLSIDE_TEST_DATABASE_URL is no URL")
	}
	conn, err := pgx.Connect(t.Context(), server)
	if err != nil {
		t.Fatal(err)
	}
	name := "test_" + strings.ToLower(rand.Text()) // packages are tested at the same time
	exec := func(statement string) {
		if _, err := conn.Exec(context.Background(), statement); err != nil {
			t.Error(err)
		}
	}
	exec(`CREATE SCHEMA ` + name)
	t.Cleanup(func() {
		exec(`DROP SCHEMA ` + name + ` CASCADE`)
		_ = conn.Close(context.Background())
	})
	q := u.Query()
	q.Set("search_path", name)
	u.RawQuery = q.Encode()
	return u.String()
}
