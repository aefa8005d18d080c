package store

import (
	"database/sql"
	"errors"
	"fmt"
)

// Tx is a transaction. Its methods must not be called concurrently, nor after
// the function it was given to has returned.
type Tx struct {
	tx       *sql.Tx
	prepared map[string]*sql.Stmt // by text: the worker runs the same few over and over
	counter  int64                // last number given out; 0 before the first
	counted  bool
}

func (t *Tx) prepare(query string) (*sql.Stmt, error) {
	if stmt, ok := t.prepared[query]; ok {
		return stmt, nil
	}
	stmt, err := t.tx.Prepare(query)
	if err != nil {
		return nil, fmt.Errorf("prepare %.60q: %w", query, err)
	}
	t.prepared[query] = stmt
	return stmt, nil
}

// exec runs a statement.
func (t *Tx) exec(query string, args ...any) error {
	stmt, err := t.prepare(query)
	if err != nil {
		return err
	}
	if _, err := stmt.Exec(args...); err != nil {
		return fmt.Errorf("execute %.60q: %w", query, err)
	}
	return nil
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

// NextNumber returns the next number of a sequence that never repeats, not even
// after a restart. Numbers of a transaction that is rolled back are given out
// again.
func (t *Tx) NextNumber() (int64, error) {
	if !t.counted {
		err := t.get(`SELECT value FROM counters WHERE name = 'ids'`, nil, []any{&t.counter})
		if err != nil && !errors.Is(err, ErrNotFound) {
			return 0, err
		}
		t.counted = true
	}
	t.counter++
	return t.counter, nil
}

func (t *Tx) saveCounter() error {
	if !t.counted {
		return nil
	}
	err := t.exec(`INSERT INTO counters (name, value) VALUES ('ids', ?)
		ON CONFLICT (name) DO UPDATE SET value = excluded.value`, t.counter)
	return err
}
