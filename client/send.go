package client

import (
	"bytes"
	"cmp"
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
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// Limits of response bodies in bytes, after decompression.
const (
	maxBody      = 16 << 20
	maxErrorBody = 64 << 10
)

// streamIdleTimeout is how long a Read of a streamed document may wait for its next byte.
const streamIdleTimeout = 30 * time.Second

// ErrAttemptTimeout marks an attempt that got no response within [RetryPolicy].AttemptTimeout, or a
// streamed document that got no byte for 30 s. Such an error also Is [context.DeadlineExceeded].
var ErrAttemptTimeout = errors.New("the attempt timed out")

// attemptTimeoutError reports which limit an attempt exceeded.
type attemptTimeoutError struct {
	what  string
	after time.Duration
}

func (e *attemptTimeoutError) Error() string { return fmt.Sprintf("%s within %s", e.what, e.after) }

// Is matches [ErrAttemptTimeout] and [context.DeadlineExceeded].
func (e *attemptTimeoutError) Is(target error) bool {
	return target == ErrAttemptTimeout || target == context.DeadlineExceeded
}

// errRepeated ends an attempt that net/http was about to send a second time.
var errRepeated = errors.New("the connection was lost")

// sender is the innermost stage. It makes one attempt, from the connection to the end of the body.
type sender struct {
	http    *http.Client
	timeout time.Duration
	auth    *auth
	buffers *bufferPool
}

// Do sends the request once and buffers the body, so that an incomplete body is a failure of the
// attempt, which can be retried. A streamed document is returned once its headers are there. Its
// errors are *TransportError, or *DecodeError for a success whose body cannot be read.
func (s *sender) Do(req *http.Request) (*http.Response, error) {
	c := callOf(req)
	if err := req.Context().Err(); err != nil {
		return nil, &TransportError{CallInfo: c.info(), Err: err}
	}
	if err := c.maySend(); err != nil {
		return nil, err
	}
	c.attempts++
	ctx, cancel := context.WithCancelCause(req.Context())
	stopTimer := s.startTimer(req.Context(), cancel, c)
	done := func() { stopTimer(); cancel(nil) }

	progress := newProgress(s.http.Transport, c, cancel)
	out := req.WithContext(httptrace.WithClientTrace(ctx, &progress.trace))
	out.GetBody = nil // net/http repeats a request on its own if it can get the body again
	if c.check != nil && out.Body != nil && out.Body != http.NoBody {
		out.Body = &checkedBody{ReadCloser: out.Body, refuse: progress.refuseBody}
	}
	resp, err := s.http.Do(out)
	if err != nil {
		defer done()
		c.written = progress.mayHaveSent(err)
		if refusal := progress.refusal.Load(); refusal != nil && !c.written {
			c.attempts--
			return nil, *refusal
		}
		c.unknown = c.written && !c.op.RetrySafe // events report the error before the retry table is consulted
		return nil, &TransportError{CallInfo: c.info(), Err: s.cause(ctx, req, err)}
	}
	c.written = true
	if resp.StatusCode < 200 { // 101: the body is another protocol's, and no deadline ends reading it
		_ = resp.Body.Close()
		resp.Body = http.NoBody
	}
	success := resp.StatusCode/100 == 2
	if success && c.streamed() {
		stopTimer()
		resp.Body = &streamBody{body: resp.Body, cancel: cancel, broken: func(err error) error {
			return &DecodeError{CallInfo: c.info(), StatusCode: resp.StatusCode, Err: s.cause(ctx, req, err)}
		}}
		return resp, nil
	}

	buffer, limit := &bytes.Buffer{}, maxErrorBody
	if success {
		buffer, limit = s.buffers.get(c), maxBody
	}
	body, err := readAtMost(buffer, resp, limit)
	_ = resp.Body.Close()
	defer done()
	if err != nil && success && !isCompleteJSON(body, err) {
		return nil, &DecodeError{
			CallInfo: c.info(), StatusCode: resp.StatusCode,
			Body: excerpt(s.auth.redact, c, body), Err: s.cause(ctx, req, err),
		}
	}
	if success {
		err = nil
	}
	resp.Body = newBufferedBody(body, err) // an error keeps its status, whatever part of its body was read
	return resp, nil
}

// startTimer ends an attempt when it takes too long. Without need of a timer, because ctx ends
// earlier, it starts none.
func (s *sender) startTimer(ctx context.Context, cancel context.CancelCauseFunc, c *call) (stop func() bool) {
	timeout := min(c.attemptTimeout(s.timeout), max(c.timeLeft(ctx), time.Millisecond))
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) <= timeout {
		return func() bool { return false }
	}
	return time.AfterFunc(timeout, func() { cancel(&attemptTimeoutError{"no response", timeout}) }).Stop
}

// bufferedBody is a response body that the sender has read. Readers after the sender use data
// instead of reading it again.
type bufferedBody struct {
	data []byte
	read int
	err  error
}

// newBufferedBody returns a body that ends with err, or with [io.EOF] if err is nil.
func newBufferedBody(data []byte, err error) *bufferedBody {
	return &bufferedBody{data: data, err: cmp.Or(err, io.EOF)}
}

// Read implements [io.Reader].
func (b *bufferedBody) Read(p []byte) (int, error) {
	if b.read == len(b.data) {
		return 0, b.err
	}
	n := copy(p, b.data[b.read:])
	b.read += n
	return n, nil
}

// Close implements [io.Closer].
func (*bufferedBody) Close() error { return nil }

// bodyOf returns the body of a response. A middleware may have replaced the buffered one.
func bodyOf(resp *http.Response) ([]byte, error) {
	if body, ok := resp.Body.(*bufferedBody); ok {
		return body.data, nil
	}
	limit := maxErrorBody
	if resp.StatusCode/100 == 2 {
		limit = maxBody
	}
	return readAtMost(&bytes.Buffer{}, resp, limit)
}

// isCompleteJSON reports whether a body is a complete JSON document although reading it ended with
// an error: some peers reset the connection after the last byte.
func isCompleteJSON(body []byte, err error) bool {
	text := bytes.TrimSpace(body)
	isObjectOrArray := len(text) > 0 && (text[0] == '{' || text[0] == '[')
	return !errors.Is(err, ErrBodyTooLarge) && isObjectOrArray && json.Valid(text)
}

// cause returns why an attempt ended, without the URL that net/http puts before the error.
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
		return errors.New(text) // net/http quotes responses that it cannot parse
	}
	return err
}

// progress follows one attempt by its httptrace.
//
//   - It ends an attempt that gets a second connection: net/http sends some requests twice on its own,
//     among them PUT and DELETE without a body over HTTP/2.
//   - It proves that a request was not sent. Over HTTP/1 a request leaves when its headers are written.
//     Over HTTP/2 and unknown transports the headers may leave as soon as there is a connection.
//   - It reports to the attempt's place in the quota that the request has arrived.
//   - It ends an attempt that must no longer be sent: see [WithSendCheck].
type progress struct {
	trace      httptrace.ClientTrace
	call       *call
	cancel     context.CancelCauseFunc
	plainHTTP1 bool // Whether connections without TLS are known to use HTTP/1.

	// The trace reported that a connection was requested, was got, and that the request may have
	// left.
	asked, got, sent atomic.Bool
	exclusive        atomic.Pointer[net.Conn] // Over HTTP/1 the connection of a checked call, its alone.
	refusal          atomic.Pointer[error]    // Why the attempt must not be sent.
}

func newProgress(transport http.RoundTripper, c *call, cancel context.CancelCauseFunc) *progress {
	p, place := &progress{call: c, cancel: cancel}, c.place // a late report is about this attempt
	if t, ok := transport.(*http.Transport); ok {
		p.plainHTTP1 = t.Protocols == nil || !t.Protocols.UnencryptedHTTP2()
		p.asked.Store(true) // it reports every connection, so no report proves that there was none
	}
	p.trace = httptrace.ClientTrace{
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
				if http1 { // no other request uses it, and net/http may write to it despite the cancellation
					_ = info.Conn.Close()
				}
				return
			}
			if http1 && p.call.check != nil {
				p.exclusive.Store(&info.Conn)
			}
			if p.refuse() == nil && !http1 {
				p.sent.Store(true)
			}
		},
		WroteHeaders: func() {
			// Over HTTP/1 the end of the headers is still in a buffer.
			if p.exclusive.Load() == nil || p.refuse() == nil {
				p.sent.Store(true)
			}
		},
		WroteRequest:         func(httptrace.WroteRequestInfo) { place.wrote() },
		GotFirstResponseByte: place.firstByte,
	}
	return p
}

// refuse ends the attempt if it must not be sent, and returns why; later calls return the same. Over
// HTTP/1 it closes the connection, to which net/http may write despite the cancellation.
func (p *progress) refuse() error {
	refusal := p.refusal.Load()
	if refusal == nil {
		err := p.call.maySend()
		if err == nil {
			return nil
		}
		refusal = &err
		p.refusal.Store(refusal)
		p.cancel(errors.Unwrap(err))
	}
	if conn := p.exclusive.Load(); conn != nil {
		_ = (*conn).Close()
	}
	return *refusal
}

// refuseBody is refuse before the body, of which there is no need over HTTP/1: the headers have just
// been checked.
func (p *progress) refuseBody() error {
	if p.exclusive.Load() != nil {
		return nil
	}
	return p.refuse()
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

// mayHaveSent reports whether an attempt that ended with an error may have reached the service. It
// is false only on proof: the transport requested a connection and got none, it got one over HTTP/1
// and wrote no headers, or, if it reports nothing to httptrace, the error is a dial error.
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

// readAtMost reads the body of a response to its end, up to limit bytes, into a buffer. It returns
// the bytes read beside any error.
func readAtMost(buffer *bytes.Buffer, resp *http.Response, limit int) ([]byte, error) {
	if size := resp.ContentLength; size > 0 { // it is not to be trusted with much memory
		buffer.Grow(int(min(size, maxKeptBuffer/2)) + bytes.MinRead)
	}
	_, err := buffer.ReadFrom(io.LimitReader(resp.Body, int64(limit)+1))
	body := buffer.Bytes()
	if len(body) > limit {
		return body[:limit], fmt.Errorf("%w: more than %d KiB", ErrBodyTooLarge, limit>>10)
	}
	return body, err
}

// maxKeptBuffer is the capacity in bytes up to which a buffer is used again.
const maxKeptBuffer = 1 << 20

// bufferPool has the buffers of the bodies of successes. A buffer belongs to a call until the call
// has decoded it: nothing that a call returns may point into it.
type bufferPool struct {
	// shared is false if a middleware may keep a body: the buffers are then not used again.
	shared bool
	pool   sync.Pool
}

// get returns an empty buffer for a call. Callers of [Client.Raw] keep theirs.
func (p *bufferPool) get(c *call) *bytes.Buffer {
	if c.client == nil || !p.shared {
		return &bytes.Buffer{}
	}
	buffer, ok := p.pool.Get().(*bytes.Buffer)
	if !ok {
		buffer = &bytes.Buffer{}
	}
	c.buffer = buffer
	return buffer
}

// put takes back the buffer of a call, which has decoded it.
func (p *bufferPool) put(c *call) {
	buffer := c.buffer
	c.buffer = nil
	if buffer != nil && buffer.Cap() <= maxKeptBuffer {
		buffer.Reset()
		p.pool.Put(buffer)
	}
}

// streamBody is the body of a streamed document. It keeps the attempt's context alive until it is
// closed.
type streamBody struct {
	body   io.ReadCloser
	cancel context.CancelCauseFunc
	broken func(error) error // Returns the error of an incomplete document.
}

// Read implements [io.Reader]. Only time spent in Read counts against the idle timeout.
func (b *streamBody) Read(p []byte) (int, error) {
	timer := time.AfterFunc(streamIdleTimeout, func() {
		b.cancel(&attemptTimeoutError{"no byte of the document", streamIdleTimeout})
	})
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

// newHTTPClient copies the caller's client, or returns a new one. The copy follows no redirects:
// the retry stage does, for reads, so that each request passes the quota and stays on the base
// URL's host.
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

// newTransport differs from [http.DefaultTransport] in three ways. It keeps enough idle connections
// for many goroutines: net/http keeps two per host, so that 64 goroutines would open a connection
// for almost every request. It closes idle connections before servers and load balancers do,
// usually after 60 s: a write sent just then has an unknown outcome. And it pings silent HTTP/2
// connections, because nothing else detects a dead one.
func newTransport() http.RoundTripper {
	t, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return http.DefaultTransport // the program has replaced it
	}
	t = t.Clone()
	t.MaxIdleConns = 256
	t.MaxIdleConnsPerHost = 128
	t.IdleConnTimeout = 30 * time.Second
	t.HTTP2 = &http.HTTP2Config{SendPingTimeout: 10 * time.Second, PingTimeout: 5 * time.Second}
	return t
}
