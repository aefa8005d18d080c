package clienttest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"sync"
	"syscall"
)

// inProcessHost cannot be reached over a network by anyone: .invalid is reserved for that.
const inProcessHost = "clienttest.invalid"

// inProcess is a transport without a network: it hands requests to a handler in this process.
type inProcess struct {
	handler  http.Handler
	closed   <-chan struct{}
	handlers sync.WaitGroup
}

// RoundTrip implements [http.RoundTripper]. Like a transport on a network it reports its progress to
// httptrace, returns when the request's context ends, and fails when the connection breaks.
func (t *inProcess) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := t.send(r)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(r.Context())
	received := r.Clone(ctx)
	received.Body = io.NopCloser(bytes.NewReader(body))
	received.ContentLength = int64(len(body))
	received.RequestURI = r.URL.RequestURI()
	received.Host, received.RemoteAddr = r.URL.Host, inProcessHost

	w := &response{header: make(http.Header)}
	done := make(chan struct{})
	t.handlers.Go(func() {
		defer close(done) // also when a check ends its goroutine
		defer cancel()
		w.run(t.handler, received)
	})
	select {
	case <-done:
		return w.result(r)
	case <-r.Context().Done():
		return nil, context.Cause(r.Context())
	}
}

// send reads the request off the caller, as writing it to a connection would.
func (t *inProcess) send(r *http.Request) (body []byte, err error) {
	if r.Body != nil {
		defer r.Body.Close()
	}
	if err := r.Context().Err(); err != nil {
		return nil, context.Cause(r.Context())
	}
	select {
	case <-t.closed:
		return nil, fmt.Errorf("dial %s: the test has ended: %w", r.URL.Host, syscall.ECONNREFUSED)
	default:
	}
	if r.URL.Host != inProcessHost {
		return nil, fmt.Errorf("dial %s: only %s is within the process: %w", r.URL.Host, inProcessHost, syscall.ECONNREFUSED)
	}
	trace := httptrace.ContextClientTrace(r.Context())
	if trace == nil {
		trace = &httptrace.ClientTrace{}
	}
	if trace.GetConn != nil {
		trace.GetConn(r.URL.Host)
	}
	if trace.GotConn != nil {
		trace.GotConn(httptrace.GotConnInfo{})
	}
	if trace.WroteHeaders != nil {
		trace.WroteHeaders()
	}
	if r.Body != nil {
		body, err = io.ReadAll(r.Body)
	}
	if trace.WroteRequest != nil {
		trace.WroteRequest(httptrace.WroteRequestInfo{Err: err})
	}
	return body, err
}
