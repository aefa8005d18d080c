package db

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
)

// migrationLock is the key of the advisory lock for migrations.
const migrationLock = 0x5e115

// postgres is a database on PostgreSQL. Its transactions are read committed: those that decide by
// what they read lock it, as [LockFence] does.
type postgres struct {
	pool     *pgxpool.Pool
	inserter *river.Client[pgx.Tx]
}

// openPostgres connects to a database. Its errors do not name the URL, which may have a password.
func openPostgres(ctx context.Context, url string, log *slog.Logger) (*postgres, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, errors.New("open database: malformed PostgreSQL URL")
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	inserter, err := river.NewClient(riverpgxv5.New(pool), &river.Config{Logger: log})
	if err != nil {
		pool.Close()
		return nil, err
	}
	return &postgres{pool, inserter}, nil
}

func (p *postgres) shared() bool { return true }

func (p *postgres) manyWorkers() bool { return true }

func (p *postgres) now(ctx context.Context, r Reader) (time.Time, error) {
	var micros int64
	_, err := Get(ctx, r, []any{&micros}, `SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint`)
	return time.UnixMicro(micros), err
}

func (p *postgres) close() error {
	p.pool.Close()
	return nil
}

func (p *postgres) migrate(ctx context.Context, schemas []Migrations, log *slog.Logger) error {
	conn, err := p.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	if _, err := conn.Exec(ctx, `SELECT pg_advisory_lock($1)`, migrationLock); err != nil {
		return err
	}
	pool := stdlib.OpenDBFromPool(p.pool)
	err = migrate(ctx, goose.DialectPostgres, pool, riverpgxv5.New(p.pool), schemas, log)
	_, unlockErr := conn.Exec(context.WithoutCancel(ctx), `SELECT pg_advisory_unlock($1)`, migrationLock)
	return errors.Join(err, unlockErr, pool.Close())
}

func (p *postgres) update(ctx context.Context, f func(Tx) error) error {
	return pgx.BeginFunc(ctx, p.pool, func(tx pgx.Tx) error { return f(postgresTx{tx, p.inserter}) })
}

func (p *postgres) view(ctx context.Context, f func(Reader) error) error {
	options := pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
	return pgx.BeginTxFunc(ctx, p.pool, options, func(tx pgx.Tx) error { return f(postgresTx{tx, p.inserter}) })
}

// newWorker returns a client. Any number of them work one database, and poll, since their jobs are
// due at times rather than at events.
func (p *postgres) newWorker(_ context.Context, c *river.Config) (jobClient, func() error, error) {
	c.PollOnly = true
	client, err := river.NewClient(riverpgxv5.New(p.pool), c)
	return client, func() error { return nil }, err
}

// postgresTx is a [Tx] on PostgreSQL.
type postgresTx struct {
	tx       pgx.Tx
	inserter *river.Client[pgx.Tx]
}

func (t postgresTx) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	tag, err := t.tx.Exec(ctx, query, args...)
	return tag.RowsAffected(), err
}

func (t postgresTx) Query(ctx context.Context, query string, args ...any) (Rows, error) {
	return t.tx.Query(ctx, query, args...) //nolint:sqlclosecheck // the caller closes the rows
}

func (t postgresTx) Insert(ctx context.Context, args river.JobArgs, opts *river.InsertOpts) error {
	return insert(ctx, t.inserter, t.tx, args, opts)
}
