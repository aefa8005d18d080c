// Package h2peer is an HTTP/2 server that ends exchanges on purpose: with RST_STREAM and GOAWAY in every way, with
// frames that are invalid, with silence, or by closing the connection. A client of net/http repeats some of the requests
// that end so by itself, which no server of net/http shows.
//
//	peer := h2peer.Start(target, func(*http.Request) h2peer.Ending {
//		return h2peer.Ending{At: h2peer.Applied, Do: h2peer.ResetStream, Code: http2.ErrCodeProtocol}
//	})
//	defer peer.Close()
//	client := &http.Client{Transport: peer.Transport()}
//
// It is made for tests: it believes what a client sends, holds requests and responses in memory, and sends a response
// without regard to the windows of the client, which are far larger for net/http.
package h2peer

import (
	"crypto/tls"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/net/http2"
)

// Peer listens on a loopback port, with TLS. It is safe for concurrent use.
type Peer struct {
	target   http.Handler
	decide   func(*http.Request) Ending
	settings []http2.Setting
	server   *httptest.Server
	requests atomic.Int64

	mu     sync.Mutex
	conns  map[*conn]struct{}
	closed chan struct{}
}

// Start starts a peer. It calls decide with each request as soon as its headers have arrived, from many goroutines at a
// time, and then has the target handle the request if the ending lets it come so far. The context of the request that
// decide gets is canceled when its stream is reset or its connection ends; that of the target's is not. The settings
// are sent first on each connection. Close the peer when it is done with.
func Start(target http.Handler, decide func(*http.Request) Ending, settings ...http2.Setting) *Peer {
	p := &Peer{target: target, decide: decide, settings: settings, conns: map[*conn]struct{}{}, closed: make(chan struct{})}
	p.server = httptest.NewUnstartedServer(http.NotFoundHandler())
	p.server.TLS, _ = TLS()
	p.server.TLS.NextProtos = []string{"h2"}
	p.server.Config = &http.Server{
		ErrorLog: log.New(io.Discard, "", 0), ReadHeaderTimeout: time.Minute,
		// net/http accepts the connection and shakes hands; the rest is the peer's.
		TLSNextProto: map[string]func(*http.Server, *tls.Conn, http.Handler){
			"h2": func(_ *http.Server, c *tls.Conn, _ http.Handler) { p.serve(c) },
		},
	}
	p.server.StartTLS()
	return p
}

// URL returns the address of the peer, without a path.
func (p *Peer) URL() string { return p.server.URL }

// Transport returns a new transport that trusts the peer and speaks HTTP/2 with it.
func (p *Peer) Transport() *http.Transport {
	_, config := TLS()
	return &http.Transport{TLSClientConfig: config, ForceAttemptHTTP2: true}
}

// Requests returns how many requests have come so far.
func (p *Peer) Requests() int { return int(p.requests.Load()) }

// End does something to all open connections, whatever they are used for: [Close], [ResetConnection], [GoAwayClose], or
// [GoAway], which allows no stream at all.
func (p *Peer) End(do Action) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		(&stream{conn: c}).perform(Ending{Do: do})
	}
}

// Close breaks all connections and returns when no request is handled any more.
func (p *Peer) Close() {
	p.mu.Lock()
	select {
	case <-p.closed:
		p.mu.Unlock()
		return
	default:
	}
	close(p.closed)
	for c := range p.conns {
		_ = c.net.NetConn().Close()
	}
	p.mu.Unlock()
	p.server.Close()
}

// register adds a connection, unless the peer is closed.
func (p *Peer) register(c *conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.closed:
		return false
	default:
		p.conns[c] = struct{}{}
		return true
	}
}

func (p *Peer) unregister(c *conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, c)
}

// reset closes a TCP connection so that the far end gets a reset.
func reset(c net.Conn) {
	if tcp, ok := c.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = c.Close()
}
