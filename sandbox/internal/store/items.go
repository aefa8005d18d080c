package store

import (
	"time"

	"github.com/sellside-sdk/sellside-go/sandbox/internal/state"
)

// Item is one row of batch_items. The input is kept as it was sent; which of
// its members are set depends on the kind of the batch.
type Item struct {
	Seq           int64
	ID            string
	Batch         int64 // Seq of the batch
	BatchID       string
	Account       int64  // of the batch
	Kind          string // of the batch
	Status        string
	DueAt         time.Time // zero once it is done
	VariantID     string
	ListingID     string
	Amount        string // decimal text
	Currency      string
	InventoryType string
	ExpiresAt     time.Time
	Active        *bool
	Result        ItemResult
	Error         string
}

// ItemResult is what an item led to; it is empty unless the item is completed.
type ItemResult struct {
	ListingID string
	AskID     string
}

const itemColumns = `i.seq, i.id, i.batch, b.id, b.account, b.kind, i.status, i.due_at, i.variant_id, i.listing_id, i.amount,
	i.currency, i.inventory_type, i.expires_at, i.active, i.result_listing_id, i.result_ask_id, i.error`

const itemTables = ` FROM batch_items i JOIN batches b ON b.seq = i.batch`

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

// insertItem adds a queued item to a batch.
func (t *Tx) insertItem(seq, batch int64, i *Item) error {
	return t.exec(`INSERT INTO batch_items (seq, id, batch, status, due_at, variant_id, listing_id, amount, currency,
		inventory_type, expires_at, active) VALUES (`+marks(12)+`)`,
		seq, i.ID, batch, state.Queued, at(i.DueAt), opt(i.VariantID), opt(i.ListingID), opt(i.Amount), opt(i.Currency),
		opt(i.InventoryType), at(i.ExpiresAt), i.Active)
}

// Items reads the items of a batch in the order they were sent, or only those
// of a status.
func (t *Tx) Items(b Batch, status string) ([]Item, error) {
	return list(t, (*Item).columns, `SELECT `+itemColumns+itemTables+`
		WHERE i.seq >= ?1 AND i.seq < ?1 + ?2 AND (?3 = '' OR i.status = ?3) ORDER BY i.seq`, b.firstItem, b.TotalItems, status)
}

// StartItems puts queued items that are due in progress, until they are due
// again after delay, and returns how many there were.
func (t *Tx) StartItems(now time.Time, delay time.Duration, limit int) (int, error) {
	started, err := list(t, func(batch *int64) []any { return []any{batch} },
		`UPDATE batch_items SET status = 'IN_PROGRESS', due_at = due_at + ? WHERE seq IN
		(SELECT seq FROM batch_items WHERE status = 'QUEUED' AND due_at <= ? ORDER BY due_at, seq LIMIT ?)
		RETURNING batch`, delay.Milliseconds(), at(now), limit)
	for _, batch := range started {
		t.move(batch, Progress{Queued: -1, InProgress: 1})
	}
	return len(started), err
}

// DueItems reads the items in progress that are due.
func (t *Tx) DueItems(now time.Time, limit int) ([]Item, error) {
	return list(t, (*Item).columns, `SELECT `+itemColumns+itemTables+`
		WHERE i.status = 'IN_PROGRESS' AND i.due_at <= ? ORDER BY i.due_at, i.seq LIMIT ?`, at(now), limit)
}

// FinishItem ends an item in progress: it is completed, or failed if there is an
// error.
func (t *Tx) FinishItem(i Item, result ItemResult, failure string) error {
	status, by := state.Completed, Progress{InProgress: -1, Completed: 1}
	if failure != "" {
		status, by = state.Failed, Progress{InProgress: -1, Failed: 1}
	}
	t.move(i.Batch, by)
	return t.exec(`UPDATE batch_items SET status = ?, due_at = NULL, result_listing_id = ?, result_ask_id = ?, error = ?
		WHERE seq = ?`, status, opt(result.ListingID), opt(result.AskID), opt(failure), i.Seq)
}
