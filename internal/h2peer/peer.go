// Package h2peer is an HTTP/2 server that ends exchanges on purpose: with RST_STREAM and GOAWAY,
// with invalid frames, without any frame, or by closing the connection. A client of net/http
// repeats some of these requests by itself, and a server of net/http cannot make it do so.
//
//	peer := h2peer.Start(target, func(*http.Request) h2peer.Ending {
//		return h2peer.Ending{At: h2peer.Applied, Do: h2peer.ResetStream, Code: http2.ErrCodeProtocol}
//	})
//	defer peer.Close()
//	client := &http.Client{Transport: peer.Transport()}
//
// It is for tests only: it does not validate requests, buffers requests and responses in memory,
// and ignores the flow control windows of the client, which are far larger with net/http.
package h2peer

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"io"
	"log"
	"math/big"
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

// Start starts a peer. It calls decide with each request as soon as the headers have arrived, from
// many goroutines at a time, and then passes the request to target unless it ends before. The
// context of the request that decide gets is canceled when the stream is reset or the connection
// ends; the context of the request that target gets is not. The settings are sent first on each
// connection. Close the peer after use.
func Start(target http.Handler, decide func(*http.Request) Ending, settings ...http2.Setting) *Peer {
	p := &Peer{
		target: target, decide: decide, settings: settings,
		conns: map[*conn]struct{}{}, closed: make(chan struct{}),
	}
	p.server = httptest.NewUnstartedServer(http.NotFoundHandler())
	p.server.TLS, _ = TLS()
	p.server.TLS.NextProtos = []string{"h2"}
	p.server.Config = &http.Server{
		ErrorLog: log.New(io.Discard, "", 0), ReadHeaderTimeout: time.Minute,
		// net/http accepts the connection and does the TLS handshake.
		TLSNextProto: map[string]func(*http.Server, *tls.Conn, http.Handler){
			"h2": func(_ *http.Server, c *tls.Conn, _ http.Handler) { p.serve(c) },
		},
	}
	p.server.StartTLS()
	return p
}

// URL returns the address of the peer, without a path.
func (p *Peer) URL() string { return p.server.URL }

// Transport returns a new HTTP/2 transport that trusts the peer.
func (p *Peer) Transport() *http.Transport {
	_, config := TLS()
	return &http.Transport{TLSClientConfig: config, ForceAttemptHTTP2: true}
}

// Requests returns the number of requests so far.
func (p *Peer) Requests() int { return int(p.requests.Load()) }

// End ends all open connections by [Close], [ResetConnection], [GoAwayClose], or [GoAway], which
// then allows no stream.
func (p *Peer) End(do Action) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		(&stream{conn: c}).perform(Ending{Do: do})
	}
}

// Close breaks all connections and waits until no request is handled. It can be called more than
// once.
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

// reset closes a TCP connection so that the other end gets a reset.
func reset(c net.Conn) {
	if tcp, ok := c.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = c.Close()
}

// TLS returns the configurations of a server on 127.0.0.1, with a certificate for this process, and
// of a client that trusts it. Its handshakes take a fraction of the time of those of httptest. The
// caller may change both.
func TLS() (server, client *tls.Config) {
	certificate := certificate()
	roots := x509.NewCertPool()
	roots.AddCert(certificate.Leaf)
	curves := []tls.CurveID{tls.CurveP256}
	server = &tls.Config{
		Certificates: []tls.Certificate{certificate}, CurvePreferences: curves, MinVersion: tls.VersionTLS13,
	}
	return server, &tls.Config{RootCAs: roots, CurvePreferences: curves, MinVersion: tls.VersionTLS13}
}

var certificate = sync.OnceValue(func() tls.Certificate {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err) // the system has no randomness
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1),
		NotBefore:    time.Unix(0, 0), // simulated time begins in the year 2000
		NotAfter:     time.Now().AddDate(1, 0, 0),
		IPAddresses:  []net.IP{net.IPv4(127, 0, 0, 1)},
		IsCA:         true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		panic(err) // the template is a constant
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		panic(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}
})
