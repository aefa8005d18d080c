package store

import (
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"time"
)

// Tx is a transaction. Its methods must not be called concurrently, nor after
// the function it was given to has returned.
type Tx struct {
	conn    *connection
	lost    error              // why nothing can be done any more
	numbers map[string]int64   // by sequence: the last number given out; 0 before the first
	newest  time.Time          // created_at of the newest listing, once one was added
	blocks  map[block]int      // by how much listings of blocks have become more
	moved   map[int64]Progress // by batch: by how much its items in each status have become more
}

// flush writes what was collected until the end, because it takes less that way.
func (t *Tx) flush() error {
	if t.lost != nil {
		return t.lost
	}
	if err := t.saveNumbers(); err != nil {
		return err
	}
	return t.saveBlocks()
}

func (t *Tx) prepare(query string) (*sql.Stmt, error) {
	if t.lost != nil {
		return nil, t.lost
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

// list reads all rows. columns says where the columns of a row go.
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

// NextNumber returns the next number of a sequence, which begins with 1 and
// never repeats one, not even after a restart. Numbers of a transaction that is
// rolled back are given out again.
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

// ErrLost says that the database has given up the transaction, as it does when
// its disk is full or fails. Nothing more can be done in it: what is tried would
// be a transaction of its own.
var ErrLost = errors.New("the transaction is lost")

// Isolate runs f within the transaction so that nothing is left of it if it
// fails, and what was done before stays. It takes longer than f by itself. What
// f has done is in the database when it returns, so that an error is f's own, or
// ErrLost, after which the transaction can only be given up.
func (t *Tx) Isolate(f func() error) error {
	if err := t.flush(); err != nil {
		return t.lose(err)
	}
	before := *t
	before.moved, before.numbers, before.blocks = maps.Clone(t.moved), maps.Clone(t.numbers), nil
	if err := t.conn.control("SAVEPOINT one"); err != nil {
		return t.lose(err)
	}
	err := f()
	if err == nil {
		err = t.flush()
	}
	if err != nil {
		*t = before
		if back := t.conn.control("ROLLBACK TO one"); back != nil {
			return t.lose(errors.Join(err, back))
		}
	}
	if released := t.conn.control("RELEASE one"); released != nil {
		return t.lose(errors.Join(err, released))
	}
	return err
}

// lose has everything that is still tried fail.
func (t *Tx) lose(err error) error {
	t.lost = fmt.Errorf("%w: %w", ErrLost, err)
	return t.lost
}
