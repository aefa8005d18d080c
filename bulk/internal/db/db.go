// Package db is the database of the ledger and of its jobs: SQLite in a file or, later, PostgreSQL.
// Ledger rows and jobs are written in one transaction.
package db

import (
	"context"

	"github.com/riverqueue/river"
)

// Tx is a transaction. Queries use $1 placeholders, which both engines accept.
type Tx interface {
	// Exec runs a statement and returns the number of rows that it changed.
	Exec(ctx context.Context, query string, args ...any) (int64, error)
	// Query runs a query. The caller closes the rows.
	Query(ctx context.Context, query string, args ...any) (Rows, error)
	// Insert adds a job that is visible to workers when the transaction commits.
	Insert(ctx context.Context, args river.JobArgs, opts *river.InsertOpts) error
}

// Rows are the rows of a query, as those of database/sql and pgx.
type Rows interface {
	Next() bool
	Scan(dest ...any) error
	Err() error
	Close()
}
