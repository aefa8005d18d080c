package store

import (
	"errors"
	"time"
)

// Failure is one row of failures: operations and items that are to fail, or to be stuck.
type Failure struct {
	Seq       int64
	Target    string // id of a listing or a variant; empty for any
	Operation string // type; empty for any
	Times     int
	Error     string // empty if the work is stuck
}

// InsertFailure inserts a failure. Seq is ignored.
func (t *Tx) InsertFailure(f Failure) error {
	return t.exec(`INSERT INTO failures (target, operation, times, error) VALUES (?, ?, ?, ?)`,
		f.Target, f.Operation, f.Times, opt(f.Error))
}

// HasFailures reports whether there are failures.
func (t *Tx) HasFailures() (has bool, err error) {
	err = t.get(`SELECT EXISTS (SELECT 1 FROM failures)`, nil, []any{&has})
	return has, err
}

// TakeFailure returns the oldest failure for an operation on a listing, whose id may be empty, of a
// variant, and false if there is none. It happens once less from then on.
func (t *Tx) TakeFailure(listingID, variantID, operation string) (f Failure, ok bool, err error) {
	err = t.get(`SELECT seq, target, operation, times, error FROM failures
		WHERE target IN ('', ?, ?) AND operation IN ('', ?) ORDER BY seq LIMIT 1`,
		[]any{listingID, variantID, operation},
		[]any{&f.Seq, &f.Target, &f.Operation, &f.Times, textColumn{&f.Error}})
	if errors.Is(err, ErrNotFound) {
		return f, false, nil
	}
	if err != nil {
		return f, false, err
	}
	if f.Times == 1 {
		return f, true, t.exec(`DELETE FROM failures WHERE seq = ?`, f.Seq)
	}
	return f, true, t.exec(`UPDATE failures SET times = times - 1 WHERE seq = ?`, f.Seq)
}

// never is after every clock: the end of the year 9999.
var never = time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)

// HoldItem makes an item never fall due again.
func (t *Tx) HoldItem(seq int64) error {
	return t.exec(`UPDATE batch_items SET due_at = ? WHERE seq = ?`, at(never), seq)
}

// HoldOperation makes a pending operation never fall due again.
func (t *Tx) HoldOperation(seq int64) error {
	return t.exec(`UPDATE operations SET due_at = ? WHERE seq = ?`, at(never), seq)
}
