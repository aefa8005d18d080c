package store

import (
	"strings"
	"time"
)

// dues finds the next row to fall due in every table that is a queue, one query
// each, so that every one can use its index.
var dues = []string{
	`SELECT min(due_at) AS due FROM batch_items WHERE status = 'QUEUED' AND due_at IS NOT NULL`,
	`SELECT min(due_at) FROM batch_items WHERE status = 'IN_PROGRESS' AND due_at IS NOT NULL`,
	`SELECT min(due_at) FROM operations WHERE due_at IS NOT NULL`,
	`SELECT min(due_at) FROM orders WHERE due_at IS NOT NULL`,
	`SELECT min(due_at) FROM proposals WHERE due_at IS NOT NULL`,
	`SELECT min(expires_at) FROM listings WHERE ` + expirable,
}

// NextDue returns when the next row of any kind falls due, and the zero time
// when nothing is left to do.
func (t *Tx) NextDue() (time.Time, error) {
	var due time.Time
	err := t.get(`SELECT min(due) FROM (`+strings.Join(dues, ` UNION ALL `)+`)`, nil, []any{timeColumn{&due}})
	return due, err
}
