package ledger

import (
	"context"

	"github.com/sellside-sdk/sellside-go/bulk/internal/db"
	"github.com/sellside-sdk/sellside-go/bulk/internal/decide"
)

// Owed is one write that is owed and can be submitted.
type Owed struct {
	Kind     decide.WriteKind
	Rank     int // The lowest first.
	Line     int
	SKU      string
	Listing  string // "" for creates.
	Quantity int    // Listings that it makes; 1 for other kinds.
	Body     string // What to send as JSON.
}

func (tx Tx) addOwed(ctx context.Context, owed []Owed) error {
	for _, o := range owed {
		_, err := tx.Exec(ctx, `INSERT INTO owed (account, kind, rank, line, sku, listing, quantity, body)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
			tx.account, string(o.Kind), o.Rank, o.Line, o.SKU, o.Listing, o.Quantity, o.Body)
		if err != nil {
			return err
		}
	}
	return nil
}

// NextOwed returns the first owed writes of a kind.
func (tx Tx) NextOwed(ctx context.Context, kind decide.WriteKind, limit int) ([]Owed, error) {
	return list(ctx, tx, func(rows db.Rows) (o Owed, err error) {
		return o, rows.Scan(&o.Kind, &o.Rank, &o.Line, &o.SKU, &o.Listing, &o.Quantity, &o.Body)
	}, `SELECT kind, rank, line, sku, listing, quantity, body FROM owed
		WHERE account = $1 AND kind = $2 ORDER BY rank, line, sku LIMIT $3`, tx.account, string(kind), limit)
}

// OwedItems returns how many batch items the first owed writes of a kind and rank are, counted up to
// a limit.
func (tx Tx) OwedItems(ctx context.Context, kind decide.WriteKind, rank, limit int) (items int, err error) {
	n, err := one(ctx, tx, number, `SELECT COALESCE(SUM(quantity), 0) FROM (SELECT quantity FROM owed
		WHERE account = $1 AND kind = $2 AND rank = $3 LIMIT $4) AS first`, tx.account, string(kind), rank, limit)
	return int(deref(n)), err
}

// removeOwed removes a write that is being submitted, or the part of it.
func (tx Tx) removeOwed(ctx context.Context, o Owed) error {
	const where = ` WHERE account = $1 AND sku = $2 AND kind = $3 AND listing = $4`
	args := []any{tx.account, o.SKU, string(o.Kind), o.Listing}
	_, err := tx.Exec(ctx, `UPDATE owed SET quantity = quantity - $5`+where, append(args, o.Quantity)...)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `DELETE FROM owed`+where+` AND quantity <= 0`, args...)
	return err
}

// OwedBody returns the body of what a row owes of a kind, "" if it owes none.
func (tx Tx) OwedBody(ctx context.Context, sku string, kind decide.WriteKind) (string, error) {
	body, err := one(ctx, tx, text, `SELECT body FROM owed WHERE account = $1 AND sku = $2 AND kind = $3`,
		tx.account, sku, string(kind))
	return deref(body), err
}
