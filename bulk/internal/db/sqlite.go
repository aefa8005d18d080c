package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"time"

	"github.com/pressly/goose/v3"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riversqlite"
	_ "modernc.org/sqlite" // the database driver

	"github.com/sellside-sdk/sellside-go/internal/sqlitefile"
)

// readers is the number of connections that read a file at the same time.
const readers = 4

// sqlite is a database in a file or in memory. River needs a single connection, which is also that
// of every transaction: SQLite has one writer.
type sqlite struct {
	file     string // Empty for a database in memory.
	write    *sql.DB
	read     *sql.DB // The same as write for a database in memory.
	inserter *river.Client[*sql.Tx]
}

func openSQLite(path string, log *slog.Logger) (_ *sqlite, err error) {
	s := &sqlite{}
	name := memory
	if path != memory {
		if s.file, err = sqlitefile.Resolve(path); err != nil {
			return nil, err
		}
		if err := sqlitefile.Create(s.file); err != nil {
			return nil, err
		}
		name = sqlitefile.URI(s.file)
	}
	// A submission that is recorded must not be lost with the power, so each commit is synced.
	s.write, err = openPool(name, 1, url.Values{
		"_journal_mode": {"WAL"}, "_synchronous": {"FULL"}, "_foreign_keys": {"on"}, "_txlock": {"immediate"},
		"_pragma": {"cache_size(-65536)"},
	})
	if err != nil {
		return nil, err
	}
	s.read = s.write
	if s.file != "" {
		s.read, err = openPool(name, readers, url.Values{
			"_query_only": {"on"}, "_pragma": {"cache_size(-8192)"},
		})
		if err != nil {
			return nil, errors.Join(err, s.write.Close())
		}
	}
	s.inserter, err = river.NewClient(riversqlite.New(s.write), &river.Config{Logger: log, Test: processTime})
	if err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

// openPool opens a pool of n connections, which stay open.
func openPool(name string, n int, settings url.Values) (*sql.DB, error) {
	settings.Set("_busy_timeout", "10000") // other processes write for milliseconds
	pool, err := sql.Open("sqlite", name+"?"+settings.Encode())
	if err != nil {
		return nil, err
	}
	pool.SetMaxOpenConns(n)
	pool.SetMaxIdleConns(n)
	return pool, nil
}

func (s *sqlite) shared() bool { return s.file != "" }

func (s *sqlite) manyWorkers() bool { return false }

func (s *sqlite) now(context.Context, Reader) (time.Time, error) { return time.Now(), nil }

func (s *sqlite) close() error {
	if s.read == s.write {
		return s.write.Close()
	}
	return errors.Join(s.read.Close(), s.write.Close())
}

func (s *sqlite) migrate(ctx context.Context, schemas []Migrations, log *slog.Logger) error {
	if s.file != "" {
		unlock, err := waitForLock(ctx, s.file+"-migrate-lock")
		if err != nil {
			return err
		}
		defer func() { _ = unlock() }() // nothing is written to its file
	}
	return migrate(ctx, goose.DialectSQLite3, s.write, riversqlite.New(s.write), schemas, log)
}

// waitForLock waits for the lock of a file. Each holder has it for a moment.
func waitForLock(ctx context.Context, file string) (unlock func() error, err error) {
	for {
		unlock, err = sqlitefile.Lock(ctx, file)
		if !errors.Is(err, sqlitefile.ErrLocked) {
			return unlock, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func (s *sqlite) update(ctx context.Context, f func(Tx) error) error {
	return s.run(ctx, s.write, false, func(t *sqliteTx) error { return f(t) })
}

func (s *sqlite) view(ctx context.Context, f func(Reader) error) error {
	return s.run(ctx, s.read, true, func(t *sqliteTx) error { return f(t) })
}

// run runs f in a transaction. It waits for a connection until ctx ends. What f runs is not
// interrupted, because SQLite rolls back the transaction of an interrupted statement and would
// commit the next one alone.
func (s *sqlite) run(ctx context.Context, pool *sql.DB, readOnly bool, f func(*sqliteTx) error) error {
	conn, err := pool.Conn(ctx)
	if err != nil {
		return fmt.Errorf("begin transaction: %w", err)
	}
	defer func() { _ = conn.Close() }() // returns it to the pool
	tx, err := conn.BeginTx(context.WithoutCancel(ctx), &sql.TxOptions{ReadOnly: readOnly})
	if err != nil {
		return fmt.Errorf("begin transaction: %w", err)
	}
	defer tx.Rollback() // does nothing after a commit
	if err := f(&sqliteTx{tx: tx, inserter: s.inserter, prepared: map[string]*sql.Stmt{}}); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("commit transaction: %w", err)
	}
	return nil
}

// maxPrepared is the most statements that a transaction keeps prepared.
const maxPrepared = 100

// sqliteTx is a [Tx] on SQLite.
type sqliteTx struct {
	tx       *sql.Tx
	inserter *river.Client[*sql.Tx]
	prepared map[string]*sql.Stmt // By text, of statements that ran before; nil after the first run.
}

func (t *sqliteTx) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	ctx = context.WithoutCancel(ctx)
	result, err := t.exec(ctx, query, args)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// exec prepares a statement when it runs for the second time.
func (t *sqliteTx) exec(ctx context.Context, query string, args []any) (sql.Result, error) {
	stmt, again := t.prepared[query]
	if !again || len(t.prepared) > maxPrepared {
		t.prepared[query] = nil
		return t.tx.ExecContext(ctx, query, args...)
	}
	if stmt == nil {
		var err error
		if stmt, err = t.tx.PrepareContext(ctx, query); err != nil {
			return nil, err
		}
		t.prepared[query] = stmt // closed with the transaction
	}
	return stmt.ExecContext(ctx, args...)
}

func (t *sqliteTx) Query(ctx context.Context, query string, args ...any) (Rows, error) {
	rows, err := t.tx.QueryContext(context.WithoutCancel(ctx), query, args...) //nolint:rowserrcheck // the caller checks
	if err != nil {
		return nil, err
	}
	return sqliteRows{rows}, nil
}

func (t *sqliteTx) Insert(ctx context.Context, args river.JobArgs, opts *river.InsertOpts) error {
	return insert(context.WithoutCancel(ctx), t.inserter, t.tx, args, opts)
}

// sqliteRows are [Rows] of SQLite. What Close returns, Err returns too.
type sqliteRows struct{ *sql.Rows }

func (r sqliteRows) Close() { _ = r.Rows.Close() }

// newWorker locks the file for the only worker, and prepares the jobs of the worker before.
func (s *sqlite) newWorker(ctx context.Context, c *river.Config) (jobClient, func() error, error) {
	unlock := func() error { return nil }
	if s.file != "" {
		var err error
		unlock, err = sqlitefile.Lock(ctx, s.file+"-worker-lock")
		if errors.Is(err, sqlitefile.ErrLocked) {
			return nil, nil, ErrWorking
		}
		if err != nil {
			return nil, nil, err
		}
	}
	if err := s.update(ctx, func(tx Tx) error { return resume(ctx, tx) }); err != nil {
		return nil, nil, errors.Join(err, unlock())
	}
	c.PollOnly = true
	c.Test = processTime
	client, err := river.NewClient(riversqlite.New(s.write), c)
	if err != nil {
		return nil, nil, errors.Join(err, unlock())
	}
	return client, unlock, nil
}

// resume makes the jobs of a worker that was killed ready at once. Without it they wait until the
// worker's leadership has run out, and then for a rescue. The caller must have the lock of the
// worker, so that no other worker runs. A job does not lose an attempt by a killed worker.
func resume(ctx context.Context, tx Tx) error {
	for _, statement := range []string{
		`DELETE FROM river_leader`,
		`UPDATE river_job SET state = 'available', attempt = max(attempt - 1, 0) WHERE state = 'running'`,
		// Jobs that are due later are fetched when they are due; only the leader would move them.
		`UPDATE river_job SET state = 'available' WHERE state IN ('scheduled', 'retryable')`,
	} {
		if _, err := tx.Exec(ctx, statement); err != nil {
			return fmt.Errorf("resume jobs: %w", err)
		}
	}
	return nil
}

// processTime makes River take the time from this process, which is the only one that works on the
// file, instead of from SQLite. In a test that simulates time the two differ.
var processTime = river.TestConfig{Time: processClock{}}

type processClock struct{}

func (processClock) Now() time.Time       { return time.Now() }
func (processClock) NowOrNil() *time.Time { return new(time.Now()) }
