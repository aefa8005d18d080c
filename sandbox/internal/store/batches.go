package store

import (
	"time"

	"github.com/sellside-sdk/sellside-go/sandbox/internal/state"
)

// Batch is one row of batches.
type Batch struct {
	Seq         int64
	ID          string
	Account     int64
	Kind        string // Create, Update or Delete
	Status      string
	TotalItems  int
	Items       Progress
	CreatedAt   time.Time
	UpdatedAt   time.Time
	CompletedAt time.Time // zero until every item is done

	firstItem int64
}

// Progress counts the items of a batch by status.
type Progress struct {
	Queued, InProgress, Completed, Failed int
}

const batchColumns = `seq, id, account, kind, status, first_item, total_items, queued, in_progress, completed, failed,
	created_at, updated_at, completed_at`

func (b *Batch) columns() []any {
	return []any{
		&b.Seq, &b.ID, &b.Account, &b.Kind, &b.Status, &b.firstItem, &b.TotalItems,
		&b.Items.Queued, &b.Items.InProgress, &b.Items.Completed, &b.Items.Failed,
		timeColumn{&b.CreatedAt},
		timeColumn{&b.UpdatedAt},
		timeColumn{&b.CompletedAt},
	}
}

// InsertBatch adds a batch and its items, all of them queued. Of the batch its
// ID, Account, Kind and CreatedAt are looked at; it is returned as it is then.
func (t *Tx) InsertBatch(b Batch, items []Item) (Batch, error) {
	b.Status, b.TotalItems, b.Items, b.UpdatedAt = state.Queued, len(items), Progress{Queued: len(items)}, b.CreatedAt
	if err := t.get(`SELECT coalesce(max(seq), 0) + 1 FROM batch_items`, nil, []any{&b.firstItem}); err != nil {
		return b, err
	}
	result, err := t.run(`INSERT INTO batches (id, account, kind, status, first_item, total_items, queued, in_progress, completed, failed,
		created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, 0, 0, 0, ?, ?)`,
		b.ID, b.Account, b.Kind, b.Status, b.firstItem, b.TotalItems, b.Items.Queued, at(b.CreatedAt), at(b.UpdatedAt))
	if err != nil {
		return b, err
	}
	if b.Seq, err = result.LastInsertId(); err != nil {
		return b, err
	}
	for i := range items {
		if err := t.insertItem(b.firstItem+int64(i), b.Seq, &items[i]); err != nil {
			return b, err
		}
	}
	return b, nil
}

// Batch reads one batch of an account and a kind, or returns ErrNotFound.
func (t *Tx) Batch(account int64, kind, id string) (Batch, error) {
	var b Batch
	err := t.get(`SELECT `+batchColumns+` FROM batches WHERE id = ? AND account = ? AND kind = ?`,
		[]any{id, account, kind}, b.columns())
	return b, err
}

// move notes by how much the items of a batch in each status have become more.
func (t *Tx) move(batch int64, by Progress) {
	if t.moved == nil {
		t.moved = map[int64]Progress{}
	}
	sum := t.moved[batch]
	t.moved[batch] = Progress{
		Queued: sum.Queued + by.Queued, InProgress: sum.InProgress + by.InProgress,
		Completed: sum.Completed + by.Completed, Failed: sum.Failed + by.Failed,
	}
}

// TouchBatches notes which batches have items that this transaction has moved
// on, and completes those whose items are all done.
func (t *Tx) TouchBatches(now time.Time) error {
	for batch, by := range t.moved {
		err := t.exec(`UPDATE batches SET queued = queued + ?2, in_progress = in_progress + ?3,
			completed = completed + ?4, failed = failed + ?5, updated_at = ?6,
			status = iif(queued + ?2 + in_progress + ?3 = 0, 'COMPLETED', 'IN_PROGRESS'),
			completed_at = iif(queued + ?2 + in_progress + ?3 = 0, ?6, NULL) WHERE seq = ?1`,
			batch, by.Queued, by.InProgress, by.Completed, by.Failed, at(now))
		if err != nil {
			return err
		}
	}
	clear(t.moved)
	return nil
}
