// Package sandbox is a marketplace that runs inside a test: it serves the operations of
// api/openapi.yaml from a real database. Listings become active, batches are processed item by
// item, prices come from an order book, and orders have a payout.
//
//	s, err := sandbox.New(sandbox.Options{})
//	if err != nil { ... }
//	defer s.Close()
//	srv := httptest.NewServer(s)
//	// base URL: srv.URL + sandbox.BasePath, with s.APIKey() and s.Token()
//
// Package sandboxtest does that for a test in one call.
//
// As on the service, writes are asynchronous: a response says PENDING or QUEUED, and a worker does
// the rest a moment later. With a file as its database a sandbox survives being killed: what was
// accepted is done after the next start, exactly once.
//
// Besides BasePath it serves AuthorizePath and TokenPath, where users sign in and programs refresh
// access tokens, KeysPath and DiscoveryPath, which describe them, HealthPath, ControlPath,
// where a test can arrange the market, buy, advance the clock and inject faults, and ConsolePath,
// where people see all that and do the same. The methods of Sandbox do it, too.
//
// The same seed and the same calls in the same order give the same ids, prices, tokens and faults
// if the clock is that of Options.Now. The states that a call finds, and the ids of asks and of the
// listings of batches, also depend on the timing of the worker: set Options.Manual and call Work to
// make them repeatable.
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
	"github.com/sellside-sdk/sellside-go/sandbox/internal/console"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/control"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/gateway"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/handlers"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/limits"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/oauth"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/selling"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/store"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/wire"
)

const (
	// BasePath is the path of all operations. It ends with the version of the service.
	BasePath = "/v2"

	// TokenPath is the path of the token endpoint. It accepts the refresh-token grant of RFC 6749,
	// section 6, form-encoded, from any client_id:
	//
	//	grant_type=refresh_token&refresh_token=sandbox-refresh-token
	//
	// and the grant of a code from AuthorizePath, with PKCE. It responds with an access token that
	// is valid for Options.TokenLife.
	TokenPath = "/oauth/token" //nolint:gosec // a path, not a credential

	// AuthorizePath is where a user signs in: the authorization endpoint of RFC 6749, section 4.1.
	// Options.SignIn has its client. PKCE with S256 is required, a code lasts a minute, and the
	// second use of a code revokes its tokens.
	AuthorizePath = "/oauth/authorize"

	// KeysPath is the path of the JSON Web Key Set that verifies tokens of the token endpoint. The
	// tokens in Options are not signed with its key.
	KeysPath = "/.well-known/jwks.json"

	// DiscoveryPath is the path of the OpenID Connect discovery document.
	DiscoveryPath = "/.well-known/openid-configuration"

	// HealthPath is the path of health checks, a GET or HEAD without credentials: 200 while the
	// database can be written, else 503, as after Close or when the disk is full.
	HealthPath = "/healthz"

	// ControlPath is the path of the control API, which does over HTTP what the methods of Sandbox
	// do. Its requests carry the control key in the header x-sandbox-key; bodies are JSON; a GET of
	// ControlPath lists them. They are not counted, take no quota, and never fail by a fault.
	ControlPath = "/_sandbox"

	// ConsolePath is the path of the console, a page for people, if Options.Console is set. A browser
	// opens it with a code of ConsoleCode in the query parameter code.
	ConsolePath = console.Path
)

// SettleWithin returns the longest time that a sandbox of this Delay takes from accepting a create
// batch to showing the first listing of it, on a machine that keeps up. No live service publishes
// such a bound.
func SettleWithin(delay time.Duration) time.Duration {
	return 2*delay + 500*time.Millisecond
}

// Sandbox is a running marketplace. It is an http.Handler, safe for concurrent use, and must be
// closed.
type Sandbox struct {
	options Options
	store   *store.Store
	selling *selling.Service
	gateway *gateway.Gateway
	control *control.Control
	console *console.Console // nil if it is off
	handler http.Handler
	running sync.WaitGroup // the worker, and reading the document
	stop    func() error
}

// New opens the database and starts the marketplace. It opens no socket: use Serve, net/http or
// net/http/httptest.
func New(opts Options) (*Sandbox, error) {
	s, err := open(opts)
	if err != nil {
		return nil, fmt.Errorf("sandbox: %w", err)
	}
	return s, nil
}

func open(opts Options) (*Sandbox, error) {
	opts, err := opts.complete()
	if err != nil {
		return nil, err
	}
	s := &Sandbox{options: opts}
	s.running.Go(gateway.LoadContract)
	if s.store, err = store.Open(context.Background(), opts.DB); err != nil {
		s.running.Wait()
		return nil, err
	}
	if err := s.build(context.Background()); err != nil {
		s.running.Wait()
		return nil, errors.Join(err, s.store.Close())
	}
	s.stop = sync.OnceValue(s.start())
	return s, nil
}

// build connects the parts, from the database to the gateway.
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
		Store: s.store, Catalog: products, Now: clock.Now, Delay: opts.Delay, OrderStep: opts.OrderStep,
		KeepTerms: opts.KeepTerms, BookTrades: opts.BookTrades, Review: opts.Review, Seed: opts.Seed, Logger: opts.Logger,
	})
	if err := s.selling.LoadCatalog(ctx); err != nil {
		return err
	}
	requests, items := opts.limits(clock.Now)
	operations := handlers.New(handlers.Config{
		Store: s.store, Selling: s.selling, Catalog: products, Items: items, BasePath: BasePath,
		Now: clock.Now, Logger: opts.Logger,
	})
	signIn, err := oauth.New(ctx, oauth.Config{
		Store: s.store, Key: accounts.Key, Client: opts.SignIn.client(), Accounts: accounts.Names,
		Paths:   oauth.Paths{Authorize: AuthorizePath, Token: TokenPath, Keys: KeysPath, Discovery: DiscoveryPath},
		Approve: opts.SignIn.Approve, Secret: accounts.FormSecret(), Now: clock.Now,
	})
	if err != nil {
		return err
	}
	s.gateway = gateway.New(gateway.Config{
		Store: s.store, Handlers: operations, Accounts: accounts, OAuth: signIn, Requests: requests,
		Paths: gateway.Paths{
			Base: BasePath, Token: TokenPath, Health: HealthPath, Control: ControlPath,
			Console: console.Path, Assets: console.Assets,
		},
		TokenLife: opts.TokenLife, RotateRefreshTokens: opts.RotateRefreshTokens,
		AllowUnknownParameters: opts.AllowUnknownParameters,
		Now:                    clock.Now, Logger: opts.Logger,
	})
	s.control = control.New(control.Config{
		Store: s.store, Selling: s.selling, Handlers: operations, Gateway: s.gateway, Clock: clock,
		Limits: []*limits.Limits{requests, items}, Path: ControlPath, Key: opts.ControlKey,
		Manual: opts.Manual,
	})
	var page http.Handler
	if opts.Console {
		s.console = console.New(console.Config{
			Control: s.control, Catalog: products, Handlers: operations, Logger: opts.Logger, Runs: opts.runs(),
		})
		s.control.ConsoleCode = s.console.Code
		page = s.console
	}
	quirks := &wire.Quirks{Base: BasePath, Forms: opts.Quirks, VagueOrigin: opts.VagueOrigin}
	s.handler = quirks.Handler(s.gateway.Handler(s.control.Handler(), page))
	return nil
}

// start starts the worker and returns the function that stops it and closes the database.
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

// Serve serves the connections of l until ctx ends. It then closes l, waits up to ten seconds for
// the requests that are being handled, and returns nil. Delays of faults end with ctx: what they
// delayed is then handled at once. So do calls of the control API: what is left of their work is
// done by the worker, or after the next start. Clients that are too slow, in sending a request or
// in reading a response, are disconnected. If l fails, Serve closes all connections and returns its
// error. The sandbox stays open.
func (s *Sandbox) Serve(ctx context.Context, l net.Listener) error {
	return wrap("serve", gateway.Serve(ctx, l, s, s.options.Logger))
}

// Close stops the worker and closes the database. Work that is left is done after the next start on
// the file. The response to requests after Close is a 500.
func (s *Sandbox) Close() error { return s.stop() }

// wrap returns an error with the operation that failed, or nil.
func wrap(operation string, err error) error {
	if err != nil {
		return fmt.Errorf("sandbox: %s: %w", operation, err)
	}
	return nil
}
