package store

import (
	"encoding/json"
	"fmt"
	"time"
)

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

// openBids selects bids that are open, in the words of the index.
const openBids = `order_number IS NULL AND closed_at IS NULL`

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

// CloseBid closes an open bid without an order, or returns ErrNotFound.
func (t *Tx) CloseBid(seq int64, now time.Time) error {
	return t.get(`UPDATE bids SET closed_at = ? WHERE seq = ? AND `+openBids+` RETURNING seq`,
		[]any{at(now), seq}, []any{&seq})
}

// OpenBids reads all open bids, the oldest first.
func (t *Tx) OpenBids() ([]Bid, error) {
	return list(t, (*Bid).columns, `SELECT `+bidColumns+` FROM bids WHERE `+openBids+` ORDER BY seq`)
}

// Bids reads the open bids for a variant in a currency: the highest first, and of equal ones the
// oldest. A negative limit reads all.
func (t *Tx) Bids(variantID, currency string, limit int) ([]Bid, error) {
	return list(t, (*Bid).columns, `SELECT `+bidColumns+` FROM bids
		WHERE `+openBids+` AND variant_id = ? AND currency = ?
		ORDER BY amount DESC, seq LIMIT ?`,
		variantID, currency, limit)
}

// HighestBid returns the highest open bid below a limit for a variant in a currency, or 0 if there
// is none.
func (t *Tx) HighestBid(variantID, currency string, below int64) (int64, error) {
	var amount int64
	err := t.get(`SELECT coalesce(max(amount), 0) FROM bids
		WHERE `+openBids+` AND variant_id = ? AND currency = ? AND amount < ?`,
		[]any{variantID, currency, below}, []any{&amount})
	return amount, err
}

// Crossing is a variant in a currency.
type Crossing struct {
	VariantID string
	Currency  string
}

func (c *Crossing) columns() []any { return []any{&c.VariantID, &c.Currency} }

// Crossings finds where a bid reaches the ask of an active listing. It reads all open bids.
func (t *Tx) Crossings(now time.Time) ([]Crossing, error) {
	return list(t, (*Crossing).columns,
		`SELECT DISTINCT b.variant_id, b.currency FROM bids b
		WHERE b.order_number IS NULL AND b.closed_at IS NULL AND EXISTS
		(SELECT 1 FROM listings l WHERE l.status = 'ACTIVE' AND l.variant_id = b.variant_id
		AND l.currency = b.currency AND l.amount <= b.amount AND l.expires_at > ?)`, at(now))
}

// Asked finds where listings are active. It reads all of them, in an index.
func (t *Tx) Asked() ([]Crossing, error) {
	return list(t, (*Crossing).columns,
		`SELECT DISTINCT variant_id, currency FROM listings WHERE status = 'ACTIVE'`)
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

// Book is one row of books: an order book that replaces the generated one. Its amounts are in the
// smallest unit of the currency, the best one first.
type Book struct {
	Crossing
	Asks    []int64
	Bids    []int64
	FlexAsk int64 // 0 if there is none
}

// Book reads the book of a variant in a currency, or returns ErrNotFound if it is the generated one.
func (t *Tx) Book(x Crossing) (Book, error) {
	b := Book{Crossing: x}
	var asks, bids string
	err := t.get(`SELECT asks, bids, flex_ask FROM books WHERE variant_id = ? AND currency = ?`,
		[]any{x.VariantID, x.Currency}, []any{&asks, &bids, &b.FlexAsk})
	if err != nil {
		return b, err
	}
	if err := json.Unmarshal([]byte(asks), &b.Asks); err != nil {
		return b, fmt.Errorf("read book: %w", err)
	}
	if err := json.Unmarshal([]byte(bids), &b.Bids); err != nil {
		return b, fmt.Errorf("read book: %w", err)
	}
	return b, nil
}

// SaveBook inserts or replaces a book.
func (t *Tx) SaveBook(b Book) error {
	asks, err := json.Marshal(b.Asks)
	if err != nil {
		return fmt.Errorf("save book: %w", err)
	}
	bids, err := json.Marshal(b.Bids)
	if err != nil {
		return fmt.Errorf("save book: %w", err)
	}
	return t.exec(`INSERT OR REPLACE INTO books (variant_id, currency, asks, bids, flex_ask) VALUES (?, ?, ?, ?, ?)`,
		b.VariantID, b.Currency, string(asks), string(bids), b.FlexAsk)
}
