package clienttest

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"sync"
	"testing"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/quota"
	"github.com/sellside-sdk/sellside-go/gen"
	"github.com/sellside-sdk/sellside-go/internal/inproc"
)

// Made-up credentials that [Server.Client] sends. The server accepts any credentials.
const (
	APIKey = "clienttest-api-key"
	Token  = "clienttest-token"
)

const (
	// basePath is the path of the base URL in the spec.
	basePath = "/v2"
	// inProcessHost is a host name that no network resolves: .invalid is reserved.
	inProcessHost = "clienttest.invalid"
)

// Server is the service in a test: it responds as the script of the test says. It is safe for
// concurrent use.
type Server struct {
	tb        testing.TB
	contract  *contract
	baseURL   string
	transport http.RoundTripper

	mu       sync.Mutex
	script   []*Expectation
	requests []Recorded
}

// Recorded is a request that the server received.
type Recorded struct {
	Operation gen.OperationID
	Method    string
	Path      string // Below the base URL, escaped, such as /selling/listings/98e2e748.
	Query     url.Values
	Header    http.Header
	Body      []byte
}

// Option configures a [Server].
type Option func(*options)

type options struct{ inProcess bool }

// InProcess makes the server work without a socket: only the transport of [Server.HTTPClient]
// reaches it. Use it in bubbles of testing/synctest, which cannot wait for a socket, and make the
// server inside the bubble.
func InProcess() Option { return func(o *options) { o.inProcess = true } }

// New starts a server, which is closed when the test ends. Each expectation that is not met by then
// fails the test. A request without an expectation, and a request or a response that breaks the
// spec, fails it at once.
func New(tb testing.TB, opts ...Option) *Server {
	tb.Helper()
	var o options
	for _, opt := range opts {
		opt(&o)
	}
	c, err := loadContract()
	if err != nil {
		tb.Fatalf("clienttest: %v", err)
	}
	s := &Server{tb: tb, contract: c}
	start := s.startSocket
	if o.inProcess {
		start = s.startInProcess
	}
	stop := start()
	tb.Cleanup(func() {
		stop() // first, because open requests still count
		s.reportUnmet()
	})
	return s
}

func (s *Server) startSocket() (stop func()) {
	srv := httptest.NewServer(http.HandlerFunc(s.serve))
	s.baseURL, s.transport = srv.URL+basePath, srv.Client().Transport
	return func() {
		srv.CloseClientConnections() // Close would wait for delayed responses
		srv.Close()
	}
}

func (s *Server) startInProcess() (stop func()) {
	t := &inproc.Transport{Handler: http.HandlerFunc(s.serve), Host: inProcessHost}
	s.baseURL, s.transport = "https://"+inProcessHost+basePath, t
	return t.Close
}

// BaseURL returns the base URL of the operations. It ends in /v2.
func (s *Server) BaseURL() string { return s.baseURL }

// HTTPClient returns a new HTTP client that reaches the server. It adds no credentials.
func (s *Server) HTTPClient() *http.Client { return &http.Client{Transport: s.transport} }

// Client returns a client of the server, with made-up credentials and without a quota. The options
// override these settings. Retries are on and their pauses take real time: turn them off with
// [client.WithRetry] in a test that counts calls, and run a test of retries in a bubble with
// [InProcess].
func (s *Server) Client(opts ...client.Option) *client.Client {
	s.tb.Helper()
	c, err := client.New(slices.Concat([]client.Option{client.WithDefaults(
		client.WithBaseURL(s.baseURL),
		client.WithHTTPClient(s.HTTPClient()),
		client.WithAPIKey(APIKey),
		client.WithToken(Token),
		client.WithQuota(quota.Unlimited),
	)}, opts)...)
	if err != nil {
		s.tb.Fatalf("clienttest: %v", err)
	}
	return c
}

// Requests returns the requests of an operation so far, in the order in which they arrived.
func (s *Server) Requests(op gen.OperationID) []Recorded {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(s.requests), func(r Recorded) bool { return r.Operation != op })
}
