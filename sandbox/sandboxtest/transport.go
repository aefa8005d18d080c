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

// inProcessHost is nobody's: .invalid is reserved for that.
const inProcessHost = "sandbox.invalid"

// transport hands requests to a handler in this process.
type transport struct {
	handler  http.Handler
	handlers sync.WaitGroup
}

// RoundTrip implements [http.RoundTripper]. As a transport on a network it
// reports to httptrace when a request is out, returns when the request's context
// ends, whatever the handler does, and fails when the connection is cut.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		defer r.Body.Close()
	}
	if err := r.Context().Err(); err != nil {
		return nil, context.Cause(r.Context())
	}
	if r.URL.Host != inProcessHost {
		return nil, fmt.Errorf("dial %s: only %s is within the process: %w", r.URL.Host, inProcessHost, syscall.ECONNREFUSED)
	}
	received, err := receive(r)
	if err != nil {
		return nil, err
	}
	answers := make(chan *httptest.ResponseRecorder, 1)
	ctx, hangUp := context.WithCancel(r.Context())
	t.handlers.Go(func() {
		defer hangUp()
		answers <- t.serve(received.WithContext(ctx))
	})
	select {
	case w := <-answers:
		if w == nil {
			return nil, fmt.Errorf("read answer: %w", io.ErrUnexpectedEOF)
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

// receive reads a request off its caller, as it would come off a connection.
func receive(r *http.Request) (*http.Request, error) {
	to := trace(r)
	to.GetConn(r.URL.Host)
	to.GotConn(httptrace.GotConnInfo{})
	to.WroteHeaders()
	var body []byte
	var err error
	if r.Body != nil {
		body, err = io.ReadAll(r.Body)
	}
	to.WroteRequest(httptrace.WroteRequestInfo{Err: err})
	if err != nil {
		return nil, err
	}
	received := r.Clone(r.Context())
	received.Body, received.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	received.RequestURI, received.Host, received.RemoteAddr = r.URL.RequestURI(), r.URL.Host, inProcessHost
	return received, nil
}

// serve returns nil if the handler has cut the connection. Half an answer is
// none here.
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
