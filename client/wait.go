package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/sellside-sdk/sellside-go/gen"
	"github.com/sellside-sdk/sellside-go/retry"
)

// waiting is what the options of a wait set.
type waiting struct {
	first, most time.Duration
	progress    func(gen.Batch)
}

// WaitOption changes how [Batch.Wait] and [Operation.Wait] poll.
type WaitOption func(*waiting)

// PollEvery sets the pause before the second poll and the longest pause; each is half as long again as the
// one before, with a jitter of a tenth. The defaults are 1 and 30 seconds.
func PollEvery(first, most time.Duration) WaitOption {
	return func(w *waiting) { w.first, w.most = max(first, time.Millisecond), max(first, most, time.Millisecond) }
}

// OnProgress has f called with the batch after every poll, from the goroutine that waits. Operations have no
// progress to tell.
func OnProgress(f func(gen.Batch)) WaitOption {
	return func(w *waiting) { w.progress = f }
}

// waitLimit bounds a wait whose ctx has no deadline.
const waitLimit = 30 * time.Minute

func newWaiting(opts []WaitOption) *waiting {
	w := &waiting{first: time.Second, most: 30 * time.Second, progress: func(gen.Batch) {}}
	for _, opt := range opts {
		opt(w)
	}
	return w
}

// waitUntil polls until done. Failures that may pass are tolerated as long as there is time; the last poll
// comes before the deadline and not after it.
func waitUntil(ctx context.Context, opts []WaitOption, poll func(context.Context) (done bool, header http.Header, err error)) error {
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, waitLimit)
		defer cancel()
	}
	w := newWaiting(opts)
	for interval := w.first; ; interval = min(interval+interval/2, w.most) {
		done, header, err := poll(ctx)
		if done || err != nil && (ctx.Err() != nil || !mayPass(err)) {
			return err
		}
		pauseFor := max(interval-interval/10+rand.N(interval/5+1), retry.After(header))
		if answered, ok := errors.AsType[*APIError](err); ok {
			pauseFor = max(pauseFor, answered.RetryAfter)
		}
		deadline, _ := ctx.Deadline()
		left := time.Until(deadline)
		if margin := min(time.Second, left/4); pauseFor > left-margin {
			if left < min(w.first, time.Second)/2 {
				return errors.Join(err, context.DeadlineExceeded)
			}
			pauseFor = left - margin
		}
		if err := retry.Pause(ctx, pauseFor); err != nil {
			return err
		}
	}
}

// mayPass reports whether a failed poll may be followed by a good one.
func mayPass(err error) bool {
	_, unsent := errors.AsType[*SendError](err)
	_, unreadable := errors.AsType[*DecodeError](err)
	return unsent || unreadable || errors.Is(err, ErrServer) || errors.Is(err, ErrRateLimited)
}

// WaitError reports that a wait ended before what it waited for. What the service does goes on.
type WaitError struct {
	What      string                // "batch" or "operation".
	ID        string                // Its id, to wait again with.
	Batch     *gen.Batch            // The last snapshot of a batch.
	Operation *gen.ListingOperation // The last snapshot of an operation.
	Err       error                 // Why the wait ended; it Is ctx's error if that is why.
}

func (e *WaitError) Error() string {
	last := ""
	switch {
	case e.Batch != nil:
		last = fmt.Sprintf("%s, %d of %d items finished", cmp.Or(string(e.Batch.Status), "not read yet"), e.Batch.ItemStatuses.Of("completed")+e.Batch.ItemStatuses.Of("failed"), e.Batch.TotalItems)
	case e.Operation != nil:
		last = cmp.Or(string(e.Operation.OperationStatus), "not read yet")
	}
	return fmt.Sprintf("wait for %s %s: %v; it was last %s and goes on: wait again by its id", e.What, e.ID, e.Err, last)
}

// Unwrap returns why the wait ended.
func (e *WaitError) Unwrap() error { return e.Err }
