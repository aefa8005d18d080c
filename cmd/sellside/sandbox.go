package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/sellside-sdk/sellside-go/bulk"
	"github.com/sellside-sdk/sellside-go/client/quota"
	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/logbuffer"
	"github.com/sellside-sdk/sellside-go/sandbox"
)

const sandboxHelp = `Run a marketplace on this machine to practise on, with a catalog of real products
and an order book for each of their sizes.

When it is ready it prints one line on standard output:

  {"baseURL":"http://127.0.0.1:41357/v2","apiKey":"…","token":"…",
   "tokenURL":"…/oauth/token","refreshToken":"…","controlURL":"…/_sandbox","controlKey":"…",
   "authorizeURL":"…/oauth/authorize","clientID":"…","clientSecret":"…",
   "issuer":"…","redirectURL":"…","consoleURL":"…/?code=…"}

Open consoleURL in a browser to see what happens on the marketplace, and to bid, move
the clock and make calls fail. The URL works once, within five minutes; the control
API makes others.

The control API is for tests: with the control key in the header x-sandbox-key it
buys, bids, advances the clock and the orders, and makes calls fail. A GET of
controlURL lists all of it. GET /healthz responds 200 while the sandbox works.

With --log error it logs on standard error what failed, with --log info every request
too. A log that is not read stops nothing: records are dropped and counted.

It runs until it gets SIGINT (Ctrl-C) or SIGTERM, and then finishes the requests that it
has accepted. Without --db nothing is kept when it stops.

Credentials come from flags or from the environment, which is safer for secrets (flags
can be seen in the process list) and the default of sell as well:

  SELLSIDE_API_KEY         the API key
  SELLSIDE_TOKEN           an access token that never expires
  SELLSIDE_REFRESH_TOKEN   the refresh token
  SELLSIDE_CONTROL_KEY     the key of the control API
  SELLSIDE_CLIENT_SECRET   the secret of the client that users sign in to`

// marketplace is one call of sandbox.
type marketplace struct {
	sandbox.Options
	address, quota, log string
	ledger              string
}

func newSandbox(getenv func(string) string) *cobra.Command {
	return new(marketplace).command(getenv)
}

func (m *marketplace) command(getenv func(string) string) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "sandbox",
		Short:   "Run a marketplace on this machine",
		Long:    sandboxHelp,
		Example: "  sellside sandbox --addr 127.0.0.1:8080 --db market.db --quota public",
		Args:    exactly(0, "sellside sandbox [--addr HOST:PORT] [--db FILE]"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := m.complete(getenv); err != nil {
				return err
			}
			return m.run(cmd)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&m.address, "addr", "127.0.0.1:0", "address to listen on; port 0 takes a free one")
	flags.StringVar(&m.DB, "db", "", "file to keep everything in; made if it does not exist (default in memory)")
	flags.StringVar(&m.APIKey, "api-key", "", "API key to accept (default $SELLSIDE_API_KEY, or "+sandbox.DefaultAPIKey+")")
	flags.StringVar(&m.Token, "token", "", "access token to accept (default $SELLSIDE_TOKEN, or "+sandbox.DefaultToken+")")
	flags.StringVar(&m.RefreshToken, "refresh-token", "", "refresh token to accept (default $SELLSIDE_REFRESH_TOKEN, or "+sandbox.DefaultRefreshToken+")")
	flags.StringVar(&m.ControlKey, "control-key", "", "key of the control API (default $SELLSIDE_CONTROL_KEY, or a random one)")
	flags.StringVar(&m.SignIn.ClientID, "client-id", sandbox.DefaultClientID, "client that users sign in to")
	flags.StringArrayVar(&m.SignIn.RedirectURLs, "redirect-url", []string{sandbox.DefaultRedirectURL}, "where a sign-in may return to, exactly; can be repeated")
	flags.BoolVar(&m.SignIn.AnyLoopbackPort, "any-loopback-port", false, "let a sign-in return to any port of this machine")
	flags.BoolVar(&m.SignIn.Approve, "approve-sign-in", false, "sign users in without a page")
	flags.DurationVar(&m.TokenLife, "token-life", sandbox.DefaultTokenLife, "how long renewed access tokens are valid, a second or more")
	flags.BoolVar(&m.RotateRefreshTokens, "rotate-refresh-tokens", false, "issue a new refresh token with every access token")
	flags.Uint64Var(&m.Seed, "seed", 0, "another seed makes other prices and ids")
	flags.StringVar(&m.quota, "quota", "none", "quota of each account: public, as of live services, or none")
	flags.StringVar(&m.log, "log", "error", "what to log: off, error (failures), or info (every request too)")
	flags.DurationVar(&m.Delay, "delay", sandbox.DefaultDelay, "time for each step of the work: an operation has one, a batch item two; 0 for no delay")
	flags.DurationVar(&m.OrderStep, "order-step", sandbox.DefaultOrderStep, "how long an order stays in each state; 0 leaves it there until it is moved")
	flags.BoolVar(&m.Console, "console", true, "serve a page for people at /")
	flags.BoolVar(&m.Quirks, "quirks", false, "make responses look like those of a live service: members left out or null, numbers as strings, unknown members and values, errors in other shapes")
	flags.BoolVar(&m.VagueOrigin, "vague-origin", false, "do not show which batch made a listing, nor the zone of the time when it was made")
	flags.BoolVar(&m.KeepTerms, "keep-terms", false, "keep the currency and the expiry of a listing if a change leaves them out, instead of US dollars and 999 days")
	flags.BoolVar(&m.BookTrades, "book-trades", false, "let the bids and asks of the order book trade: an ask at or below the highest bid is sold")
	flags.BoolVar(&m.AllowUnknownParameters, "allow-unknown-parameters", false, "ignore unknown query parameters instead of refusing them")
	flags.StringVar(&m.ledger, "ledger", "", "ledger of apply and sync whose runs the page shows")
	return cmd
}

// showRuns makes the console show the runs of a ledger.
func (m *marketplace) showRuns(ctx context.Context) (closeLedger func() error, err error) {
	if m.ledger == "" {
		return func() error { return nil }, nil
	}
	if _, err := os.Stat(m.ledger); err != nil {
		return nil, invalidf("sandbox: --ledger: %w: plan or apply an inventory first", err)
	}
	b, err := bulk.Open(ctx, bulk.Config{Ledger: m.ledger})
	if err != nil {
		return nil, fmt.Errorf("sandbox: --ledger: %w", err)
	}
	m.Runs = func(ctx context.Context) ([]sandbox.Run, error) {
		runs, err := b.Runs(ctx)
		shown := make([]sandbox.Run, 0, len(runs))
		for _, r := range runs {
			shown = append(shown, sandbox.Run{
				Name: fmt.Sprintf("%d %s %s", r.ID, r.Command, r.Source), State: string(r.State), StartedAt: r.StartedAt,
				Total: r.Done + r.Failed + r.Open + r.Unknown, Done: r.Done + r.Failed, Failed: r.Failed,
			})
		}
		return shown, err
	}
	return b.Close, nil
}

// complete takes credentials without a flag from the environment, and refuses invalid flags.
func (m *marketplace) complete(getenv func(string) string) error {
	for name, value := range map[string]*string{
		"SELLSIDE_API_KEY": &m.APIKey, "SELLSIDE_TOKEN": &m.Token,
		"SELLSIDE_REFRESH_TOKEN": &m.RefreshToken, "SELLSIDE_CONTROL_KEY": &m.ControlKey,
		"SELLSIDE_CLIENT_SECRET": &m.SignIn.ClientSecret,
	} {
		*value = cmp.Or(*value, getenv(name))
	}
	switch m.quota {
	case "none":
	case "public":
		m.Quota = quota.Public
	default:
		return invalidf("sandbox: --quota (%q): use public or none", m.quota)
	}
	if _, ok := logLevels[m.log]; !ok && m.log != "off" {
		return invalidf("sandbox: --log (%q): use off, error or info", m.log)
	}
	if m.TokenLife < time.Second {
		return invalidf("sandbox: --token-life (%s): use a second or more", m.TokenLife)
	}
	if m.Delay < 0 || m.OrderStep < 0 {
		return invalidf("sandbox: --delay (%s) and --order-step (%s): use 0 or more",
			m.Delay, m.OrderStep)
	}
	m.Delay, m.OrderStep = cmp.Or(m.Delay, -1), cmp.Or(m.OrderStep, -1) // in the options, 0 is the default
	return nil
}

// logLevels are the values of --log, except for off.
var logLevels = map[string]slog.Level{"error": slog.LevelError, "info": slog.LevelInfo}

// logTo logs to a writer that may be closed or not be read, until stop is called.
func (m *marketplace) logTo(stderr io.Writer) (stop func()) {
	level, ok := logLevels[m.log]
	if !ok {
		return func() {}
	}
	signal.Ignore(syscall.SIGPIPE) // which a closed standard error sends
	buffer := logbuffer.New(stderr)
	m.Logger = slog.New(slog.NewTextHandler(buffer, &slog.HandlerOptions{Level: level}))
	return func() {
		buffer.Close(time.Second)
		signal.Reset(syscall.SIGPIPE)
	}
}

func (m *marketplace) run(cmd *cobra.Command) (err error) {
	ctx := cmd.Context()
	closeLedger, err := m.showRuns(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeLedger()) }()
	defer m.logTo(cmd.ErrOrStderr())()
	market, err := sandbox.New(m.Options)
	if errors.Is(err, sandbox.ErrInvalidOptions) {
		return invalidf("%w", err)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, market.Close()) }()
	l, err := listen(ctx, m.address)
	if err != nil {
		return invalidf("sandbox: %w: choose another --addr", err)
	}
	origin := originOf(l)
	ready := struct {
		BaseURL      string `json:"baseURL"`
		APIKey       string `json:"apiKey"`
		Token        string `json:"token"`
		TokenURL     string `json:"tokenURL"`
		RefreshToken string `json:"refreshToken"`
		ControlURL   string `json:"controlURL"`
		ControlKey   string `json:"controlKey"`
		AuthorizeURL string `json:"authorizeURL"`
		ClientID     string `json:"clientID"`
		ClientSecret string `json:"clientSecret"`
		Issuer       string `json:"issuer"`
		RedirectURL  string `json:"redirectURL"`
		ConsoleURL   string `json:"consoleURL,omitempty"`
	}{
		origin + sandbox.BasePath, market.APIKey(), market.Token(), origin + sandbox.TokenPath, market.RefreshToken(),
		origin + sandbox.ControlPath, market.ControlKey(), origin + sandbox.AuthorizePath, m.SignIn.ClientID,
		cmp.Or(m.SignIn.ClientSecret, sandbox.DefaultClientSecret), origin, m.SignIn.RedirectURLs[0], "",
	}
	if m.Console {
		ready.ConsoleURL = origin + sandbox.ConsolePath + "?code=" + market.ConsoleCode()
	}
	// Connections that come before Serve are accepted by it.
	if err := json.NewEncoder(cmd.OutOrStdout()).Encode(ready); err != nil {
		return errors.Join(fmt.Errorf("sandbox: print the URLs: %w", err), l.Close())
	}
	return market.Serve(ctx, l)
}

// listen listens on a TCP address, such as 127.0.0.1:0.
func listen(ctx context.Context, address string) (net.Listener, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	return l, nil
}

// originOf returns the URL for clients on this machine, without a path.
func originOf(l net.Listener) string {
	addr, ok := l.Addr().(*net.TCPAddr)
	if ok && addr.IP.IsUnspecified() {
		return fmt.Sprintf("http://127.0.0.1:%d", addr.Port)
	}
	return "http://" + l.Addr().String()
}
