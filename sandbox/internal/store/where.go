package store

import (
	"strings"
	"time"
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

// inShipments keeps nothing: there are no inbound shipments to belong to.
func (w *where) inShipments(displayIDs []string) {
	if len(displayIDs) > 0 {
		w.and("FALSE")
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
