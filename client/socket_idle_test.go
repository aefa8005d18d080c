package client_test

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/clienttest"
	"github.com/sellside-sdk/sellside-go/client/quota"
	"github.com/sellside-sdk/sellside-go/gen"
	"github.com/sellside-sdk/sellside-go/internal/h2peer"
)

// pipes are connections in simulated time, where a socket would wait for ever. They have TLS like those of a service.
type pipes struct {
	server   *http.Server
	config   *tls.Config // Of clients.
	accepted chan net.Conn
	closed   chan struct{}
	dialed   []*pipe
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

// Accept, Close and Addr implement [net.Listener].
func (p *pipes) Accept() (net.Conn, error) {
	select {
	case conn := <-p.accepted:
		return conn, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { close(p.closed); return nil }
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{} }

// listen starts a service on pipes that speaks the protocol.
func listen(t *testing.T, protocol string) *pipes {
	t.Helper()
	p := &pipes{accepted: make(chan net.Conn), closed: make(chan struct{})}
	config, roots := h2peer.TLS()
	config.NextProtos, p.config = []string{protocol}, roots
	respond := func(w http.ResponseWriter, r *http.Request) {
		op, _ := gen.MatchOperation(r.Method, strings.TrimPrefix(r.URL.Path, "/v2"))
		_, _ = w.Write(clienttest.ExampleOf(op.ID))
	}
	p.server = &http.Server{ReadHeaderTimeout: time.Minute, TLSConfig: config, Handler: http.HandlerFunc(respond)}
	go func() { _ = p.server.ServeTLS(p, "", "") }()
	return p
}

func (p *pipes) transport() *http.Transport {
	dial := func(context.Context, string, string) (net.Conn, error) {
		near, far := net.Pipe()
		dialed := &pipe{Conn: near}
		p.dialed = append(p.dialed, dialed)
		p.accepted <- far
		return dialed, nil
	}
	return &http.Transport{ForceAttemptHTTP2: true, TLSClientConfig: p.config, DialContext: dial}
}

// pipeClient returns a client of the service with the transport, or with the one that it makes itself.
func pipeClient(t *testing.T, transport http.RoundTripper) *client.Client {
	t.Helper()
	c, err := client.New(
		client.WithBaseURL("https://127.0.0.1/v2"), client.WithAPIKey("key"), client.WithToken("token"),
		client.WithQuota(quota.Unlimited), client.WithHTTPClient(&http.Client{Transport: transport}))
	require.NoError(t, err)
	return c
}

// ownTransport has the client's own transport dial the pipes: it copies the default one.
func (p *pipes) ownTransport(t *testing.T) {
	t.Helper()
	before := http.DefaultTransport
	http.DefaultTransport = p.transport()
	t.Cleanup(func() { http.DefaultTransport = before })
}

func TestTransport_DropsADeadHTTP2Connection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := listen(t, "h2")
		defer p.server.Close()
		p.ownTransport(t)
		c := pipeClient(t, nil)
		require.NoError(t, aRead.do(t.Context(), c))
		require.Len(t, p.dialed, 1)

		p.dialed[0].dead.Store(true)
		start := time.Now()
		require.NoError(t, aRead.do(t.Context(), c), "it is repeated on another connection")
		assert.GreaterOrEqual(t, time.Since(start), 15*time.Second, "10 s without a frame, and 5 s without one after a PING")
		assert.Less(t, time.Since(start), 16*time.Second, "before the attempt times out")
		require.Len(t, p.dialed, 2)
		assert.True(t, p.dialed[0].closed.Load())

		p.dialed[1].dead.Store(true)
		start = time.Now()
		require.ErrorIs(t, aWrite.do(t.Context(), c), client.ErrOutcomeUnknown)
		assert.Equal(t, 15*time.Second, time.Since(start))
		start = time.Now()
		require.NoError(t, aWrite.do(t.Context(), c), "the next write does not get the dead connection")
		assert.Zero(t, time.Since(start))
		assert.Len(t, p.dialed, 3)
	})
}

func TestTransport_DropsIdleConnectionsBeforeServersDo(t *testing.T) {
	for _, protocol := range []string{"h2", "http/1.1"} {
		t.Run(protocol, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := listen(t, protocol)
				defer p.server.Close()
				p.ownTransport(t)
				require.NoError(t, aRead.do(t.Context(), pipeClient(t, nil)))
				require.Len(t, p.dialed, 1)
				<-time.After(29 * time.Second)
				assert.False(t, p.dialed[0].closed.Load(), "it may be used again")
				<-time.After(2 * time.Second)
				assert.True(t, p.dialed[0].closed.Load())
			})
		})
	}
}

func TestTransport_OfTheCallerIsLeftAsItIs(t *testing.T) {
	for _, protocol := range []string{"h2", "http/1.1"} {
		t.Run(protocol, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := listen(t, protocol)
				defer p.server.Close()
				given := p.transport()
				require.NoError(t, aRead.do(t.Context(), pipeClient(t, given)))
				<-time.After(time.Hour)
				require.Len(t, p.dialed, 1)
				assert.False(t, p.dialed[0].closed.Load(), "it keeps idle connections for as long as its caller wants")
				assert.Zero(t, given.IdleConnTimeout)
				assert.Zero(t, given.MaxIdleConnsPerHost)
				assert.Nil(t, given.HTTP2)
			})
		})
	}
}
