package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"time"

	"github.com/sellside-sdk/sellside-go/gen"
)

// ErrTooLate is the reason of a [SendCheckError] whose call had a [WithNotAfter] time that passed.
var ErrTooLate = errors.New("the time after which the call must not be sent has passed")

// WithNotAfter returns a context whose calls are not sent after t: such a call fails with a
// [SendCheckError] that Is [ErrTooLate]. It is for a process that may be stopped for hours, by
// SIGSTOP or the lid of a laptop, and must not send what it prepared before. A deadline of ctx does
// not do that: it is a timer, which may fire after the request is written when the process
// continues, and which does not run while a machine sleeps.
//
// t is compared with the wall clock at the points that [WithSendCheck] lists. A response may arrive
// after t, and the deadline of ctx is not affected. Waiting for the quota does not end at t, but the
// call is not sent then. The zero Time sets no limit. Of several times the earliest counts.
func WithNotAfter(ctx context.Context, t time.Time) context.Context {
	if t.IsZero() {
		return ctx
	}
	// Without its monotonic reading, which stops while a machine sleeps, t is compared by wall clock.
	t = t.Round(0)
	return WithSendCheck(ctx, func() error {
		if time.Now().Round(0).After(t) {
			return ErrTooLate
		}
		return nil
	})
}

// WithSendCheck returns a context whose calls are sent only while check returns nil, such as a check
// that this process still has the highest fencing number. Otherwise the call fails with a
// [SendCheckError], is not repeated, and takes nothing from the quota. If an earlier attempt failed,
// the two errors are joined. Checks of an outer context run first. A nil check has no effect.
//
// Each attempt is checked three times: before it waits for a token, a cooldown and the quota; before
// it gets a connection; and last of all before the first byte of the request. What remains between
// the last check and the service:
//
//   - Over HTTP/1 it runs when the request is in the transport's buffer, before any of it, or the end
//     of headers beyond 4 KiB, is passed to the kernel. A process that is stopped between this check
//     and the system call sends the request when it continues.
//   - Over HTTP/2 it runs when the connection is got. The headers may wait there for a free stream or
//     for other writers, and nothing checks again. The body is checked once more before its first
//     byte; without its body the service cannot apply the request, but because the headers have been
//     sent a write ends with a [TransportError] that Is [ErrOutcomeUnknown].
//   - A [http.RoundTripper] that does not report to httptrace is checked before it is called, and
//     before it reads the body, as over HTTP/2.
//   - What is in the buffers of the kernel and the network arrives whenever they deliver it.
//
// So before another process repeats the write, it waits for as long as this gap may take, and reads
// whether the write was applied.
//
// check is called from the goroutines of the transport, several times for one attempt, and must be
// fast and safe for concurrent use. A panic in it counts as a refusal.
func WithSendCheck(ctx context.Context, check func() error) context.Context {
	if check == nil {
		return ctx
	}
	outer, inner := sendCheckOf(ctx), safeCheck(check)
	if outer == nil {
		return context.WithValue(ctx, sendCheckKey{}, inner)
	}
	return context.WithValue(ctx, sendCheckKey{}, sendCheck(func() error {
		if err := outer(); err != nil {
			return err
		}
		return inner()
	}))
}

// SendCheckError reports a call that was not sent because of [WithNotAfter] or [WithSendCheck]. It
// proves that no attempt was applied: a write of unknown outcome is not a SendCheckError.
type SendCheckError struct {
	Operation gen.OperationID
	Err       error // [ErrTooLate], or the error of the check.
}

func (e *SendCheckError) Error() string {
	return fmt.Sprintf("%s: not sent: %s", e.Operation, oneLine(e.Err))
}

// Unwrap returns why the call was not sent.
func (e *SendCheckError) Unwrap() error { return e.Err }

// sendCheck returns why a call must not be sent; nil if it may be sent.
type sendCheck func() error

type sendCheckKey struct{}

// sendCheckOf returns the check of ctx, nil if it has none.
func sendCheckOf(ctx context.Context) sendCheck {
	check, _ := ctx.Value(sendCheckKey{}).(sendCheck)
	return check
}

// safeCheck turns a panic into an error, because the caller of a call cannot recover a panic in the
// goroutines of the transport. The value of a panic may contain a secret, unless it is the runtime's.
func safeCheck(check func() error) sendCheck {
	return func() (err error) {
		defer func() {
			switch value := recover().(type) {
			case nil:
			case runtime.Error:
				err = fmt.Errorf("send check: panicked: %w", value)
			default:
				err = fmt.Errorf("send check: panicked with a %T", value)
			}
		}()
		return check()
	}
}

// maySend returns the error of a call that must not be sent, or nil.
func (c *call) maySend() error {
	if c.check == nil {
		return nil
	}
	if err := c.check(); err != nil {
		return &SendCheckError{Operation: c.op.ID, Err: err}
	}
	return nil
}

// checkedBody is a request body that is checked before its first byte is read.
type checkedBody struct {
	io.ReadCloser
	refuse  func() error
	checked bool
}

// Read implements [io.Reader].
func (b *checkedBody) Read(p []byte) (int, error) {
	if !b.checked {
		if err := b.refuse(); err != nil {
			return 0, err
		}
		b.checked = true
	}
	return b.ReadCloser.Read(p)
}
