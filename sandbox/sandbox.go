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
// Writes are asynchronous as they are on the service: an answer says PENDING or
// QUEUED, and a worker in the background does the rest a moment later. With a
// file as its database the sandbox survives being killed: what was accepted is
// done after the next start, exactly once.
//
// Some operations are not served yet and answer 501; see unserved.go.
package sandbox

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/sellside-sdk/sellside-go/quota"
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
	options Options
	handler http.Handler
	store   *store.Store
	selling *selling.Service
	stop    func() error
}

// New opens the database and starts the marketplace. It has no sockets of its
// own: serve it with net/http or net/http/httptest.
func New(opts Options) (*Sandbox, error) {
	opts.APIKey = cmp.Or(opts.APIKey, DefaultAPIKey)
	opts.Token = cmp.Or(opts.Token, DefaultToken)
	opts.Delay = max(cmp.Or(opts.Delay, DefaultDelay), 0)
	opts.OrderStep = cmp.Or(opts.OrderStep, DefaultOrderStep)
	opts.Review = max(cmp.Or(opts.Review, DefaultReview), 0)
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	if err := opts.Quota.Check(); err != nil {
		return nil, fmt.Errorf("sandbox: %w", err)
	}
	opts.Quota.ItemsWindow = cmp.Or(opts.Quota.ItemsWindow, quota.Public.ItemsWindow)
	products, err := catalog.Load()
	if err != nil {
		return nil, fmt.Errorf("sandbox: %w", err)
	}
	contract, err := loadContract()
	if err != nil {
		return nil, fmt.Errorf("sandbox: %w", err)
	}
	db, err := store.Open(context.Background(), opts.DB)
	if err != nil {
		return nil, fmt.Errorf("sandbox: %w", err)
	}
	s := &Sandbox{options: opts, store: db}
	s.selling = selling.New(selling.Config{
		Store: db, Catalog: products, Now: opts.Now, Delay: opts.Delay, OrderStep: opts.OrderStep, Review: opts.Review,
		Seed: opts.Seed, Logger: opts.Logger,
	})
	s.handler = chain(opts, contract, &server{
		store: db, selling: s.selling, catalog: products, account: newAccount(opts), seed: opts.Seed, now: opts.Now, log: opts.Logger,
	})
	s.stop = sync.OnceValue(s.start())
	return s, nil
}

// chain is the way of a request, outermost first.
func chain(opts Options, c *contract, srv *server) http.Handler {
	h := srv.routes()
	h = c.validate(h)
	h = srv.account.limit(h)
	h = authenticate(opts.APIKey, opts.Token, h)
	h = limitBody(h)
	h = recoverPanics(opts.Logger, h)
	h = logRequests(opts.Logger, h)
	return h
}

// start starts the worker and returns what stops it and closes the database.
func (s *Sandbox) start() func() error {
	ctx, cancel := context.WithCancel(context.Background())
	var worker sync.WaitGroup
	if !s.options.Manual {
		worker.Go(func() { s.selling.Run(ctx) })
	}
	return func() error {
		cancel()
		worker.Wait()
		return s.store.Close()
	}
}

// ServeHTTP implements [http.Handler].
func (s *Sandbox) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.handler.ServeHTTP(w, r)
}

// Close stops the worker and closes the database. What is not worked by then
// waits in the file for the next start. Requests after Close are answered 500.
func (s *Sandbox) Close() error { return s.stop() }

// APIKey returns the API key the sandbox accepts.
func (s *Sandbox) APIKey() string { return s.options.APIKey }

// Token returns the access token the sandbox accepts.
func (s *Sandbox) Token() string { return s.options.Token }

// Work does all that is due by the clock, and returns when nothing more is due.
// It is meant for a sandbox whose work is Manual, and harmless for others.
func (s *Sandbox) Work(ctx context.Context) error {
	for {
		worked, _, err := s.selling.Step(ctx)
		if err != nil {
			return fmt.Errorf("sandbox: work: %w", err)
		}
		if worked == 0 {
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
