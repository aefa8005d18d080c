package store

import (
	"cmp"
	"maps"
	"slices"
)

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
