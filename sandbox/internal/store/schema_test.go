package store

import (
	"database/sql"
	"path/filepath"
	"testing"
	"time"

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

func TestMigrations_KeepTheInputOfItems(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sandbox.db")
	db := database(t, path)
	p, err := newMigrations(db)
	require.NoError(t, err)
	_, err = p.UpTo(t.Context(), 5)
	require.NoError(t, err)
	_, err = db.ExecContext(t.Context(), `INSERT INTO batches VALUES (1, 'b', 1, 'CREATE', 'IN_PROGRESS', 4, 2, 1, 0, 1, 0, 0, 0, NULL);
		INSERT INTO batch_items VALUES
		(4, 'i4', 1, 'COMPLETED', NULL, 'v4', NULL, '4.00', 'USD', 'STANDARD', NULL, 0, 'l', 'a', NULL),
		(5, 'i5', 1, 'QUEUED', 7, 'v5', 'l5', '5.00', 'JPY', 'DIRECT', 8, 1, NULL, NULL, NULL)`)
	require.NoError(t, err)

	require.NoError(t, reopen(t, path).View(t.Context(), func(tx *Tx) error {
		b, err := tx.Batch(1, state.Create, "b")
		require.NoError(t, err)
		items, err := tx.Items(b, "")
		require.NoError(t, err)
		assert.Equal(t, []Item{
			{
				Seq: 4, ID: "i4", Batch: 1, BatchID: "b", Account: 1, Kind: state.Create, Status: state.Completed,
				ItemInput: ItemInput{
					VariantID: "v4", Amount: "4.00", Currency: "USD", InventoryType: "STANDARD", Active: new(false),
				},
				Result: ItemResult{ListingID: "l", AskID: "a"},
			},
			{
				Seq: 5, ID: "i5", Batch: 1, BatchID: "b", Account: 1, Kind: state.Create, Status: state.Queued,
				DueAt: time.UnixMilli(7).UTC(),
				ItemInput: ItemInput{
					VariantID: "v5", ListingID: "l5", Amount: "5.00", Currency: "JPY", InventoryType: "DIRECT",
					ExpiresAt: time.UnixMilli(8).UTC(), Active: new(true),
				},
			},
		}, items)
		return nil
	}))
}

func TestOpen_RefusesANewerSchema(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sandbox.db")
	require.NoError(t, reopen(t, path).Close())
	_, err := database(t, path).ExecContext(t.Context(), `INSERT INTO goose_db_version (version_id, is_applied) VALUES (1000, 1)`)
	require.NoError(t, err)
	_, err = Open(t.Context(), path)
	require.ErrorIs(t, err, ErrNewerSchema)
	require.ErrorContains(t, err, path)
	_, err = database(t, path).ExecContext(t.Context(), `DELETE FROM goose_db_version WHERE version_id = 1000`)
	require.NoError(t, err)
	reopen(t, path)
}
