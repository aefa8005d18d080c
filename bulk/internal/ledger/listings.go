package ledger

import (
	"context"
	"encoding/json"
	"time"

	"github.com/sellside-sdk/sellside-go/bulk/internal/db"
	"github.com/sellside-sdk/sellside-go/bulk/internal/decide"
	"github.com/sellside-sdk/sellside-go/gen"
)

// Listing is a listing of the account.
type Listing struct {
	decide.Listing
	SKU        string // "" if it is foreign.
	Submission string // That made it; "" if it was adopted or is foreign.
	Batch      string
	Product    string
	Reading    int64 // The last reading of all pages that showed it.
	Adopted    int64 // The plan that matched it to its row and was not applied; 0 if none.
}

const listingColumns = `id, sku, submission, batch, variant, product, presence, active, amount, currency,
	expires_at, created_at, sold_at, unpaid, ended_at, changed, read_at, reading, adopted`

func scanListing(rows db.Rows) (Listing, error) {
	var l Listing
	var active, expires, created, sold, unpaid, ended, read int64
	var changed string
	err := rows.Scan(&l.ID, &l.SKU, &l.Submission, &l.Batch, &l.Variant, &l.Product, &l.Presence, &active, &l.Amount,
		&l.Currency, &expires, &created, &sold, &unpaid, &ended, &changed, &read, &l.Reading, &l.Adopted)
	if err != nil {
		return l, err
	}
	l.Active, l.Unpaid = active == 1, unpaid == 1
	l.CreatedAt, l.SoldAt, l.ReadAt = fromMillis(created), fromMillis(sold), fromMillis(read)
	l.EndedAt = fromMillis(ended)
	if expires != 0 {
		l.ExpiresAt = gen.TimeOf(fromMillis(expires))
	}
	if changed != "" {
		err = json.Unmarshal([]byte(changed), &l.ChangedAt)
	}
	return l, err
}

// Listings returns listings by their ids; those that the ledger does not know are missing.
func (tx Tx) Listings(ctx context.Context, ids ...string) (map[string]Listing, error) {
	found := make(map[string]Listing, len(ids))
	for len(ids) > 0 {
		n := min(len(ids), maxRows)
		listings, err := list(ctx, tx, scanListing, `SELECT `+listingColumns+` FROM listings
			WHERE account = $1 AND id IN (`+numbers(2, n)+`)`, tx.with(ids[:n])...)
		if err != nil {
			return nil, err
		}
		for _, l := range listings {
			found[l.ID] = l
		}
		ids = ids[n:]
	}
	return found, nil
}

// PutListing writes a listing, and marks its row to be decided again. It is not wanted any more.
func (tx Tx) PutListing(ctx context.Context, l Listing) error {
	changed := ""
	if len(l.ChangedAt) > 0 {
		text, err := json.Marshal(l.ChangedAt)
		if err != nil {
			return err
		}
		changed = string(text)
	}
	_, err := tx.Exec(ctx, `INSERT INTO listings (account, `+listingColumns+`, wanted)
		VALUES (`+numbers(1, 20)+`, 0) ON CONFLICT (account, id) DO UPDATE SET sku = excluded.sku,
		submission = excluded.submission, batch = excluded.batch, variant = excluded.variant,
		product = excluded.product, presence = excluded.presence, active = excluded.active,
		amount = excluded.amount, currency = excluded.currency, expires_at = excluded.expires_at,
		created_at = excluded.created_at, sold_at = excluded.sold_at, unpaid = excluded.unpaid,
		ended_at = excluded.ended_at,
		changed = excluded.changed, read_at = excluded.read_at, reading = excluded.reading,
		adopted = excluded.adopted, wanted = 0`,
		tx.account, l.ID, l.SKU, l.Submission, l.Batch, l.Variant, l.Product, string(l.Presence), flag(l.Active),
		string(l.Amount), string(l.Currency), millis(l.ExpiresAt.Time), millis(l.CreatedAt), millis(l.SoldAt),
		flag(l.Unpaid), millis(l.EndedAt), changed, millis(l.ReadAt), l.Reading, l.Adopted)
	if err != nil || l.SKU == "" {
		return err
	}
	return tx.Dirty(ctx, l.SKU)
}

// Want marks listings to be read.
func (tx Tx) Want(ctx context.Context, ids ...string) error {
	for _, id := range ids {
		_, err := tx.Exec(ctx, `UPDATE listings SET wanted = 1
			WHERE account = $1 AND id = $2 AND wanted = 0`, tx.account, id)
		if err != nil {
			return err
		}
	}
	return nil
}

// WantByID marks listings to be read by their ids: a list did not show them.
func (tx Tx) WantByID(ctx context.Context, ids ...string) error {
	for _, id := range ids {
		_, err := tx.Exec(ctx, `UPDATE listings SET wanted = 2 WHERE account = $1 AND id = $2`, tx.account, id)
		if err != nil {
			return err
		}
	}
	return nil
}

// WantedTogether returns listings to read that a list may show: those that no list has missed and
// whose asks have not expired.
func (tx Tx) WantedTogether(ctx context.Context, now time.Time, limit int) ([]Listing, error) {
	return list(ctx, tx, scanListing, `SELECT `+listingColumns+` FROM listings
		WHERE account = $1 AND wanted > 0 AND wanted < 2 AND (expires_at = 0 OR expires_at > $2)
		ORDER BY id LIMIT $3`, tx.account, millis(now), limit)
}

// CountOfVariants returns how many listings some variants have, counted up to a limit.
func (tx Tx) CountOfVariants(ctx context.Context, limit int, variants ...string) (int, error) {
	if len(variants) == 0 {
		return 0, nil
	}
	n, err := one(ctx, tx, number, `SELECT COUNT(*) FROM (SELECT 1 FROM listings
		WHERE account = $1 AND variant IN (`+numbers(3, len(variants))+`) LIMIT $2) AS first`,
		tx.with(variants, limit)...)
	return int(deref(n)), err
}

// CountCreated returns how many listings were created since a time, counted up to a limit.
func (tx Tx) CountCreated(ctx context.Context, since time.Time, limit int) (int, error) {
	n, err := one(ctx, tx, number, `SELECT COUNT(*) FROM (SELECT 1 FROM listings
		WHERE account = $1 AND created_at >= $2 LIMIT $3) AS first`, tx.account, millis(since), limit)
	return int(deref(n)), err
}

// NextWanted returns a listing to read, nil if there is none.
func (tx Tx) NextWanted(ctx context.Context) (*Listing, error) {
	return one(ctx, tx, scanListing, `SELECT `+listingColumns+` FROM listings
		WHERE account = $1 AND wanted > 0 ORDER BY id LIMIT 1`, tx.account)
}

// EndReading marks the live listings that a reading of all pages did not show as unknown, if they
// were read before a time, and their rows to be decided again.
func (tx Tx) EndReading(ctx context.Context, reading int64, before time.Time) error {
	_, err := tx.Exec(ctx, `UPDATE desired SET dirty = 1 WHERE account = $1 AND sku IN (SELECT sku FROM listings
		WHERE account = $1 AND presence = 'live' AND reading < $2 AND read_at < $3 AND sku <> '')`,
		tx.account, reading, millis(before))
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `UPDATE listings SET presence = 'unknown'
		WHERE account = $1 AND presence = 'live' AND reading < $2 AND read_at < $3`, tx.account, reading, millis(before))
	return err
}

// CountForeign returns how many live listings belong to no row.
func (tx Tx) CountForeign(ctx context.Context) (int, error) {
	n, err := one(ctx, tx, number, `SELECT COUNT(*) FROM listings
		WHERE account = $1 AND sku = '' AND presence = 'live'`, tx.account)
	return int(deref(n)), err
}

// CountLive returns how many listings are live.
func (tx Tx) CountLive(ctx context.Context) (int, error) {
	n, err := one(ctx, tx, number, `SELECT COUNT(*) FROM listings
		WHERE account = $1 AND presence = 'live'`, tx.account)
	return int(deref(n)), err
}

// Foreign returns live listings of variants that belong to no row, and to no batch that was
// submitted.
func (tx Tx) Foreign(ctx context.Context, variant string) ([]Listing, error) {
	return list(ctx, tx, scanListing, `SELECT `+listingColumns+` FROM listings l
		WHERE account = $1 AND sku = '' AND variant = $2 AND presence = 'live' AND NOT EXISTS (
			SELECT 1 FROM submissions s WHERE s.account = l.account AND s.batch = l.batch AND s.batch <> '')`, tx.account, variant)
}

// ForeignVariants returns the variants after a variant that rows owe creates of and that foreign
// listings have.
func (tx Tx) ForeignVariants(ctx context.Context, after string, limit int) ([]string, error) {
	return list(ctx, tx, text, `SELECT DISTINCT variant FROM desired d WHERE account = $1 AND variant > $2
		AND creates > 0 AND EXISTS (SELECT 1 FROM listings l WHERE l.account = d.account
			AND l.variant = d.variant AND l.sku = '' AND l.presence = 'live')
		ORDER BY variant LIMIT $3`, tx.account, after, limit)
}

// RowsOfVariant returns the rows of a variant that owe creates, with their listings and writes.
func (tx Tx) RowsOfVariant(ctx context.Context, variant string) ([]Row, error) {
	return tx.fullRows(ctx, `SELECT `+rowColumns+` FROM desired
		WHERE account = $1 AND variant = $2 AND creates > 0`, tx.account, variant)
}

// RevertAdoptions makes the listings foreign again that a plan adopted and that was not applied.
func (tx Tx) RevertAdoptions(ctx context.Context) error {
	_, err := tx.Exec(ctx, `UPDATE desired SET dirty = 1 WHERE account = $1 AND sku IN (
		SELECT sku FROM listings WHERE account = $1 AND adopted > 0)`, tx.account)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `UPDATE listings SET sku = '', adopted = 0 WHERE account = $1 AND adopted > 0`, tx.account)
	return err
}

// KeepAdoptions makes the adoptions of a plan final, which is applied.
func (tx Tx) KeepAdoptions(ctx context.Context, generation int64) error {
	_, err := tx.Exec(ctx, `UPDATE listings SET adopted = 0 WHERE account = $1 AND adopted = $2`, tx.account, generation)
	return err
}

// ListingsAfter returns listings in the order of their ids after an id.
func (tx Tx) ListingsAfter(ctx context.Context, id string, limit int) ([]Listing, error) {
	return list(ctx, tx, scanListing, `SELECT `+listingColumns+` FROM listings
		WHERE account = $1 AND id > $2 ORDER BY id LIMIT $3`, tx.account, id, limit)
}

// Sale is an order.
type Sale struct {
	Number  string
	Listing string
	SKU     string // Of the listing; only SalesAfter sets it.
	SoldAt  time.Time
	Status  gen.OrderStatus
}

// PutSale writes an order. It reports whether the ledger knew it with this status.
func (tx Tx) PutSale(ctx context.Context, s Sale) (known bool, err error) {
	changed, err := tx.Exec(ctx, `INSERT INTO sales (account, number, listing, sold_at, status)
		VALUES ($1, $2, $3, $4, $5) ON CONFLICT (account, number) DO UPDATE SET status = excluded.status
		WHERE sales.status <> excluded.status`, tx.account, s.Number, s.Listing, millis(s.SoldAt), string(s.Status))
	return changed == 0, err
}

// SalesAfter returns orders in the order of their numbers after a number.
func (tx Tx) SalesAfter(ctx context.Context, number string, limit int) ([]Sale, error) {
	return list(ctx, tx, func(rows db.Rows) (s Sale, err error) {
		var at int64
		err = rows.Scan(&s.Number, &s.Listing, &at, &s.Status, &s.SKU)
		s.SoldAt = fromMillis(at)
		return s, err
	}, `SELECT number, listing, sold_at, status, COALESCE((SELECT sku FROM listings l
			WHERE l.account = sales.account AND l.id = sales.listing), '')
		FROM sales WHERE account = $1 AND number > $2 ORDER BY number LIMIT $3`, tx.account, number, limit)
}

// Seen records that a list showed listings that are as the ledger has them. They are not wanted any
// more.
func (tx Tx) Seen(ctx context.Context, reading int64, now time.Time, ids ...string) error {
	if len(ids) == 0 {
		return nil
	}
	_, err := tx.Exec(ctx, `UPDATE listings SET reading = $2, read_at = $3, wanted = 0 WHERE account = $1
		AND id IN (`+numbers(4, len(ids))+`)`, tx.with(ids, reading, millis(now))...)
	return err
}

// OldestOpenSale returns when the oldest order that has not ended was made, zero if all have.
func (tx Tx) OldestOpenSale(ctx context.Context) (time.Time, error) {
	at, err := one(ctx, tx, number, `SELECT sold_at FROM sales WHERE account = $1 AND sold_at > 0 AND status NOT IN
		('AUTHFAILED', 'DIDNOTSHIP', 'CANCELED', 'COMPLETED', 'RETURNED') ORDER BY sold_at LIMIT 1`, tx.account)
	return fromMillis(deref(at)), err
}
