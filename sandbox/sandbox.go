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
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/sellside-sdk/sellside-go/sandbox/internal/catalog"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/control"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/gateway"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/handlers"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/limits"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/selling"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/store"
)

const (
	// BasePath is the path that the operations are served under. It ends with the version of the service.
	BasePath = "/v2"

	// TokenPath is where the token endpoint is, beside BasePath. It takes the
	// refresh-token grant of RFC 6749, section 6, form-encoded, from any client_id:
	//
	//	grant_type=refresh_token&refresh_token=sandbox-refresh-token
	//
	// and answers with an access token that lives for Options.TokenLife.
	TokenPath = "/oauth/token" //nolint:gosec // a path, not a credential

	// HealthPath answers anybody: 200 while the database can be read, and 503 when
	// it cannot, as after Close.
	HealthPath = "/healthz"

	// ControlPath is where the control API is, beside BasePath: what the methods of
	// Sandbox do, for programs that do not have it in their process. Every request
	// carries the control key in the header x-sandbox-key; bodies are JSON; a GET of
	// ControlPath lists what there is. Nothing of it counts, costs quota or fails.
	ControlPath = "/_sandbox"
)

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
	store   *store.Store
	selling *selling.Service
	gateway *gateway.Gateway
	control *control.Control
	handler http.Handler
	running sync.WaitGroup // the worker, and reading the document
	stop    func() error
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
	s.running.Go(gateway.LoadContract)
	running := &s.running
	defer func() {
		if err != nil {
			running.Wait()
		}
	}()
	db, err := store.Open(context.Background(), opts.DB)
	if err != nil {
		return nil, err
	}
	s.store = db
	if err := s.build(context.Background()); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	s.stop = sync.OnceValue(s.start())
	return s, nil
}

// build puts the parts together, from the database outwards.
func (s *Sandbox) build(ctx context.Context) error {
	opts := s.options
	products, err := catalog.Load()
	if err != nil {
		return err
	}
	clock, err := s.store.OpenClock(ctx, opts.Now)
	if err != nil {
		return err
	}
	accounts, err := gateway.OpenAccounts(ctx, s.store, opts.Seed, opts.accounts())
	if err != nil {
		return err
	}
	s.selling = selling.New(selling.Config{
		Store: s.store, Catalog: products, Now: clock.Now, Delay: opts.Delay, OrderStep: opts.OrderStep, Review: opts.Review,
		Seed: opts.Seed, Logger: opts.Logger,
	})
	if err := s.selling.LoadCatalog(ctx); err != nil {
		return err
	}
	requests, items := opts.limits(clock.Now)
	operations := handlers.New(handlers.Config{
		Store: s.store, Selling: s.selling, Catalog: products, Items: items, BasePath: BasePath,
		Now: clock.Now, Logger: opts.Logger,
	})
	s.gateway = gateway.New(gateway.Config{
		Store: s.store, Handlers: operations, Accounts: accounts, Requests: requests,
		Paths:     gateway.Paths{Base: BasePath, Token: TokenPath, Health: HealthPath, Control: ControlPath},
		TokenLife: opts.TokenLife, RotateRefreshTokens: opts.RotateRefreshTokens, Now: clock.Now, Logger: opts.Logger,
	})
	s.control = control.New(control.Config{
		Store: s.store, Selling: s.selling, Handlers: operations, Gateway: s.gateway, Clock: clock,
		Limits: []*limits.Limits{requests, items}, Path: ControlPath, Key: opts.ControlKey, Manual: opts.Manual,
	})
	s.handler = s.gateway.Handler(s.control.Handler())
	return nil
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

// Serve answers the requests that come in through l until ctx ends. It then
// takes no more, lets those under way finish, for up to ten seconds, and returns
// nil. Callers who are too slow, with a header, a body or taking their answer,
// are hung up on. If l fails, Serve hangs up on all callers and returns its error.
// Serve closes l, but not the sandbox.
func (s *Sandbox) Serve(ctx context.Context, l net.Listener) error {
	return wrap("serve", gateway.Serve(ctx, l, s, s.options.Logger))
}

// Close stops the worker and closes the database. What is not worked by then
// waits in the file for the next start. Requests after Close are answered 500.
func (s *Sandbox) Close() error { return s.stop() }
