package client_test

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/clienttest"
	"github.com/sellside-sdk/sellside-go/client/token"
	"github.com/sellside-sdk/sellside-go/gen"
)

func TestClient_CloseRefusesCalls(t *testing.T) {
	srv := clienttest.New(t, clienttest.InProcess()) // which fails the test if a request comes
	c := srv.Client()
	batch, operation := c.Batches.ResumeCreate(batchID), c.Listings.Operation(listingID, operationID)
	var closing sync.WaitGroup
	for range 8 {
		closing.Go(func() { assert.NoError(t, c.Close()) })
	}
	closing.Wait()
	require.NoError(t, c.Close())

	for what, call := range map[string]func(context.Context) error{
		"a read":              func(ctx context.Context) error { return aRead.do(ctx, c) },
		"a write":             func(ctx context.Context) error { return aWrite.do(ctx, c) },
		"a wait for a batch":  func(ctx context.Context) error { return failure(batch.Wait(ctx)) },
		"a wait for a change": func(ctx context.Context) error { return failure(operation.Wait(ctx)) },
		"a call of Low": func(ctx context.Context) error {
			_, err := c.Raw().GetListing(ctx, listingID) //nolint:bodyclose // there is no response
			return err
		},
		"a list": func(ctx context.Context) error {
			for _, err := range c.Listings.List(ctx, client.ListingFilter{}) {
				return err
			}
			return nil
		},
	} {
		err := call(t.Context())
		require.ErrorIs(t, err, client.ErrClosed, what)
		assert.NotErrorIs(t, err, client.ErrOutcomeUnknown, what)
	}
	require.NoError(t, new(client.Client).Close(), "the zero Client has nothing to close")
}

// piped is a service of reads that is reached without sockets, so that it works in a bubble.
type piped struct {
	*httptest.Server
	conns chan net.Conn // To be accepted.

	mu     sync.Mutex
	open   int
	opened int
}

// servePiped serves in the bubble of the test, over HTTP/1 or over TLS and HTTP/2.
func servePiped(t *testing.T, http2 bool, handler http.HandlerFunc) *piped {
	t.Helper()
	p := &piped{Server: httptest.NewUnstartedServer(handler), conns: make(chan net.Conn)}
	_ = p.Listener.Close()
	p.Listener = &pipeListener{Listener: p.Listener, conns: p.conns, closed: make(chan struct{})}
	if http2 {
		p.EnableHTTP2 = true
		p.StartTLS()
	} else {
		p.Start()
	}
	t.Cleanup(p.Close)
	return p
}

// pipeListener accepts what is dialed in memory. The listener in it was closed; its address is made up.
type pipeListener struct {
	net.Listener
	conns  chan net.Conn
	once   sync.Once
	closed chan struct{}
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case conn := <-l.conns:
		return conn, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

// openConn is a connection of a client that is counted while it is open.
type openConn struct {
	net.Conn
	once   sync.Once
	closed func()
}

func (c *openConn) Close() error {
	c.once.Do(c.closed)
	return c.Conn.Close()
}

// transport returns a transport that reaches the service.
func (p *piped) transport() *http.Transport {
	transport := &http.Transport{ForceAttemptHTTP2: p.EnableHTTP2, DialContext: func(context.Context, string, string) (net.Conn, error) {
		near, far := net.Pipe()
		p.count(1)
		p.conns <- far
		return &openConn{Conn: near, closed: func() { p.count(-1) }}, nil
	}}
	if p.EnableHTTP2 {
		transport.TLSClientConfig = &tls.Config{RootCAs: p.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs, MinVersion: tls.VersionTLS13}
	}
	return transport
}

func (p *piped) count(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.open += n
	p.opened += max(n, 0)
}

// connections returns how many are open now, and how many ever were.
func (p *piped) connections() (open, opened int) {
	synctest.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.open, p.opened
}

// byDefault has clients reach the service by the transport that they make themselves, until the test ends.
func (p *piped) byDefault(t *testing.T) {
	t.Helper()
	before := http.DefaultTransport
	t.Cleanup(func() { http.DefaultTransport = before })
	http.DefaultTransport = p.transport()
}

func serveExample(w http.ResponseWriter, _ *http.Request) {
	_, _ = w.Write(clienttest.ExampleOf(gen.OpGetListing))
}

func assertConnections(t *testing.T, p *piped, open, opened int, why string) {
	t.Helper()
	gotOpen, gotOpened := p.connections()
	assert.Equal(t, [2]int{open, opened}, [2]int{gotOpen, gotOpened}, why)
}

// overBoth runs a test over HTTP/1 and HTTP/2, each in a bubble.
func overBoth(t *testing.T, handler http.HandlerFunc, test func(t *testing.T, service *piped)) {
	t.Helper()
	for _, http2 := range []bool{false, true} {
		t.Run(map[bool]string{false: "HTTP1", true: "HTTP2"}[http2], func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { test(t, servePiped(t, http2, handler)) })
		})
	}
}

func TestClient_CloseClosesItsIdleConnections(t *testing.T) {
	for why, opts := range map[string][]client.Option{
		"the client made the transport":         nil,
		"the HTTP client was given without one": {client.WithHTTPClient(&http.Client{Timeout: time.Minute})},
	} {
		overBoth(t, serveExample, func(t *testing.T, service *piped) {
			service.byDefault(t)
			c := clientAt(t, service.URL, opts...)
			require.NoError(t, aRead.do(t.Context(), c))
			assertConnections(t, service, 1, 1, why)
			require.NoError(t, c.Close())
			assertConnections(t, service, 0, 1, why)
		})
	}
}

func TestClient_CloseLeavesWhatItWasGiven(t *testing.T) {
	overBoth(t, serveExample, func(t *testing.T, service *piped) {
		transport := service.transport()
		defer transport.CloseIdleConnections()
		source := &closable{}
		c := clientAt(t, service.URL, client.WithHTTPClient(&http.Client{Transport: transport}), client.WithTokenSource(source))
		require.NoError(t, aRead.do(t.Context(), c))
		require.NoError(t, c.Close())
		assert.False(t, source.closed)
		assertConnections(t, service, 1, 1, "it is still there for another client")
	})
}

// closable is a token source that can be closed.
type closable struct {
	turnstile
	closed bool
}

func (s *closable) Close() error { s.closed = true; return nil }

func TestClient_CloseLetsAnAttemptEnd(t *testing.T) {
	slow := func(w http.ResponseWriter, r *http.Request) {
		<-time.After(5 * time.Second)
		serveExample(w, r)
	}
	overBoth(t, slow, func(t *testing.T, service *piped) {
		service.byDefault(t)
		c := clientAt(t, service.URL)
		time.AfterFunc(time.Second, func() { assert.NoError(t, c.Close()) })
		start := time.Now()
		require.NoError(t, aRead.do(t.Context(), c), "it is not cut off")
		assert.Equal(t, 5*time.Second, time.Since(start))
		assertConnections(t, service, 0, 1, "its connection is closed when it ends")
	})
}

func TestClient_CloseLetsADocumentEnd(t *testing.T) {
	const half = 100 << 10
	slow := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/pdf")
		_, _ = io.WriteString(w, "%PDF-1.7"+strings.Repeat(" ", half-8))
		_ = http.NewResponseController(w).Flush()
		<-time.After(5 * time.Second)
		_, _ = w.Write(make([]byte, half))
	}
	overBoth(t, slow, func(t *testing.T, service *piped) {
		service.byDefault(t)
		c := clientAt(t, service.URL)
		document, err := c.Orders.DownloadShippingDocument(t.Context(), "1-1", "2-2")
		require.NoError(t, err)
		require.NoError(t, c.Close())
		n, err := io.Copy(io.Discard, document)
		require.NoError(t, err)
		assert.EqualValues(t, 2*half, n)
		require.NoError(t, document.Close())
		assertConnections(t, service, 0, 1, "its connection is closed when it is")
	})
}

func TestClient_CloseEndsRetries(t *testing.T) {
	for _, call := range []aCall{aRead, aWrite} {
		synctest.Test(t, func(t *testing.T) {
			srv := clienttest.New(t, clienttest.InProcess())
			srv.Expect(call.op).RespondError(http.StatusTooManyRequests, "slow down").Header("Retry-After", "7")
			c := srv.Client()
			time.AfterFunc(time.Second, func() { assert.NoError(t, c.Close()) })
			err := call.do(t.Context(), c)
			require.ErrorIs(t, err, client.ErrClosed)
			require.ErrorIs(t, err, client.ErrRateLimited, "the last response is reported too")
			assert.NotErrorIs(t, err, client.ErrOutcomeUnknown)
		})
	}
}

func TestClient_CloseEndsWaitsForAToken(t *testing.T) {
	never := make(chan struct{})
	for why, source := range map[string]func(t *testing.T) oauth2.TokenSource{
		"of a source without TokenContext": func(*testing.T) oauth2.TokenSource {
			return sourceFunc(func() (*oauth2.Token, error) { <-never; return nil, errors.New("too late") })
		},
		"of a refresh that takes long": func(t *testing.T) oauth2.TokenSource {
			t.Helper()
			return sourceOf(t, refreshConfig("https://auth.invalid/oauth/token"), func(config *token.RefreshConfig) {
				config.HTTPClient = &http.Client{Transport: transportFunc(func(r *http.Request) (*http.Response, error) {
					<-r.Context().Done()
					return nil, r.Context().Err()
				})}
			})
		},
		"of a pause": func(t *testing.T) oauth2.TokenSource {
			t.Helper()
			source := sourceOf(t, refreshConfig("https://auth.invalid/oauth/token"), func(config *token.RefreshConfig) {
				config.HTTPClient = &http.Client{Transport: &tokenEndpoint{answers: []http.HandlerFunc{tokenAnswer(503, "")}}}
			})
			_, err := source.Token()
			require.Error(t, err)
			return source
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			never = make(chan struct{})
			srv := clienttest.New(t, clienttest.InProcess())
			c := srv.Client(client.WithTokenSource(source(t)))
			start := time.Now()
			time.AfterFunc(time.Second, func() { assert.NoError(t, c.Close()) })
			err := aWrite.do(t.Context(), c)
			require.ErrorIs(t, err, client.ErrClosed, why)
			assert.False(t, isA[*token.Error](err), why)
			assert.NotErrorIs(t, err, client.ErrOutcomeUnknown, why)
			assert.Equal(t, time.Second, time.Since(start), why)
			close(never) // the goroutine that asks ends with the source
		})
	}
}

func TestClient_CloseBesideCalls(t *testing.T) {
	var served, ok atomic.Int32
	handler := func(w http.ResponseWriter, r *http.Request) {
		<-time.After(time.Duration(served.Add(1)) * time.Millisecond)
		serveExample(w, r)
	}
	overBoth(t, handler, func(t *testing.T, service *piped) {
		served.Store(0)
		ok.Store(0)
		service.byDefault(t)
		c := clientAt(t, service.URL)
		time.AfterFunc(time.Second, func() { assert.NoError(t, c.Close()) })
		var calls sync.WaitGroup
		for range 16 {
			calls.Go(func() {
				for {
					if err := aRead.do(t.Context(), c); err != nil {
						assert.ErrorIs(t, err, client.ErrClosed)
						return
					}
					ok.Add(1)
				}
			})
		}
		calls.Wait()
		assert.Greater(t, ok.Load(), int32(16))
		assert.Equal(t, ok.Load(), served.Load(), "every request that was sent got its response")
		open, _ := service.connections()
		assert.Zero(t, open)
	})
}
