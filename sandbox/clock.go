package sandbox

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"
)

// clock is the one of Options, which can be moved on.
type clock struct {
	base  func() time.Time
	ahead atomic.Int64 // nanoseconds
}

func (c *clock) now() time.Time { return c.base().Add(time.Duration(c.ahead.Load())) }

func (c *clock) advance(d time.Duration) error {
	if d < 0 {
		return badRequest("the clock goes forward only")
	}
	for {
		old := c.ahead.Load()
		if old+int64(d) < old {
			return badRequest("the clock cannot be moved by more than 292 years in all")
		}
		if c.ahead.CompareAndSwap(old, old+int64(d)) {
			return nil
		}
	}
}

// Now returns the time by the clock of the sandbox.
func (s *Sandbox) Now() time.Time { return s.clock.now() }

// Advance moves the clock on, which still runs as before: batches and orders
// fall due, listings and access tokens expire, quotas recover. What has fallen
// due is done when Advance returns, unless the work is Manual, which leaves it
// to the next call of Work. d must not be negative. An advance lasts until Reset
// or Close; the database does not keep it.
func (s *Sandbox) Advance(ctx context.Context, d time.Duration) error {
	if err := s.clock.advance(d); err != nil {
		return fmt.Errorf("sandbox: advance by %s: %w", d, err)
	}
	if s.options.Manual {
		return nil
	}
	defer s.selling.Wake() // what comes next is nearer than it was, too
	return s.Work(ctx)
}
