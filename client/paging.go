package client

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/sellside-sdk/sellside-go/gen"
)

// page is what the loops below need of one page of a list.
type page[T any] struct {
	entries []T
	more    bool
	cursor  string // Of the next page; unused by page-numbered lists.
}

// maxStalePages is how many pages in a row may hold nothing new before a list is stuck.
const maxStalePages = 3

// listProgress tells a list that moves on from one that is stuck. A repeated cursor alone proves nothing, and lists that
// grow while they are read repeat entries: only the same page again does, or several pages without anything new.
type listProgress struct {
	seen  map[string]struct{}
	last  []string // The ids of the page before.
	fresh bool     // Whether this page has held something new so far.
	stale int      // Pages in a row that held nothing new.
}

// isNew reports whether an entry has not been yielded yet. An entry without an id cannot be told from others: it is
// yielded, but it does not show that the list moves on.
func (p *listProgress) isNew(id string) bool {
	if _, dup := p.seen[id]; dup {
		return false
	}
	if id != "" {
		p.seen[id] = struct{}{}
		p.fresh = true
	}
	return true
}

// stuck reports whether a page that promises more shows that there is no end to come.
func (p *listProgress) stuck(ids []string) bool {
	again := slices.Equal(ids, p.last) && strings.Join(ids, "") != ""
	if p.stale++; p.fresh {
		p.stale = 0
	}
	p.last, p.fresh = ids, false
	return again || p.stale >= maxStalePages
}

// numbered yields the entries of a page-numbered list from page first on. It asks for a page when the loop
// reaches it, and each range starts anew. Page numbers are no snapshot: an entry that moves to a later page
// is yielded once, but one that moves to an earlier page is missed. For the end of a list see resolveHasNextPage.
func numbered[T any](op gen.OperationID, first int, id func(*T) string, fetch func(number int) (page[T], error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		moved := listProgress{seen: map[string]struct{}{}}
		for number := max(first, 1); ; number++ {
			p, err := fetch(number)
			if err != nil {
				yield(*new(T), err)
				return
			}
			ids := make([]string, len(p.entries))
			for i := range p.entries {
				ids[i] = id(&p.entries[i])
				if moved.isNew(ids[i]) && !yield(p.entries[i], nil) {
					return
				}
			}
			if !p.more {
				return
			}
			if moved.stuck(ids) {
				yield(*new(T), fmt.Errorf("%s: page %d: %w", op, number, ErrPagingStuck))
				return
			}
		}
	}
}

// byCursor yields the entries of a cursor list, by the same rules. A cursor may repeat.
func byCursor[T any](op gen.OperationID, id func(*T) string, fetch func(cursor string) (page[T], error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		cursor := ""
		numbered(op, 1, id, func(int) (page[T], error) {
			p, err := fetch(cursor)
			cursor, p.more = p.cursor, p.cursor != ""
			return p, err
		})(yield)
	}
}

// position is what a page of a page-numbered list reports of its place in the list.
type position struct{ entries, count, size, number gen.Int }

func positionOf(entries int, count, size, number gen.Int) position {
	return position{gen.Int(entries), count, size, number}
}

// isLast reports whether the numbers imply that no page follows. Numbers that do not fit what the page holds, such as
// a count of this page alone, imply nothing.
func (p position) isLast() bool {
	fit := p.size > 0 && p.number > 0 && p.count >= p.entries && (p.count-p.entries)/p.size >= p.number-1
	return fit && (p.count-1)/p.size < p.number
}

// resolveHasNextPage refuses a page whose hasNextPage is not a boolean, because the rest of the list would be missed
// in silence. If it is missing or null, it sets more unless the page is empty or its numbers imply that it is the
// last: a request for the next page finds out.
func resolveHasNextPage(d gen.Decoded, more *bool, p position) error {
	switch kind := d.Members["hasNextPage"]; kind {
	case gen.KindBoolean:
	case "", gen.KindNull:
		*more = p.entries > 0 && !p.isLast()
	default:
		return fmt.Errorf("hasNextPage is %s, want %s", kind, gen.KindBoolean)
	}
	return nil
}

// verifyCursor refuses a page that has entries but no nextCursor. The end of a cursor list is null or "".
func verifyCursor(d gen.Decoded, entries int) error {
	switch kind := d.Members["nextCursor"]; {
	case kind == gen.KindString || kind == gen.KindNull || kind == "" && entries == 0:
		return nil
	default:
		return fmt.Errorf("nextCursor is %s, want %s or null", cmp.Or(kind, "missing"), gen.KindString)
	}
}
