package sandbox

import (
	"context"
	"fmt"

	"github.com/sellside-sdk/sellside-go/sandbox/internal/store"
)

// Reset makes the sandbox as it was on its first day, in the middle of whatever
// it was doing: no listings, batches, orders, bids or ingested products, ids
// from the beginning, the clock where Options.Now has it, unused quotas, no
// faults and all counters at zero. Accounts stay, and so do their tokens and the
// seed. Requests under way finish first, but for those that a fault still keeps
// from their work: these are cut off.
func (s *Sandbox) Reset(ctx context.Context) error {
	s.world.Lock()
	defer s.world.Unlock()
	s.clock.move.Lock()
	defer s.clock.move.Unlock()
	if err := s.store.Update(ctx, (*store.Tx).Reset); err != nil {
		return fmt.Errorf("sandbox: reset: %w", err)
	}
	s.worlds.Add(1)
	ctx = context.WithoutCancel(ctx)                   // what has begun is finished
	if err := s.selling.LoadCatalog(ctx); err != nil { // without what was ingested
		return fmt.Errorf("sandbox: reset: %w", err)
	}
	s.clock.ahead.Store(0)
	s.quotas.clear()
	s.faults.clear()
	s.counters.clear()
	return nil
}

// Reseed changes Options.Seed from now on: the prices of the order book at once,
// and all ids the sandbox makes from then on. Requests under way finish first.
func (s *Sandbox) Reseed(ctx context.Context, seed uint64) error {
	s.world.Lock() // against requests, which read the seed at any time
	defer s.world.Unlock()
	// The worker, buyers and bidders read it in a write transaction only.
	err := s.store.Update(ctx, func(*store.Tx) error {
		s.selling.Seed, s.server.seed = seed, seed
		return nil
	})
	if err != nil {
		return fmt.Errorf("sandbox: reseed: %w", err)
	}
	s.selling.Wake() // other prices may let bids reach asks
	return nil
}
