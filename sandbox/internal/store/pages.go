package store

import (
	"cmp"
	"maps"
	"slices"
	"sort"
	"time"
)

// ListingFilter selects listings of an account; other members that are empty select all.
type ListingFilter struct {
	Account        int64
	ProductIDs     []string
	VariantIDs     []string
	BatchIDs       []string
	Statuses       []string
	InventoryTypes []string
	ShipmentIDs    []string  // display ids of inbound shipments
	From           time.Time // inclusive
	Until          time.Time // exclusive
	WithExpired    bool      // otherwise Expired listings are left out
}

// Listings reads a page of listings, newest first, and counts all matches. How long it takes does
// not depend on the offset. Products, variants, batches and shipments are taken to be selective:
// their listings are counted one by one, in an index.
func (t *Tx) Listings(f ListingFilter, limit, offset int) (page []Listing, count int, err error) {
	from, until, err := t.between(f.From, f.Until)
	if err != nil {
		return nil, 0, err
	}
	if len(f.ShipmentIDs) > 0 {
		return t.shipmentPage(f, from, until, limit, offset)
	}
	if index := f.narrowest(); index != "" {
		return t.narrowPage(f, index, from, until, limit, offset)
	}
	return t.widePage(f, from, until, limit, offset)
}

// narrowest returns the most selective index for the filter, or "" if there is no selective one.
func (f ListingFilter) narrowest() string {
	switch {
	case len(f.BatchIDs) > 0:
		return "listings_by_batch"
	case len(f.VariantIDs) > 0:
		return "listings_by_variant"
	case len(f.ProductIDs) > 0:
		return "listings_by_product"
	default:
		return ""
	}
}

// narrow returns the conditions for a selective index, which covers them, except for products of a
// variant and the like.
func narrow(f ListingFilter, from, until int64) (w where) {
	w.and("l.account = ?", f.Account)
	w.in("l.batch_id", f.BatchIDs)
	w.in("l.variant_id", f.VariantIDs)
	w.in("l.product_id", f.ProductIDs)
	w.and("l.seq >= ? AND l.seq < ?", from, until)
	w.in("l.status", f.Statuses)
	w.in("l.inventory_type", f.InventoryTypes)
	if !f.WithExpired {
		w.and("l.expired = 0")
	}
	return w
}

func (t *Tx) narrowPage(
	f ListingFilter, index string, from, until int64, limit, offset int,
) (page []Listing, count int, err error) {
	w := narrow(f, from, until)
	err = t.get(`SELECT count(*) FROM listings l INDEXED BY `+index+w.String(), w.args, []any{&count})
	if err != nil {
		return nil, 0, err
	}
	page, err = t.pageOf(index, w, limit, offset)
	return page, count, err
}

// shipmentPage begins with the orders of the shipments, which are few.
func (t *Tx) shipmentPage(
	f ListingFilter, from, until int64, limit, offset int,
) (page []Listing, count int, err error) {
	w := narrow(f, from, until)
	w.in("o.inbound_id", f.ShipmentIDs)
	tables := ` FROM orders o INDEXED BY orders_by_shipment
		CROSS JOIN listings l ON l.id = o.listing_id` + w.String()
	if err := t.get(`SELECT count(*)`+tables, w.args, []any{&count}); err != nil {
		return nil, 0, err
	}
	page, err = list(t, (*Listing).columns,
		`SELECT `+listingColumns+tables+` ORDER BY l.seq DESC LIMIT ? OFFSET ?`,
		append(w.args, limit, offset)...)
	return page, count, err
}

// widePage finds the place of a page by counting blocks, so that it reads few listings besides
// those of the page.
func (t *Tx) widePage(
	f ListingFilter, from, until int64, limit, offset int,
) (page []Listing, count int, err error) {
	spans, err := t.spans(f, from, until, len(blockSizes)-1)
	if err != nil {
		return nil, 0, err
	}
	for _, s := range spans {
		count += s.n
	}
	spans, offset = cut(spans, offset, limit)
	if spans, err = t.divide(f, spans); err != nil {
		return nil, count, err
	}
	spans, offset = cut(spans, offset, limit)
	if len(spans) == 0 {
		return nil, count, nil
	}
	w := byState(f, spans[len(spans)-1].from, spans[0].until)
	page, err = t.pageOf("listings_by_state", w, limit, offset)
	return page, count, err
}

// byState returns the conditions that listings_by_state covers.
func byState(f ListingFilter, from, until int64) (w where) {
	w.and("l.account = ?", f.Account)
	w.inState("l.", f)
	w.and("l.seq >= ? AND l.seq < ?", from, until)
	return w
}

// pageOf finds the listings of a page in an index, and then reads them.
func (t *Tx) pageOf(index string, w where, limit, offset int) ([]Listing, error) {
	return list(t, (*Listing).columns, `SELECT `+listingColumns+` FROM
		(SELECT l.seq AS found FROM listings l INDEXED BY `+index+w.String()+`
			ORDER BY l.seq DESC LIMIT ? OFFSET ?)
		CROSS JOIN listings l ON l.seq = found`+orderOfListing+` ORDER BY found DESC`,
		append(w.args, limit, offset)...)
}

// endOfTime is beyond every seq and a multiple of every block size.
const endOfTime = 1 << 62

// between returns the range of seq of the listings created between two times, the zero time being
// no bound. It relies on created_at never falling from one seq to the next.
func (t *Tx) between(from, until time.Time) (first, end int64, err error) {
	first, end = 0, endOfTime
	if !from.IsZero() {
		if first, err = t.firstSince(from); err != nil {
			return 0, 0, err
		}
	}
	if !until.IsZero() {
		end, err = t.firstSince(until)
	}
	return first, end, err
}

// firstSince returns the seq of the first listing that was created at a time or later, or the next
// seq. It reads some twenty of a million listings.
func (t *Tx) firstSince(when time.Time) (int64, error) {
	var newest int
	err := t.get(`SELECT coalesce(max(seq), 0) FROM listings`, nil, []any{&newest})
	if err != nil {
		return 0, err
	}
	before := sort.Search(newest, func(seq int) bool { // does nothing if there are no listings
		if err != nil {
			return true
		}
		var created time.Time
		err = t.get(`SELECT created_at FROM listings WHERE seq > ? ORDER BY seq LIMIT 1`,
			[]any{seq}, []any{timeColumn{&created}})
		return !created.Before(when)
	})
	return int64(before) + 1, err
}

// blockSizes are the sizes of blocks in which listings are counted, in ascending order; each is a
// multiple of the one before. A page among a million listings is found by reading the counts of
// some thirty large blocks, then of some sixty small ones, and then the listings of one small
// block.
var blockSizes = [...]int64{512, 64 * 512}

// block is the key of a row of listing_blocks.
type block struct {
	account, size, number int64
	listingState
	inventoryType string
}

// count collects that n more listings like l are in a state, in the blocks of l.
func (t *Tx) count(l Listing, s listingState, n int) {
	if t.blocks == nil {
		t.blocks = map[block]int{}
	}
	for _, size := range blockSizes {
		t.blocks[block{l.Account, size, l.Seq / size, s, l.InventoryType}] += n
	}
}

func (t *Tx) saveBlocks() error {
	// In order, because neighbours share pages of the database.
	inOrder := slices.SortedFunc(maps.Keys(t.blocks), func(a, b block) int {
		return cmp.Or(cmp.Compare(a.size, b.size), cmp.Compare(a.number, b.number))
	})
	for _, b := range inOrder {
		n := t.blocks[b]
		if n == 0 {
			continue
		}
		key := []any{b.account, b.size, b.number, b.status, b.expired, b.inventoryType}
		var err error
		if n < 0 { // an insert would violate the CHECK before its conflict is resolved
			err = t.exec(`UPDATE listing_blocks SET n = n + ?7
				WHERE account = ?1 AND block_size = ?2 AND block = ?3
				AND status = ?4 AND expired = ?5 AND inventory_type = ?6`, append(key, n)...)
		} else {
			err = t.exec(`INSERT INTO listing_blocks (account, block_size, block, status, expired,
				inventory_type, n) VALUES (`+placeholders(7)+`)
				ON CONFLICT DO UPDATE SET n = n + excluded.n`, append(key, n)...)
		}
		if err != nil {
			return err
		}
	}
	clear(t.blocks)
	return nil
}

// span is a range of seq with the number of matching listings in it.
type span struct {
	from, until int64 // until is exclusive
	n           int
	size        int64 // of the block; 0 if it is not a block
}

// spans counts the matches in a range in a handful of spans, newest first. It uses blocks of the
// size of a level and smaller ones at the ends of the range, where it counts the rest one by one.
func (t *Tx) spans(f ListingFilter, from, until int64, level int) ([]span, error) {
	if from >= until {
		return nil, nil
	}
	if level < 0 {
		w := byState(f, from, until)
		var n int
		err := t.get(`SELECT count(*) FROM listings l INDEXED BY listings_by_state`+w.String(),
			w.args, []any{&n})
		return []span{{from: from, until: until, n: n}}, err
	}
	size := blockSizes[level]
	first, end := (from+size-1)/size*size, until/size*size // of whole blocks
	if first >= end {
		return t.spans(f, from, until, level-1)
	}
	newest, err := t.spans(f, end, until, level-1)
	if err != nil {
		return nil, err
	}
	whole, err := t.wholeBlocks(f, size, first, end)
	if err != nil {
		return nil, err
	}
	oldest, err := t.spans(f, from, first, level-1)
	return slices.Concat(newest, whole, oldest), err
}

// wholeBlocks counts the matches in blocks of a size, newest first. It may leave out blocks without
// any.
func (t *Tx) wholeBlocks(f ListingFilter, size, from, until int64) ([]span, error) {
	var w where
	w.and("account = ? AND block_size = ? AND block >= ? AND block < ?",
		f.Account, size, from/size, until/size)
	w.inState("", f)
	columns := func(s *span) []any { return []any{&s.from, &s.n} }
	spans, err := list(t, columns,
		`SELECT block, sum(n) FROM listing_blocks`+w.String()+` GROUP BY block ORDER BY block DESC`,
		w.args...)
	for i := range spans {
		number := spans[i].from
		spans[i].from, spans[i].until, spans[i].size = number*size, (number+1)*size, size
	}
	return spans, err
}

// cut returns the spans with the matches that follow the first skip ones, up to limit, and how many
// matches of the first span are still to be skipped.
func cut(spans []span, skip, limit int) ([]span, int) {
	for len(spans) > 0 && spans[0].n <= skip {
		skip -= spans[0].n
		spans = spans[1:]
	}
	last, n := 0, -skip
	for last < len(spans) && n < limit {
		n += spans[last].n
		last++
	}
	return spans[:last], skip
}

// divide replaces large blocks by the small ones in them.
func (t *Tx) divide(f ListingFilter, spans []span) (divided []span, err error) {
	for _, s := range spans {
		parts := []span{s}
		if s.size > blockSizes[0] {
			if parts, err = t.wholeBlocks(f, blockSizes[0], s.from, s.until); err != nil {
				return nil, err
			}
		}
		divided = append(divided, parts...)
	}
	return divided, nil
}
