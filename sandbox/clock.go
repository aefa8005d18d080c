package sandbox

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sellside-sdk/sellside-go/sandbox/internal/store"
)

// clock is the one of Options, which can be moved on.
type clock struct {
	base  func() time.Time
	ahead atomic.Int64 // nanoseconds; the same is in the database
	move  sync.Mutex   // held by who changes ahead
}

// loadClock returns a clock that goes on where the database has it.
func loadClock(ctx context.Context, db *store.Store, base func() time.Time) (*clock, error) {
	c := &clock{base: base}
	err := db.View(ctx, func(tx *store.Tx) error {
		ahead, err := tx.Advance()
		c.ahead.Store(int64(ahead))
		return err
	})
	return c, err
}

func (c *clock) now() time.Time { return c.base().Add(time.Duration(c.ahead.Load())) }

func (c *clock) advance(ctx context.Context, db *store.Store, d time.Duration) error {
	if d < 0 {
		return badRequest("the clock goes forward only")
	}
	c.move.Lock()
	defer c.move.Unlock()
	ahead := c.ahead.Load() + int64(d)
	if ahead < 0 {
		return badRequest("the clock cannot be moved by more than 292 years in all")
	}
	if err := db.Update(ctx, func(tx *store.Tx) error { return tx.SetAdvance(time.Duration(ahead)) }); err != nil {
		return err
	}
	c.ahead.Store(ahead)
	return nil
}

// Now returns the time by the clock of the sandbox.
func (s *Sandbox) Now() time.Time { return s.clock.now() }

// Advance moves the clock on, which still runs as before: batches and orders
// fall due, listings and access tokens expire, quotas recover. What has fallen
// due is done when Advance returns, unless the work is Manual, which leaves it
// to the next call of Work. d must not be negative. An advance lasts until Reset:
// the database keeps it, and a sandbox that is opened on the same file goes on
// from there.
func (s *Sandbox) Advance(ctx context.Context, d time.Duration) error {
	if err := s.clock.advance(ctx, s.store, d); err != nil {
		return fmt.Errorf("sandbox: advance by %s: %w", d, err)
	}
	if s.options.Manual {
		return nil
	}
	defer s.selling.Wake() // what comes next is nearer than it was, too
	return s.Work(ctx)
}
