package client

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"

	"golang.org/x/oauth2"

	"github.com/sellside-sdk/sellside-go/client/quota"
	"github.com/sellside-sdk/sellside-go/gen"
	"github.com/sellside-sdk/sellside-go/internal/tap"
)

// Version is the version of this module, as it stands in the User-Agent header.
const Version = "0.1.0"

// Client sells on a marketplace. Make one with [New], keep it, and share it: it is safe for concurrent use,
// and its retries, its quota and its connections are shared by all goroutines that use it.
type Client struct {
	Listings *Listings // Single listings and the operations performed on them.
	Batches  *Batches  // Many listings at once, asynchronously.
	Orders   *Orders   // Sales, their shipment and their payout.
	Catalog  *Catalog  // Products, variants, market data and ingestion.

	low           *gen.Client
	redact        func(text, token string) string // Not the credentials: fmt follows pointers, but prints a function as its address.
	observer      *observer
	lifetime      *lifetime
	limiter       quota.Limiter
	maxBatchItems int
}

// config is what the options set.
type config struct {
	given         map[string]string // The setting, such as "the access token", and the option that set it; see choose.
	baseURL       *url.URL
	apiKey        string
	tokens        oauth2.TokenSource
	http          *http.Client
	logger        *slog.Logger
	hook          func(Event)
	middleware    []Middleware
	retry         RetryPolicy
	limiter       quota.Limiter
	maxBatchItems int
}

// New returns a client. [WithBaseURL], [WithAPIKey] and one of [WithToken] and [WithTokenSource] are
// required. It does no I/O. The error joins everything that is wrong with the options: what is missing, what is nil, and
// what contradicts another option.
func New(opts ...Option) (*Client, error) {
	cfg := config{given: map[string]string{}, maxBatchItems: 100}
	var errs []error
	refuse := func(err error) { errs = append(errs, err) } // a nil error too
	for i, opt := range opts {
		if opt == nil {
			refuse(fmt.Errorf("option %d: must not be nil", i+1))
			continue
		}
		refuse(opt(&cfg))
	}
	for _, required := range []struct{ setting, use string }{
		{settingBaseURL, "WithBaseURL"},
		{settingAPIKey, "WithAPIKey"},
		{settingToken, "WithToken or WithTokenSource"},
	} {
		if _, ok := cfg.given[required.setting]; !ok {
			refuse(fmt.Errorf("%s is missing: use %s", required.setting, required.use))
		}
	}
	if err := joinErrors(errs...); err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	if cfg.limiter == nil {
		cfg.limiter = quota.NewLimiter(quota.Public)
	}
	for i, wrap := range cfg.middleware {
		cfg.middleware[i] = checked(i+1, wrap, refuse)
	}

	life := newLifetime(ownTransport(&cfg))
	credentials := &auth{apiKey: cfg.apiKey, tokens: cfg.tokens, lifetime: life}
	c := &Client{
		redact:        credentials.redact,
		observer:      newObserver(cfg.logger, cfg.hook),
		lifetime:      life,
		limiter:       cfg.limiter,
		maxBatchItems: cfg.maxBatchItems,
	}
	c.low = &gen.Client{Server: cfg.baseURL.String() + "/", Client: tapped(life.admit(newChain(&cfg, credentials, c.observer)))}
	if err := joinErrors(errs...); err != nil { // of the middleware, which newChain has called
		return nil, fmt.Errorf("client: %w", err)
	}
	c.Listings = &Listings{c}
	c.Batches = &Batches{c}
	c.Orders = &Orders{c}
	c.Catalog = &Catalog{c}
	return c, nil
}

// ownTransport gives the client a transport unless the caller did, and returns what closes its idle connections.
func ownTransport(cfg *config) (closeIdle func()) {
	closeIdle = func() {}
	hc := newHTTPClient(cfg.http)
	if own, ok := hc.Transport.(*http.Transport); ok && (cfg.http == nil || cfg.http.Transport == nil) {
		closeIdle = own.CloseIdleConnections
	}
	cfg.http = hc
	return closeIdle
}

// tapped shows package recovery the responses to the calls that it makes.
func tapped(next Doer) Doer {
	return DoerFunc(func(req *http.Request) (*http.Response, error) {
		resp, err := next.Do(req)
		if err == nil && resp != nil {
			tap.Show(req.Context(), resp)
		}
		return resp, err
	})
}

// Raw returns the generated client on the same chain of credentials, retries and quota, for whoever needs
// the raw answer. A call that does not match an operation of the spec is refused before any I/O, and a batch
// must declare its size with [WithItemCount] while a quota for items is set. It does not check ids: "." and
// ".." can make the path of a read reach another one. Responses other than 2xx are returned as they are. The body is
// buffered, up to 16 MiB, or 64 KiB of an error: reading one that was cut ends with [ErrBodyTooLarge]. The caller closes
// it.
func (c *Client) Raw() *gen.Client { return c.low }

// RemainingQuota returns the state of each window of the client's quota, as far as its [quota.Limiter] knows: the default one
// does not see what other processes, or clients with other limiters, use of the account's quota.
func (c *Client) RemainingQuota(ctx context.Context) ([]quota.WindowState, error) {
	return c.limiter.Remaining(ctx)
}

// Format implements [fmt.Formatter], so that no verb prints the credentials.
func (c *Client) Format(f fmt.State, _ rune) {
	_, _ = io.WriteString(f, "client.Client("+c.low.Server+")")
}
