package store

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

// MaxClockOffset is the most that a clock can be advanced in all, about 292 years.
const MaxClockOffset = time.Duration(1<<63 - 1)

// ErrClockOffset reports that a clock would be set back, or advanced beyond MaxClockOffset.
var ErrClockOffset = errors.New("clock offset out of range")

// Clock is a clock that can be advanced. How far it was advanced is in the database. It is safe for
// concurrent use.
type Clock struct {
	store  *Store
	base   func() time.Time
	offset atomic.Int64 // nanoseconds
	moving sync.Mutex   // held to change offset
}

// OpenClock returns a clock that is ahead of base by what the database says.
func (s *Store) OpenClock(ctx context.Context, base func() time.Time) (*Clock, error) {
	c := &Clock{store: s, base: base}
	err := s.View(ctx, func(tx *Tx) error {
		var offset int64
		err := tx.get(`SELECT value FROM counters WHERE name = 'advance'`, nil, []any{&offset})
		c.offset.Store(offset)
		if errors.Is(err, ErrNotFound) {
			return nil
		}
		return err
	})
	return c, err
}

// Now returns the current time.
func (c *Clock) Now() time.Time { return c.base().Add(time.Duration(c.offset.Load())) }

// Advance moves the clock forward, or returns ErrClockOffset.
func (c *Clock) Advance(ctx context.Context, d time.Duration) error {
	c.moving.Lock()
	defer c.moving.Unlock()
	offset := c.offset.Load()
	if d < 0 || d > MaxClockOffset-time.Duration(offset) {
		return ErrClockOffset
	}
	offset += int64(d)
	err := c.store.Update(ctx, func(tx *Tx) error {
		return tx.exec(`INSERT INTO counters (name, value) VALUES ('advance', ?)
			ON CONFLICT (name) DO UPDATE SET value = excluded.value`, offset)
	})
	if err != nil {
		return err
	}
	c.offset.Store(offset)
	return nil
}

// Reset takes back all advances, after f has removed them from the database. No call advances the
// clock while f runs.
func (c *Clock) Reset(f func() error) error {
	c.moving.Lock()
	defer c.moving.Unlock()
	if err := f(); err != nil {
		return err
	}
	c.offset.Store(0)
	return nil
}
