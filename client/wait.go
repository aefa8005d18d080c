package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/sellside-sdk/sellside-go/client/quota"
	"github.com/sellside-sdk/sellside-go/client/token"
	"github.com/sellside-sdk/sellside-go/gen"
)

// waiting is the configuration of a wait.
type waiting struct {
	first, longest time.Duration // Pauses.
	progress       func(gen.Batch)
	err            error // The error of an invalid option.
}

// WaitOption changes how [Batch.Wait] and [Operation.Wait] poll.
type WaitOption func(*waiting)

// WithPollInterval sets the pause before the second poll and the longest pause. Each pause is half
// as long again as the one before, with a jitter of a tenth. The defaults are 1 and 30 seconds.
func WithPollInterval(first, longest time.Duration) WaitOption {
	return func(w *waiting) {
		w.first, w.longest = max(first, time.Millisecond), max(first, longest, time.Millisecond)
	}
}

// WithProgress makes [Batch.Wait] call f with the batch after every poll, from the waiting
// goroutine. [Operation.Wait] ignores it: operations report no progress.
func WithProgress(f func(gen.Batch)) WaitOption {
	return func(w *waiting) {
		if f == nil {
			w.err = invalid("wait", "WithProgress", "must not be nil: leave the option out")
			return
		}
		w.progress = f
	}
}

// newWaiting applies the options of the client, which are checked, and then those of a wait.
func newWaiting(defaults, opts []WaitOption) (*waiting, error) {
	w := &waiting{first: time.Second, longest: 30 * time.Second, progress: func(gen.Batch) {}}
	for _, opt := range defaults {
		opt(w)
	}
	for i, opt := range opts {
		if opt == nil {
			w.err = invalid("wait", fmt.Sprintf("options[%d]", i), "must not be nil: leave it out")
			continue
		}
		opt(w)
	}
	return w, w.err
}

// waitLimit limits a wait whose ctx has no deadline.
const waitLimit = 30 * time.Minute

// waitUntil polls until poll reports done, ctx ends, or a poll fails with an error that is not
// transient. It tolerates transient errors until ctx's deadline, or for 30 minutes if ctx has none.
// The last poll is made before the deadline. The Retry-After of a response is a lower bound of the
// pause after it.
func (w *waiting) waitUntil(
	ctx context.Context, isTransient func(error) bool,
	poll func(context.Context) (done bool, header http.Header, err error),
) error {
	deadline, ok := ctx.Deadline()
	if !ok {
		var cancel context.CancelFunc
		deadline = time.Now().Add(waitLimit)
		ctx, cancel = context.WithDeadline(ctx, deadline)
		defer cancel()
	}
	for interval := w.first; ; interval = min(interval+interval/2, w.longest) {
		done, header, err := poll(ctx)
		if done || err != nil && (ctx.Err() != nil || !isTransient(err)) {
			return err
		}
		requested := retryAfter(header)
		if failed, ok := errors.AsType[*APIError](err); ok {
			requested = max(requested, failed.RetryAfter)
		}
		if throttled, ok := errors.AsType[*ThrottledError](err); ok {
			requested = max(requested, time.Until(throttled.Until))
		}
		if isBeyondDeadline(err, deadline) {
			return err
		}
		pause := max(interval-interval/10+rand.N(interval/5+1), requested)
		left := time.Until(deadline)
		if margin := min(time.Second, left/4); pause > left-margin {
			if left < min(w.first, time.Second)/2 {
				return errors.Join(err, context.DeadlineExceeded)
			}
			pause = left - margin
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// isBeyondDeadline reports whether no poll can be sent before the deadline: the quota has no
// earlier place, or the cooldown lasts longer.
func isBeyondDeadline(err error, deadline time.Time) bool {
	_, full := errors.AsType[*quota.Error](err)
	throttled, ok := errors.AsType[*ThrottledError](err)
	return full || ok && throttled.Until.After(deadline)
}

// IsTransient reports whether a call that failed with err may succeed if it is made again later. It
// is false for nil, for a response that the retry table does not retry, for invalid arguments, for
// a token that only the user can renew, for a call that exceeds the whole quota, and for a
// [SendCheckError]. It says nothing about whether repeating a write is safe: see
// [ErrOutcomeUnknown].
func IsTransient(err error) bool {
	if _, ok := errors.AsType[*SendCheckError](err); ok {
		return false
	}
	if _, ok := errors.AsType[*token.Error](err); ok {
		return !errors.Is(err, token.ErrRefused) && !errors.Is(err, token.ErrExpired)
	}
	if full, ok := errors.AsType[*quota.Error](err); ok {
		return full.Wait > 0
	}
	if _, ok := errors.AsType[*ThrottledError](err); ok {
		return true
	}
	if failed, ok := errors.AsType[*APIError](err); ok {
		o := outcomeOf(failed.StatusCode)
		return o == transient || o == throttled
	}
	if errors.Is(err, ErrPagingStuck) {
		return true // a list that grew by exactly a page repeats its ids too
	}
	_, unsent := errors.AsType[*TransportError](err)
	_, unreadable := errors.AsType[*DecodeError](err)
	return unsent || unreadable && !errors.Is(err, ErrBodyTooLarge)
}

// WaitError reports that a wait ended before the batch or the operation did. If Err is ctx's error
// or [IsTransient], the service continues its work, and waiting again is harmless.
type WaitError struct {
	What      string                // "batch" or "operation".
	ID        string                // Its id, to wait for it again.
	Batch     *gen.Batch            // The last snapshot of a batch.
	Operation *gen.ListingOperation // The last snapshot of an operation.
	Err       error                 // Why the wait ended; it Is ctx's error if that is why.
}

func (e *WaitError) Error() string {
	last := ""
	switch {
	case e.Batch != nil:
		done := e.Batch.ItemStatuses.Of("completed") + e.Batch.ItemStatuses.Of("failed")
		status := cmp.Or(gen.OneLine(string(e.Batch.Status)), "not read yet")
		last = fmt.Sprintf("%s, %d of %d items done", status, done, e.Batch.TotalItems)
	case e.Operation != nil:
		last = cmp.Or(gen.OneLine(string(e.Operation.OperationStatus)), "not read yet")
	}
	advice := ""
	if errors.Is(e.Err, context.Canceled) || errors.Is(e.Err, context.DeadlineExceeded) || IsTransient(e.Err) {
		advice = fmt.Sprintf("; the %s is still running, call Wait again", e.What)
	}
	return fmt.Sprintf("wait for %s %s: %s (last status %s%s)",
		e.What, gen.OneLine(e.ID), oneLine(e.Err), last, advice)
}

// Unwrap returns why the wait ended.
func (e *WaitError) Unwrap() error { return e.Err }
