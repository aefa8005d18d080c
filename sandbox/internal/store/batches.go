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

const batchColumns = `seq, id, account, kind, status, first_item, total_items,
	queued, in_progress, completed, failed, created_at, updated_at, completed_at`

func (b *Batch) columns() []any {
	return []any{
		&b.Seq, &b.ID, &b.Account, &b.Kind, &b.Status, &b.firstItem, &b.TotalItems,
		&b.Items.Queued, &b.Items.InProgress, &b.Items.Completed, &b.Items.Failed,
		timeColumn{&b.CreatedAt},
		timeColumn{&b.UpdatedAt},
		timeColumn{&b.CompletedAt},
	}
}

// InsertBatch inserts a batch and its items, all of them queued, and returns the batch. It reads
// ID, Account, Kind and CreatedAt of b and ignores the rest. The input of consecutive items that
// have the same one is stored once.
func (t *Tx) InsertBatch(b Batch, items []Item) (Batch, error) {
	b.Status, b.UpdatedAt = state.Queued, b.CreatedAt
	b.TotalItems, b.Items = len(items), Progress{Queued: len(items)}
	err := t.get(`SELECT coalesce(max(seq), 0) + 1 FROM batch_items`, nil, []any{&b.firstItem})
	if err != nil {
		return b, err
	}
	result, err := t.run(`INSERT INTO batches (id, account, kind, status, first_item, total_items,
		queued, in_progress, completed, failed, created_at, updated_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, 0, 0, 0, ?, ?)`,
		b.ID, b.Account, b.Kind, b.Status, b.firstItem, b.TotalItems,
		b.Items.Queued, at(b.CreatedAt), at(b.UpdatedAt))
	if err != nil {
		return b, err
	}
	if b.Seq, err = result.LastInsertId(); err != nil {
		return b, err
	}
	var stored *ItemInput
	var input int64 // its number
	for i := range items {
		if stored == nil || *stored != items[i].ItemInput {
			stored = &items[i].ItemInput
			if input, err = t.insertInput(*stored); err != nil {
				return b, err
			}
		}
		if err := t.insertItem(b.firstItem+int64(i), b.Seq, input, &items[i]); err != nil {
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

// countItems collects a change of the number of items of a batch in each status.
func (t *Tx) countItems(batch int64, by Progress) {
	if t.itemCounts == nil {
		t.itemCounts = map[int64]Progress{}
	}
	sum := t.itemCounts[batch]
	t.itemCounts[batch] = Progress{
		Queued: sum.Queued + by.Queued, InProgress: sum.InProgress + by.InProgress,
		Completed: sum.Completed + by.Completed, Failed: sum.Failed + by.Failed,
	}
}

// UpdateBatches writes the collected changes to the batches, and completes those whose items are
// all done.
func (t *Tx) UpdateBatches(now time.Time) error {
	for batch, by := range t.itemCounts {
		err := t.exec(`UPDATE batches SET queued = queued + ?2, in_progress = in_progress + ?3,
			completed = completed + ?4, failed = failed + ?5, updated_at = ?6,
			status = iif(queued + ?2 + in_progress + ?3 = 0, 'COMPLETED', 'IN_PROGRESS'),
			completed_at = iif(queued + ?2 + in_progress + ?3 = 0, ?6, NULL) WHERE seq = ?1`,
			batch, by.Queued, by.InProgress, by.Completed, by.Failed, at(now))
		if err != nil {
			return err
		}
	}
	clear(t.itemCounts)
	return nil
}

// Item is one row of batch_items.
type Item struct {
	Seq     int64
	ID      string
	Batch   int64 // Seq of the batch
	BatchID string
	Account int64  // of the batch
	Kind    string // of the batch
	Status  string
	DueAt   time.Time // zero once it is done
	ItemInput
	Result ItemResult
	Error  string
}

// ItemInput is one row of batch_inputs: what was sent for one or more items. Which members are set
// depends on the kind of the batch.
type ItemInput struct {
	VariantID     string
	ListingID     string
	Amount        string // decimal text
	Currency      string
	InventoryType string
	ExpiresAt     time.Time
	Active        *bool
}

// ItemResult is the result of an item; it is empty unless the item is completed.
type ItemResult struct {
	ListingID string
	AskID     string
}

const itemColumns = `i.seq, i.id, i.batch, b.id, b.account, b.kind, i.status, i.due_at,
	n.variant_id, n.listing_id, n.amount, n.currency, n.inventory_type, n.expires_at, n.active,
	i.result_listing_id, i.result_ask_id, i.error`

const itemTables = ` FROM batch_items i JOIN batches b ON b.seq = i.batch
	JOIN batch_inputs n ON n.seq = i.input`

func (i *Item) columns() []any {
	return []any{
		&i.Seq, &i.ID, &i.Batch, &i.BatchID, &i.Account, &i.Kind, &i.Status,
		timeColumn{&i.DueAt},
		textColumn{&i.VariantID},
		textColumn{&i.ListingID},
		textColumn{&i.Amount},
		textColumn{&i.Currency},
		textColumn{&i.InventoryType},
		timeColumn{&i.ExpiresAt},
		&i.Active,
		textColumn{&i.Result.ListingID},
		textColumn{&i.Result.AskID},
		textColumn{&i.Error},
	}
}

// insertInput inserts the input of one or more items and returns its number.
func (t *Tx) insertInput(n ItemInput) (int64, error) {
	result, err := t.run(`INSERT INTO batch_inputs (variant_id, listing_id, amount, currency,
		inventory_type, expires_at, active) VALUES (`+placeholders(7)+`)`,
		opt(n.VariantID), opt(n.ListingID), opt(n.Amount), opt(n.Currency), opt(n.InventoryType),
		at(n.ExpiresAt), n.Active)
	if err != nil {
		return 0, err
	}
	return result.LastInsertId()
}

// insertItem inserts a queued item of a batch.
func (t *Tx) insertItem(seq, batch, input int64, i *Item) error {
	return t.exec(`INSERT INTO batch_items (seq, id, batch, status, due_at, input)
		VALUES (`+placeholders(6)+`)`,
		seq, i.ID, batch, state.Queued, at(i.DueAt), input)
}

// Items reads the items of a batch in the order they were sent; a status selects some of them.
func (t *Tx) Items(b Batch, status string) ([]Item, error) {
	return list(t, (*Item).columns, `SELECT `+itemColumns+itemTables+`
		WHERE i.seq >= ?1 AND i.seq < ?1 + ?2 AND (?3 = '' OR i.status = ?3) ORDER BY i.seq`,
		b.firstItem, b.TotalItems, status)
}

// StartItems puts queued items that are due in progress, where they fall due again after delay, and
// returns how many there were.
func (t *Tx) StartItems(now time.Time, delay time.Duration, limit int) (int, error) {
	started, err := list(t, func(batch *int64) []any { return []any{batch} },
		`UPDATE batch_items SET status = 'IN_PROGRESS', due_at = due_at + ? WHERE seq IN
		(SELECT seq FROM batch_items WHERE status = 'QUEUED' AND due_at <= ?
			ORDER BY due_at, seq LIMIT ?)
		RETURNING batch`, delay.Milliseconds(), at(now), limit)
	for _, batch := range started {
		t.countItems(batch, Progress{Queued: -1, InProgress: 1})
	}
	return len(started), err
}

// DueItems reads items in progress that are due, in the order they fell due.
func (t *Tx) DueItems(now time.Time, limit int) ([]Item, error) {
	return list(t, (*Item).columns, `SELECT `+itemColumns+itemTables+`
		WHERE i.status = 'IN_PROGRESS' AND i.due_at <= ? ORDER BY i.due_at, i.seq LIMIT ?`,
		at(now), limit)
}

// FinishItem completes an item in progress, or fails it if there is a failure.
func (t *Tx) FinishItem(i Item, result ItemResult, failure string) error {
	status, by := state.Completed, Progress{InProgress: -1, Completed: 1}
	if failure != "" {
		status, by = state.Failed, Progress{InProgress: -1, Failed: 1}
	}
	t.countItems(i.Batch, by)
	return t.exec(`UPDATE batch_items SET status = ?, due_at = NULL, result_listing_id = ?,
		result_ask_id = ?, error = ? WHERE seq = ?`,
		status, opt(result.ListingID), opt(result.AskID), opt(failure), i.Seq)
}
