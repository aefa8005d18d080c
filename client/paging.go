package client

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/sellside-sdk/sellside-go/gen"
)

// page is one page of a list.
type page[T any] struct {
	entries []T
	more    bool
	cursor  string // Of the next page; unused by numbered lists.
}

// maxStalePages is how many consecutive pages without a new entry make a list stuck.
const maxStalePages = 3

// seenWindow is how many other entries of a list are read at least before an entry is forgotten.
// Entries repeat because pages shift by what is created while they are read: this is as many
// listings as the public quota lets an account create in a day.
const seenWindow = 50_000

// listProgress detects a list that is stuck. A repeated cursor alone is not proof, and a list that
// grows while it is read repeats entries. Proof is the same page again, several pages without a new
// entry, or the first page after it was forgotten. The zero value is a list that has not begun.
type listProgress struct {
	recent, older map[string]struct{} // Seen ids. The older ones were seen before the recent ones.
	first, last   []string            // The ids of the first page and of the page before.
	fresh         bool                // Whether this page has had a new entry so far.
	stale         int                 // Consecutive pages without a new entry.
}

// isNew reports whether an entry was not among the last seenWindow ones. An entry without an id
// counts as new, but not as progress.
func (p *listProgress) isNew(id string) bool {
	if id == "" {
		return true
	}
	if _, dup := p.recent[id]; dup {
		return false
	}
	if len(p.recent) >= seenWindow {
		p.recent, p.older = p.older, p.recent
		clear(p.recent)
	}
	if p.recent == nil {
		p.recent = map[string]struct{}{}
	}
	p.recent[id] = struct{}{}
	_, dup := p.older[id]
	p.fresh = p.fresh || !dup
	return !dup
}

// stuck reports whether the list is stuck, after a page that promises more.
func (p *listProgress) stuck(ids []string) bool {
	if p.first == nil {
		p.first = ids
	} else if p.fresh && slices.Equal(ids, p.first) && strings.Join(ids, "") != "" {
		return true
	}
	again := slices.Equal(ids, p.last) && strings.Join(ids, "") != ""
	if p.stale++; p.fresh {
		p.stale = 0
	}
	p.last, p.fresh = ids, false
	return again || p.stale >= maxStalePages
}

// numbered yields the entries of a list with page numbers, starting at page first. It requests a
// page when the loop reaches it, and each range starts over. An entry that moves to a later page is
// yielded once, unless it moves by more than seenWindow entries; an entry that moves to an earlier
// page is missed.
func numbered[T any](
	op gen.OperationID, first int, id func(*T) string, fetch func(number int) (page[T], error),
) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		progress := listProgress{}
		for number := max(first, 1); ; number++ {
			p, err := fetch(number)
			if err != nil {
				yield(*new(T), err)
				return
			}
			ids := make([]string, len(p.entries))
			for i := range p.entries {
				ids[i] = id(&p.entries[i])
				if progress.isNew(ids[i]) && !yield(p.entries[i], nil) {
					return
				}
			}
			if !p.more {
				return
			}
			if progress.stuck(ids) {
				yield(*new(T), fmt.Errorf("%s: page %d: %w", op, number, ErrPagingStuck))
				return
			}
		}
	}
}

// byCursor yields the entries of a list with cursors, like numbered. A cursor may repeat.
func byCursor[T any](
	op gen.OperationID, id func(*T) string, fetch func(cursor string) (page[T], error),
) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		cursor := ""
		numbered(op, 1, id, func(int) (page[T], error) {
			p, err := fetch(cursor)
			cursor, p.more = p.cursor, p.cursor != ""
			return p, err
		})(yield)
	}
}

// position is the position of a page in its list, as the page reports it.
type position struct{ entries, count, size, number gen.Int }

func positionOf(entries int, count, size, number gen.Int) position {
	return position{gen.Int(entries), count, size, number}
}

// isLast reports whether the numbers imply that no page follows. Numbers that contradict the
// entries of the page, such as a count of this page alone, imply nothing.
func (p position) isLast() bool {
	fit := p.size > 0 && p.number > 0 && p.count >= p.entries && (p.count-p.entries)/p.size >= p.number-1
	return fit && (p.count-1)/p.size < p.number
}

// resolveHasNextPage refuses a page whose hasNextPage is of the wrong kind, because the rest of the
// list would be lost silently. If hasNextPage is missing or null, it sets more unless the page is
// empty or its numbers imply that it is the last.
func resolveHasNextPage(d gen.Decoded, more *bool, p position) error {
	switch kind := d.Members.Kind("hasNextPage"); kind {
	case gen.KindBoolean:
	case "", gen.KindNull:
		*more = p.entries > 0 && !p.isLast()
	default:
		return fmt.Errorf("hasNextPage is %s, want %s", kind, gen.KindBoolean)
	}
	return nil
}

// verifyCursor refuses a page that has entries but no nextCursor. Null or "" ends a list.
func verifyCursor(d gen.Decoded, entries int) error {
	switch kind := d.Members.Kind("nextCursor"); {
	case kind == gen.KindString || kind == gen.KindNull || kind == "" && entries == 0:
		return nil
	default:
		return fmt.Errorf("nextCursor is %s, want %s or null", cmp.Or(kind, "missing"), gen.KindString)
	}
}
