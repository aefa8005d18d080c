package control

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sellside-sdk/sellside-go/sandbox/internal/store"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/wire"
)

// Clock is a clock that can be advanced. How far it was advanced is in the database, too. It is safe
// for concurrent use.
type Clock struct {
	store  *store.Store
	base   func() time.Time
	offset atomic.Int64 // nanoseconds
	moving sync.Mutex   // held to change offset
}

// OpenClock returns a clock that continues where the database has it.
func OpenClock(ctx context.Context, db *store.Store, base func() time.Time) (*Clock, error) {
	c := &Clock{store: db, base: base}
	err := db.View(ctx, func(tx *store.Tx) error {
		offset, err := tx.ClockOffset()
		c.offset.Store(int64(offset))
		return err
	})
	return c, err
}

// Now returns the current time.
func (c *Clock) Now() time.Time { return c.base().Add(time.Duration(c.offset.Load())) }

func (c *Clock) advance(ctx context.Context, d time.Duration) error {
	if d < 0 {
		return wire.Invalidf("the clock goes forward only")
	}
	c.moving.Lock()
	defer c.moving.Unlock()
	offset := c.offset.Load() + int64(d)
	if offset < 0 {
		return wire.Invalidf("the clock cannot be moved by more than 292 years in all")
	}
	err := c.store.Update(ctx, func(tx *store.Tx) error { return tx.SetClockOffset(time.Duration(offset)) })
	if err != nil {
		return err
	}
	c.offset.Store(offset)
	return nil
}
