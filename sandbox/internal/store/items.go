package store

import "time"

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

// InsertItem adds a queued item to a batch.
func (t *Tx) InsertItem(i Item) error {
	err := t.exec(`INSERT INTO batch_items (id, batch, status, due_at, variant_id, listing_id, amount, currency,
		inventory_type, expires_at, active) VALUES (`+marks(11)+`)`,
		i.ID, i.Batch, Queued, at(i.DueAt), opt(i.VariantID), opt(i.ListingID), opt(i.Amount), opt(i.Currency),
		opt(i.InventoryType), at(i.ExpiresAt), i.Active)
	return err
}

// Items reads the items of a batch in the order they were sent, or only those
// of a status.
func (t *Tx) Items(batch int64, status string) ([]Item, error) {
	return list(t, (*Item).columns, `SELECT `+itemColumns+itemTables+`
		WHERE i.batch = ?1 AND (?2 = '' OR i.status = ?2) ORDER BY i.seq`, batch, status)
}

// StartItems puts queued items that are due in progress, until they are due
// again after delay, and returns the batches they belong to, once per item.
func (t *Tx) StartItems(now time.Time, delay time.Duration, limit int) ([]int64, error) {
	return list(t, func(batch *int64) []any { return []any{batch} },
		`UPDATE batch_items SET status = 'IN_PROGRESS', due_at = due_at + ? WHERE seq IN
		(SELECT seq FROM batch_items WHERE status = 'QUEUED' AND due_at <= ? ORDER BY due_at, seq LIMIT ?)
		RETURNING batch`, delay.Milliseconds(), at(now), limit)
}

// DueItems reads the items in progress that are due.
func (t *Tx) DueItems(now time.Time, limit int) ([]Item, error) {
	return list(t, (*Item).columns, `SELECT `+itemColumns+itemTables+`
		WHERE i.status = 'IN_PROGRESS' AND i.due_at <= ? ORDER BY i.due_at, i.seq LIMIT ?`, at(now), limit)
}

// FinishItem ends an item: it is completed, or failed if there is an error.
func (t *Tx) FinishItem(seq int64, result ItemResult, failure string) error {
	status := Completed
	if failure != "" {
		status = Failed
	}
	err := t.exec(`UPDATE batch_items SET status = ?, due_at = NULL, result_listing_id = ?, result_ask_id = ?, error = ?
		WHERE seq = ?`, status, opt(result.ListingID), opt(result.AskID), opt(failure), seq)
	return err
}
