// Package selling holds the rules of the marketplace: what may be done to a
// listing and when, what a batch does with its items, and what a sale leads to.
// Requests only write down what is to be done; the worker does it.
package selling

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/sellside-sdk/sellside-go/sandbox/internal/catalog"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/store"
)

// Config is what a Service works with. Every member is required.
type Config struct {
	Store   *store.Store
	Catalog *catalog.Catalog
	// Now is the clock of the marketplace.
	Now func() time.Time
	// Delay is how long an operation stays pending, and an item first queued
	// and then in progress.
	Delay time.Duration
	// OrderStep is how long an order stays in each state; negative for ever, which
	// an order that is made meanwhile stays even if the next start says otherwise.
	OrderStep time.Duration
	// Review is how long an ingested product is in review.
	Review time.Duration
	// Seed is part of every id, so that two seeds give different ids.
	Seed   uint64
	Logger *slog.Logger
}

// Service applies the rules. It is safe for concurrent use.
type Service struct {
	Config
	wake    chan struct{}          // holds a token when there may be something new to work
	crossed atomic.Pointer[uint64] // the seed with which all bids were last held against all asks; nil before that
}

// New returns a service. Nothing is worked before Run or Step.
func New(c Config) *Service {
	return &Service{Config: c, wake: make(chan struct{}, 1)}
}

// write runs f in a write transaction at one moment of the clock and lets the
// worker know that there is something to do.
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
// read the seed at any time, while the worker, buyers and bidders do in a write transaction only.
func (s *Service) Reseed(ctx context.Context, seed uint64) error {
	err := s.Store.Update(ctx, func(*store.Tx) error {
		s.Seed = seed
		return nil
	})
	if err != nil {
		return err
	}
	s.Wake() // with other asks in the book, bids may reach listings
	return nil
}

// Wake lets Run look for work again, as it has to when something was written or
// the clock was moved.
func (s *Service) Wake() {
	select {
	case s.wake <- struct{}{}:
	default: // it will look anyway
	}
}

// clock returns the time as precisely as it is stored and answered.
func (s *Service) clock() time.Time {
	return s.Now().UTC().Truncate(time.Millisecond)
}

// change is one write transaction at one moment.
type change struct {
	*Service
	tx     *store.Tx
	now    time.Time
	worker bool // it does what has fallen due, and not what is asked for

	asked map[store.Crossing]bool // where asks were changed

	// What follows is for the steps of the worker.
	worked  int     // rows that were moved on
	apart   bool    // a row that fails must not take others with it
	givenUp []error // why rows were given up
	stuck   []error // why rows stay as they are
	strayed bool    // the catalog may have what the database has not
}
