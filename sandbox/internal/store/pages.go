package store

import (
	"cmp"
	"maps"
	"slices"
	"sort"
	"time"
)

// ListingFilter selects listings of an account; other members that are empty
// select all.
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
	WithExpired    bool      // otherwise what is Expired is left out
}

// Listings reads a page of listings, the newest first, and counts all matches.
// How long it takes does not depend on how far back the page is. Products,
// variants, batches and shipments are taken to be selective: their listings are counted one
// by one, in an index.
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

// narrowest returns the index that leaves the fewest listings to look at, or
// none if the filter does not narrow them down.
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

// narrow are the conditions that the narrowest index answers, but for products
// of a variant and the like.
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

func (t *Tx) narrowPage(f ListingFilter, index string, from, until int64, limit, offset int) (page []Listing, count int, err error) {
	w := narrow(f, from, until)
	if err := t.get(`SELECT count(*) FROM listings l INDEXED BY `+index+w.String(), w.args, []any{&count}); err != nil {
		return nil, 0, err
	}
	page, err = t.pageOf(index, w, limit, offset)
	return page, count, err
}

// shipmentPage begins with the orders of the shipments, which are few.
func (t *Tx) shipmentPage(f ListingFilter, from, until int64, limit, offset int) (page []Listing, count int, err error) {
	w := narrow(f, from, until)
	w.in("o.inbound_id", f.ShipmentIDs)
	tables := ` FROM orders o INDEXED BY orders_by_shipment CROSS JOIN listings l ON l.id = o.listing_id` + w.String()
	if err := t.get(`SELECT count(*)`+tables, w.args, []any{&count}); err != nil {
		return nil, 0, err
	}
	page, err = list(t, (*Listing).columns, `SELECT `+listingColumns+tables+` ORDER BY l.seq DESC LIMIT ? OFFSET ?`,
		append(w.args, limit, offset)...)
	return page, count, err
}

// widePage finds out by counting blocks where a page is, so that it need look at
// few listings besides its own.
func (t *Tx) widePage(f ListingFilter, from, until int64, limit, offset int) (page []Listing, count int, err error) {
	spans, err := t.spans(f, from, until)
	if err != nil {
		return nil, 0, err
	}
	for _, s := range spans {
		count += s.n
	}
	spans, offset = cut(spans, offset, limit)
	if spans, err = t.finer(f, spans); err != nil {
		return nil, count, err
	}
	spans, offset = cut(spans, offset, limit)
	if len(spans) == 0 {
		return nil, count, nil
	}
	page, err = t.pageOf("listings_by_state", byState(f, spans[len(spans)-1].from, spans[0].until), limit, offset)
	return page, count, err
}

// countByState counts matches in a range of seq listing by listing.
func (t *Tx) countByState(f ListingFilter, from, until int64) (count int, err error) {
	w := byState(f, from, until)
	err = t.get(`SELECT count(*) FROM listings l INDEXED BY listings_by_state`+w.String(), w.args, []any{&count})
	return count, err
}

// byState are the conditions that listings_by_state answers.
func byState(f ListingFilter, from, until int64) (w where) {
	w.and("l.account = ?", f.Account)
	w.inState("l.", f)
	w.and("l.seq >= ? AND l.seq < ?", from, until)
	return w
}

// pageOf finds the listings of a page in an index, and then reads them.
func (t *Tx) pageOf(index string, w where, limit, offset int) ([]Listing, error) {
	return list(t, (*Listing).columns, `SELECT `+listingColumns+` FROM
		(SELECT l.seq AS found FROM listings l INDEXED BY `+index+w.String()+` ORDER BY l.seq DESC LIMIT ? OFFSET ?)
		CROSS JOIN listings l ON l.seq = found`+orderOfListing+` ORDER BY found DESC`, append(w.args, limit, offset)...)
}

// endOfTime is beyond every seq, and where blocks of every size end.
const endOfTime = 1 << 62

// between returns the range of seq that belongs to a span of time, of which
// either end may be missing.
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

// firstSince returns the seq of the first listing that was created at a time or
// later, or the next that there will be. It looks at some twenty of a million.
func (t *Tx) firstSince(when time.Time) (int64, error) {
	var newest int
	err := t.get(`SELECT coalesce(max(seq), 0) FROM listings`, nil, []any{&newest})
	if err != nil {
		return 0, err
	}
	before := sort.Search(newest, func(seq int) bool { // none is looked at where there is none
		if err != nil {
			return true
		}
		var created time.Time
		err = t.get(`SELECT created_at FROM listings WHERE seq > ? ORDER BY seq LIMIT 1`, []any{seq}, []any{timeColumn{&created}})
		return !created.Before(when)
	})
	return int64(before) + 1, err
}

// blockSizes are the sizes of blocks that listings are counted in, small ones
// first; each is a multiple of the one before. A page among a million listings is
// found by looking at some thirty blocks, then at some sixty, and then at no more
// listings than a small block has.
var blockSizes = [...]int64{512, 64 * 512}

// block is the key of a row of listing_blocks.
type block struct {
	account, size, number int64
	listingState
	inventoryType string
}

// count notes that n more listings of the account and inventory type of l are in
// a state, at the place of l.
func (t *Tx) count(l Listing, s listingState, n int) {
	if t.blocks == nil {
		t.blocks = map[block]int{}
	}
	for _, size := range blockSizes {
		t.blocks[block{l.Account, size, l.Seq / size, s, l.InventoryType}] += n
	}
}

func (t *Tx) saveBlocks() error {
	inOrder := slices.SortedFunc(maps.Keys(t.blocks), func(a, b block) int {
		return cmp.Or(cmp.Compare(a.size, b.size), cmp.Compare(a.number, b.number)) // neighbours share pages
	})
	for _, b := range inOrder {
		n := t.blocks[b]
		if n == 0 {
			continue
		}
		key := []any{b.account, b.size, b.number, b.status, b.expired, b.inventoryType}
		var err error
		if n < 0 { // an insert would break the CHECK before it is resolved
			err = t.exec(`UPDATE listing_blocks SET n = n + ?7 WHERE account = ?1 AND block_size = ?2 AND block = ?3
				AND status = ?4 AND expired = ?5 AND inventory_type = ?6`, append(key, n)...)
		} else {
			err = t.exec(`INSERT INTO listing_blocks (account, block_size, block, status, expired, inventory_type, n)
				VALUES (`+marks(7)+`) ON CONFLICT DO UPDATE SET n = n + excluded.n`, append(key, n)...)
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
	from, until int64 // until is not part of it
	n           int
	size        int64 // of the block it is; 0 if it is none
}

// spans counts the matches in a range in a handful of spans, the newest first.
// The ends of a range that fall within a block are counted listing by listing.
func (t *Tx) spans(f ListingFilter, from, until int64) ([]span, error) {
	return t.spansBy(f, from, until, len(blockSizes)-1)
}

// spansBy uses blocks up to a size, and smaller ones where those do not fit.
func (t *Tx) spansBy(f ListingFilter, from, until int64, level int) ([]span, error) {
	if from >= until {
		return nil, nil
	}
	if level < 0 {
		n, err := t.countByState(f, from, until)
		return []span{{from: from, until: until, n: n}}, err
	}
	size := blockSizes[level]
	first, end := (from+size-1)/size*size, until/size*size // of whole blocks
	if first >= end {
		return t.spansBy(f, from, until, level-1)
	}
	newest, err := t.spansBy(f, end, until, level-1)
	if err != nil {
		return nil, err
	}
	whole, err := t.wholeBlocks(f, size, first, end)
	if err != nil {
		return nil, err
	}
	oldest, err := t.spansBy(f, from, first, level-1)
	return slices.Concat(newest, whole, oldest), err
}

// wholeBlocks counts the matches in blocks of a size, the newest first. Blocks
// without any may be left out.
func (t *Tx) wholeBlocks(f ListingFilter, size, from, until int64) ([]span, error) {
	var w where
	w.and("account = ? AND block_size = ? AND block >= ? AND block < ?", f.Account, size, from/size, until/size)
	w.inState("", f)
	columns := func(s *span) []any { return []any{&s.from, &s.n} }
	spans, err := list(t, columns, `SELECT block, sum(n) FROM listing_blocks`+w.String()+` GROUP BY block ORDER BY block DESC`, w.args...)
	for i := range spans {
		number := spans[i].from
		spans[i].from, spans[i].until, spans[i].size = number*size, (number+1)*size, size
	}
	return spans, err
}

// cut leaves those spans that the matches after the first skip are in, up to
// limit, and returns how many of the first of them are still to be skipped.
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

// finer divides spans of larger blocks into those of smaller ones.
func (t *Tx) finer(f ListingFilter, spans []span) (fine []span, err error) {
	for _, s := range spans {
		parts := []span{s}
		if s.size > blockSizes[0] {
			if parts, err = t.wholeBlocks(f, blockSizes[0], s.from, s.until); err != nil {
				return nil, err
			}
		}
		fine = append(fine, parts...)
	}
	return fine, nil
}
