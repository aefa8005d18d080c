package ledger

import (
	"context"
	"time"

	"github.com/sellside-sdk/sellside-go/bulk/internal/db"
	"github.com/sellside-sdk/sellside-go/bulk/internal/decide"
	"github.com/sellside-sdk/sellside-go/gen"
)

// Market is a product whose market is needed in a currency.
type Market struct {
	Product  string
	Currency gen.CurrencyCode
	ReadAt   time.Time // Zero if it was not read.
}

// NeedMarket makes the market of a product known as needed.
func (tx Tx) NeedMarket(ctx context.Context, product string, currency gen.CurrencyCode) error {
	_, err := tx.Exec(ctx, `INSERT INTO market (account, product, currency, read_at) VALUES ($1, $2, $3, 0)
		ON CONFLICT (account, product, currency) DO NOTHING`, tx.account, product, string(currency))
	return err
}

// NextMarket returns the market that was read first of those that were read before a time; nil if
// there is none.
func (tx Tx) NextMarket(ctx context.Context, before time.Time) (*Market, error) {
	return one(ctx, tx, func(rows db.Rows) (m Market, err error) {
		var at int64
		err = rows.Scan(&m.Product, &m.Currency, &at)
		m.ReadAt = fromMillis(at)
		return m, err
	}, `SELECT product, currency, read_at FROM market WHERE account = $1 AND read_at < $2
		ORDER BY read_at, product LIMIT 1`, tx.account, millis(before))
}

// CountMarkets returns how many products have a market that is needed.
func (tx Tx) CountMarkets(ctx context.Context) (int, error) {
	n, err := one(ctx, tx, number, `SELECT COUNT(*) FROM market WHERE account = $1`, tx.account)
	return int(deref(n)), err
}

// DropMarket forgets the market of a product.
func (tx Tx) DropMarket(ctx context.Context, m Market) error {
	_, err := tx.Exec(ctx, `DELETE FROM market WHERE account = $1 AND product = $2 AND currency = $3`,
		tx.account, m.Product, string(m.Currency))
	return err
}

// PutMarket records the market of a product, and marks its rows to be decided again. Variants that
// are not in prices have neither asks nor bids.
func (tx Tx) PutMarket(ctx context.Context, m Market, prices map[string]decide.Market, now time.Time) error {
	_, err := tx.Exec(ctx, `UPDATE market SET read_at = $4 WHERE account = $1 AND product = $2 AND currency = $3`,
		tx.account, m.Product, string(m.Currency), millis(now))
	if err != nil {
		return err
	}
	for variant, p := range prices {
		_, err := tx.Exec(ctx, `INSERT INTO prices (account, variant, currency, lowest_ask, highest_bid, read_at)
			VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (account, variant, currency) DO UPDATE SET
			lowest_ask = excluded.lowest_ask, highest_bid = excluded.highest_bid, read_at = excluded.read_at`,
			tx.account, variant, string(m.Currency), string(p.LowestAsk), string(p.HighestBid), millis(now))
		if err != nil {
			return err
		}
	}
	_, err = tx.Exec(ctx, `UPDATE desired SET dirty = 1 WHERE account = $1 AND product = $2`, tx.account, m.Product)
	return err
}

// Prices returns the market of a variant, zero if it was not read. A variant of a product that was
// read without it has neither asks nor bids.
func (tx Tx) Prices(ctx context.Context, product, variant string, currency gen.CurrencyCode) (decide.Market, error) {
	found, err := one(ctx, tx, func(rows db.Rows) (m decide.Market, err error) {
		var at int64
		err = rows.Scan(&m.LowestAsk, &m.HighestBid, &at)
		m.ReadAt = fromMillis(at)
		return m, err
	}, `SELECT lowest_ask, highest_bid, read_at FROM prices
		WHERE account = $1 AND variant = $2 AND currency = $3`, tx.account, variant, string(currency))
	if err != nil || found != nil {
		return deref(found), err
	}
	at, err := one(ctx, tx, number, `SELECT read_at FROM market
		WHERE account = $1 AND product = $2 AND currency = $3`, tx.account, product, string(currency))
	return decide.Market{ReadAt: fromMillis(deref(at))}, err
}

// OwnAsks returns the active asks of the account for a variant in a currency.
func (tx Tx) OwnAsks(ctx context.Context, variant string, currency gen.CurrencyCode) ([]decide.Ask, error) {
	return list(ctx, tx, func(rows db.Rows) (a decide.Ask, err error) {
		return a, rows.Scan(&a.ListingID, &a.Amount)
	}, `SELECT id, amount FROM listings WHERE account = $1 AND variant = $2 AND currency = $3
		AND presence = 'live' AND active = 1`, tx.account, variant, string(currency))
}
