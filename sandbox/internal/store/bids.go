package store

import "time"

// Bid is one row of bids.
type Bid struct {
	Seq         int64 // grows with every bid
	VariantID   string
	Currency    string
	Amount      int64  // smallest units of Currency
	OrderNumber string // what it bought; empty while it is open
	CreatedAt   time.Time
}

const bidColumns = `seq, variant_id, currency, amount, order_number, created_at`

func (b *Bid) columns() []any {
	return []any{
		&b.Seq, &b.VariantID, &b.Currency, &b.Amount,
		textColumn{&b.OrderNumber},
		timeColumn{&b.CreatedAt},
	}
}

// InsertBid inserts an open bid and returns its Seq.
func (t *Tx) InsertBid(b Bid) (int64, error) {
	err := t.get(`INSERT INTO bids (variant_id, currency, amount, created_at)
		VALUES (?, ?, ?, ?) RETURNING seq`,
		[]any{b.VariantID, b.Currency, b.Amount, at(b.CreatedAt)}, []any{&b.Seq})
	return b.Seq, err
}

// FillBid closes a bid with the order that it made.
func (t *Tx) FillBid(seq int64, orderNumber string) error {
	return t.exec(`UPDATE bids SET order_number = ? WHERE seq = ?`, orderNumber, seq)
}

// Bids reads the open bids for a variant in a currency: the highest first, and of equal ones the
// oldest. A negative limit reads all.
func (t *Tx) Bids(variantID, currency string, limit int) ([]Bid, error) {
	return list(t, (*Bid).columns, `SELECT `+bidColumns+` FROM bids
		WHERE order_number IS NULL AND variant_id = ? AND currency = ?
		ORDER BY amount DESC, seq LIMIT ?`,
		variantID, currency, limit)
}

// HighestBid returns the highest open bid below a limit for a variant in a currency, or 0 if there
// is none.
func (t *Tx) HighestBid(variantID, currency string, below int64) (int64, error) {
	var amount int64
	err := t.get(`SELECT coalesce(max(amount), 0) FROM bids
		WHERE order_number IS NULL AND variant_id = ? AND currency = ? AND amount < ?`,
		[]any{variantID, currency, below}, []any{&amount})
	return amount, err
}

// Crossing is a variant in a currency.
type Crossing struct {
	VariantID string
	Currency  string
}

// Crossings finds where a bid reaches the ask of an active listing. It reads all open bids.
func (t *Tx) Crossings(now time.Time) ([]Crossing, error) {
	return list(t, func(c *Crossing) []any { return []any{&c.VariantID, &c.Currency} },
		`SELECT DISTINCT b.variant_id, b.currency FROM bids b WHERE b.order_number IS NULL AND EXISTS
		(SELECT 1 FROM listings l WHERE l.status = 'ACTIVE' AND l.variant_id = b.variant_id
		AND l.currency = b.currency AND l.amount <= b.amount AND l.expires_at > ?)`, at(now))
}

// CheapestListing reads the active listing of a variant with the lowest ask in a currency, of equal
// ones the oldest, or returns ErrNotFound.
func (t *Tx) CheapestListing(variantID, currency string, now time.Time) (Listing, error) {
	var id string
	err := t.get(`SELECT id FROM listings
		WHERE status = 'ACTIVE' AND variant_id = ? AND currency = ? AND expires_at > ?
		ORDER BY amount, seq LIMIT 1`, []any{variantID, currency, at(now)}, []any{&id})
	if err != nil {
		return Listing{}, err
	}
	return t.AnyListing(id)
}
