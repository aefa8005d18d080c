package sandbox

import (
	"context"
	"fmt"
	"time"
)

// ControlKey returns the key of the control API, for the header x-sandbox-key.
func (s *Sandbox) ControlKey() string { return s.options.ControlKey }

// Now returns the time by the clock of the sandbox.
func (s *Sandbox) Now() time.Time { return s.control.Clock.Now() }

// Advance moves the clock forward by d, which must not be negative: batches and orders fall due,
// listings and access tokens expire, quotas recover. Unless the work is Manual, it is done when
// Advance returns. It is done in the order of its due times, at each of them: one jump comes out as
// many small ones do, stamps included. The database stores the advance until Reset, also for a
// later start on the same file.
func (s *Sandbox) Advance(ctx context.Context, d time.Duration) error {
	return wrap(fmt.Sprintf("advance by %s", d), s.control.Advance(ctx, d))
}

// Work does all work that is due. It is for a sandbox with Options.Manual, and harmless for others.
func (s *Sandbox) Work(ctx context.Context) error {
	return wrap("work", s.control.Work(ctx))
}

// Reset empties the sandbox while it runs: no listings, batches, orders, bids, ingested or added
// products, arranged books or failures, ids from the beginning, the clock of Options.Now, unused
// quotas, no faults and no counters. Accounts, their tokens and the seed stay. Requests that are
// being handled finish first; those that a fault delays before their handler are aborted.
func (s *Sandbox) Reset(ctx context.Context) error {
	return wrap("reset", s.control.Reset(ctx))
}

// Reseed changes Options.Seed: the prices of order books, except for those that were set or have
// traded, and all ids from then on. Requests that are being handled finish first.
func (s *Sandbox) Reseed(ctx context.Context, seed uint64) error {
	return wrap("reseed", s.control.Reseed(ctx, seed))
}

// Buy sells an active listing at its price. The listing becomes MATCHED; the number of its order is
// returned. It fails if there is no such listing, or it has no live ask.
func (s *Sandbox) Buy(ctx context.Context, listingID string) (orderNumber string, err error) {
	order, err := s.selling.Buy(ctx, listingID)
	return order.Number, wrap("buy", err)
}

// MoveOrder moves an order to a status, as the marketplace or one of its partners would: SHIPPED,
// DIDNOTSHIP, AUTHFAILED and so on. It fails if there is no such order, or if docs/states.md has no
// transition to that status; the error then lists the possible ones.
func (s *Sandbox) MoveOrder(ctx context.Context, orderNumber, status string) error {
	return wrap("move order", s.selling.MoveOrder(ctx, orderNumber, status))
}

// Counters has the number of requests by the id of their operation, such as CreateListing, and by
// the status of the response, which is 0 for requests without one. The token endpoint is "token".
// Requests of no operation are not counted.
type Counters map[string]map[int]int

// Of returns the number of requests of an operation with any status.
func (c Counters) Of(operation string) int {
	sum := 0
	for _, n := range c[operation] {
		sum += n
	}
	return sum
}

// Counters returns the counters since the start or the last Reset. A request is counted just before
// its response is sent. The caller owns the map.
func (s *Sandbox) Counters() Counters { return s.gateway.Counters.Snapshot() }
