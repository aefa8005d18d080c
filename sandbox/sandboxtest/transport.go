package sandboxtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"sync"
	"syscall"
)

// inProcessHost cannot exist: .invalid is reserved.
const inProcessHost = "sandbox.invalid"

// transport passes requests to a handler in this process.
type transport struct {
	handler  http.Handler
	handlers sync.WaitGroup
}

// RoundTrip implements [http.RoundTripper]. Like a transport on a network it reports to httptrace,
// returns when the context of the request ends, whatever the handler does, and fails if the handler
// closes the connection.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		defer r.Body.Close()
	}
	if err := r.Context().Err(); err != nil {
		return nil, context.Cause(r.Context())
	}
	if r.URL.Host != inProcessHost {
		return nil, fmt.Errorf("dial (%s): only %s is in the process: %w",
			r.URL.Host, inProcessHost, syscall.ECONNREFUSED)
	}
	received, err := receive(r)
	if err != nil {
		return nil, err
	}
	responses := make(chan *httptest.ResponseRecorder, 1)
	ctx, cancel := context.WithCancel(r.Context())
	t.handlers.Go(func() {
		defer cancel()
		responses <- t.serve(received.WithContext(ctx))
	})
	select {
	case w := <-responses:
		if w == nil {
			return nil, fmt.Errorf("read response: %w", io.ErrUnexpectedEOF)
		}
		trace(r).GotFirstResponseByte()
		resp := w.Result()
		resp.Request = r
		if r.Method == http.MethodHead {
			resp.Body = http.NoBody
		}
		return resp, nil
	case <-r.Context().Done():
		return nil, context.Cause(r.Context())
	}
}

// receive reads a request as a server reads it from a connection.
func receive(r *http.Request) (*http.Request, error) {
	hooks := trace(r)
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
		return nil, err
	}
	received := r.Clone(r.Context())
	received.Body, received.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	received.RequestURI, received.Host, received.RemoteAddr = r.URL.RequestURI(), r.URL.Host, inProcessHost
	return received, nil
}

// serve returns nil if the handler closes the connection, even after a part of the response.
func (t *transport) serve(r *http.Request) (w *httptest.ResponseRecorder) {
	defer func() {
		cause := recover()
		if cause == nil {
			return
		}
		if err, ok := cause.(error); !ok || !errors.Is(err, http.ErrAbortHandler) {
			panic(cause)
		}
		w = nil
	}()
	w = httptest.NewRecorder()
	t.handler.ServeHTTP(w, r)
	return w
}

// trace returns the hooks of a request, none of them nil.
func trace(r *http.Request) *httptrace.ClientTrace {
	hooks := &httptrace.ClientTrace{
		GetConn: func(string) {}, GotConn: func(httptrace.GotConnInfo) {}, WroteHeaders: func() {},
		WroteRequest: func(httptrace.WroteRequestInfo) {}, GotFirstResponseByte: func() {},
	}
	theirs := httptrace.ContextClientTrace(r.Context())
	if theirs == nil {
		return hooks
	}
	if theirs.GetConn != nil {
		hooks.GetConn = theirs.GetConn
	}
	if theirs.GotConn != nil {
		hooks.GotConn = theirs.GotConn
	}
	if theirs.WroteHeaders != nil {
		hooks.WroteHeaders = theirs.WroteHeaders
	}
	if theirs.WroteRequest != nil {
		hooks.WroteRequest = theirs.WroteRequest
	}
	if theirs.GotFirstResponseByte != nil {
		hooks.GotFirstResponseByte = theirs.GotFirstResponseByte
	}
	return hooks
}
