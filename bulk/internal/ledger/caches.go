package ledger

import (
	"context"
	"time"

	"github.com/sellside-sdk/sellside-go/bulk/internal/db"
)

// Lookup is what the catalog said about an item.
type Lookup struct {
	Item   string
	Body   string // As JSON.
	ReadAt time.Time
}

// Lookup returns a look-up, nil if there is none.
func (tx Tx) Lookup(ctx context.Context, item string) (*Lookup, error) {
	return one(ctx, tx, func(rows db.Rows) (l Lookup, err error) {
		var at int64
		err = rows.Scan(&l.Item, &l.Body, &at)
		l.ReadAt = fromMillis(at)
		return l, err
	}, `SELECT item, body, read_at FROM lookups WHERE account = $1 AND item = $2`, tx.account, item)
}

// PutLookup writes a look-up, and marks the rows that wait for it to be decided again.
func (tx Tx) PutLookup(ctx context.Context, l Lookup) error {
	_, err := tx.Exec(ctx, `INSERT INTO lookups (account, item, body, read_at) VALUES ($1, $2, $3, $4)
		ON CONFLICT (account, item) DO UPDATE SET body = excluded.body, read_at = excluded.read_at`,
		tx.account, l.Item, l.Body, millis(l.ReadAt))
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `UPDATE desired SET dirty = 1 WHERE account = $1 AND item = $2 AND variant = ''`,
		tx.account, l.Item)
	return err
}

// NextLookup returns the key of an item to look up: that of the first line that waits for it. It
// returns "" if there is none.
func (tx Tx) NextLookup(ctx context.Context) (string, error) {
	item, err := one(ctx, tx, text, `SELECT item FROM desired
		WHERE account = $1 AND lookup = 1 ORDER BY line LIMIT 1`, tx.account)
	return deref(item), err
}

// CountLookups returns how many items wait to be looked up.
func (tx Tx) CountLookups(ctx context.Context) (int, error) {
	n, err := one(ctx, tx, number, `SELECT COUNT(DISTINCT item) FROM desired
		WHERE account = $1 AND lookup = 1`, tx.account)
	return int(deref(n)), err
}

// SetVariant sets the variant that a row was resolved to.
func (tx Tx) SetVariant(ctx context.Context, sku, variant, product string) error {
	_, err := tx.Exec(ctx, `UPDATE desired SET variant = $3, product = $4 WHERE account = $1 AND sku = $2`,
		tx.account, sku, variant, product)
	return err
}
