package client

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"

	"golang.org/x/oauth2"

	"github.com/sellside-sdk/sellside-go/client/quota"
	"github.com/sellside-sdk/sellside-go/client/token"
	"github.com/sellside-sdk/sellside-go/gen"
)

// Version is the version of this module. The User-Agent header contains it.
const Version = "0.1.0"

// Client sells on a marketplace. Create one with [New] and share it: it is safe for concurrent use,
// and all goroutines that use it share its retry budget, its quota and its connections.
type Client struct {
	Listings *Listings // Single listings and the operations performed on them.
	Batches  *Batches  // Many listings at once, asynchronously.
	Orders   *Orders   // Sales, their shipment and their payout.
	Catalog  *Catalog  // Products, variants, market data and ingestion.

	raw *gen.Client
	// redact removes the credentials from a text. It is a function because fmt follows pointers to
	// structs, but prints a function as an address.
	redact        func(text, token string) string
	baseURL       *url.URL
	observer      *observer
	buffers       *bufferPool
	lifetime      *lifetime
	limiter       quota.Limiter
	maxBatchItems int
	waitOptions   []WaitOption
	ownTokens     *token.RefreshSource // Of [FromEnv]; nil otherwise.
}

// config is what the options set.
type config struct {
	given         map[string]string // Settings, such as "the access token", and the options that set them.
	baseURL       *url.URL
	apiKey        string
	tokens        oauth2.TokenSource
	ownTokens     *token.RefreshSource // Of [FromEnv], unless an option replaced it.
	environment   map[string]error     // What is wrong with the settings of [FromEnv].
	userAgent     string               // Before that of this module.
	dump          io.Writer            // May be nil.
	http          *http.Client
	logger        *slog.Logger
	hook          func(context.Context, Event)
	middleware    []Middleware
	retry         RetryPolicy
	limiter       quota.Limiter
	maxBatchItems int
	waitOptions   []WaitOption
}

// New returns a client. [WithBaseURL], [WithAPIKey] and one of [WithToken] and [WithTokenSource]
// are required. New does no I/O. Its error joins all problems with the options: missing, nil,
// invalid and conflicting ones.
func New(opts ...Option) (*Client, error) {
	cfg := config{given: map[string]string{}, maxBatchItems: 100}
	var errs []error
	refuse := func(err error) { errs = append(errs, err) } // joinErrors drops nil errors
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
			refuse(cmp.Or(cfg.environment[required.setting], fmt.Errorf("%s is missing: use %s", required.setting, required.use)))
		}
	}
	if err := joinErrors(errs...); err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	if cfg.tokens != oauth2.TokenSource(cfg.ownTokens) {
		cfg.ownTokens = nil // an option replaced it; it has not started anything
	}
	if cfg.limiter == nil {
		cfg.limiter = quota.NewLimiter(quota.Public)
	}
	for i, wrap := range cfg.middleware {
		cfg.middleware[i] = checkedMiddleware(i+1, wrap, refuse)
	}

	life := newLifetime(setHTTPClient(&cfg))
	credentials := &auth{apiKey: cfg.apiKey, apiKeyHeader: []string{cfg.apiKey}, tokens: cfg.tokens, lifetime: life}
	c := &Client{
		redact:        credentials.redact,
		baseURL:       cfg.baseURL,
		observer:      newObserver(cfg.logger, cfg.hook),
		buffers:       &bufferPool{shared: len(cfg.middleware) == 0},
		lifetime:      life,
		limiter:       cfg.limiter,
		maxBatchItems: cfg.maxBatchItems,
		waitOptions:   cfg.waitOptions,
		ownTokens:     cfg.ownTokens,
	}
	c.raw = &gen.Client{Server: cfg.baseURL.String() + "/", Client: newChain(&cfg, credentials, c)}
	if err := joinErrors(errs...); err != nil { // newChain has called the middleware
		return nil, fmt.Errorf("client: %w", err)
	}
	c.Listings = &Listings{c}
	c.Batches = &Batches{c}
	c.Orders = &Orders{c}
	c.Catalog = &Catalog{c}
	return c, nil
}

// setHTTPClient sets the HTTP client of cfg, with this package's transport unless the caller gave
// one. closeIdle closes the idle connections of this package's transport.
func setHTTPClient(cfg *config) (closeIdle func()) {
	closeIdle = func() {}
	hc := newHTTPClient(cfg.http)
	if own, ok := hc.Transport.(*http.Transport); ok && (cfg.http == nil || cfg.http.Transport == nil) {
		closeIdle = own.CloseIdleConnections
	}
	cfg.http = hc
	return closeIdle
}

// Raw returns the generated client on the same chain of credentials, retries and quota, for callers
// that need the HTTP response. A call that does not match an operation of the spec is refused
// before any I/O, and a batch must declare its size with [WithItemCount] while a quota for items is
// set. Raw does not check ids: "." and ".." can make the path of a read reach another operation.
// Responses other than 2xx are returned without an error. The body is buffered up to 16 MiB, or 64
// KiB of an error; reading a truncated body ends with [ErrBodyTooLarge]. The caller closes the
// body.
func (c *Client) Raw() *gen.Client { return c.raw }

// RemainingQuota returns the state of each window of the client's quota, as far as its
// [quota.Limiter] knows: the default limiter does not see requests of other processes, or of
// clients with another limiter.
func (c *Client) RemainingQuota(ctx context.Context) ([]quota.WindowState, error) {
	return c.limiter.Remaining(ctx)
}

// Format implements [fmt.Formatter]. No verb prints the credentials.
func (c *Client) Format(f fmt.State, _ rune) {
	_, _ = io.WriteString(f, "client.Client("+c.raw.Server+")")
}
