package store

import (
	"errors"
	"maps"
)

// Isolate runs f within the transaction so that nothing is left of it if it
// fails, and what was done before stays. It takes longer than f by itself. What
// f has done is in the database when it returns, so that an error is f's own.
func (t *Tx) Isolate(f func() error) error {
	if err := t.flush(); err != nil {
		return err
	}
	before := *t
	before.moved, before.numbers, before.blocks = maps.Clone(t.moved), maps.Clone(t.numbers), nil
	if err := t.conn.control("SAVEPOINT one"); err != nil {
		return err
	}
	err := f()
	if err == nil {
		err = t.flush()
	}
	if err != nil {
		*t = before
		err = errors.Join(err, t.conn.control("ROLLBACK TO one"))
	}
	return errors.Join(err, t.conn.control("RELEASE one"))
}
