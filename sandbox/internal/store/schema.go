package store

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"

	"github.com/sellside-sdk/sellside-go/sandbox/internal/state"
)

// guards are the machines that the status of a table follows.
var guards = []struct {
	table   string
	machine *state.Machine
}{
	{"batches", state.Batch},
	{"batch_items", state.Item},
	{"listings", state.Listing},
	{"operations", state.Operation},
	{"orders", state.Order},
}

// guard makes the database refuse every change of a status that is in no table
// of package state, whichever statement asks for it. The triggers are made of
// those tables whenever they differ, and so are no part of the migrations.
func guard(ctx context.Context, db *sql.DB) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("guard statuses: %w", err)
	}
	defer func() { _ = tx.Rollback() }() // it is over already after a commit
	for _, g := range guards {
		name, want := "guard_"+g.table, trigger(g.table, g.machine)
		var have string
		err := tx.QueryRowContext(ctx, `SELECT coalesce(max(sql), '') FROM sqlite_schema WHERE type = 'trigger' AND name = ?`, name).Scan(&have)
		if err == nil && have != want {
			_, err = tx.ExecContext(ctx, `DROP TRIGGER IF EXISTS `+name+`; `+want)
		}
		if err != nil {
			return fmt.Errorf("guard the status of %s: %w", g.table, err)
		}
	}
	return tx.Commit()
}

// trigger writes the statement that makes the guard of a table. A status that
// stays as it is, is no change.
func trigger(table string, m *state.Machine) string {
	var possible []string
	for _, s := range m.States() {
		if targets := m.Targets(s.Name); len(targets) > 0 {
			possible = append(possible, fmt.Sprintf("OLD.status = '%s' AND NEW.status IN ('%s')", s.Name, strings.Join(targets, "', '")))
		}
	}
	return fmt.Sprintf(`CREATE TRIGGER guard_%[1]s BEFORE UPDATE OF status ON %[1]s
WHEN OLD.status <> NEW.status AND NOT (%[2]s)
BEGIN
	SELECT RAISE(ABORT, '%[1]s: there is no such transition of a status');
END`, table, strings.Join(possible, " OR "))
}

// kept are the tables that a reset leaves alone: who may come in, and what the
// schema is.
const kept = `'accounts', 'secrets', 'goose_db_version'`

// Reset empties all tables but those of accounts. Ids begin anew.
func (t *Tx) Reset() error {
	// The newest tables first: they refer to older ones, and a row that nobody
	// refers to is deleted faster.
	tables, err := list(t, func(name *string) []any { return []any{name} },
		`SELECT m.name FROM sqlite_master m JOIN pragma_table_list l ON l.name = m.name AND l.schema = 'main'
		WHERE l.type = 'table' AND m.name NOT LIKE 'sqlite_%' AND m.name NOT IN (`+kept+`) ORDER BY m.rowid DESC`)
	if err != nil {
		return err
	}
	if err := t.exec(`PRAGMA defer_foreign_keys = ON`); err != nil {
		return err
	}
	for _, table := range tables {
		if err := t.exec(`DELETE FROM "` + table + `"`); err != nil {
			return err
		}
	}
	return nil
}

// dues finds the next row to fall due in every table that is a queue, one query
// each, so that every one can use its index.
var dues = []string{
	`SELECT min(due_at) AS due FROM batch_items WHERE status = 'QUEUED' AND due_at IS NOT NULL`,
	`SELECT min(due_at) FROM batch_items WHERE status = 'IN_PROGRESS' AND due_at IS NOT NULL`,
	`SELECT min(due_at) FROM operations WHERE due_at IS NOT NULL`,
	`SELECT min(due_at) FROM orders WHERE due_at IS NOT NULL`,
	`SELECT min(due_at) FROM proposals WHERE due_at IS NOT NULL`,
	`SELECT min(expires_at) FROM listings WHERE ` + expirable,
}

// NextDue returns when the next row of any kind falls due, and the zero time
// when nothing is left to do.
func (t *Tx) NextDue() (time.Time, error) {
	var due time.Time
	err := t.get(`SELECT min(due) FROM (`+strings.Join(dues, ` UNION ALL `)+`)`, nil, []any{timeColumn{&due}})
	return due, err
}
