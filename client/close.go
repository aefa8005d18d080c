package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
)

// ErrClosed marks the error of a call that was not sent, or not sent again, because the client is closed.
var ErrClosed = errors.New("the client is closed")

// Close ends the client and what it started. Calls that begin afterwards fail with [ErrClosed] before any I/O. A call
// that is under way ends with its current attempt, which is not cut off, because the outcome of a write would be
// unknown then; when it needs an access token, for the first attempt or another one, it fails with ErrClosed. A wait
// for a batch or an operation ends with ErrClosed at its next poll.
//
// Close closes the idle connections of the transport that the client made itself; those of calls under way are closed
// when the calls end. It does not wait: not for calls, and not for a token source that is being asked, whose
// goroutine ends when its Token method returns. What was given to [New] stays open and is the caller's to
// close: the token source, the limiter, and the transport of the [http.Client].
//
// Close always returns nil, may be called more than once, and is safe for concurrent use.
func (c *Client) Close() error {
	if c.lifetime != nil { // as in the zero Client
		c.lifetime.end(ErrClosed)
		c.lifetime.closeIdle()
	}
	return nil
}

// lifetime is the time from [New] to [Client.Close].
type lifetime struct {
	ctx       context.Context //nolint:containedctx // it ends with the client, not with a call
	end       context.CancelCauseFunc
	closeIdle func() // Closes the idle connections of the client's own transport.
}

func newLifetime(closeIdle func()) *lifetime {
	ctx, end := context.WithCancelCause(context.Background())
	return &lifetime{ctx, end, closeIdle}
}

// over reports whether the client is closed.
func (l *lifetime) over() bool { return l.ctx.Err() != nil }

// within returns a copy of ctx that also ends with the client, its cause then being [ErrClosed].
func (l *lifetime) within(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(l.ctx, func() { cancel(ErrClosed) })
	return ctx, func() {
		stop()
		cancel(nil)
	}
}

// admit is the outermost stage, which refuses calls once the client is closed.
func (l *lifetime) admit(next Doer) Doer {
	return DoerFunc(func(req *http.Request) (*http.Response, error) {
		if l.over() {
			return nil, fmt.Errorf("%s: %w", operationOf(req), ErrClosed)
		}
		resp, err := next.Do(req)
		if err != nil {
			l.settle()
			return nil, err
		}
		resp.Body = &lastBody{resp.Body, l}
		return resp, nil
	})
}

// settle closes the connection that a call leaves idle if the client was closed meanwhile.
func (l *lifetime) settle() {
	if l.over() {
		l.closeIdle()
	}
}

// lastBody ends a call when its body is closed, which for a document is long after its response came.
type lastBody struct {
	io.ReadCloser
	lifetime *lifetime
}

// Close implements [io.Closer].
func (b *lastBody) Close() error {
	defer b.lifetime.settle()
	return b.ReadCloser.Close()
}
