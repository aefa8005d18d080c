// Package selling has the rules of the marketplace: which changes of a listing are possible, what a
// batch does with its items, and what follows from a sale. Requests only insert what has to be
// done; the worker does it.
package selling

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/sellside-sdk/sellside-go/sandbox/internal/catalog"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/store"
)

// Config configures a Service. Every member is required.
type Config struct {
	Store   *store.Store
	Catalog *catalog.Catalog
	// Now is the clock of the marketplace.
	Now func() time.Time
	// Delay is how long an operation is pending, and an item first queued and then in progress.
	Delay time.Duration
	// OrderStep is how long an order stays in each state. If negative, orders are moved by
	// MoveOrder only; those made meanwhile stay so after a start with another value.
	OrderStep time.Duration
	// KeepTerms makes changes of a listing keep the currency and the expiry that they leave out.
	KeepTerms bool
	// BookTrades makes the bids and asks of the order book trade.
	BookTrades bool
	// Review is how long an ingested product is in review.
	Review time.Duration
	// Seed is part of every id.
	Seed   uint64
	Logger *slog.Logger
}

// Service applies the rules. It is safe for concurrent use.
type Service struct {
	Config
	wake chan struct{} // has a token if there may be new work
	// matchedSeed is the seed at the last comparison of all bids with all asks; nil before the
	// first.
	matchedSeed atomic.Pointer[uint64]
}

// New returns a service. It does no work before Run or Step is called.
func New(c Config) *Service {
	return &Service{Config: c, wake: make(chan struct{}, 1)}
}

// write runs f in a write transaction at one moment of the clock, and wakes the worker.
func (s *Service) write(ctx context.Context, f func(*change) error) error {
	err := s.Store.Update(ctx, func(tx *store.Tx) error {
		return f(&change{Service: s, tx: tx, now: s.clock()})
	})
	if err != nil {
		return err
	}
	s.Wake()
	return nil
}

// Reseed changes the seed of ids and of the order book. No request may be handled meanwhile: they
// read the seed at any time, while the worker, buyers and bidders read it in a write transaction
// only.
func (s *Service) Reseed(ctx context.Context, seed uint64) error {
	err := s.Store.Update(ctx, func(*store.Tx) error {
		s.Seed = seed
		return nil
	})
	if err != nil {
		return err
	}
	s.Wake() // the asks of the generated book differ, so bids may reach listings
	return nil
}

// Wake makes Run look for work, which is necessary after a write and after a change of the clock.
func (s *Service) Wake() {
	select {
	case s.wake <- struct{}{}:
	default: // there is a token already
	}
}

// clock returns the time with the precision in which it is stored.
func (s *Service) clock() time.Time {
	return s.Now().UTC().Truncate(time.Millisecond)
}

// change is one write transaction at one moment.
type change struct {
	*Service
	tx     *store.Tx
	now    time.Time
	worker bool // whether the worker makes the change, not a request

	changedAsks map[store.Crossing]bool // where asks went live or were changed

	// The rest is used by steps of the worker.
	mayFail      bool            // whether a test wants operations or items to fail
	worked       int             // rows that were processed
	savepoints   bool            // whether each row gets a savepoint of its own
	givenUp      []error         // why rows were given up
	failed       []error         // why rows were left as they are
	left         map[string]bool // those rows, by name, which are not tried again in this step
	catalogDirty bool            // whether the catalog may have products that the database has not
}
