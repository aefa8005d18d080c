// Package sandboxtest runs a marketplace for the time of a test.
//
//	market := sandboxtest.New(t)
//	// market.URL, market.APIKey() and market.Token() go to the program under test
//
// Every test has one of its own, in memory, in a few milliseconds; it is closed
// when the test ends. The test is the rest of the world: it buys with Buy and
// Bid, lets time go by with Advance, makes calls go wrong with Fail and looks
// at what was called with Counters.
//
// Over a real socket it is reached with any client. Inside a bubble of
// testing/synctest, where a socket would hang, NewInProcess and its HTTPClient
// do the same without a network.
package sandboxtest

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/sellside-sdk/sellside-go/sandbox"
)

// Market is a sandbox that runs until its test ends. It is safe for concurrent
// use.
type Market struct {
	*sandbox.Sandbox
	// URL is the base URL of the operations, with the version and without a
	// slash at its end.
	URL string
	// TokenURL is that of the token endpoint.
	TokenURL string
	// ControlURL is the base URL of the control API, which takes ControlKey.
	ControlURL string
	client     *http.Client
}

// New starts a sandbox on a free port of this machine. It works everything at
// once, as a Delay below zero does, unless a change of its options says
// otherwise. The test fails if the sandbox does not start or does not end
// cleanly.
func New(tb testing.TB, change ...func(*sandbox.Options)) *Market {
	tb.Helper()
	s := start(tb, change)
	srv := httptest.NewServer(s)
	tb.Cleanup(func() { // before the sandbox is closed
		srv.CloseClientConnections() // which nobody listens to, or a delay would hold up the end
		srv.Close()
	})
	return market(s, srv.URL, srv.Client())
}

// NewInProcess is New without a network: only HTTPClient reaches it. A
// connection that is cut is there, too, as an error of its transport.
func NewInProcess(tb testing.TB, change ...func(*sandbox.Options)) *Market {
	tb.Helper()
	s := start(tb, change)
	t := &transport{handler: s}
	tb.Cleanup(t.handlers.Wait)
	return market(s, "https://"+inProcessHost, &http.Client{Transport: t})
}

// HTTPClient returns a client that reaches the sandbox. It adds no credentials.
func (m *Market) HTTPClient() *http.Client { return m.client }

func start(tb testing.TB, change []func(*sandbox.Options)) *sandbox.Sandbox {
	tb.Helper()
	opts := sandbox.Options{Delay: -1}
	for _, c := range change {
		c(&opts)
	}
	s, err := sandbox.New(opts)
	if err != nil {
		tb.Fatalf("start a sandbox: %v", err)
	}
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Errorf("close the sandbox: %v", err)
		}
	})
	return s
}

func market(s *sandbox.Sandbox, origin string, c *http.Client) *Market {
	return &Market{
		Sandbox: s, URL: origin + sandbox.BasePath, TokenURL: origin + sandbox.TokenPath,
		ControlURL: origin + sandbox.ControlPath, client: c,
	}
}
