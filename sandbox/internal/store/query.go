package store

import (
	"fmt"
	"strings"
	"time"

	"github.com/sellside-sdk/sellside-go/sandbox/internal/state"
)

// In Go the zero value of an optional column means that it is NULL. These types
// carry it both ways; non-NULL columns use them as well, for one rule is enough.

// at writes a time as milliseconds, and the zero time as NULL.
func at(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UnixMilli()
}

// opt writes a text, and the empty text as NULL.
func opt(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// timeColumn reads what at writes.
type timeColumn struct{ into *time.Time }

// Scan implements [database/sql.Scanner].
func (c timeColumn) Scan(value any) error {
	switch v := value.(type) {
	case nil:
		*c.into = time.Time{}
	case int64:
		*c.into = time.UnixMilli(v).UTC()
	default:
		return fmt.Errorf("a time is stored as milliseconds, not as %T", value)
	}
	return nil
}

// textColumn reads what opt writes.
type textColumn struct{ into *string }

// Scan implements [database/sql.Scanner].
func (c textColumn) Scan(value any) error {
	switch v := value.(type) {
	case nil:
		*c.into = ""
	case string:
		*c.into = v
	default:
		return fmt.Errorf("a text is stored as text, not as %T", value)
	}
	return nil
}

// where collects the conditions of a query.
type where struct {
	conditions []string
	args       []any
}

func (w *where) and(condition string, args ...any) {
	w.conditions = append(w.conditions, condition)
	w.args = append(w.args, args...)
}

func (w *where) in(column string, values []string) {
	if len(values) == 0 {
		return
	}
	w.conditions = append(w.conditions, column+" IN ("+marks(len(values))+")")
	for _, v := range values {
		w.args = append(w.args, v)
	}
}

// inState keeps listings in the states of a filter. It names every value that is
// possible, so that all columns of an index that begins with the state are used.
func (w *where) inState(alias string, f ListingFilter) {
	every := func(values, all []string) []string {
		if len(values) == 0 {
			return all
		}
		return values
	}
	w.in(alias+"status", every(f.Statuses, []string{state.Inactive, state.Active, state.Deleted, state.Canceled, state.Matched, state.Completed}))
	w.in(alias+"inventory_type", every(f.InventoryTypes, []string{"STANDARD", "DIRECT", "FLEX", "DFS"}))
	if f.WithExpired {
		w.and(alias + "expired IN (0, 1)")
	} else {
		w.and(alias + "expired = 0")
	}
}

// between keeps what is at or after from, and before until.
func (w *where) between(column string, from, until time.Time) {
	if !from.IsZero() {
		w.and(column+" >= ?", at(from))
	}
	if !until.IsZero() {
		w.and(column+" < ?", at(until))
	}
}

func (w *where) String() string {
	if len(w.conditions) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(w.conditions, " AND ")
}
