package store

import (
	"errors"
	"time"
)

// ClockOffset returns by how much the clock was moved on since the last reset.
func (t *Tx) ClockOffset() (time.Duration, error) {
	var nanoseconds int64
	err := t.get(`SELECT value FROM counters WHERE name = 'advance'`, nil, []any{&nanoseconds})
	if errors.Is(err, ErrNotFound) {
		err = nil
	}
	return time.Duration(nanoseconds), err
}

// SetClockOffset notes by how much the clock was moved on in all.
func (t *Tx) SetClockOffset(d time.Duration) error {
	return t.exec(`INSERT INTO counters (name, value) VALUES ('advance', ?)
		ON CONFLICT (name) DO UPDATE SET value = excluded.value`, int64(d))
}
