package store

import (
	"errors"
	"fmt"
	"maps"
)

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
