package store

import (
	"fmt"
	"strings"
	"time"

	"github.com/sellside-sdk/sellside-go/sandbox/internal/state"
)

// In Go the zero value of an optional column is NULL. These functions and types convert both ways;
// other columns use them as well.

// at returns a time as milliseconds, and the zero time as NULL.
func at(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UnixMilli()
}

// opt returns a text, and the empty text as NULL.
func opt(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// timeColumn scans what at returns.
type timeColumn struct{ into *time.Time }

// Scan implements [database/sql.Scanner].
func (c timeColumn) Scan(value any) error {
	switch v := value.(type) {
	case nil:
		*c.into = time.Time{}
	case int64:
		*c.into = time.UnixMilli(v).UTC()
	default:
		return fmt.Errorf("scan a time (%T): want milliseconds as an integer", value)
	}
	return nil
}

// textColumn scans what opt returns.
type textColumn struct{ into *string }

// Scan implements [database/sql.Scanner].
func (c textColumn) Scan(value any) error {
	switch v := value.(type) {
	case nil:
		*c.into = ""
	case string:
		*c.into = v
	default:
		return fmt.Errorf("scan a text (%T): want a string", value)
	}
	return nil
}

// placeholders returns n question marks for a list of values.
func placeholders(n int) string {
	return strings.TrimSuffix(strings.Repeat("?,", n), ",")
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

// in adds no condition if there are no values.
func (w *where) in(column string, values []string) {
	if len(values) == 0 {
		return
	}
	w.conditions = append(w.conditions, column+" IN ("+placeholders(len(values))+")")
	for _, v := range values {
		w.args = append(w.args, v)
	}
}

// inState selects listings by the states of a filter. It names every possible value where the
// filter names none, so that SQLite uses all columns of an index that begins with the state.
func (w *where) inState(alias string, f ListingFilter) {
	orAll := func(values, all []string) []string {
		if len(values) == 0 {
			return all
		}
		return values
	}
	w.in(alias+"status", orAll(f.Statuses, []string{
		state.Inactive, state.Active, state.Deleted, state.Canceled, state.Matched, state.Completed,
	}))
	w.in(alias+"inventory_type", orAll(f.InventoryTypes, []string{"STANDARD", "DIRECT", "FLEX", "DFS"}))
	if f.WithExpired {
		w.and(alias + "expired IN (0, 1)")
	} else {
		w.and(alias + "expired = 0")
	}
}

// between selects times from from on and before until; the zero time does not bound.
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
