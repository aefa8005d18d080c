package client_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/internal/h2peer"
)

// http1Ending is a way in which an exchange over HTTP/1 ends.
type http1Ending struct {
	name      string
	delivered bool // Whether the target sees the request.
	status    int  // Of the response that the caller gets; zero for none, or for a part of it.
	endless   bool // Whether nothing shows that it did.
	silent    bool // Whether the caller gets no sign that the exchange has ended.
	expect    bool // Whether the request expects 100-continue.
	// end takes the exchange from the first byte of the request to its end, and reports whether the
	// connection is used again.
	end func(x *http1Exchange) bool
}

// String implements [fmt.Stringer].
func (e http1Ending) String() string { return e.name }

// http1Server is an HTTP/1 server on a loopback socket that ends exchanges in ways in which no
// proper server does.
type http1Server struct {
	listener net.Listener
	target   http.Handler
	next     func() http1Ending  // The ending of the next exchange, whose first byte has arrived.
	began    func(*http.Request) // Called when the headers of a request have been read.
	stalled  func(*http.Request) // Called when nothing more comes of one.
	url      string
	roots    *tls.Config // Of clients; nil without TLS.

	serving sync.WaitGroup
	mu      sync.Mutex
	conns   map[net.Conn]struct{} // nil when the server is closed.
}

// startHTTP1Server starts a server with or without TLS.
func startHTTP1Server(
	t *testing.T, secure bool, target http.Handler, next func() http1Ending, began, stalled func(*http.Request),
) *http1Server {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s := &http1Server{
		listener: listener, target: target, next: next, began: began, stalled: stalled,
		url: "http://" + listener.Addr().String(), conns: map[net.Conn]struct{}{},
	}
	if secure {
		var config *tls.Config
		config, s.roots = h2peer.TLS()
		config.NextProtos = []string{"http/1.1"}
		s.listener, s.url = tls.NewListener(listener, config), "https://"+listener.Addr().String()
	}
	s.serving.Go(func() {
		for {
			conn, err := s.listener.Accept()
			if err != nil {
				return
			}
			s.serving.Go(func() { s.serve(conn) })
		}
	})
	t.Cleanup(s.close)
	return s
}

// transport returns a new transport that may speak HTTP/2, which the server does not.
func (s *http1Server) transport() *http.Transport {
	return &http.Transport{TLSClientConfig: s.roots.Clone(), ForceAttemptHTTP2: true}
}

// close breaks all connections and waits for its handlers.
func (s *http1Server) close() {
	_ = s.listener.Close()
	s.mu.Lock()
	for conn := range s.conns {
		_ = tcpOf(conn).Close()
	}
	s.conns = nil
	s.mu.Unlock()
	s.serving.Wait()
}

// endAll does something to all open connections.
func (s *http1Server) endAll(end func(*http1Exchange)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for conn := range s.conns {
		end(&http1Exchange{server: s, conn: conn})
	}
}

func (s *http1Server) serve(conn net.Conn) {
	defer conn.Close()
	s.mu.Lock()
	if s.conns == nil {
		s.mu.Unlock()
		return
	}
	s.conns[conn] = struct{}{}
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.conns, conn)
	}()
	in := bufio.NewReader(conn)
	for {
		if _, err := in.Peek(1); err != nil {
			return
		}
		if !s.next().end(&http1Exchange{server: s, conn: conn, in: in}) {
			_, _ = io.Copy(io.Discard, conn) // until the client closes it
			return
		}
	}
}

// http1Exchange is one request and its response.
type http1Exchange struct {
	server *http1Server
	conn   net.Conn
	in     *bufio.Reader

	request  *http.Request
	response *http.Response
	body     []byte // Of the response.
}

// head reads the headers of the request.
func (x *http1Exchange) head() {
	r, err := http.ReadRequest(x.in)
	if err != nil {
		x.request = httptest.NewRequestWithContext(context.Background(), http.MethodGet, "/", http.NoBody)
		return
	}
	x.request = r
	x.server.began(r)
}

// read reads the whole request.
func (x *http1Exchange) read() {
	if x.request == nil {
		x.head()
	}
	body, _ := io.ReadAll(x.request.Body)
	x.request.Body = io.NopCloser(bytes.NewReader(body))
}

// apply reads the request and has the target handle it.
func (x *http1Exchange) apply() {
	x.read()
	rec := httptest.NewRecorder()
	x.server.target.ServeHTTP(rec, x.request)
	x.response, x.body = rec.Result(), rec.Body.Bytes()
	x.response.ContentLength = int64(len(x.body))
}

// headers are those of the response, with other ones after them.
func (x *http1Exchange) headers(more string) string {
	head, _ := httputil.DumpResponse(x.response, false) // it has no body to fail on
	return strings.TrimSuffix(string(head), "\r\n") + more + "\r\n"
}

// unframed are the headers of the response without the length of its body.
func (x *http1Exchange) unframed(more string) string {
	x.response.Header.Del("Content-Length")
	x.response.ContentLength = 0
	head := fmt.Sprintf("HTTP/1.1 %d OK\r\n", x.response.StatusCode)
	for name := range x.response.Header {
		head += name + ": " + x.response.Header.Get(name) + "\r\n"
	}
	return head + more + "\r\n"
}

// chunked is a chunk of a body.
func chunked(body []byte) string { return fmt.Sprintf("%x\r\n%s\r\n", len(body), body) }

func (x *http1Exchange) send(parts ...string) {
	_, _ = io.WriteString(x.conn, strings.Join(parts, ""))
}

// respond sends the whole response.
func (x *http1Exchange) respond() { x.send(x.headers(""), string(x.body)) }

// half is the first half of the response's body.
func (x *http1Exchange) half() string { return string(x.body[:len(x.body)/2]) }

// close ends the connection in order: what was sent arrives, then its end.
func (x *http1Exchange) close() {
	if secure, ok := x.conn.(*tls.Conn); ok {
		_ = secure.CloseWrite()
	}
	x.cut()
}

// cut ends the connection without the close_notify of TLS.
func (x *http1Exchange) cut() { _ = tcpOf(x.conn).CloseWrite() }

// reset makes the client's reads and writes fail.
func (x *http1Exchange) reset() {
	_ = tcpOf(x.conn).SetLinger(0)
	_ = tcpOf(x.conn).Close()
}

func tcpOf(conn net.Conn) *net.TCPConn {
	if secure, ok := conn.(*tls.Conn); ok {
		conn = secure.NetConn()
	}
	return conn.(*net.TCPConn)
}

// wholeExchange is an exchange without a fault.
var wholeExchange = http1Ending{name: "whole", delivered: true, status: http.StatusOK, end: func(x *http1Exchange) bool {
	x.apply()
	x.respond()
	return true
}}

// http1Endings are ways in which exchanges end.
func http1Endings() []http1Ending {
	return slices.Concat([]http1Ending{wholeExchange}, http1NotApplied(), http1Applied(),
		http1Whole(), http1Informed())
}

// thenClose, thenReset and thenStall take the exchange so far and then do that to the connection.
func thenClose(do func(*http1Exchange)) func(*http1Exchange) bool {
	return func(x *http1Exchange) bool { do(x); x.close(); return false }
}

func thenReset(do func(*http1Exchange)) func(*http1Exchange) bool {
	return func(x *http1Exchange) bool { do(x); x.reset(); return false }
}

func thenStall(do func(*http1Exchange)) func(*http1Exchange) bool {
	return func(x *http1Exchange) bool { do(x); x.server.stalled(x.request); return false }
}

// http1NotApplied are endings before the target has seen the request.
func http1NotApplied() []http1Ending {
	type x = http1Exchange
	nothing := func(*x) {}
	partOfHeaders := func(x *x) { _, _ = x.in.Discard(20) }
	return []http1Ending{
		{name: "close before the request is read", end: thenClose(nothing)},
		{name: "reset before the request is read", end: thenReset(nothing)},
		{name: "close after a part of the headers", end: thenClose(partOfHeaders)},
		{name: "reset after a part of the headers", end: thenReset(partOfHeaders)},
		{name: "close after the headers", end: thenClose((*x).head)},
		{name: "reset after the headers", end: thenReset((*x).head)},
		{name: "stall after the headers", silent: true, end: thenStall((*x).head)},
		{name: "close after the request", end: thenClose((*x).read)},
		{name: "reset after the request", end: thenReset((*x).read)},
		{name: "no close_notify after the request", end: func(x *x) bool { x.read(); x.cut(); return false }},
		{name: "408 and close", status: http.StatusRequestTimeout, end: thenClose(func(x *x) {
			x.read()
			x.send("HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
		})},
		{name: "413 before the body is read", status: http.StatusRequestEntityTooLarge, end: thenClose(func(x *x) {
			x.head()
			x.send("HTTP/1.1 413 Too Large\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
		})},
	}
}

// http1Applied are endings after the target has handled the request, without a response that is
// whole.
func http1Applied() []http1Ending {
	type x = http1Exchange
	applied := func(send func(*x)) func(*x) {
		return func(x *x) { x.apply(); send(x) }
	}
	nothing := func(*x) {}
	headers := func(x *x) { x.send(x.headers("")) }
	halfBody := func(x *x) { x.send(x.headers(""), x.half()) }
	halfChunk := func(x *x) { x.send(x.unframed("Transfer-Encoding: chunked\r\n"), chunked([]byte(x.half()))) }
	// Nothing shows that something is missing of these, but what is there is no JSON.
	withoutLength := func(x *x) { x.send(x.unframed("Connection: close\r\n"), x.half()[1:]) }
	smallLength := func(x *x) { x.send(x.unframed("Content-Length: 1\r\nConnection: close\r\n"), string(x.body)) }
	endings := []http1Ending{
		{name: "close", end: thenClose(applied(nothing))},
		{name: "reset", end: thenReset(applied(nothing))},
		{name: "no close_notify", end: func(x *x) bool { x.apply(); x.cut(); return false }},
		{name: "stall", silent: true, end: thenStall(applied(nothing))},
		{name: "close in the status line", end: thenClose(applied(func(x *x) { x.send("HTTP/1.1 2") }))},
		{name: "close in the headers", end: thenClose(applied(func(x *x) { x.send("HTTP/1.1 200 OK\r\nContent-Ty") }))},
		{name: "no HTTP", end: thenClose(applied(func(x *x) { x.send("220 mail.example.com ESMTP\r\n") }))},
		{name: "close after 100", end: thenClose(applied(func(x *x) { x.send("HTTP/1.1 100 Continue\r\n\r\n") }))},
		{name: "close after the headers of the response", end: thenClose(applied(headers))},
		{name: "reset after the headers of the response", end: thenReset(applied(headers))},
		{name: "close in the body", end: thenClose(applied(halfBody))},
		{name: "stall in the body", silent: true, end: thenStall(applied(halfBody))},
		{name: "close in a chunked body", end: thenClose(applied(halfChunk))},
		{name: "close in a body without a length", endless: true, end: thenClose(applied(withoutLength))},
		{name: "a length that is too small", endless: true, end: thenClose(applied(smallLength))},
	}
	for i := range endings {
		endings[i].name += ", applied"
		endings[i].delivered = true
	}
	return endings
}

// http1Whole are endings with the whole body of the response.
func http1Whole() []http1Ending {
	type x = http1Exchange
	responding := func(more string, after func(*x)) func(*x) bool {
		return func(x *x) bool {
			x.apply()
			x.send(x.headers(more), string(x.body))
			after(x)
			return false
		}
	}
	unframed := func(more string, after func(*x)) func(*x) bool {
		return func(x *x) bool {
			x.apply()
			x.send(x.unframed(more), string(x.body))
			after(x)
			return false
		}
	}
	endings := []http1Ending{
		{name: "Connection: close", end: responding("Connection: close\r\n", (*x).close)},
		{name: "close after the response", end: responding("", (*x).close)},
		{name: "a body without a length", end: unframed("Connection: close\r\n", (*x).close)},
		{name: "a body without a length and without close_notify", end: unframed("Connection: close\r\n", (*x).cut)},
		{name: "a length that is too large", end: unframed("Content-Length: 100000\r\n", (*x).close)},
		{name: "a chunked body without its end", end: thenClose(func(x *x) {
			x.apply()
			x.send(x.unframed("Transfer-Encoding: chunked\r\n"), chunked(x.body))
		})},
	}
	for i := range endings {
		endings[i].delivered, endings[i].status = true, http.StatusOK
	}
	return endings
}

// http1Informed are endings with responses of 1xx.
func http1Informed() []http1Ending {
	type x = http1Exchange
	const continues = "HTTP/1.1 100 Continue\r\n\r\n"
	return []http1Ending{
		{name: "100 and 103 before the response", delivered: true, status: http.StatusOK, end: func(x *x) bool {
			x.apply()
			x.send(continues, "HTTP/1.1 103 Early Hints\r\nLink: </>\r\n\r\n", continues)
			x.respond()
			return true
		}},
		{name: "100 that is expected", expect: true, delivered: true, status: http.StatusOK, end: func(x *x) bool {
			x.head()
			x.send(continues)
			x.apply()
			x.respond()
			return true
		}},
		{name: "417 instead of 100", expect: true, status: http.StatusExpectationFailed, end: thenClose(func(x *x) {
			x.head()
			x.send("HTTP/1.1 417 Expectation Failed\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
		})},
		{name: "close instead of 100", expect: true, end: thenClose((*x).head)},
		{name: "reset after 100", expect: true, end: thenReset(func(x *x) { x.head(); x.send(continues); x.read() })},
	}
}
