// Package store keeps the state of the sandbox in SQLite: plain SQL behind typed rows, and no rules
// of the marketplace.
package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"sync"

	_ "modernc.org/sqlite" // the database driver

	"github.com/sellside-sdk/sellside-go/internal/sqlitefile"
)

var (
	// ErrNotFound reports that there is no such row.
	ErrNotFound = errors.New("not found")
	// ErrClosed reports that the store was closed before a transaction began.
	ErrClosed = errors.New("the database is closed")
)

// readers is the number of connections that read a file at the same time. They wait neither for
// each other nor for the writer.
const readers = 4

// Store is one database. It is safe for concurrent use.
type Store struct {
	write  *pool // one connection, since SQLite has one writer
	read   *pool // the same as write for a database in memory, which only one connection sees
	unlock func() error
	stop   func() error
}

// Open opens the database in a file, which is created if it does not exist, and migrates its
// schema. It returns ErrInUse if another store has the file open, and ErrNewerSchema if a newer
// program has written it. A path that is empty or :memory: opens a new database in memory.
//
// A commit to a file survives a killed process; a power failure may undo the last ones.
func Open(ctx context.Context, path string) (*Store, error) {
	s := &Store{unlock: func() error { return nil }}
	s.stop = sync.OnceValue(s.closePools)
	if path == "" || path == memory {
		var err error
		if s.write, err = openWriter(ctx, memory); err != nil {
			return nil, fmt.Errorf("open database in memory: %w", err)
		}
		s.read = s.write
		return s, nil
	}
	if err := s.openFile(ctx, path); err != nil {
		return nil, fmt.Errorf("open database %q: %w", path, err)
	}
	return s, nil
}

func (s *Store) openFile(ctx context.Context, path string) error {
	file, err := sqlitefile.Resolve(path)
	if err != nil {
		return err
	}
	if s.unlock, err = lockFile(ctx, file); err != nil {
		return err
	}
	if err := sqlitefile.Create(file); err != nil {
		return errors.Join(err, s.unlock())
	}
	if s.write, err = openWriter(ctx, sqlitefile.URI(file)); err != nil {
		return errors.Join(err, s.unlock())
	}
	settings := url.Values{"_query_only": {"on"}, "_pragma": {"cache_size(-8192)"}}
	prepare := func(context.Context, *sql.DB) error { return nil }
	if s.read, err = openPool(ctx, sqlitefile.URI(file), readers, settings, prepare); err != nil {
		return errors.Join(err, s.write.close(), s.unlock())
	}
	return nil
}

// openWriter opens the connection that writes, after it has migrated the schema.
func openWriter(ctx context.Context, name string) (*pool, error) {
	return openPool(ctx, name, 1, url.Values{
		"_journal_mode": {"WAL"}, "_synchronous": {"NORMAL"}, "_foreign_keys": {"on"},
		// The pages that every transaction writes, the ends of the indexes, stay in the cache and
		// are copied from the journal to the file once for many transactions.
		"_pragma": {"cache_size(-65536)", "wal_autocheckpoint(4000)"},
	}, migrate)
}

// Close closes the database. Running transactions finish, new ones fail with ErrClosed.
func (s *Store) Close() error { return s.stop() }

func (s *Store) closePools() error {
	if s.read == s.write {
		return s.write.close()
	}
	// The last one to close removes the journal.
	return errors.Join(s.read.close(), s.write.close(), s.unlock())
}

// CheckWrite returns an error if the database cannot be written, as when its disk is full.
func (s *Store) CheckWrite(ctx context.Context) error {
	return s.Update(ctx, func(tx *Tx) error {
		return tx.exec(`INSERT INTO counters (name, value) VALUES ('health', 1)
			ON CONFLICT (name) DO UPDATE SET value = value + 1`)
	})
}

// Update runs f in a transaction that is committed if f returns nil and rolled back otherwise.
// Writers run one at a time, in the order of their calls.
func (s *Store) Update(ctx context.Context, f func(*Tx) error) error {
	return run(ctx, s.write, "BEGIN IMMEDIATE", f)
}

// View runs f in a transaction that sees one state of the database. f must not write.
func (s *Store) View(ctx context.Context, f func(*Tx) error) error {
	return run(ctx, s.read, "BEGIN", f)
}

// run does not stop when ctx ends while f runs: a transaction takes milliseconds, and an
// interrupted connection would take a database in memory with it.
func run(ctx context.Context, p *pool, begin string, f func(*Tx) error) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	c, err := p.acquire(ctx)
	if err != nil {
		return err
	}
	defer p.release(c)
	if err := c.control(begin); err != nil {
		return err
	}
	committed := false
	defer func() {
		if committed {
			return
		}
		// f failed or panicked, or the commit failed.
		if rollback := c.control("ROLLBACK"); rollback != nil {
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
