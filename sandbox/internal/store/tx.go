package store

import (
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"time"
)

// Tx is a transaction. Its methods must not be called concurrently, nor after the function it was
// given to has returned.
type Tx struct {
	conn       *connection
	aborted    error              // why nothing more can be done
	numbers    map[string]int64   // by sequence: the last number returned; 0 before the first
	newest     time.Time          // created_at of the newest listing, once one was added
	blocks     map[block]int      // changes of the number of listings in blocks
	itemCounts map[int64]Progress // by batch: changes of the number of its items in each status
}

// flush writes what was collected, since one write is cheaper than many.
func (t *Tx) flush() error {
	if t.aborted != nil {
		return t.aborted
	}
	if err := t.saveNumbers(); err != nil {
		return err
	}
	return t.saveBlocks()
}

func (t *Tx) prepare(query string) (*sql.Stmt, error) {
	if t.aborted != nil {
		return nil, t.aborted
	}
	return t.conn.prepare(query)
}

// run runs a statement.
func (t *Tx) run(query string, args ...any) (sql.Result, error) {
	stmt, err := t.prepare(query)
	if err != nil {
		return nil, err
	}
	result, err := stmt.Exec(args...)
	if err != nil {
		return nil, fmt.Errorf("execute %.60q: %w", query, err)
	}
	return result, nil
}

// exec runs a statement whose result does not matter.
func (t *Tx) exec(query string, args ...any) error {
	_, err := t.run(query, args...)
	return err
}

// get reads one row, or returns ErrNotFound.
func (t *Tx) get(query string, args, into []any) error {
	stmt, err := t.prepare(query)
	if err != nil {
		return err
	}
	err = stmt.QueryRow(args...).Scan(into...)
	if errors.Is(err, sql.ErrNoRows) {
		return ErrNotFound
	}
	if err != nil {
		return fmt.Errorf("query %.60q: %w", query, err)
	}
	return nil
}

// list reads all rows. columns returns where the columns of a row are scanned to.
func list[T any](t *Tx, columns func(*T) []any, query string, args ...any) ([]T, error) {
	stmt, err := t.prepare(query)
	if err != nil {
		return nil, err
	}
	rows, err := stmt.Query(args...)
	if err != nil {
		return nil, fmt.Errorf("query %.60q: %w", query, err)
	}
	defer rows.Close()
	var all []T
	for rows.Next() {
		var one T
		if err := rows.Scan(columns(&one)...); err != nil {
			return nil, fmt.Errorf("query %.60q: %w", query, err)
		}
		all = append(all, one)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("query %.60q: %w", query, err)
	}
	return all, nil
}

// NextNumber returns the next number of a sequence, beginning with 1. Numbers never repeat, not
// even after a restart, except those of a transaction that was rolled back.
func (t *Tx) NextNumber(sequence string) (int64, error) {
	n, known := t.numbers[sequence]
	if !known {
		err := t.get(`SELECT value FROM counters WHERE name = ?`, []any{sequence}, []any{&n})
		if err != nil && !errors.Is(err, ErrNotFound) {
			return 0, err
		}
		if t.numbers == nil {
			t.numbers = map[string]int64{}
		}
	}
	n++
	t.numbers[sequence] = n
	return n, nil
}

func (t *Tx) saveNumbers() error {
	for sequence, n := range t.numbers {
		err := t.exec(`INSERT INTO counters (name, value) VALUES (?, ?)
			ON CONFLICT (name) DO UPDATE SET value = excluded.value`, sequence, n)
		if err != nil {
			return err
		}
	}
	return nil
}

// ErrAborted reports that the database has rolled the transaction back, as it does when its disk is
// full or fails. Every method fails with it from then on: a statement would run in a transaction of
// its own.
var ErrAborted = errors.New("the transaction was aborted")

// Savepoint runs f within the transaction and undoes what f did if it fails; what was done before
// stays. What f did is in the database when Savepoint returns. The error is that of f, or
// [ErrAborted], after which the transaction can only be rolled back. It takes longer than f alone.
func (t *Tx) Savepoint(f func() error) error {
	if err := t.flush(); err != nil {
		return t.abort(err)
	}
	before := *t
	before.numbers, before.itemCounts, before.blocks = maps.Clone(t.numbers), maps.Clone(t.itemCounts), nil
	if err := t.conn.control("SAVEPOINT one"); err != nil {
		return t.abort(err)
	}
	err := f()
	if err == nil {
		err = t.flush()
	}
	if err != nil {
		*t = before
		if undo := t.conn.control("ROLLBACK TO one"); undo != nil {
			return t.abort(errors.Join(err, undo))
		}
	}
	if release := t.conn.control("RELEASE one"); release != nil {
		return t.abort(errors.Join(err, release))
	}
	return err
}

func (t *Tx) abort(err error) error {
	t.aborted = fmt.Errorf("%w: %w", ErrAborted, err)
	return t.aborted
}
