package client

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync/atomic"
	"syscall"
	"time"
)

// Responses are read up to these sizes, after decompression.
const (
	maxBody      = 16 << 20
	maxErrorBody = 64 << 10
)

// streamIdleTimeout is how long a Read of a streamed document may wait for its next byte.
const streamIdleTimeout = 30 * time.Second

// ErrAttemptTimeout marks an attempt that got no response within [RetryPolicy].AttemptTimeout, or a
// streamed document that got no byte for 30 s. Such an error also Is [context.DeadlineExceeded].
var ErrAttemptTimeout = errors.New("the attempt timed out")

// attemptTimeoutError is the error of an attempt that took too long.
type attemptTimeoutError struct {
	what  string
	after time.Duration
}

func (e *attemptTimeoutError) Error() string { return fmt.Sprintf("%s within %s", e.what, e.after) }

// Is matches [ErrAttemptTimeout] and [context.DeadlineExceeded].
func (e *attemptTimeoutError) Is(target error) bool {
	return target == ErrAttemptTimeout || target == context.DeadlineExceeded
}

// errRepeated is why an attempt ends that net/http was about to send a second time.
var errRepeated = errors.New("the connection was lost")

// sender is the innermost stage: one attempt, from the connection to the end of the body.
type sender struct {
	http    *http.Client
	timeout time.Duration
	auth    *auth
}

// Do sends the request once and reads the body into memory, so that a body that breaks off is the attempt's failure
// and can be retried like one. A document is handed through once its headers are there. Its errors are
// *TransportError, or *DecodeError for a success whose body cannot be read.
func (s *sender) Do(req *http.Request) (*http.Response, error) {
	c := callOf(req)
	if err := req.Context().Err(); err != nil {
		return nil, &TransportError{CallInfo: c.describe(), Err: err}
	}
	c.attempts++
	ctx, cancel := context.WithCancelCause(req.Context())
	timeout := min(s.timeout, max(c.left(req.Context()), time.Millisecond))
	timer := time.AfterFunc(timeout, func() { cancel(&attemptTimeoutError{"no response", timeout}) })
	done := func() { timer.Stop(); cancel(nil) }

	progress := newProgress(s.http.Transport, c.place, cancel)
	out := req.WithContext(httptrace.WithClientTrace(ctx, progress.trace()))
	out.GetBody = nil // net/http repeats a request by itself if it can get its body again
	resp, err := s.http.Do(out)
	if err != nil {
		defer done()
		c.written = progress.mayHaveSent(err)
		return nil, &TransportError{CallInfo: c.describe(), Err: s.cause(ctx, req, err)}
	}
	c.written = true
	if resp.StatusCode < 200 { // 101: what follows is another protocol's, and no deadline ends the reading of it
		_ = resp.Body.Close()
		resp.Body = http.NoBody
	}
	success := resp.StatusCode/100 == 2
	if success && c.streamed() {
		timer.Stop()
		resp.Body = &streamBody{body: resp.Body, cancel: cancel, broken: func(err error) error {
			return &DecodeError{CallInfo: c.describe(), StatusCode: resp.StatusCode, Err: s.cause(ctx, req, err)}
		}}
		return resp, nil
	}

	limit := int64(maxErrorBody)
	if success {
		limit = maxBody
	}
	body, err := readAtMost(resp.Body, limit)
	_ = resp.Body.Close()
	defer done()
	if err != nil && success && !isWhole(body, err) { // the status of an error is kept, however little of its body came
		return nil, &DecodeError{CallInfo: c.describe(), StatusCode: resp.StatusCode, Body: excerpt(s.auth.redact, c, body), Err: s.cause(ctx, req, err)}
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	if err != nil && !success { // a caller of Low sees that it is not whole
		resp.Body = io.NopCloser(io.MultiReader(bytes.NewReader(body), failedReader{err}))
	}
	return resp, nil
}

// isWhole reports whether a body is a complete JSON document although reading it ended with an error: some peers
// break the connection after the last byte.
func isWhole(body []byte, err error) bool {
	text := bytes.TrimSpace(body)
	return !errors.Is(err, ErrBodyTooLarge) && len(text) > 0 && (text[0] == '{' || text[0] == '[') && json.Valid(text)
}

// cause says why an attempt ended, without the URL that net/http puts before it.
func (s *sender) cause(attempt context.Context, req *http.Request, err error) error {
	if ended := req.Context().Err(); ended != nil {
		return ended
	}
	if cause := context.Cause(attempt); cause != nil {
		return cause
	}
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err
	}
	if text := s.auth.redact(err.Error(), callOf(req).token); text != err.Error() {
		return errors.New(text) // net/http quotes a response that it cannot read
	}
	return err
}

// progress follows one attempt through net/http by its trace.
//
// It ends an attempt for which a second connection is got: net/http sends some requests again by itself, bodiless
// PUT and DELETE over HTTP/2 among them, and calls that one request.
//
// It also proves that nothing was sent. Over HTTP/1 no request has left before its headers were written. Over HTTP/2
// and transports that are not known the headers may be on their way as soon as there is a connection.
//
// It also reports to the attempt's place in the quota when the request has arrived.
type progress struct {
	cancel     context.CancelCauseFunc
	place      *place
	plainHTTP1 bool // Whether connections without TLS are known to speak HTTP/1.

	// What the trace reported: a connection was asked for, was got; the request may have left.
	asked, got, sent atomic.Bool
}

func newProgress(transport http.RoundTripper, place *place, cancel context.CancelCauseFunc) *progress {
	p := &progress{place: place, cancel: cancel}
	if t, ok := transport.(*http.Transport); ok {
		p.plainHTTP1 = t.Protocols == nil || !t.Protocols.UnencryptedHTTP2()
		p.asked.Store(true) // it reports everything, so that silence is proof
	}
	return p
}

func (p *progress) trace() *httptrace.ClientTrace {
	return &httptrace.ClientTrace{
		GetConn: func(string) {
			p.asked.Store(true)
			if p.got.Load() {
				p.cancel(errRepeated)
			}
		},
		GotConn: func(info httptrace.GotConnInfo) {
			http1 := p.isHTTP1(info.Conn)
			if p.got.Swap(true) {
				p.cancel(errRepeated)
				if http1 { // it is this request's alone, and net/http may write to it in spite of the cancellation
					_ = info.Conn.Close()
				}
				return
			}
			if !http1 {
				p.sent.Store(true)
			}
		},
		WroteHeaders:         func() { p.sent.Store(true) },
		WroteRequest:         func(httptrace.WroteRequestInfo) { p.place.wrote() },
		GotFirstResponseByte: p.place.firstByte,
	}
}

func (p *progress) isHTTP1(conn net.Conn) bool {
	switch conn := conn.(type) {
	case nil:
		return false
	case interface{ ConnectionState() tls.ConnectionState }:
		protocol := conn.ConnectionState().NegotiatedProtocol
		return protocol == "" || protocol == "http/1.1"
	default:
		return p.plainHTTP1
	}
}

// mayHaveSent reports whether an attempt that ended with an error may have reached the service. Only proof of the
// contrary counts: the transport asked for a connection and got none, it got one over HTTP/1 and wrote no headers, or,
// if it reports nothing to httptrace, the error is one of dialling.
func (p *progress) mayHaveSent(err error) bool {
	switch {
	case p.sent.Load():
		return true
	case p.asked.Load():
		return false
	default:
		dial, ok := errors.AsType[*net.OpError](err)
		return (!ok || dial.Op != "dial") && !errors.Is(err, syscall.ECONNREFUSED)
	}
}

// readAtMost reads r to its end, but not more than limit bytes; it returns what it has with any error.
func readAtMost(r io.Reader, limit int64) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(r, limit+1))
	if int64(len(body)) > limit {
		return body[:limit], fmt.Errorf("%w: more than %d KiB", ErrBodyTooLarge, limit>>10)
	}
	return body, err
}

// streamBody is a document that streams. It keeps the attempt's context alive until it is closed.
type streamBody struct {
	body   io.ReadCloser
	cancel context.CancelCauseFunc
	broken func(error) error // Makes the error of a document that breaks off.
}

// Read implements [io.Reader]. Only the time that it waits itself counts against the idle timeout.
func (b *streamBody) Read(p []byte) (int, error) {
	timer := time.AfterFunc(streamIdleTimeout, func() { b.cancel(&attemptTimeoutError{"no byte of the document", streamIdleTimeout}) })
	defer timer.Stop()
	n, err := b.body.Read(p)
	if err != nil && err != io.EOF { //nolint:errorlint // Readers return io.EOF itself
		err = b.broken(err)
	}
	return n, err
}

// Close implements [io.Closer].
func (b *streamBody) Close() error {
	defer b.cancel(nil)
	return b.body.Close()
}

// newHTTPClient copies the caller's client, or makes one. The copy follows no redirect: the retry stage does, for
// reads, so that each hop passes the quota and stays on the base URL's host.
func newHTTPClient(given *http.Client) *http.Client {
	hc := &http.Client{}
	if given != nil {
		*hc = *given
	}
	if hc.Transport == nil {
		hc.Transport = newTransport()
	}
	hc.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return hc
}

// newTransport differs from [http.DefaultTransport] in three ways. It keeps enough idle connections for many
// goroutines: net/http keeps two a host, so that 64 goroutines would open a new connection, and over TLS shake hands
// anew, for almost every request. It drops idle connections before servers and load balancers do, which is usually
// after 60 s: a write that meets such an ending has an unknown outcome. And it pings HTTP/2 connections that have gone
// silent, because nothing else notices that one is dead.
func newTransport() http.RoundTripper {
	t, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return http.DefaultTransport // the program has put one of its own there
	}
	t = t.Clone()
	t.MaxIdleConns = 256
	t.MaxIdleConnsPerHost = 128
	t.IdleConnTimeout = 30 * time.Second
	t.HTTP2 = &http.HTTP2Config{SendPingTimeout: 10 * time.Second, PingTimeout: 5 * time.Second}
	return t
}
