// Package inproc is an HTTP transport without a socket: it passes requests to a handler in the same
// process. Tests need it in bubbles of testing/synctest, which cannot wait for a socket.
package inproc

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strconv"
	"sync"
	"syscall"
)

// Transport is an [http.RoundTripper] that calls a handler as a server of net/http would. It
// reports its progress to httptrace, and returns when the context of the request ends, whatever the
// handler does. The handler sees a request as a server receives it, without the values of the
// caller's context; the context of the handler ends when RoundTrip returns.
//
// A response arrives when its handler returns. If the handler panics with [http.ErrAbortHandler] or
// its goroutine exits, only what it has flushed arrives, and then io.ErrUnexpectedEOF, as it does
// if there are fewer bytes than Content-Length says. Any other panic is not recovered. Responses
// cannot be hijacked and get no Date header.
//
// The zero value is not usable: a Handler is needed. It is safe for concurrent use.
type Transport struct {
	Handler http.Handler
	// Host is the only host that can be reached; others refuse the connection. Empty means any.
	Host string

	mu       sync.Mutex
	handlers sync.WaitGroup
	closed   bool
	closing  chan struct{} // Nil before the first request.
}

// Close breaks the open connections, waits until all handlers have returned, and makes later
// requests fail with a refused connection. It can be called more than once.
func (t *Transport) Close() {
	t.mu.Lock()
	if !t.closed && t.closing != nil {
		close(t.closing)
	}
	t.closed = true
	t.mu.Unlock()
	t.handlers.Wait()
}

// RoundTrip implements [http.RoundTripper].
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		defer r.Body.Close()
	}
	if r.Context().Err() != nil {
		return nil, context.Cause(r.Context())
	}
	closing, err := t.connect(r.URL.Host)
	if err != nil {
		return nil, err
	}
	hooks := traceOf(r)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	received, err := receive(ctx, r, hooks)
	if err != nil {
		t.handlers.Done()
		return nil, err
	}
	w := &response{header: make(http.Header)}
	served := make(chan struct{})
	go func() {
		defer t.handlers.Done()
		defer close(served)
		w.serve(t.Handler, received)
	}()
	select {
	case <-served:
	case <-r.Context().Done():
		return nil, context.Cause(r.Context())
	case <-closing:
		return nil, fmt.Errorf("read response: the transport is closed: %w", io.ErrUnexpectedEOF)
	}
	if !w.arrives() {
		return nil, fmt.Errorf("read response: %w", io.ErrUnexpectedEOF)
	}
	hooks.GotFirstResponseByte()
	return w.result(r), nil
}

// connect counts a handler, and returns a channel that is closed with the transport.
func (t *Transport) connect(host string) (closing <-chan struct{}, err error) {
	if t.Host != "" && host != t.Host {
		return nil, fmt.Errorf("dial (%s): only %s is in this process: %w",
			host, t.Host, syscall.ECONNREFUSED)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return nil, fmt.Errorf("dial (%s): the transport is closed: %w", host, syscall.ECONNREFUSED)
	}
	if t.closing == nil {
		t.closing = make(chan struct{})
	}
	t.handlers.Add(1)
	return t.closing, nil
}

// traceOf returns the hooks of a request, none of those that this package calls nil.
func traceOf(r *http.Request) *httptrace.ClientTrace {
	return httptrace.ContextClientTrace(httptrace.WithClientTrace(r.Context(), &httptrace.ClientTrace{
		GetConn:              func(string) {},
		GotConn:              func(httptrace.GotConnInfo) {},
		WroteHeaders:         func() {},
		WroteRequest:         func(httptrace.WroteRequestInfo) {},
		GotFirstResponseByte: func() {},
	}))
}

// receive makes the request that a server reads from a connection.
func receive(ctx context.Context, r *http.Request, hooks *httptrace.ClientTrace) (*http.Request, error) {
	hooks.GetConn(r.URL.Host)
	hooks.GotConn(httptrace.GotConnInfo{})
	hooks.WroteHeaders()
	var body []byte
	var err error
	if r.Body != nil {
		body, err = io.ReadAll(r.Body)
	}
	hooks.WroteRequest(httptrace.WroteRequestInfo{Err: err})
	if err != nil {
		return nil, fmt.Errorf("write request: %w", err)
	}
	target := r.URL.RequestURI()
	received := r.Clone(ctx)
	if received.URL, err = url.ParseRequestURI(target); err != nil {
		return nil, fmt.Errorf("parse request target: %w", err)
	}
	received.RequestURI, received.Host = target, cmp.Or(r.Host, r.URL.Host)
	received.RemoteAddr = "192.0.2.1:1234" // reserved for documentation
	if r.URL.Scheme == "https" {
		received.TLS = &tls.ConnectionState{HandshakeComplete: true} // handlers tell the schemes apart by it
	}
	received.Body, received.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	received.GetBody = nil
	return received, nil
}

// response collects what a handler writes.
type response struct {
	header   http.Header
	status   int         // Zero until WriteHeader.
	sent     http.Header // The header as of WriteHeader.
	body     bytes.Buffer
	flushed  int  // How much of the body arrives if the handler aborts.
	started  bool // Whether something was flushed.
	complete bool // Whether the handler has returned.
}

// Header implements [http.ResponseWriter].
func (w *response) Header() http.Header { return w.header }

// WriteHeader implements [http.ResponseWriter]. It ignores informational statuses.
func (w *response) WriteHeader(status int) {
	if w.status == 0 && status >= http.StatusOK {
		w.status, w.sent = status, w.header.Clone()
	}
}

// Write implements [http.ResponseWriter].
func (w *response) Write(data []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.body.Write(data)
}

// Flush implements [http.Flusher].
func (w *response) Flush() {
	w.WriteHeader(http.StatusOK)
	w.started, w.flushed = true, w.body.Len()
}

// serve calls the handler.
func (w *response) serve(handler http.Handler, r *http.Request) {
	defer func() {
		cause := recover()
		if err, ok := cause.(error); cause != nil && (!ok || !errors.Is(err, http.ErrAbortHandler)) {
			panic(cause)
		}
	}()
	handler.ServeHTTP(w, r)
	w.WriteHeader(http.StatusOK)
	w.complete = true
}

// arrives reports whether the headers arrive.
func (w *response) arrives() bool { return w.complete || w.started }

// result returns what arrives.
func (w *response) result(r *http.Request) *http.Response {
	body := w.body.Bytes()
	if !w.complete {
		body = body[:w.flushed]
	}
	if w.sent.Get("Content-Type") == "" && len(body) > 0 {
		w.sent.Set("Content-Type", http.DetectContentType(body))
	}
	length, err := strconv.ParseInt(w.sent.Get("Content-Length"), 10, 64)
	if err != nil {
		length = -1
		if w.complete {
			length = int64(len(body))
		}
	}
	resp := &http.Response{
		Status:     fmt.Sprintf("%d %s", w.status, http.StatusText(w.status)),
		StatusCode: w.status,
		Proto:      "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: w.sent, ContentLength: length, Request: r,
	}
	switch {
	case r.Method == http.MethodHead,
		w.status == http.StatusNoContent, w.status == http.StatusNotModified:
		resp.Body = http.NoBody
	default:
		cut := !w.complete || length > int64(len(body))
		resp.Body = &responseBody{ctx: r.Context(), rest: body, cut: cut}
	}
	return resp
}

// responseBody is a body as a connection delivers it.
type responseBody struct {
	ctx    context.Context //nolint:containedctx // a body belongs to the call whose context this is
	rest   []byte
	cut    bool // Whether the connection breaks after the rest.
	closed bool
}

// Read implements [io.Reader]. It fails if the body is closed or the context of the request has
// ended.
func (b *responseBody) Read(p []byte) (int, error) {
	switch {
	case b.closed:
		return 0, http.ErrBodyReadAfterClose
	case b.ctx.Err() != nil:
		return 0, context.Cause(b.ctx)
	case len(b.rest) > 0:
		n := copy(p, b.rest)
		b.rest = b.rest[n:]
		return n, nil
	case b.cut:
		return 0, io.ErrUnexpectedEOF
	}
	return 0, io.EOF
}

// Close implements [io.Closer].
func (b *responseBody) Close() error {
	b.closed = true
	return nil
}
