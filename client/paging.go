package client

import (
	"cmp"
	"fmt"
	"iter"

	"github.com/sellside-sdk/sellside-go/gen"
)

// page is what the loops below need of one page of a list.
type page[T any] struct {
	entries []T
	more    bool
	cursor  string // Of the next page; unused by page-numbered lists.
}

// numbered yields the entries of a page-numbered list from page first on. It asks for a page when the loop
// reaches it, and each range starts anew. Page numbers are no snapshot: an entry that moves to a later page
// is yielded once, but one that moves to an earlier page is missed. For the end of a list see
// resolveHasNextPage.
func numbered[T any](op gen.OperationID, first int, id func(*T) string, fetch func(number int) (page[T], error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		seen := map[string]struct{}{}
		for number := max(first, 1); ; number++ {
			p, err := fetch(number)
			if err != nil {
				yield(*new(T), err)
				return
			}
			fresh := 0
			for i := range p.entries {
				key := id(&p.entries[i])
				if _, dup := seen[key]; dup {
					continue
				}
				if key != "" { // an entry without its id cannot be told from others, nor show that the list moves on
					seen[key] = struct{}{}
					fresh++
				}
				if !yield(p.entries[i], nil) {
					return
				}
			}
			if !p.more {
				return
			}
			if fresh == 0 {
				yield(*new(T), fmt.Errorf("%s: page %d promises more but holds nothing new: %w", op, number, ErrPagingStuck))
				return
			}
		}
	}
}

// byCursor yields the entries of a cursor list, by the same rules.
func byCursor[T any](op gen.OperationID, id func(*T) string, fetch func(cursor string) (page[T], error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		cursor, asked := "", map[string]bool{}
		numbered(op, 1, id, func(int) (page[T], error) {
			if asked[cursor] {
				return page[T]{}, fmt.Errorf("%s: a cursor repeats: %w", op, ErrPagingStuck)
			}
			asked[cursor] = true
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
