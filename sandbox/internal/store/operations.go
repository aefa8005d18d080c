package store

import (
	"errors"
	"time"
)

// Operation is one row of operations: a change of a listing that is pending, was made or failed.
type Operation struct {
	Seq          int64 // grows with every operation
	ID           string
	ListingID    string
	Type         string
	Status       string
	InitiatedBy  string
	InitiatedVia string
	DueAt        time.Time // zero once it is no longer pending
	Change       Change
	Error        string
	CreatedAt    time.Time
	UpdatedAt    time.Time
}

// Change is what an operation sets of its listing; nil and zero values set nothing.
type Change struct {
	Active    *bool
	Amount    int64 // smallest units of Currency
	Currency  string
	ExpiresAt time.Time
}

const operationColumns = `seq, id, listing_id, type, status, initiated_by, initiated_via, due_at,
	active, coalesce(amount, 0), currency, expires_at, error, created_at, updated_at`

func (o *Operation) columns() []any {
	return []any{
		&o.Seq, &o.ID, &o.ListingID, &o.Type, &o.Status, &o.InitiatedBy, &o.InitiatedVia,
		timeColumn{&o.DueAt},
		&o.Change.Active, &o.Change.Amount,
		textColumn{&o.Change.Currency},
		timeColumn{&o.Change.ExpiresAt},
		textColumn{&o.Error},
		timeColumn{&o.CreatedAt},
		timeColumn{&o.UpdatedAt},
	}
}

// InsertOperation inserts an operation. Seq is ignored.
func (t *Tx) InsertOperation(o Operation) error {
	var amount any
	if o.Change.Amount != 0 {
		amount = o.Change.Amount
	}
	return t.exec(`INSERT INTO operations (id, listing_id, type, status, initiated_by, initiated_via,
		due_at, active, amount, currency, expires_at, error, created_at, updated_at)
		VALUES (`+placeholders(14)+`)`,
		o.ID, o.ListingID, o.Type, o.Status, o.InitiatedBy, o.InitiatedVia, at(o.DueAt),
		o.Change.Active, amount, opt(o.Change.Currency), at(o.Change.ExpiresAt), opt(o.Error),
		at(o.CreatedAt), at(o.UpdatedAt))
}

// FinishOperation sets the final status of an operation, with a failure if it failed.
func (t *Tx) FinishOperation(seq int64, status, failure string, now time.Time) error {
	return t.exec(`UPDATE operations SET status = ?, error = ?, due_at = NULL, updated_at = ?
		WHERE seq = ?`,
		status, opt(failure), at(now), seq)
}

// Operation reads one operation of a listing, or returns ErrNotFound. It scans those of the
// listing, which are few.
func (t *Tx) Operation(listingID, id string) (Operation, error) {
	var o Operation
	err := t.get(`SELECT `+operationColumns+` FROM operations WHERE id = ? AND listing_id = ?`,
		[]any{id, listingID}, o.columns())
	return o, err
}

// LastOperation reads the newest operation of a listing, or returns ErrNotFound.
func (t *Tx) LastOperation(listingID string) (Operation, error) {
	var o Operation
	err := t.get(`SELECT `+operationColumns+` FROM operations
		WHERE listing_id = ? ORDER BY seq DESC LIMIT 1`,
		[]any{listingID}, o.columns())
	return o, err
}

// Operations reads operations of a listing, newest first, that are older than the one whose Seq is
// before. Zero begins with the newest.
func (t *Tx) Operations(listingID string, before int64, limit int) ([]Operation, error) {
	return list(t, (*Operation).columns, `SELECT `+operationColumns+` FROM operations
		WHERE listing_id = ?1 AND (?2 = 0 OR seq < ?2) ORDER BY seq DESC LIMIT ?3`,
		listingID, before, limit)
}

// PendingTerms reads the terms that a listing will have when its pending operations have been made:
// the amount of the last one that sets an amount, and the expiry of the last one that sets an
// expiry. The result is zero if none of them does.
func (t *Tx) PendingTerms(listingID string) (Change, error) {
	var set Change
	err := t.get(`SELECT amount, currency FROM operations
		WHERE listing_id = ? AND due_at IS NOT NULL AND amount IS NOT NULL
		ORDER BY due_at DESC, seq DESC LIMIT 1`,
		[]any{listingID}, []any{&set.Amount, &set.Currency})
	if err != nil && !errors.Is(err, ErrNotFound) {
		return set, err
	}
	err = t.get(`SELECT expires_at FROM operations
		WHERE listing_id = ? AND due_at IS NOT NULL AND expires_at IS NOT NULL
		ORDER BY due_at DESC, seq DESC LIMIT 1`,
		[]any{listingID}, []any{timeColumn{&set.ExpiresAt}})
	if errors.Is(err, ErrNotFound) {
		return set, nil
	}
	return set, err
}

// LastPendingSwitch reads the last pending operation of a listing that sets whether it is active, as
// all but updates do, or returns ErrNotFound.
func (t *Tx) LastPendingSwitch(listingID string) (Operation, error) {
	var o Operation
	err := t.get(`SELECT `+operationColumns+` FROM operations
		WHERE listing_id = ? AND due_at IS NOT NULL AND active IS NOT NULL
		ORDER BY due_at DESC, seq DESC LIMIT 1`,
		[]any{listingID}, o.columns())
	return o, err
}

// DueOperations reads pending operations that are due, in the order they fell due.
func (t *Tx) DueOperations(now time.Time, limit int) ([]Operation, error) {
	return list(t, (*Operation).columns, `SELECT `+operationColumns+` FROM operations
		WHERE due_at <= ? ORDER BY due_at, seq LIMIT ?`, at(now), limit)
}
