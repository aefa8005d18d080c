// Package sandboxtest starts a sandbox in a test.
//
//	market := sandboxtest.New(t)
//	c := market.Client()
//
// Client returns a client for the code under test. A program under test, in any language, gets
// market.URL, market.APIKey() and market.Token().
//
// Each test has its own sandbox in memory, which starts in a few milliseconds and is closed when
// the test ends. Buy and Bid are the buyers, Advance moves the clock, Fail makes calls fail, and
// Counters returns the calls so far.
//
// New serves on a socket, for any client. NewInProcess serves without a socket, for bubbles of
// testing/synctest, which cannot wait for one.
package sandboxtest

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/quota"
	"github.com/sellside-sdk/sellside-go/internal/inproc"
	"github.com/sellside-sdk/sellside-go/sandbox"
)

// inProcessHost is a host name that no network resolves: .invalid is reserved.
const inProcessHost = "sandbox.invalid"

// Market is a sandbox that runs until its test ends. It is safe for concurrent use.
type Market struct {
	*sandbox.Sandbox
	// URL is the base URL of the operations, with the version and without a trailing slash.
	URL string
	// TokenURL is the URL of the token endpoint.
	TokenURL string
	// ControlURL is the base URL of the control API, whose key is ControlKey.
	ControlURL string
	tb         testing.TB
	client     *http.Client
}

// New starts a sandbox on a free port of this machine. It has no Delay, unless a change of its
// options sets one. The test fails if the sandbox does not start or does not close.
func New(tb testing.TB, change ...func(*sandbox.Options)) *Market {
	tb.Helper()
	s := start(tb, change)
	srv := httptest.NewServer(s)
	tb.Cleanup(func() { // before the sandbox is closed
		srv.CloseClientConnections() // Close would wait for requests that a fault delays
		srv.Close()
	})
	return market(tb, s, srv.URL, srv.Client())
}

// NewInProcess is New without a socket: only HTTPClient reaches the sandbox. A connection that a
// fault closes is an error of its transport.
func NewInProcess(tb testing.TB, change ...func(*sandbox.Options)) *Market {
	tb.Helper()
	s := start(tb, change)
	t := &inproc.Transport{Handler: s, Host: inProcessHost}
	tb.Cleanup(t.Close) // before the sandbox is closed
	return market(tb, s, "https://"+inProcessHost, &http.Client{Transport: t})
}

// HTTPClient returns an HTTP client for the sandbox. It adds no credentials.
func (m *Market) HTTPClient() *http.Client { return m.client }

// Client returns a client of the first account that does not slow down a test: it has no quota,
// polls every 2 to 20 ms, and begins its retries after a millisecond. The options override these
// settings. The test fails if an option is invalid.
func (m *Market) Client(opts ...client.Option) *client.Client {
	m.tb.Helper()
	c, err := client.New(slices.Concat([]client.Option{client.WithDefaults(
		client.WithBaseURL(m.URL),
		client.WithHTTPClient(m.client),
		client.WithAPIKey(m.APIKey()),
		client.WithToken(m.Token()),
		client.WithQuota(quota.Unlimited),
		client.WithRetry(client.RetryPolicy{MinDelay: time.Millisecond}),
		client.WithWaitOptions(client.WithPollInterval(2*time.Millisecond, 20*time.Millisecond)),
	)}, opts)...)
	if err != nil {
		m.tb.Fatalf("sandboxtest: %v", err)
	}
	return c
}

func start(tb testing.TB, change []func(*sandbox.Options)) *sandbox.Sandbox {
	tb.Helper()
	opts := sandbox.Options{Delay: -1}
	for _, c := range change {
		c(&opts)
	}
	s, err := sandbox.New(opts)
	if err != nil {
		tb.Fatalf("sandboxtest: %v", err)
	}
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Errorf("sandboxtest: close: %v", err)
		}
	})
	return s
}

func market(tb testing.TB, s *sandbox.Sandbox, origin string, c *http.Client) *Market {
	return &Market{
		Sandbox: s, URL: origin + sandbox.BasePath, TokenURL: origin + sandbox.TokenPath,
		ControlURL: origin + sandbox.ControlPath, tb: tb, client: c,
	}
}
