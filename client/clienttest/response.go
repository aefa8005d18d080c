package clienttest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"strconv"
)

// response collects what the handler writes.
type response struct {
	header http.Header
	status int // zero until WriteHeader
	sent   http.Header
	body   bytes.Buffer
}

func (w *response) Header() http.Header { return w.header }

func (w *response) WriteHeader(status int) {
	if w.status == 0 {
		w.status, w.sent = status, w.header.Clone()
	}
}

func (w *response) Write(data []byte) (int, error) {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	return w.body.Write(data)
}

// Flush implements [http.Flusher]: everything arrives when the handler returns.
func (w *response) Flush() {}

// run calls the handler; a handler that aborts breaks the connection where it stands.
func (w *response) run(handler http.Handler, r *http.Request) {
	defer func() {
		p := recover()
		if err, ok := p.(error); p != nil && (!ok || !errors.Is(err, http.ErrAbortHandler)) {
			panic(p)
		}
	}()
	handler.ServeHTTP(w, r)
}

// result is what arrives at the caller. Fewer bytes than Content-Length promises are a broken connection.
func (w *response) result(r *http.Request) (*http.Response, error) {
	if w.status == 0 {
		return nil, io.ErrUnexpectedEOF
	}
	if trace := httptrace.ContextClientTrace(r.Context()); trace != nil && trace.GotFirstResponseByte != nil {
		trace.GotFirstResponseByte()
	}
	if w.sent.Get("Content-Type") == "" && w.body.Len() > 0 {
		w.sent.Set("Content-Type", http.DetectContentType(w.body.Bytes()))
	}
	length, err := strconv.ParseInt(w.sent.Get("Content-Length"), 10, 64)
	if err != nil {
		length = int64(w.body.Len())
	}
	return &http.Response{
		Status: fmt.Sprintf("%d %s", w.status, http.StatusText(w.status)), StatusCode: w.status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: w.sent, ContentLength: length, Request: r,
		Body: &responseBody{ctx: r.Context(), rest: w.body.Bytes(), missing: length > int64(w.body.Len())},
	}, nil
}

// responseBody is a body as it comes off a connection: it ends early when the connection broke, and cannot be
// read once the request's context has ended or it is closed.
type responseBody struct {
	ctx     context.Context //nolint:containedctx // a body belongs to the call whose context this is
	rest    []byte
	missing bool
	closed  bool
}

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
	case b.missing:
		return 0, io.ErrUnexpectedEOF
	}
	return 0, io.EOF
}

func (b *responseBody) Close() error {
	b.closed = true
	return nil
}
