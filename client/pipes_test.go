package client_test

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/sellside-sdk/sellside-go/client/clienttest"
	"github.com/sellside-sdk/sellside-go/gen"
)

// pipeService is a service on connections in memory, which work on simulated time.
type pipeService struct {
	*httptest.Server
	conns chan net.Conn // To be accepted.

	mu     sync.Mutex
	dialed []*pipe
}

// pipe is the client's end of a connection.
type pipe struct {
	net.Conn
	dead, closed atomic.Bool
}

// Write implements [net.Conn]. A dead pipe loses what is written.
func (p *pipe) Write(b []byte) (int, error) {
	if p.dead.Load() {
		return len(b), nil
	}
	return p.Conn.Write(b)
}

// Read implements [net.Conn]. A dead pipe loses what is to be read.
func (p *pipe) Read(b []byte) (int, error) {
	for {
		n, err := p.Conn.Read(b)
		if err != nil || !p.dead.Load() {
			return n, err
		}
	}
}

// Close implements [net.Conn].
func (p *pipe) Close() error {
	p.closed.Store(true)
	return p.Conn.Close()
}

// startPipeService starts a service in the bubble of the test, over HTTP/1 or over TLS and HTTP/2.
func startPipeService(t *testing.T, http2 bool, handler http.HandlerFunc) *pipeService {
	t.Helper()
	s := &pipeService{Server: httptest.NewUnstartedServer(handler), conns: make(chan net.Conn)}
	_ = s.Listener.Close()
	s.Listener = &pipeListener{Listener: s.Listener, conns: s.conns, closed: make(chan struct{})}
	if http2 {
		s.EnableHTTP2 = true
		s.StartTLS()
	} else {
		s.Start()
	}
	t.Cleanup(s.Close)
	return s
}

// pipeListener accepts what is dialed in memory. The listener in it is closed; its address is not
// used.
type pipeListener struct {
	net.Listener
	conns  chan net.Conn
	once   sync.Once
	closed chan struct{}
}

// Accept implements [net.Listener].
func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case conn := <-l.conns:
		return conn, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close implements [net.Listener].
func (l *pipeListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

// transport returns a transport that reaches the service.
func (s *pipeService) transport() *http.Transport {
	transport := &http.Transport{ForceAttemptHTTP2: s.EnableHTTP2, DialContext: func(context.Context, string, string) (net.Conn, error) {
		near, far := net.Pipe()
		dialed := &pipe{Conn: near}
		s.mu.Lock()
		s.dialed = append(s.dialed, dialed)
		s.mu.Unlock()
		s.conns <- far
		return dialed, nil
	}}
	if s.EnableHTTP2 {
		roots := s.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
		transport.TLSClientConfig = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS13}
	}
	return transport
}

// connections returns how many connections are open now, and how many ever were.
func (s *pipeService) connections() (open, opened int) {
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.dialed {
		if !p.closed.Load() {
			open++
		}
	}
	return open, len(s.dialed)
}

// useByDefault has clients reach the service by the transport that they make themselves, until the
// test ends: it is a copy of the default transport.
func (s *pipeService) useByDefault(t *testing.T) {
	t.Helper()
	before := http.DefaultTransport
	t.Cleanup(func() { http.DefaultTransport = before })
	http.DefaultTransport = s.transport()
}

// overBoth runs a test over HTTP/1 and HTTP/2, each in a bubble.
func overBoth(t *testing.T, handler http.HandlerFunc, test func(t *testing.T, service *pipeService)) {
	t.Helper()
	for name, http2 := range map[string]bool{"HTTP1": false, "HTTP2": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { test(t, startPipeService(t, http2, handler)) })
		})
	}
}

// serveExample responds to every call with the example of its operation.
func serveExample(w http.ResponseWriter, r *http.Request) {
	op, _ := gen.MatchOperation(r.Method, r.URL.Path[len("/v2"):])
	_, _ = w.Write(clienttest.ExampleOf(op.ID))
}
