// Package db is the database of the ledger and of its jobs: SQLite in a file, which several
// processes share, or PostgreSQL. Ledger rows and jobs are written in one transaction.
//
// Any process may open the database and write to it. Jobs are worked by one process at a time if it
// is a file (see [DB.Work]), and by any number of them on PostgreSQL.
package db

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/riverqueue/river"
)

var (
	// ErrNewerSchema reports that the database was migrated by a newer program.
	ErrNewerSchema = errors.New("schema is newer than this program")
	// ErrWorking reports that another process, or this one, already works the jobs of a file.
	ErrWorking = errors.New("another worker is running")
	// ErrFenced reports that a newer worker has taken an account over.
	ErrFenced = errors.New("the account was taken over by another worker")
)

// memory is the name of a new database in memory.
const memory = ":memory:"

// Config describes a database.
type Config struct {
	// Database is the path of a SQLite file, which is created with mode 0600 if it does not exist,
	// ":memory:", or a URL that begins with postgres:// or postgresql://.
	Database string
	// Migrations are the schemas of the packages that use the database, in the order in which they
	// refer to each other. They are followed by those of this package and of River.
	Migrations []Migrations
	// Logger receives the warnings and errors of the jobs. Nil discards them.
	Logger *slog.Logger
}

// Migrations are the numbered goose migrations of one schema.
type Migrations struct {
	Name  string // Names the table of versions: letters and underscores.
	Files fs.FS  // Files such as 00001_rows.sql, in its root.
}

// Reader reads the database. Queries use $1 placeholders, which both engines accept.
type Reader interface {
	// Query runs a query. The caller closes the rows. Until then a transaction on PostgreSQL can
	// run nothing else.
	Query(ctx context.Context, query string, args ...any) (Rows, error)
}

// Tx is a transaction. It must not be used concurrently, nor after its function has returned.
type Tx interface {
	Reader
	// Exec runs a statement and returns the number of rows that it changed.
	Exec(ctx context.Context, query string, args ...any) (int64, error)
	// Insert adds a job that workers see when the transaction commits. See [DB.Work] for how jobs
	// are unique. A job that is there already, and due later than this one, becomes due at once.
	Insert(ctx context.Context, args river.JobArgs, opts *river.InsertOpts) error
}

// Rows are the rows of a query, as those of database/sql and pgx.
type Rows interface {
	Next() bool
	Scan(dest ...any) error
	Err() error
	Close()
}

// DB is an open database. It is safe for concurrent use.
type DB struct {
	engine engine
	log    *slog.Logger

	mu      sync.Mutex
	working bool
}

// engine is what differs between SQLite and PostgreSQL.
type engine interface {
	migrate(context.Context, []Migrations, *slog.Logger) error
	update(context.Context, func(Tx) error) error
	view(context.Context, func(Reader) error) error
	// newWorker returns a client that works jobs once it is started, and takes what unlock
	// releases.
	newWorker(context.Context, *river.Config) (w jobClient, unlock func() error, err error)
	shared() bool
	manyWorkers() bool // Several workers at a time work one database.
	now(context.Context, Reader) (time.Time, error)
	close() error
}

//go:embed migrations/*.sql
var migrations embed.FS

// Open opens a database and migrates its schema. Processes that open it at the same time migrate it
// one after the other.
func Open(ctx context.Context, c Config) (*DB, error) {
	log := slog.New(slog.DiscardHandler)
	if c.Logger != nil {
		log = slog.New(warnings{c.Logger.Handler()})
	}
	own, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return nil, err
	}
	schemas := append(slices.Clip(c.Migrations), Migrations{Name: "db", Files: own})
	e, err := openEngine(ctx, c.Database, log)
	if err != nil {
		return nil, err
	}
	if err := e.migrate(ctx, schemas, log); err != nil {
		return nil, errors.Join(fmt.Errorf("migrate database: %w", err), e.close())
	}
	return &DB{engine: e, log: log}, nil
}

func openEngine(ctx context.Context, name string, log *slog.Logger) (engine, error) {
	if strings.HasPrefix(name, "postgres://") || strings.HasPrefix(name, "postgresql://") {
		return openPostgres(ctx, name, log)
	}
	s, err := openSQLite(name, log)
	if err != nil {
		return nil, fmt.Errorf("open database (%q): %w", name, err)
	}
	return s, nil
}

// Close closes the database. Stop its worker first.
func (d *DB) Close() error { return d.engine.close() }

// Shared reports whether other processes can use the database.
func (d *DB) Shared() bool { return d.engine.shared() }

// ManyWorkers reports whether several workers at a time work the database.
func (d *DB) ManyWorkers() bool { return d.engine.manyWorkers() }

// Now returns the time by the clock that all processes of the database share: that of the machine
// for a file, that of the server for PostgreSQL.
func (d *DB) Now(ctx context.Context, r Reader) (time.Time, error) { return d.engine.now(ctx, r) }

// Tx runs f in a transaction that is committed if f returns nil and rolled back otherwise. f must
// use neither Tx nor View of the same database.
//
// On SQLite one transaction writes at a time, over all processes, and once it has begun, it does
// not end with ctx.
func (d *DB) Tx(ctx context.Context, f func(Tx) error) error { return d.engine.update(ctx, f) }

// View runs f in a transaction that reads one state of the database. It neither waits for writers
// nor makes them wait, except in memory, where it is a transaction like others. The rows of a query
// are read as they are needed, so that a long result takes no memory. As long as f runs, the
// journal of a file grows with what is written.
func (d *DB) View(ctx context.Context, f func(Reader) error) error { return d.engine.view(ctx, f) }

// Get scans the first row of a query and reports whether there is one.
func Get(ctx context.Context, r Reader, dest []any, query string, args ...any) (bool, error) {
	rows, err := r.Query(ctx, query, args...)
	if err != nil {
		return false, err
	}
	defer rows.Close()
	if !rows.Next() {
		return false, rows.Err()
	}
	if err := rows.Scan(dest...); err != nil {
		return false, err
	}
	rows.Close() // reports what is wrong after the first row
	return true, rows.Err()
}

// warnings passes the records of River from warnings up: its information is about every poll.
type warnings struct{ slog.Handler }

func (w warnings) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn && w.Handler.Enabled(ctx, level)
}

func (w warnings) WithAttrs(attrs []slog.Attr) slog.Handler {
	return warnings{w.Handler.WithAttrs(attrs)}
}

func (w warnings) WithGroup(name string) slog.Handler { return warnings{w.Handler.WithGroup(name)} }
