package store

import (
	"strings"
	"time"

	"github.com/sellside-sdk/sellside-go/sandbox/internal/state"
)

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
