// Package sandbox is the marketplace itself, small enough to run inside a test:
// it serves the operations of api/openapi.yaml on a real database, with
// listings that become active, batches that are worked item by item, prices
// from an order book and orders with a payout.
//
//	s, err := sandbox.New(sandbox.Options{})
//	if err != nil { ... }
//	defer s.Close()
//	srv := httptest.NewServer(s)
//	// base URL: srv.URL + sandbox.BasePath, with s.APIKey() and s.Token()
//
// Tests have it shorter with package sandboxtest.
//
// Writes are asynchronous as they are on the service: an answer says PENDING or
// QUEUED, and a worker in the background does the rest a moment later. With a
// file as its database the sandbox survives being killed: what was accepted is
// done after the next start, exactly once.
//
// Besides BasePath there are TokenPath, which renews access tokens, HealthPath,
// and ControlPath, with which a test is the rest of the world: buyers, time that
// goes by, and calls that go wrong. The same is there as methods of Sandbox.
//
// One seed and the same calls in the same order give the same ids, prices,
// tokens and faults, where time stands still or Options.Now says what it is. An
// id that a call makes does not depend on what the worker does meanwhile; how
// far the worker is, and so the state that a call finds and the ids of asks and
// of listings made by batches, are the same in every run only where Options.Manual
// leaves the work to Work.
package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sellside-sdk/sellside-go/sandbox/internal/catalog"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/selling"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/store"
)

// BasePath is where the operations are served, with the version of the service
// that is spoken.
const BasePath = "/v2"

// SettleWithin returns how long a sandbox of this Delay takes at most, on a
// machine that keeps up, from accepting a create batch to showing the first
// listing that it makes. No live service publishes such a bound.
func SettleWithin(delay time.Duration) time.Duration {
	return 2*delay + 500*time.Millisecond
}

// Sandbox is a running marketplace. It is an http.Handler, safe for concurrent
// use, and must be closed.
type Sandbox struct {
	options  Options
	handler  http.Handler
	store    *store.Store
	selling  *selling.Service
	server   *server
	accounts *accounts
	quotas   *quotas
	clock    *clock
	faults   faults
	counters tally
	world    sync.RWMutex   // requests read it, Reset and Reseed change it
	worlds   atomic.Int64   // how many there were before this one: Reset begins another
	running  sync.WaitGroup // the worker, and who reads the document
	stop     func() error
}

// New opens the database and starts the marketplace. It has no sockets of its
// own: give it one with Serve, or serve it with net/http or net/http/httptest.
func New(opts Options) (*Sandbox, error) {
	s, err := open(opts)
	if err != nil {
		return nil, fmt.Errorf("sandbox: %w", err)
	}
	return s, nil
}

func open(opts Options) (s *Sandbox, err error) {
	if opts, err = opts.complete(); err != nil {
		return nil, err
	}
	s = &Sandbox{options: opts}
	s.running.Go(func() { theContract() })
	running := &s.running
	defer func() {
		if err != nil {
			running.Wait()
		}
	}()
	products, err := catalog.Load()
	if err != nil {
		return nil, err
	}
	db, err := store.Open(context.Background(), opts.DB)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, db.Close())
		}
	}()
	s.store = db
	if s.clock, err = loadClock(context.Background(), db, opts.Now); err != nil {
		return nil, err
	}
	if s.accounts, err = newAccounts(context.Background(), db, opts); err != nil {
		return nil, err
	}
	s.quotas = newQuotas(opts, s.Now)
	s.selling = selling.New(selling.Config{
		Store: db, Catalog: products, Now: s.Now, Delay: opts.Delay, OrderStep: opts.OrderStep, Review: opts.Review,
		Seed: opts.Seed, Logger: opts.Logger,
	})
	if err := s.selling.LoadCatalog(context.Background()); err != nil {
		return nil, err
	}
	s.server = &server{
		store: db, selling: s.selling, catalog: products, quotas: s.quotas, seed: opts.Seed, now: s.Now, log: opts.Logger,
	}
	s.handler = s.chain()
	s.stop = sync.OnceValue(s.start())
	return s, nil
}

// start starts the worker and returns what stops it and closes the database.
func (s *Sandbox) start() func() error {
	ctx, cancel := context.WithCancel(context.Background())
	if !s.options.Manual {
		s.running.Go(func() { s.selling.Run(ctx) })
	}
	return func() error {
		cancel()
		s.running.Wait()
		return s.store.Close()
	}
}

// Format implements [fmt.Formatter], so that no verb prints the secrets.
func (s *Sandbox) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "sandbox.Sandbox") }

// ServeHTTP implements [http.Handler].
func (s *Sandbox) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.handler.ServeHTTP(w, r)
}

// Close stops the worker and closes the database. What is not worked by then
// waits in the file for the next start. Requests after Close are answered 500.
func (s *Sandbox) Close() error { return s.stop() }

// APIKey returns the API key of the first account.
func (s *Sandbox) APIKey() string { return s.options.APIKey }

// Token returns the access token of the first account that never expires.
func (s *Sandbox) Token() string { return s.options.Token }

// RefreshToken returns the refresh token of the first account that is valid now.
func (s *Sandbox) RefreshToken() string {
	return s.accounts.known.Load().named(FirstAccount).RefreshToken
}

// Work does all that is due by the clock, and returns when nothing more is due.
// It is meant for a sandbox whose work is Manual, and harmless for others.
func (s *Sandbox) Work(ctx context.Context) error {
	for {
		worked, _, err := s.selling.Step(ctx)
		switch {
		case worked > 0: // all but what fails
		case err != nil:
			return fmt.Errorf("sandbox: work: %w", err)
		default:
			return nil
		}
	}
}

// Buy lets a buyer take an active listing at its price. The listing becomes
// MATCHED and an active order is made, whose number is returned. It fails if
// there is no such listing or if it has no live ask.
func (s *Sandbox) Buy(ctx context.Context, listingID string) (orderNumber string, err error) {
	order, err := s.selling.Buy(ctx, listingID)
	if err != nil {
		return "", fmt.Errorf("sandbox: buy: %w", err)
	}
	return order.Number, nil
}
