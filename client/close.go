package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
)

// ErrClosed marks the error of a call that was not sent, or not sent again, because the client is
// closed.
var ErrClosed = errors.New("the client is closed")

// Close ends the client and what it started. Calls that begin afterwards fail with [ErrClosed]
// before any I/O. A running call ends with its current attempt, which is not canceled, because that
// would leave the outcome of a write unknown; the call fails with ErrClosed if it needs an access
// token, for its first attempt or a retry. A wait for a batch or an operation ends with ErrClosed
// at its next poll.
//
// Close closes the idle connections of the client's own transport; the connections of running calls
// are closed when those calls end. Close waits neither for calls nor for a token source that is
// being asked; its goroutine ends when Token returns. The caller closes what it gave to [New]: the
// token source, the limiter, and the transport of the [http.Client]. Close closes the token source of
// [FromEnv], and returns its error; otherwise it returns nil. It may be called more than once, and is
// safe for concurrent use.
func (c *Client) Close() error {
	if c.lifetime != nil { // as in the zero Client
		c.lifetime.end(ErrClosed)
		c.lifetime.closeIdle()
	}
	if c.ownTokens != nil {
		return c.ownTokens.Close()
	}
	return nil
}

// lifetime is the time from [New] to [Client.Close].
type lifetime struct {
	ctx       context.Context //nolint:containedctx // it ends with the client, not with one call
	end       context.CancelCauseFunc
	closeIdle func() // Closes the idle connections of the client's own transport.
}

func newLifetime(closeIdle func()) *lifetime {
	ctx, end := context.WithCancelCause(context.Background())
	return &lifetime{ctx, end, closeIdle}
}

// closed reports whether the client is closed.
func (l *lifetime) closed() bool { return l.ctx.Err() != nil }

// within returns a copy of ctx that also ends with the client, with [ErrClosed] as its cause.
func (l *lifetime) within(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(l.ctx, func() { cancel(ErrClosed) })
	return ctx, func() {
		stop()
		cancel(nil)
	}
}

// lifetimeContext is a context that also ends with the client, as within returns it. Most token
// sources have a token and do not wait, so the two are joined only when that is needed.
type lifetimeContext struct {
	context.Context //nolint:containedctx // it is a context
	lifetime        *lifetime

	mu     sync.Mutex
	joined context.Context //nolint:containedctx // nil until it is needed
	cancel context.CancelFunc
	ended  bool
}

func (c *lifetimeContext) join() context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.joined == nil {
		c.joined, c.cancel = c.lifetime.within(c.Context)
		if c.ended {
			c.cancel()
		}
	}
	return c.joined
}

// end ends the context. Call it when nothing waits for the context any more.
func (c *lifetimeContext) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = true
	if c.cancel != nil {
		c.cancel()
	}
}

// Done implements [context.Context].
func (c *lifetimeContext) Done() <-chan struct{} { return c.join().Done() }

// Err implements [context.Context].
func (c *lifetimeContext) Err() error { return c.join().Err() }

// Value implements [context.Context].
func (c *lifetimeContext) Value(key any) any { return c.join().Value(key) }

// refuseWhenClosed is the stage before all middleware, which refuses calls once the client is closed.
func (l *lifetime) refuseWhenClosed(next Doer) Doer {
	return DoerFunc(func(req *http.Request) (*http.Response, error) {
		if l.closed() {
			return nil, fmt.Errorf("%s: %w", operationOf(req), ErrClosed)
		}
		resp, err := next.Do(req)
		if err != nil {
			l.closeIdleIfClosed()
			return nil, err
		}
		if _, ok := resp.Body.(*bufferedBody); ok {
			l.closeIdleIfClosed()
		} else {
			resp.Body = &openBody{resp.Body, l}
		}
		return resp, nil
	})
}

// closeIdleIfClosed closes the connection that a call leaves idle if the client has been closed.
func (l *lifetime) closeIdleIfClosed() {
	if l.closed() {
		l.closeIdle()
	}
}

// openBody is a body that uses its connection until it is closed, such as a document's.
type openBody struct {
	io.ReadCloser
	lifetime *lifetime
}

// Close implements [io.Closer].
func (b *openBody) Close() error {
	defer b.lifetime.closeIdleIfClosed()
	return b.ReadCloser.Close()
}
