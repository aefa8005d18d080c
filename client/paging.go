package client

import (
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
// is yielded once, but one that moves to an earlier page is missed. A page that does not say whether there is more
// has more unless it is empty or its count says otherwise; see [gen.Decode].
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
