package sandbox

import (
	"context"
	"fmt"
	"time"
)

// ControlKey returns what x-sandbox-key has to say to the control API.
func (s *Sandbox) ControlKey() string { return s.options.ControlKey }

// Now returns the time by the clock of the sandbox.
func (s *Sandbox) Now() time.Time { return s.control.Clock.Now() }

// Advance moves the clock on, which still runs as before: batches and orders
// fall due, listings and access tokens expire, quotas recover. What has fallen
// due is done when Advance returns, unless the work is Manual, which leaves it
// to the next call of Work. d must not be negative. An advance lasts until Reset:
// the database keeps it, and a sandbox that is opened on the same file goes on
// from there.
func (s *Sandbox) Advance(ctx context.Context, d time.Duration) error {
	return wrap(fmt.Sprintf("advance by %s", d), s.control.Advance(ctx, d))
}

// Work does all that is due by the clock, and returns when nothing more is due.
// It is meant for a sandbox whose work is Manual, and harmless for others.
func (s *Sandbox) Work(ctx context.Context) error {
	return wrap("work", s.control.Work(ctx))
}

// Reset makes the sandbox as it was on its first day, in the middle of whatever
// it was doing: no listings, batches, orders, bids or ingested products, ids
// from the beginning, the clock where Options.Now has it, unused quotas, no
// faults and all counters at zero. Accounts stay, and so do their tokens and the
// seed. Requests under way finish first, but for those that a fault still keeps
// from their work: these are cut off.
func (s *Sandbox) Reset(ctx context.Context) error {
	return wrap("reset", s.control.Reset(ctx))
}

// Reseed changes Options.Seed from now on: the prices of the order book at once,
// and all ids the sandbox makes from then on. Requests under way finish first.
func (s *Sandbox) Reseed(ctx context.Context, seed uint64) error {
	return wrap("reseed", s.control.Reseed(ctx, seed))
}

// Buy lets a buyer take an active listing at its price. The listing becomes
// MATCHED and an active order is made, whose number is returned. It fails if
// there is no such listing or if it has no live ask.
func (s *Sandbox) Buy(ctx context.Context, listingID string) (orderNumber string, err error) {
	order, err := s.selling.Buy(ctx, listingID)
	return order.Number, wrap("buy", err)
}

// Bid lets a buyer bid for a variant. The amount is decimal text of the
// currency, an ISO 4217 code that listings can be priced in.
//
// A bid that reaches the lowest live ask of the listings of all accounts buys
// that listing at the price it asks, and the number of the order is returned.
// Any other bid stands in the book, with an empty order number, until a listing
// goes live at its amount or below and is sold at once to the highest such bid.
// Either way nothing is bought while another seller of the made-up book asks
// for less: those sellers do not trade, nor do their buyers. Bids do not expire.
//
// Market data shows the highest bid below the lowest ask.
func (s *Sandbox) Bid(ctx context.Context, variantID, currency, amount string) (orderNumber string, err error) {
	order, err := s.selling.Bid(ctx, variantID, currency, amount)
	return order.Number, wrap("bid", err)
}

// MoveOrder moves an order on to a status, as the marketplace or one of its
// partners would: SHIPPED, DIDNOTSHIP, AUTHFAILED and so on. Only the steps of
// docs/states.md are possible; the error of any other one lists those that are.
// It fails if there is no such order.
func (s *Sandbox) MoveOrder(ctx context.Context, orderNumber, status string) error {
	return wrap("move order", s.selling.MoveOrder(ctx, orderNumber, status))
}

// Counters counts requests by the id of their operation, such as CreateListing,
// and by the status they were answered with; 0 means that no answer was given.
// The token endpoint counts as "token". Requests that belong to no operation are
// not counted.
type Counters map[string]map[int]int

// Of returns how many requests of an operation there were, whatever came of
// them.
func (c Counters) Of(operation string) int {
	sum := 0
	for _, n := range c[operation] {
		sum += n
	}
	return sum
}

// Counters returns what was counted since the start or the last Reset. A
// request counts from the moment it is answered. The caller owns the map.
func (s *Sandbox) Counters() Counters { return s.gateway.Counters.Snapshot() }

func wrap(name string, err error) error {
	if err != nil {
		return fmt.Errorf("sandbox: %s: %w", name, err)
	}
	return nil
}
