package store

import (
	"database/sql"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/sandbox/internal/state"
)

func database(t *testing.T, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	require.NoError(t, err)
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db
}

func TestStatusTriggers_RefuseWhatNoTableAllows(t *testing.T) {
	db := database(t, ":memory:")
	for _, m := range state.Machines() {
		_, err := db.ExecContext(t.Context(), `DROP TABLE IF EXISTS things; CREATE TABLE things (status TEXT); `+triggerSQL("things", m))
		require.NoError(t, err)
		for _, from := range m.States() {
			for _, to := range m.States() {
				_, err := db.ExecContext(t.Context(), `DELETE FROM things; INSERT INTO things VALUES (?)`, from.Name)
				require.NoError(t, err)
				_, err = db.ExecContext(t.Context(), `UPDATE things SET status = ?`, to.Name)
				if _, possible := m.Toward(from.Name, to.Name); possible || from == to {
					assert.NoError(t, err, "%s: %s to %s", m.Name(), from.Name, to.Name)
				} else {
					assert.ErrorContains(t, err, "no such transition",
						"%s: %s to %s", m.Name(), from.Name, to.Name)
				}
			}
		}
	}
}

func TestStatusTriggers_AreOnEveryTableAndCurrent(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sandbox.db")
	reopen(t, path)
	db := database(t, path)
	triggerOf := func(table string) (text string) {
		require.NoError(t, db.QueryRowContext(t.Context(),
			`SELECT coalesce(max(sql), '') FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = ?`, table).Scan(&text))
		return text
	}
	for _, g := range statusTriggers {
		assert.Equal(t, triggerSQL(g.table, g.machine), triggerOf(g.table))
	}

	_, err := db.ExecContext(t.Context(), `DROP TRIGGER orders_status; CREATE TRIGGER orders_status BEFORE DELETE ON orders BEGIN SELECT 1; END`)
	require.NoError(t, err)
	require.NoError(t, createStatusTriggers(t.Context(), db))
	assert.Equal(t, triggerSQL("orders", state.Order), triggerOf("orders"),
		"a trigger of an older table is replaced")
}
