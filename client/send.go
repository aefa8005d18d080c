package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"syscall"
	"time"
)

// Answers are read up to these sizes, after decompression.
const (
	maxBody      = 16 << 20
	maxErrorBody = 64 << 10
)

var errAttemptTimeout = errors.New("no answer within the attempt timeout")

// sender is the innermost stage: one attempt, from the connection to the end of the body.
type sender struct {
	http    *http.Client
	timeout time.Duration
	auth    *auth
}

// Do sends the request and reads the body into memory, so that a body that breaks off is the attempt's
// failure and can be retried like one. A document is handed through once its headers are there. Its errors are
// *SendError, or *DecodeError when a success was answered whose body cannot be read.
func (s *sender) Do(req *http.Request) (*http.Response, error) {
	c := callOf(req)
	c.attempts++
	ctx, cancel := context.WithCancelCause(req.Context())
	timer := time.AfterFunc(s.timeout, func() { cancel(errAttemptTimeout) })
	done := func() { timer.Stop(); cancel(nil) }

	// Only proof counts as unsent: a transport that reports to httptrace and has got no connection, or an error
	// of connecting. HTTP/2 reports its headers after they may have left, and other transports report nothing.
	c.written.Store(req.Context().Err() == nil)
	traced := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GetConn:      func(string) { c.written.Store(false) },
		GotConn:      func(httptrace.GotConnInfo) { c.written.Store(true) },
		WroteHeaders: func() { c.written.Store(true) },
	})
	resp, err := s.http.Do(req.WithContext(traced))
	if err != nil {
		defer done()
		if dial, ok := errors.AsType[*net.OpError](err); ok && dial.Op == "dial" || errors.Is(err, syscall.ECONNREFUSED) {
			c.written.Store(false)
		}
		return nil, &SendError{CallInfo: c.describe(), Err: s.cause(ctx, req, err)}
	}
	if resp.StatusCode < 200 { // 101: what follows is another protocol's, and no deadline ends the reading of it
		_ = resp.Body.Close()
		resp.Body = http.NoBody
	}
	success := resp.StatusCode/100 == 2
	if success && c.streamed() {
		timer.Stop()
		resp.Body = &streamBody{ReadCloser: resp.Body, release: done}
		return resp, nil
	}

	limit := int64(maxErrorBody)
	if success {
		limit = maxBody
	}
	body, err := readAtMost(resp.Body, limit)
	_ = resp.Body.Close()
	defer done()
	if err != nil && success { // the status of an error is kept, however little of its body came
		return nil, &DecodeError{CallInfo: c.describe(), StatusCode: resp.StatusCode, Err: s.cause(ctx, req, err)}
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	return resp, nil
}

// cause says why an attempt ended, without the URL that net/http puts before it.
func (s *sender) cause(attempt context.Context, req *http.Request, err error) error {
	if ended := req.Context().Err(); ended != nil {
		return ended
	}
	if errors.Is(context.Cause(attempt), errAttemptTimeout) {
		return fmt.Errorf("%w of %s", errAttemptTimeout, s.timeout)
	}
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err
	}
	if text := s.auth.redact(err.Error(), callOf(req).token); text != err.Error() {
		return errors.New(text) // net/http quotes an answer that it cannot read
	}
	return err
}

// readAtMost reads r to its end, but not more than limit bytes; it returns what it has with any error.
func readAtMost(r io.Reader, limit int64) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(r, limit+1))
	if int64(len(body)) > limit {
		return body[:limit], ErrBodyTooLarge
	}
	return body, err
}

// streamBody keeps an attempt's context alive until the document is closed.
type streamBody struct {
	io.ReadCloser
	release func()
}

// Close implements [io.Closer].
func (b *streamBody) Close() error {
	defer b.release()
	return b.ReadCloser.Close()
}

// maxRedirects bounds how far a read is sent on.
const maxRedirects = 5

// newHTTPClient copies the caller's client, or makes one, and gives the copy the redirect rule.
func newHTTPClient(given *http.Client) *http.Client {
	hc := &http.Client{}
	if given != nil {
		*hc = *given
	}
	if hc.Transport == nil {
		hc.Transport = newTransport()
	}
	hc.CheckRedirect = checkRedirect
	return hc
}

// newTransport keeps enough idle connections for many goroutines: net/http keeps two a host, so that 64
// goroutines would open a new connection, and over TLS shake hands anew, for almost every request.
func newTransport() http.RoundTripper {
	t, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return http.DefaultTransport // the program has put one of its own there
	}
	t = t.Clone()
	t.MaxIdleConns = 256
	t.MaxIdleConnsPerHost = 128
	t.IdleConnTimeout = 90 * time.Second
	return t
}

// checkRedirect hands back the redirect itself unless it is safe to follow. A write follows none: a 302 turns
// a POST into a GET, and a 307 posts again. A read stays on its scheme, host and port, because net/http
// would carry the x-api-key header anywhere.
func checkRedirect(req *http.Request, via []*http.Request) error {
	first := via[0]
	if first.Method != http.MethodGet || len(via) > maxRedirects ||
		req.URL.Scheme != first.URL.Scheme || req.URL.Host != first.URL.Host {
		return http.ErrUseLastResponse
	}
	return nil
}
