// Package ledger keeps what an account wants, has and has sent: desired rows, listings, submissions,
// runs and sales. It does no I/O but that of its database and decides nothing.
package ledger

import (
	"context"
	"embed"
	"errors"
	"io/fs"
	"strconv"
	"strings"
	"time"

	"github.com/riverqueue/river"

	"github.com/sellside-sdk/sellside-go/bulk/internal/db"
)

//go:embed migrations/*.sql
var files embed.FS

// Migrations returns the goose migrations of the ledger.
func Migrations() fs.FS {
	sub, err := fs.Sub(files, "migrations")
	if err != nil {
		return files // the directory is embedded above
	}
	return sub
}

// Ledger is the ledger of one account. It is safe for concurrent use.
type Ledger struct {
	database *db.DB
	account  string
}

// New returns the ledger of an account in a database that has the tables of [Migrations].
func New(database *db.DB, account string) *Ledger { return &Ledger{database, account} }

// Account returns the name of the account.
func (l *Ledger) Account() string { return l.account }

// Do runs a transaction. If run returns an error, nothing of it is kept.
func (l *Ledger) Do(ctx context.Context, run func(context.Context, Tx) error) error {
	return l.database.Tx(ctx, func(tx db.Tx) error { return run(ctx, Tx{tx, l.account}) })
}

// View runs a transaction that only reads, and does not wait for those that write.
func (l *Ledger) View(ctx context.Context, run func(context.Context, Tx) error) error {
	return l.database.View(ctx, func(r db.Reader) error { return run(ctx, Tx{readOnly{r}, l.account}) })
}

// errReadOnly reports a write in [Ledger.View].
var errReadOnly = errors.New("the transaction only reads")

// readOnly is a reader as a transaction.
type readOnly struct{ db.Reader }

// Exec implements [db.Tx].
func (readOnly) Exec(context.Context, string, ...any) (int64, error) { return 0, errReadOnly }

// Insert implements [db.Tx].
func (readOnly) Insert(context.Context, river.JobArgs, *river.InsertOpts) error { return errReadOnly }

// Read runs a transaction that only reads and returns a value.
func Read[T any](ctx context.Context, l *Ledger, read func(context.Context, Tx) (T, error)) (T, error) {
	var value T
	err := l.View(ctx, func(ctx context.Context, tx Tx) (err error) {
		value, err = read(ctx, tx)
		return err
	})
	return value, err
}

// Tx is a transaction on the ledger of one account.
type Tx struct {
	db.Tx
	account string
}

// Account is the state of an account.
type Account struct {
	Generation int64 // Of the newest plan.
	Run        int64 // The run that may submit what that plan owes; 0 if there is none.
}

// State returns the state of the account.
func (tx Tx) State(ctx context.Context) (Account, error) {
	found, err := one(ctx, tx, func(rows db.Rows) (a Account, err error) {
		return a, rows.Scan(&a.Generation, &a.Run)
	}, `SELECT generation, run FROM accounts WHERE account = $1`, tx.account)
	return deref(found), err
}

// NewGeneration begins a plan. No run may submit anything until [Tx.StartRun].
func (tx Tx) NewGeneration(ctx context.Context) (int64, error) {
	_, err := tx.Exec(ctx, `INSERT INTO accounts (account, generation, run, last_run) VALUES ($1, 1, 0, 0)
		ON CONFLICT (account) DO UPDATE SET generation = accounts.generation + 1, run = 0`, tx.account)
	if err != nil {
		return 0, err
	}
	a, err := tx.State(ctx)
	return a.Generation, err
}

// Mark returns a mark, "" if it was never set.
func (tx Tx) Mark(ctx context.Context, name string) (string, error) {
	value, err := one(ctx, tx, text, `SELECT value FROM marks WHERE account = $1 AND name = $2`, tx.account, name)
	return deref(value), err
}

// SetMark sets a mark.
func (tx Tx) SetMark(ctx context.Context, name, value string) error {
	_, err := tx.Exec(ctx, `INSERT INTO marks (account, name, value) VALUES ($1, $2, $3)
		ON CONFLICT (account, name) DO UPDATE SET value = excluded.value`, tx.account, name, value)
	return err
}

// TimeMark returns a mark that is a time, zero if it was never set.
func (tx Tx) TimeMark(ctx context.Context, name string) (time.Time, error) {
	value, err := tx.Mark(ctx, name)
	if err != nil || value == "" {
		return time.Time{}, err
	}
	ms, err := strconv.ParseInt(value, 10, 64)
	return fromMillis(ms), err
}

// SetTimeMark sets a mark that is a time.
func (tx Tx) SetTimeMark(ctx context.Context, name string, at time.Time) error {
	return tx.SetMark(ctx, name, strconv.FormatInt(millis(at), 10))
}

// IntMark returns a mark that is a number, 0 if it was never set.
func (tx Tx) IntMark(ctx context.Context, name string) (int64, error) {
	value, err := tx.Mark(ctx, name)
	if err != nil || value == "" {
		return 0, err
	}
	return strconv.ParseInt(value, 10, 64)
}

// SetIntMark sets a mark that is a number.
func (tx Tx) SetIntMark(ctx context.Context, name string, n int64) error {
	return tx.SetMark(ctx, name, strconv.FormatInt(n, 10))
}

// list returns the rows of a query.
func list[T any](
	ctx context.Context, tx Tx, scan func(db.Rows) (T, error), query string, args ...any,
) ([]T, error) {
	rows, err := tx.Query(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []T
	for rows.Next() {
		value, err := scan(rows)
		if err != nil {
			return nil, err
		}
		all = append(all, value)
	}
	return all, rows.Err()
}

// one returns the first row of a query, nil if it has none.
func one[T any](
	ctx context.Context, tx Tx, scan func(db.Rows) (T, error), query string, args ...any,
) (*T, error) {
	all, err := list(ctx, tx, scan, query, args...)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	return &all[0], nil
}

func text(rows db.Rows) (s string, err error) { return s, rows.Scan(&s) }

func number(rows db.Rows) (n int64, err error) { return n, rows.Scan(&n) }

func deref[T any](p *T) (value T) {
	if p != nil {
		value = *p
	}
	return value
}

// numbers returns the placeholders from $first on, separated by commas.
func numbers(first, n int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteByte('$')
		b.WriteString(strconv.Itoa(first + i))
	}
	return b.String()
}

// with returns the account and values as arguments.
func (tx Tx) with(values []string, first ...any) []any {
	args := append(make([]any, 0, 1+len(first)+len(values)), tx.account)
	args = append(args, first...)
	for _, v := range values {
		args = append(args, v)
	}
	return args
}

func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

func fromMillis(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

func flag(b bool) int64 {
	if b {
		return 1
	}
	return 0
}
