// Package store keeps the state of the sandbox in SQLite: plain SQL behind
// typed rows, and no rules of the marketplace.
package store

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"strings"

	"github.com/pressly/goose/v3"
	_ "modernc.org/sqlite" // the database driver
)

// ErrNotFound says that there is no such row.
var ErrNotFound = errors.New("not found")

// readers is the number of connections to a file that read at the same time.
const readers = 4

//go:embed migrations/*.sql
var migrations embed.FS

// Store is one database. It is safe for concurrent use.
type Store struct {
	write *sql.DB // one connection: SQLite has one writer anyway, and waiting in line beats being turned away
	read  *sql.DB // the same as write for a database in memory, which belongs to its connection
}

// Open opens the database in a file, which is made if it does not exist, and
// brings its schema up to date. An empty path opens a new database in memory.
func Open(ctx context.Context, path string) (*Store, error) {
	s := &Store{}
	var err error
	if s.write, err = open(path, url.Values{
		"_txlock": {"immediate"}, "_journal_mode": {"WAL"}, "_synchronous": {"NORMAL"}, "_foreign_keys": {"on"},
	}); err != nil {
		return nil, err
	}
	s.write.SetMaxOpenConns(1)
	if err := migrate(ctx, s.write); err != nil {
		return nil, errors.Join(fmt.Errorf("open database %q: %w", path, err), s.write.Close())
	}
	if s.read = s.write; path != "" {
		if s.read, err = open(path, url.Values{"_query_only": {"on"}}); err != nil {
			return nil, errors.Join(err, s.write.Close())
		}
		s.read.SetMaxOpenConns(readers)
		s.read.SetMaxIdleConns(readers)
	}
	return s, nil
}

func open(path string, settings url.Values) (*sql.DB, error) {
	settings.Set("_busy_timeout", "5000")
	name := ":memory:"
	if path != "" {
		name = "file:" + (&url.URL{Path: path}).EscapedPath()
	}
	db, err := sql.Open("sqlite", name+"?"+settings.Encode())
	if err != nil {
		return nil, fmt.Errorf("open database %q: %w", path, err)
	}
	return db, nil
}

func migrate(ctx context.Context, db *sql.DB) error {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return err
	}
	p, err := goose.NewProvider(goose.DialectSQLite3, db, files, goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return err
	}
	_, err = p.Up(ctx)
	return err
}

// Close closes the database. Transactions that are under way are finished.
func (s *Store) Close() error {
	err := s.write.Close()
	if s.read != s.write {
		err = errors.Join(err, s.read.Close())
	}
	return err
}

// Update runs f in a transaction that is committed if f returns nil and rolled
// back otherwise. Writers run one at a time.
func (s *Store) Update(ctx context.Context, f func(*Tx) error) error {
	return run(ctx, s.write, f)
}

// View runs f in a transaction that sees one state of the database. f must not
// write.
func (s *Store) View(ctx context.Context, f func(*Tx) error) error {
	return run(ctx, s.read, f)
}

// run does not stop half way when ctx ends: a transaction takes milliseconds,
// and a database in memory would be gone with an interrupted connection.
func run(ctx context.Context, db *sql.DB, f func(*Tx) error) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	begun, err := db.BeginTx(context.WithoutCancel(ctx), nil)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer func() {
		// It is over already after a commit; otherwise f failed or panicked.
		if rollback := begun.Rollback(); rollback != nil && !errors.Is(rollback, sql.ErrTxDone) {
			err = errors.Join(err, fmt.Errorf("roll back: %w", rollback))
		}
	}()
	tx := &Tx{tx: begun, prepared: map[string]*sql.Stmt{}}
	if err := f(tx); err != nil {
		return err
	}
	if err := tx.saveCounter(); err != nil {
		return err
	}
	if err := begun.Commit(); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	return nil
}

// marks returns n question marks for a list of values.
func marks(n int) string {
	return strings.TrimSuffix(strings.Repeat("?,", n), ",")
}
