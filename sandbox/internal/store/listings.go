package store

import (
	"errors"
	"fmt"
	"time"
)

// Listing is one row of listings.
type Listing struct {
	Seq           int64 // grows with every listing
	ID            string
	Account       int64
	Status        string
	Expired       bool // hidden from lists that do not ask for expired listings
	ProductID     string
	VariantID     string
	Amount        int64 // smallest units of Currency
	Currency      string
	InventoryType string
	ExpiresAt     time.Time
	BatchID       string // empty when no batch made it
	ItemID        string
	Ask           Ask
	Order         OrderSummary
	CreatedAt     time.Time
	UpdatedAt     time.Time

	read listingState // the state in the database
}

// listingState is the key by which listings are counted.
type listingState struct {
	status  string
	expired bool
}

// Ask is the ask of a listing; its ID is empty if there is none.
type Ask struct {
	ID        string
	CreatedAt time.Time
	UpdatedAt time.Time
}

// OrderSummary is what a listing shows of its order; its Number is empty if it was not sold.
type OrderSummary struct {
	Number    string
	Status    string
	Amount    int64 // smallest units of the currency of the listing
	CreatedAt time.Time
	InboundID string // display id of the inbound shipment; empty except for direct orders
}

const listingColumns = `l.seq, l.id, l.account, l.status, l.expired, l.product_id, l.variant_id,
	l.amount, l.currency, l.inventory_type, l.expires_at, l.batch_id, l.item_id,
	l.ask_id, l.ask_created_at, l.ask_updated_at, l.created_at, l.updated_at,
	o.number, o.status, coalesce(o.amount, 0), o.created_at, o.inbound_id, l.status, l.expired`

const orderOfListing = ` LEFT JOIN orders o ON o.listing_id = l.id`

func (l *Listing) columns() []any {
	return []any{
		&l.Seq, &l.ID, &l.Account, &l.Status, &l.Expired, &l.ProductID, &l.VariantID,
		&l.Amount, &l.Currency, &l.InventoryType,
		timeColumn{&l.ExpiresAt},
		textColumn{&l.BatchID},
		textColumn{&l.ItemID},
		textColumn{&l.Ask.ID},
		timeColumn{&l.Ask.CreatedAt},
		timeColumn{&l.Ask.UpdatedAt},
		timeColumn{&l.CreatedAt},
		timeColumn{&l.UpdatedAt},
		textColumn{&l.Order.Number},
		textColumn{&l.Order.Status},
		&l.Order.Amount,
		timeColumn{&l.Order.CreatedAt},
		textColumn{&l.Order.InboundID},
		&l.read.status, &l.read.expired,
	}
}

// InsertListing inserts a listing. Seq and Order are ignored. A CreatedAt before that of the newest
// listing, from a clock that went back, is set to that of the newest.
func (t *Tx) InsertListing(l Listing) error {
	if t.newest.IsZero() {
		err := t.get(`SELECT created_at FROM listings WHERE seq = (SELECT max(seq) FROM listings)`,
			nil, []any{timeColumn{&t.newest}})
		if err != nil && !errors.Is(err, ErrNotFound) {
			return err
		}
	}
	if l.CreatedAt.Before(t.newest) {
		l.CreatedAt = t.newest
	}
	result, err := t.run(`INSERT INTO listings (id, account, status, expired, product_id, variant_id,
		amount, currency, inventory_type, expires_at, batch_id, item_id,
		ask_id, ask_created_at, ask_updated_at, created_at, updated_at)
		VALUES (`+placeholders(17)+`)`,
		l.ID, l.Account, l.Status, l.Expired, l.ProductID, l.VariantID,
		l.Amount, l.Currency, l.InventoryType, at(l.ExpiresAt), opt(l.BatchID), opt(l.ItemID),
		opt(l.Ask.ID), at(l.Ask.CreatedAt), at(l.Ask.UpdatedAt), at(l.CreatedAt), at(l.UpdatedAt))
	if err != nil {
		return err
	}
	t.newest = l.CreatedAt
	if l.Seq, err = result.LastInsertId(); err != nil {
		return err
	}
	t.count(l, listingState{l.Status, l.Expired}, 1)
	return nil
}

// SaveListing writes the columns of a listing that can change. The listing must have been read in
// this transaction and not been saved since, or it would be counted twice.
func (t *Tx) SaveListing(l Listing) error {
	result, err := t.run(`UPDATE listings SET status = ?, expired = ?, amount = ?, currency = ?,
		expires_at = ?, ask_id = ?, ask_created_at = ?, ask_updated_at = ?, updated_at = ?
		WHERE seq = ? AND status = ? AND expired = ?`,
		l.Status, l.Expired, l.Amount, l.Currency,
		at(l.ExpiresAt), opt(l.Ask.ID), at(l.Ask.CreatedAt), at(l.Ask.UpdatedAt), at(l.UpdatedAt),
		l.Seq, l.read.status, l.read.expired)
	if err != nil {
		return err
	}
	if n, err := result.RowsAffected(); err != nil || n != 1 {
		return errors.Join(fmt.Errorf("save listing (%s): changed since read: read it again", l.ID), err)
	}
	if now := (listingState{l.Status, l.Expired}); now != l.read {
		t.count(l, l.read, -1)
		t.count(l, now, 1)
	}
	return nil
}

// Listing reads one listing of an account, or returns ErrNotFound.
func (t *Tx) Listing(account int64, id string) (Listing, error) {
	l, err := t.AnyListing(id)
	if err == nil && l.Account != account {
		return Listing{}, ErrNotFound
	}
	return l, err
}

// AnyListing reads one listing of any account, or returns ErrNotFound. It is not for requests of
// sellers.
func (t *Tx) AnyListing(id string) (Listing, error) {
	var l Listing
	err := t.get(`SELECT `+listingColumns+` FROM listings l`+orderOfListing+` WHERE l.id = ?`,
		[]any{id}, l.columns())
	return l, err
}

// expirable selects listings that are not Expired yet, in the words of the index.
const expirable = `expired = 0 AND status NOT IN ('MATCHED', 'COMPLETED')`

// ExpiringListings reads listings that have expired by now and are not Expired yet. Sold listings
// do not expire.
func (t *Tx) ExpiringListings(now time.Time, limit int) ([]Listing, error) {
	return list(t, (*Listing).columns, `SELECT `+listingColumns+` FROM
		(SELECT seq AS expiring FROM listings WHERE `+expirable+` AND expires_at <= ?
			ORDER BY expires_at LIMIT ?)
		CROSS JOIN listings l ON l.seq = expiring`+orderOfListing, at(now), limit)
}

// LowestAsk returns the lowest ask of the active listings of a variant in a currency, or 0 if there
// are none.
func (t *Tx) LowestAsk(variantID, currency string, now time.Time) (int64, error) {
	var amount int64
	err := t.get(`SELECT coalesce(min(amount), 0) FROM listings
		WHERE status = 'ACTIVE' AND variant_id = ? AND currency = ? AND expires_at > ?`,
		[]any{variantID, currency, at(now)}, []any{&amount})
	return amount, err
}
