package ledger

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/sellside-sdk/sellside-go/bulk/internal/db"
	"github.com/sellside-sdk/sellside-go/bulk/internal/decide"
	"github.com/sellside-sdk/sellside-go/bulk/stock"
)

// maxRows bounds how many rows one statement writes or names.
const maxRows = 500

// The classes of rows beside those of [decide.Class].
const (
	ClassInvalid decide.Class = "invalid" // The catalog does not have the item.
	ClassMissing decide.Class = "missing" // The row is not in the newest inventory, and its listings stay.
	ClassGone    decide.Class = "gone"    // The row is not in the newest inventory, and has no listings.
)

// Row is a desired row with what the ledger knows of it.
type Row struct {
	decide.Row
	Generation int64
	Item       string // The key of its look-up; "" if the row states its variant.
	Product    string
	Class      decide.Class // "" before the first decision.
	Detail     string
	Creates    int
	Updates    int
	Deletes    int
	Failure    string // Why the service refused the last write; "" if it did not.
	FailedAt   time.Time
}

// ItemKey returns the key under which the item of a row is looked up, "" if the row states its
// variant.
func ItemKey(r *stock.Row) string {
	switch {
	case r.VariantID != "":
		return ""
	case r.GTIN != "":
		return "gtin:" + r.GTIN
	default:
		return "style:" + r.StyleID
	}
}

const rowColumns = `sku, line, generation, body, item, variant, product, counted_at, before,
	class, detail, creates, updates, deletes, failure, refusals, failed_at`

func scanRow(rows db.Rows) (Row, error) {
	var (
		r                   Row
		sku, body, before   string
		refusals            string
		line                int
		countedAt, failedAt int64
	)
	err := rows.Scan(&sku, &line, &r.Generation, &body, &r.Item, &r.Variant, &r.Product, &countedAt, &before,
		&r.Class, &r.Detail, &r.Creates, &r.Updates, &r.Deletes, &r.Failure, &refusals, &failedAt)
	if err != nil {
		return r, err
	}
	if err := json.Unmarshal([]byte(body), &r.Row.Row); err != nil {
		return r, fmt.Errorf("row %q: %w", sku, err)
	}
	r.Line, r.CountedAt, r.FailedAt = line, fromMillis(countedAt), fromMillis(failedAt)
	if before != "" {
		r.Before = &decide.Count{}
		if err := json.Unmarshal([]byte(before), r.Before); err != nil {
			return r, fmt.Errorf("row %q: %w", sku, err)
		}
	}
	if refusals != "" {
		err = json.Unmarshal([]byte(refusals), &r.Refusals)
	}
	return r, err
}

// PutRows writes rows of a new plan. Rows that changed are to be decided again. All rows of one call
// have different SKUs.
func (tx Tx) PutRows(ctx context.Context, generation int64, rows []stock.Row, now time.Time) error {
	for len(rows) > 0 {
		n := min(len(rows), maxRows)
		if err := tx.putRows(ctx, generation, rows[:n], now); err != nil {
			return err
		}
		rows = rows[n:]
	}
	return nil
}

// stored is what the ledger has of a row that is written again.
type stored struct {
	body, variant, product, counts string
	generation                     int64
	line                           int
}

// putRow writes one row: a statement that is prepared once is faster than one for many rows, because
// SQLite looks up each placeholder among all before it.
const putRow = `INSERT INTO desired (account, sku, line, generation, body, item, variant, product,
	counts, counted_at, before, dirty, due_at, class, detail, creates, updates, deletes, failure, refusals, failed_at)
	VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21)
	ON CONFLICT (account, sku) DO UPDATE SET line = excluded.line, generation = excluded.generation,
	body = excluded.body, item = excluded.item, variant = excluded.variant, product = excluded.product,
	counts = excluded.counts, counted_at = excluded.counted_at, before = excluded.before, dirty = 1,
	failure = '', refusals = '', failed_at = 0`

func (tx Tx) putRows(ctx context.Context, generation int64, rows []stock.Row, now time.Time) error {
	skus := make([]string, len(rows))
	for i := range rows {
		skus[i] = rows[i].SKU
	}
	known, err := tx.storedRows(ctx, skus)
	if err != nil {
		return err
	}
	var unchanged []string
	for i := range rows {
		r := &rows[i]
		old, isKnown := known[r.SKU]
		body, err := marshal(r)
		if err != nil {
			return err
		}
		if isKnown && old.generation == generation {
			return fmt.Errorf("sku %q: twice in the inventory", r.SKU)
		}
		if isKnown && old.body == body && old.generation == generation-1 && old.line == r.Line {
			unchanged = append(unchanged, r.SKU)
			continue
		}
		values, err := values(r, old, body, now)
		if err != nil {
			return err
		}
		args := append([]any{tx.account, r.SKU, r.Line, generation}, values...)
		if _, err := tx.Exec(ctx, putRow, args...); err != nil {
			return err
		}
	}
	if len(unchanged) > 0 {
		_, err = tx.Exec(ctx, `UPDATE desired SET generation = $2 WHERE account = $1 AND sku IN (`+
			numbers(3, len(unchanged))+`)`, tx.with(unchanged, generation)...)
	}
	return err
}

// values returns the columns of a row from body on.
func values(r *stock.Row, old stored, body string, now time.Time) ([]any, error) {
	var counts []decide.Count
	if old.counts != "" {
		if err := json.Unmarshal([]byte(old.counts), &counts); err != nil {
			return nil, fmt.Errorf("sku %q: %w", r.SKU, err)
		}
	}
	counts, current, before := decide.Observe(counts, r.Quantity, r.AsOf, now.UTC().Truncate(time.Millisecond))
	keep, err := json.Marshal(counts)
	if err != nil {
		return nil, err
	}
	beforeText := ""
	if before != nil {
		text, err := json.Marshal(before)
		if err != nil {
			return nil, err
		}
		beforeText = string(text)
	}
	variant, product := r.VariantID, ""
	if old.body != "" && sameItem(old.body, r) {
		variant, product = old.variant, old.product
	}
	return []any{
		body, ItemKey(r), variant, product, string(keep), millis(current.At), beforeText,
		1, 0, "", "", 0, 0, 0, "", "", 0,
	}, nil
}

func marshal(r *stock.Row) (string, error) {
	copied := *r
	copied.Line = 0 // it has a column
	body, err := json.Marshal(copied)
	return string(body), err
}

// sameItem reports whether a stored row is about the same item.
func sameItem(body string, r *stock.Row) bool {
	var old stock.Row
	return json.Unmarshal([]byte(body), &old) == nil && old.VariantID == r.VariantID && old.GTIN == r.GTIN &&
		old.StyleID == r.StyleID && old.Size == r.Size
}

func (tx Tx) storedRows(ctx context.Context, skus []string) (map[string]stored, error) {
	found := make(map[string]stored, len(skus))
	_, err := list(ctx, tx, func(rows db.Rows) (none struct{}, err error) {
		var sku string
		var s stored
		err = rows.Scan(&sku, &s.body, &s.variant, &s.product, &s.counts, &s.generation, &s.line)
		found[sku] = s
		return none, err
	}, `SELECT sku, body, variant, product, counts, generation, line FROM desired
		WHERE account = $1 AND sku IN (`+numbers(2, len(skus))+`)`, tx.with(skus)...)
	return found, err
}

// DirtyMissing marks the rows that a new plan lacks, which are to be decided again.
func (tx Tx) DirtyMissing(ctx context.Context, generation int64) error {
	_, err := tx.Exec(ctx, `UPDATE desired SET dirty = 1 WHERE account = $1 AND generation < $2`, tx.account, generation)
	return err
}

// DirtyDue marks the rows whose time to be decided again has come.
func (tx Tx) DirtyDue(ctx context.Context, now time.Time) (int64, error) {
	return tx.Exec(ctx, `UPDATE desired SET dirty = 1, due_at = 0
		WHERE account = $1 AND due_at > 0 AND due_at <= $2`, tx.account, millis(now))
}

// NextDue returns when the next row has to be decided again, zero if none has.
func (tx Tx) NextDue(ctx context.Context) (time.Time, error) {
	due, err := one(ctx, tx, number, `SELECT due_at FROM desired WHERE account = $1 AND due_at > 0
		ORDER BY due_at LIMIT 1`, tx.account)
	return fromMillis(deref(due)), err
}

// Dirty marks rows to be decided again.
func (tx Tx) Dirty(ctx context.Context, skus ...string) error {
	for len(skus) > 0 {
		n := min(len(skus), maxRows)
		_, err := tx.Exec(ctx, `UPDATE desired SET dirty = 1 WHERE account = $1 AND sku IN (`+numbers(2, n)+`)`,
			tx.with(skus[:n])...)
		if err != nil {
			return err
		}
		skus = skus[n:]
	}
	return nil
}

// DirtyAll marks all rows to be decided again.
func (tx Tx) DirtyAll(ctx context.Context) error {
	_, err := tx.Exec(ctx, `UPDATE desired SET dirty = 1 WHERE account = $1`, tx.account)
	return err
}

// ClearFailures forgets the refusals before a time, so that their rows are tried again.
func (tx Tx) ClearFailures(ctx context.Context, before time.Time) error {
	_, err := tx.Exec(ctx, `UPDATE desired SET failure = '', refusals = '', failed_at = 0, dirty = 1
		WHERE account = $1 AND failure <> '' AND failed_at < $2`, tx.account, millis(before))
	return err
}

// maxRefusals bounds how many refused writes of a row are kept.
const maxRefusals = 100

// AddRefusal records a write of a row that the service refused, and why.
func (tx Tx) AddRefusal(ctx context.Context, sku string, refusal decide.Refusal, reason string, now time.Time) error {
	text, err := one(ctx, tx, text, `SELECT refusals FROM desired WHERE account = $1 AND sku = $2`, tx.account, sku)
	if err != nil || text == nil {
		return err
	}
	var all []decide.Refusal
	if *text != "" {
		if err := json.Unmarshal([]byte(*text), &all); err != nil {
			return err
		}
	}
	all = append(all, refusal)
	body, err := json.Marshal(all[max(0, len(all)-maxRefusals):])
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `UPDATE desired SET failure = $3, refusals = $4, failed_at = $5, dirty = 1
		WHERE account = $1 AND sku = $2`, tx.account, sku, reason, string(body), millis(now))
	return err
}

// IsDirty reports whether a row has to be decided again.
func (tx Tx) IsDirty(ctx context.Context) (bool, error) {
	found, err := one(ctx, tx, number, `SELECT 1 FROM desired WHERE account = $1 AND dirty = 1 LIMIT 1`, tx.account)
	return found != nil, err
}

// DirtyRows returns rows that have to be decided again, with their listings and writes.
func (tx Tx) DirtyRows(ctx context.Context, limit int) ([]Row, error) {
	return tx.fullRows(ctx, `SELECT `+rowColumns+` FROM desired WHERE account = $1 AND dirty = 1
		ORDER BY sku LIMIT $2`, tx.account, limit)
}

// RowsOf returns rows by their SKUs, with their listings and writes.
func (tx Tx) RowsOf(ctx context.Context, skus ...string) ([]Row, error) {
	if len(skus) == 0 {
		return nil, nil
	}
	return tx.fullRows(ctx, `SELECT `+rowColumns+` FROM desired WHERE account = $1 AND sku IN (`+
		numbers(2, len(skus))+`)`, tx.with(skus)...)
}

// fullRows returns the rows of a query with their listings and writes.
func (tx Tx) fullRows(ctx context.Context, query string, args ...any) ([]Row, error) {
	rows, err := list(ctx, tx, scanRow, query, args...)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	index := make(map[string]int, len(rows))
	skus := make([]string, len(rows))
	for i := range rows {
		index[rows[i].SKU], skus[i] = i, rows[i].SKU
	}
	listings, err := list(ctx, tx, scanListing, `SELECT `+listingColumns+` FROM listings
		WHERE account = $1 AND sku IN (`+numbers(2, len(skus))+`) AND sku <> '' ORDER BY created_at, id`, tx.with(skus)...)
	if err != nil {
		return nil, err
	}
	for _, l := range listings {
		r := &rows[index[l.SKU]]
		r.Listings = append(r.Listings, l.Listing)
	}
	_, err = list(ctx, tx, func(found db.Rows) (none struct{}, err error) {
		var sku string
		var w decide.Write
		var unknown bool
		err = found.Scan(&sku, &w.Kind, &w.ListingID, &w.Quantity, &unknown)
		w.Unknown = unknown
		if err == nil {
			r := &rows[index[sku]]
			r.InFlight = append(r.InFlight, w)
		}
		return none, err
	}, `SELECT i.sku, i.kind, i.listing, i.quantity - i.made - i.failed,
			i.state = 'stuck' OR s.state IN ('recorded', 'stuck')
		FROM items i JOIN submissions s ON s.account = i.account AND s.id = i.submission
		WHERE i.account = $1 AND i.sku IN (`+numbers(2, len(skus))+`) AND i.state IN ('open', 'stuck')`, tx.with(skus)...)
	return rows, err
}

// Decided is the result of a decision.
type Decided struct {
	Class                     decide.Class
	Detail                    string
	LookUp                    bool // The row waits for its item to be looked up.
	Creates, Updates, Deletes int
	DueAt                     time.Time // When to decide again whatever happens; zero for never.
	Owed                      []Owed    // What can be submitted.
}

// SetDecided records a decision, and replaces what the row owed before.
func (tx Tx) SetDecided(ctx context.Context, row *Row, d Decided) error {
	_, err := tx.Exec(ctx, `UPDATE desired SET dirty = 0, class = $3, detail = $4, creates = $5, updates = $6,
		deletes = $7, due_at = $8, lookup = $9 WHERE account = $1 AND sku = $2`, tx.account, row.SKU, string(d.Class), d.Detail,
		d.Creates, d.Updates, d.Deletes, millis(d.DueAt), flag(d.LookUp))
	if err != nil {
		return err
	}
	if row.Class != "" && row.Class != decide.ClassUnchanged { // others never owe anything
		if _, err := tx.Exec(ctx, `DELETE FROM owed WHERE account = $1 AND sku = $2`, tx.account, row.SKU); err != nil {
			return err
		}
	}
	return tx.addOwed(ctx, d.Owed)
}

// Count is how many rows have a class, and what they owe.
type Count struct {
	Class                     decide.Class
	Rows                      int
	Creates, Updates, Deletes int
}

// Counts returns the counts of all classes.
func (tx Tx) Counts(ctx context.Context) ([]Count, error) {
	return list(ctx, tx, func(rows db.Rows) (c Count, err error) {
		return c, rows.Scan(&c.Class, &c.Rows, &c.Creates, &c.Updates, &c.Deletes)
	}, `SELECT class, COUNT(*), SUM(creates), SUM(updates), SUM(deletes) FROM desired
		WHERE account = $1 GROUP BY class ORDER BY class`, tx.account)
}

// RowsAfter returns rows in the order of their SKUs after a SKU, with their listings and writes: of
// one class, or of all if class is "".
func (tx Tx) RowsAfter(ctx context.Context, class decide.Class, sku string, limit int) ([]Row, error) {
	return tx.fullRows(ctx, `SELECT `+rowColumns+` FROM desired
		WHERE account = $1 AND sku > $2 AND ($3 = '' OR class = $3) ORDER BY sku LIMIT $4`,
		tx.account, sku, string(class), limit)
}

// RetryRows forgets what the service refused of the rows of a run, so that they are tried again.
func (tx Tx) RetryRows(ctx context.Context, run int64) (int64, error) {
	return tx.Exec(ctx, `UPDATE desired SET failure = '', refusals = '', failed_at = 0, dirty = 1
		WHERE account = $1 AND failure <> '' AND sku IN (
			SELECT sku FROM items WHERE account = $1 AND run = $2 AND state = 'failed')`, tx.account, run)
}

// ForgetInvalid forgets the look-ups before a time that left rows without a variant, so that they
// are made again.
func (tx Tx) ForgetInvalid(ctx context.Context, before time.Time) error {
	_, err := tx.Exec(ctx, `DELETE FROM lookups WHERE account = $1 AND read_at < $2 AND item IN (
		SELECT item FROM desired WHERE account = $1 AND class = 'invalid')`, tx.account, millis(before))
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `UPDATE desired SET dirty = 1 WHERE account = $1 AND class = 'invalid'`, tx.account)
	return err
}
