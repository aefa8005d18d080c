package store

import "time"

// The console shows the newest rows and counts, of all accounts. Its queries read a bounded part of
// a table, or an index.

// recently is how many of the newest rows are searched for those that are shown.
const recently = 500

// StatusCount is how many rows have a status.
type StatusCount struct {
	Status  string
	Expired bool // of listings only
	N       int
}

// CountListings counts the listings by status.
func (t *Tx) CountListings() ([]StatusCount, error) {
	return list(t, func(c *StatusCount) []any { return []any{&c.Status, &c.Expired, &c.N} },
		`SELECT status, expired, sum(n) FROM listing_blocks WHERE block_size = ? GROUP BY status, expired`,
		blockSizes[len(blockSizes)-1])
}

// CountOrders counts the orders by status.
func (t *Tx) CountOrders() ([]StatusCount, error) {
	return list(t, func(c *StatusCount) []any { return []any{&c.Status, &c.N} },
		`SELECT status, count(*) FROM orders INDEXED BY orders_by_state GROUP BY status`)
}

// NewestListings reads the newest listings, the newest first.
func (t *Tx) NewestListings(limit int) ([]Listing, error) {
	return list(t, (*Listing).columns, `SELECT `+listingColumns+` FROM
		(SELECT seq AS newest FROM listings ORDER BY seq DESC LIMIT ?)
		CROSS JOIN listings l ON l.seq = newest`+orderOfListing+` ORDER BY l.seq DESC`, limit)
}

// RecentOrders reads recent orders, first those that have not ended, then the newest first.
func (t *Tx) RecentOrders(ended []string, limit int) ([]Order, error) {
	args := []any{recently}
	for _, status := range ended {
		args = append(args, status)
	}
	return list(t, (*Order).columns, `SELECT `+orderColumns+` FROM
		(SELECT * FROM orders ORDER BY seq DESC LIMIT ?)
		ORDER BY status IN (`+placeholders(len(ended))+`), seq DESC LIMIT ?`, append(args, limit)...)
}

// RecentBatches reads recent batches, first those that are not completed, then the newest first.
func (t *Tx) RecentBatches(limit int) ([]Batch, error) {
	return list(t, (*Batch).columns, `SELECT `+batchColumns+` FROM
		(SELECT * FROM batches ORDER BY seq DESC LIMIT ?)
		ORDER BY completed_at IS NOT NULL, seq DESC LIMIT ?`, recently, limit)
}

// ItemError returns the error of the first item of a batch that failed; empty if none did.
func (t *Tx) ItemError(b Batch) (text string, err error) {
	failed, err := list(t, func(s *string) []any { return []any{s} }, `SELECT error FROM batch_items
		WHERE seq >= ?1 AND seq < ?1 + ?2 AND error IS NOT NULL ORDER BY seq LIMIT 1`, b.firstItem, b.TotalItems)
	if err != nil || len(failed) == 0 {
		return "", err
	}
	return failed[0], nil
}

// Level is one price of an order book.
type Level struct {
	Amount int64 // smallest units of the currency
	N      int
}

func (l *Level) columns() []any { return []any{&l.Amount, &l.N} }

// AskLevels reads the lowest prices of active listings of a variant in a currency, the lowest first.
func (t *Tx) AskLevels(x Crossing, now time.Time, limit int) ([]Level, error) {
	return list(t, (*Level).columns, `SELECT amount, count(*) FROM listings
		WHERE status = 'ACTIVE' AND variant_id = ? AND currency = ? AND expires_at > ?
		GROUP BY amount ORDER BY amount LIMIT ?`, x.VariantID, x.Currency, at(now), limit)
}

// BidLevels reads the highest prices of open bids for a variant in a currency, the highest first.
func (t *Tx) BidLevels(x Crossing, limit int) ([]Level, error) {
	return list(t, (*Level).columns, `SELECT amount, count(*) FROM bids
		WHERE `+openBids+` AND variant_id = ? AND currency = ?
		GROUP BY amount ORDER BY amount DESC LIMIT ?`, x.VariantID, x.Currency, limit)
}

// Failures reads the oldest failures that have not happened, the oldest first.
func (t *Tx) Failures(limit int) ([]Failure, error) {
	return list(t, func(f *Failure) []any {
		return []any{&f.Seq, &f.Target, &f.Operation, &f.Times, textColumn{&f.Error}}
	}, `SELECT seq, target, operation, times, error FROM failures ORDER BY seq LIMIT ?`, limit)
}
