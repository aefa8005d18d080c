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
	"sync"

	"github.com/pressly/goose/v3"
	_ "modernc.org/sqlite" // the database driver
)

var (
	// ErrNotFound says that there is no such row.
	ErrNotFound = errors.New("not found")
	// ErrClosed says that the store was closed before a transaction began.
	ErrClosed = errors.New("the database is closed")
)

// readers is the number of connections to a file that read at the same time.
// They wait neither for each other nor for the writer.
const readers = 4

//go:embed migrations/*.sql
var migrations embed.FS

// Store is one database. It is safe for concurrent use.
type Store struct {
	write *pool // of one: SQLite has one writer anyway, and waiting in line beats being turned away
	read  *pool // the same as write for a database in memory, which belongs to its connection
	stop  func() error
}

// Open opens the database in a file, which is made if it does not exist, and
// brings its schema up to date. An empty path opens a new database in memory.
//
// A commit to a file survives the end of the process, however violent; a power
// cut may take the last ones back.
func Open(ctx context.Context, path string) (*Store, error) {
	s := &Store{}
	s.stop = sync.OnceValue(s.closePools)
	var err error
	if s.write, err = openPool(ctx, path, 1, url.Values{
		"_journal_mode": {"WAL"}, "_synchronous": {"NORMAL"}, "_foreign_keys": {"on"},
		// What is written to all the time, the ends of the indexes, stays in the cache,
		// and is copied from the journal to its place once for many transactions.
		"_pragma": {"cache_size(-65536)", "wal_autocheckpoint(4000)"},
	}, migrate); err != nil {
		return nil, fmt.Errorf("open database %q: %w", path, err)
	}
	if s.read = s.write; path != "" {
		settings := url.Values{"_query_only": {"on"}, "_pragma": {"cache_size(-8192)"}}
		s.read, err = openPool(ctx, path, readers, settings, func(context.Context, *sql.DB) error { return nil })
		if err != nil {
			return nil, errors.Join(fmt.Errorf("open database %q to read: %w", path, err), s.write.close())
		}
	}
	return s, nil
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
	if _, err = p.Up(ctx); err != nil {
		return err
	}
	return guard(ctx, db)
}

// Close closes the database. Transactions that are under way are finished, and
// new ones fail with ErrClosed.
func (s *Store) Close() error { return s.stop() }

func (s *Store) closePools() error {
	if s.read == s.write {
		return s.write.close()
	}
	return errors.Join(s.read.close(), s.write.close()) // the writer last, to tidy the file up
}

// Update runs f in a transaction that is committed if f returns nil and rolled
// back otherwise. Writers run one at a time, in the order they came.
func (s *Store) Update(ctx context.Context, f func(*Tx) error) error {
	return run(ctx, s.write, "BEGIN IMMEDIATE", f)
}

// View runs f in a transaction that sees one state of the database. f must not
// write.
func (s *Store) View(ctx context.Context, f func(*Tx) error) error {
	return run(ctx, s.read, "BEGIN", f)
}

// run does not stop half way when ctx ends: a transaction takes milliseconds,
// and a database in memory would be gone with an interrupted connection.
func run(ctx context.Context, p *pool, begin string, f func(*Tx) error) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	c, err := p.lend(ctx)
	if err != nil {
		return err
	}
	defer p.giveBack(c)
	if err := c.control(begin); err != nil {
		return err
	}
	committed := false
	defer func() {
		if committed {
			return
		}
		if rollback := c.control("ROLLBACK"); rollback != nil { // f failed or panicked, or the commit failed
			err = errors.Join(err, rollback)
		}
	}()
	tx := &Tx{conn: c}
	if err := f(tx); err != nil {
		return err
	}
	if err := tx.flush(); err != nil {
		return err
	}
	err = c.control("COMMIT")
	committed = err == nil
	return err
}

// marks returns n question marks for a list of values.
func marks(n int) string {
	return strings.TrimSuffix(strings.Repeat("?,", n), ",")
}
