package clienttest

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"sync"
	"testing"

	"github.com/sellside-sdk/sellside-go/gen"
	"github.com/sellside-sdk/sellside-go/internal/inproc"
)

// The credentials that [Server.Client] sends. They are made up; the server demands that credentials are
// there, not that they are these.
const (
	APIKey = "clienttest-api-key"
	Token  = "clienttest-token"
)

const (
	// basePath is what the spec puts before every route.
	basePath = "/v2"
	// inProcessHost is a host name that no network resolves: .invalid is reserved.
	inProcessHost = "clienttest.invalid"
)

// Server plays the service for one test, by the test's script. It is safe for concurrent use.
type Server struct {
	tb        testing.TB
	contract  *contract
	baseURL   string
	transport http.RoundTripper

	mu       sync.Mutex
	script   []*Expectation
	recorded []Recorded
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

// Option sets up a [Server].
type Option func(*setup)

type setup struct{ inProcess bool }

// InProcess makes the server work without a socket: the transport of [Server.HTTPClient] calls it directly,
// and nothing else reaches it. It is meant for testing/synctest, whose bubbles cannot wait on a socket; make
// the server inside the bubble.
func InProcess() Option { return func(s *setup) { s.inProcess = true } }

// New starts a server. When the test ends it is stopped, and every expectation that is left over fails the
// test. Requests that the script does not expect, and requests and answers that break the spec, fail the test
// at once.
func New(tb testing.TB, opts ...Option) *Server {
	tb.Helper()
	var set setup
	for _, opt := range opts {
		opt(&set)
	}
	c, err := loadContract()
	if err != nil {
		tb.Fatalf("clienttest: %v", err)
	}
	s := &Server{tb: tb, contract: c}
	start := s.listen
	if set.inProcess {
		start = s.connect
	}
	stop := start()
	tb.Cleanup(func() {
		stop() // before the report, which counts the requests under way
		s.reportLeftovers()
	})
	return s
}

// listen serves on a loopback port.
func (s *Server) listen() (stop func()) {
	srv := httptest.NewServer(http.HandlerFunc(s.serve))
	s.baseURL, s.transport = srv.URL+basePath, srv.Client().Transport
	return func() {
		srv.CloseClientConnections() // or a delayed response would delay the end
		srv.Close()
	}
}

// connect serves within the process.
func (s *Server) connect() (stop func()) {
	t := &inproc.Transport{Handler: http.HandlerFunc(s.serve), Host: inProcessHost}
	s.baseURL, s.transport = "https://"+inProcessHost+basePath, t
	return t.Close
}

// BaseURL returns the address that the routes of the spec stand below. It ends in /v2.
func (s *Server) BaseURL() string { return s.baseURL }

// HTTPClient returns a new HTTP client that reaches the server.
func (s *Server) HTTPClient() *http.Client { return &http.Client{Transport: s.transport} }

// Requests returns the requests of an operation so far, in the order of their arrival.
func (s *Server) Requests(op gen.OperationID) []Recorded {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(s.recorded), func(r Recorded) bool { return r.Operation != op })
}

func (s *Server) record(op gen.OperationID, path string, r *http.Request, body []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.recorded = append(s.recorded, Recorded{
		Operation: op, Method: r.Method, Path: path, Query: r.URL.Query(), Header: r.Header.Clone(), Body: body,
	})
}
