package store

import (
	"strings"
	"time"
)

// Batch is one row of batches.
type Batch struct {
	Seq         int64
	ID          string
	Account     int64
	Kind        string // Create, Update or Delete
	Status      string
	TotalItems  int
	CreatedAt   time.Time
	UpdatedAt   time.Time
	CompletedAt time.Time // zero until every item is done
}

func (b *Batch) columns() []any {
	return []any{
		&b.Seq, &b.ID, &b.Account, &b.Kind, &b.Status, &b.TotalItems,
		timeColumn{&b.CreatedAt},
		timeColumn{&b.UpdatedAt},
		timeColumn{&b.CompletedAt},
	}
}

// InsertBatch adds a batch and returns its Seq.
func (t *Tx) InsertBatch(b Batch) (int64, error) {
	err := t.get(`INSERT INTO batches (id, account, kind, status, total_items, created_at, updated_at)
		VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING seq`,
		[]any{b.ID, b.Account, b.Kind, b.Status, b.TotalItems, at(b.CreatedAt), at(b.UpdatedAt)}, []any{&b.Seq})
	return b.Seq, err
}

// Batch reads one batch of an account and a kind, or returns ErrNotFound.
func (t *Tx) Batch(account int64, kind, id string) (Batch, error) {
	var b Batch
	err := t.get(`SELECT seq, id, account, kind, status, total_items, created_at, updated_at, completed_at
		FROM batches WHERE id = ? AND account = ? AND kind = ?`, []any{id, account, kind}, b.columns())
	return b, err
}

// CountItems counts the items of a batch by status. Every status has its count,
// if only zero.
func (t *Tx) CountItems(batch int64) (map[string]int, error) {
	type group struct {
		status string
		n      int
	}
	groups, err := list(t, func(g *group) []any { return []any{&g.status, &g.n} },
		`SELECT status, count(*) FROM batch_items WHERE batch = ? GROUP BY status`, batch)
	if err != nil {
		return nil, err
	}
	counts := map[string]int{Queued: 0, InProgress: 0, Completed: 0, Failed: 0}
	for _, g := range groups {
		counts[g.status] = g.n
	}
	return counts, nil
}

// TouchBatches notes that items of these batches have moved on, and completes
// those whose items are all done.
func (t *Tx) TouchBatches(batches []int64, now time.Time) error {
	if len(batches) == 0 {
		return nil
	}
	args := make([]any, len(batches))
	for i, seq := range batches {
		args[i] = seq
	}
	which := ` WHERE seq IN (` + marks(len(batches)) + `)`
	err := t.exec(`UPDATE batches SET status = 'IN_PROGRESS', updated_at = ?`+which, append([]any{at(now)}, args...)...)
	if err != nil {
		return err
	}
	open := strings.Join([]string{Queued, InProgress}, "', '")
	err = t.exec(`UPDATE batches SET status = 'COMPLETED', completed_at = ?`+which+` AND NOT EXISTS
		(SELECT 1 FROM batch_items i WHERE i.batch = batches.seq AND i.status IN ('`+open+`'))`,
		append([]any{at(now)}, args...)...)
	return err
}
