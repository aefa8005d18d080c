package store

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"strings"
	"time"

	"github.com/pressly/goose/v3"

	"github.com/sellside-sdk/sellside-go/sandbox/internal/state"
)

//go:embed migrations/*.sql
var migrations embed.FS

// ErrNewerSchema reports that the database was written by a program with more migrations.
var ErrNewerSchema = errors.New("schema is newer than this program")

func newMigrations(db *sql.DB) (*goose.Provider, error) {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return nil, err
	}
	return goose.NewProvider(goose.DialectSQLite3, db, files, goose.WithDisableGlobalRegistry(true))
}

func migrate(ctx context.Context, db *sql.DB) error {
	p, err := newMigrations(db)
	if err != nil {
		return err
	}
	current, newest, err := p.GetVersions(ctx)
	if err != nil {
		return err
	}
	if current > newest {
		return fmt.Errorf("%w (version %d, this program knows %d): use a newer program, or another file",
			ErrNewerSchema, current, newest)
	}
	if _, err = p.Up(ctx); err != nil {
		return err
	}
	return createStatusTriggers(ctx, db)
}

// statusTriggers are the state machines that the status of a table follows.
var statusTriggers = []struct {
	table   string
	machine *state.Machine
}{
	{"batches", state.Batch},
	{"batch_items", state.Item},
	{"listings", state.Listing},
	{"operations", state.Operation},
	{"orders", state.Order},
}

// createStatusTriggers makes the database refuse every change of a status that is in no table of
// package state. The triggers follow those tables, so they are not part of the migrations: a
// trigger that differs is replaced.
func createStatusTriggers(ctx context.Context, db *sql.DB) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("create status triggers: %w", err)
	}
	defer func() { _ = tx.Rollback() }() // it does nothing after a commit
	for _, t := range statusTriggers {
		name, want := t.table+"_status", triggerSQL(t.table, t.machine)
		var have string
		err := tx.QueryRowContext(ctx,
			`SELECT coalesce(max(sql), '') FROM sqlite_schema WHERE type = 'trigger' AND name = ?`,
			name).Scan(&have)
		if err == nil && have != want {
			_, err = tx.ExecContext(ctx, `DROP TRIGGER IF EXISTS `+name+`; `+want)
		}
		if err != nil {
			return fmt.Errorf("create status trigger (%s): %w", t.table, err)
		}
	}
	return tx.Commit()
}

// triggerSQL returns the statement that creates the trigger of a table. It lets a status be set to
// itself.
func triggerSQL(table string, m *state.Machine) string {
	var possible []string
	for _, s := range m.States() {
		if targets := m.Targets(s.Name); len(targets) > 0 {
			possible = append(possible, fmt.Sprintf("OLD.status = '%s' AND NEW.status IN ('%s')",
				s.Name, strings.Join(targets, "', '")))
		}
	}
	return fmt.Sprintf(`CREATE TRIGGER %[1]s_status BEFORE UPDATE OF status ON %[1]s
WHEN OLD.status <> NEW.status AND NOT (%[2]s)
BEGIN
	SELECT RAISE(ABORT, '%[1]s: no such transition of the status');
END`, table, strings.Join(possible, " OR "))
}

// permanent are the tables that a reset leaves alone: credentials, and the version of the schema.
const permanent = `'accounts', 'grants', 'secrets', 'goose_db_version'`

// Reset empties all tables but those of accounts. Sequences begin again with 1.
func (t *Tx) Reset() error {
	// The newest tables first: they refer to older ones, and deleting a row that no row refers to
	// is cheaper.
	tables, err := list(t, func(name *string) []any { return []any{name} },
		`SELECT m.name FROM sqlite_master m
		JOIN pragma_table_list l ON l.name = m.name AND l.schema = 'main'
		WHERE l.type = 'table' AND m.name NOT LIKE 'sqlite_%' AND m.name NOT IN (`+permanent+`)
		ORDER BY m.rowid DESC`)
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

// nextDues find the next row to fall due in every table that is a queue, one query each, so that
// each can use its index.
var nextDues = []string{
	`SELECT min(due_at) AS due FROM batch_items WHERE status = 'QUEUED' AND due_at IS NOT NULL AND due_at > ?1`,
	`SELECT min(due_at) FROM batch_items WHERE status = 'IN_PROGRESS' AND due_at IS NOT NULL AND due_at > ?1`,
	`SELECT min(due_at) FROM operations WHERE due_at IS NOT NULL AND due_at > ?1`,
	`SELECT min(due_at) FROM orders WHERE due_at IS NOT NULL AND due_at > ?1`,
	`SELECT min(due_at) FROM proposals WHERE due_at IS NOT NULL AND due_at > ?1`,
	`SELECT min(expires_at) FROM listings WHERE ` + expirable + ` AND expires_at > ?1`,
}

// NextDue returns when the next row of any table falls due after a time, or at all for the zero
// time, and the zero time if none will.
func (t *Tx) NextDue(after time.Time) (time.Time, error) {
	bound := int64(math.MinInt64)
	if !after.IsZero() {
		bound = after.UnixMilli()
	}
	var due time.Time
	err := t.get(`SELECT min(due) FROM (`+strings.Join(nextDues, ` UNION ALL `)+`)`,
		[]any{bound}, []any{timeColumn{&due}})
	return due, err
}
