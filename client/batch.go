package client

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/sellside-sdk/sellside-go/client/quota"
	"github.com/sellside-sdk/sellside-go/gen"
)

// Batch is a handle of a submitted batch. It polls the batch and reads the results of its items,
// which are of type T. It is safe for concurrent use; goroutines that wait for the same handle
// share its polls.
type Batch[T any] struct {
	c         *Client
	id        string
	kind      batchKind[T]
	submitted *submittedBatch // Nil for a resumed batch.

	polling chan struct{} // Full while a goroutine polls.
	mu      sync.Mutex
	last    gen.Batch
	polled  poll
}

// poll is the result of a poll. All waiting goroutines share it, with its failure or Retry-After.
type poll struct {
	at     time.Time
	header http.Header
	err    error
}

// batchKind is the difference between create, update and delete batches.
type batchKind[T any] struct {
	get   func(c gen.Calls, ctx context.Context, batchID string) (*gen.Batch, error)
	items func(ctx context.Context, batchID string, status *gen.BatchItemStatus) ([]T, error)
	view  func(*T) batchItem
}

// submittedBatch describes a batch that this client has submitted.
type submittedBatch struct {
	at         time.Time // When the service responded.
	items      int       // Counted as listings.
	listingIDs []string  // Of an update or a delete batch.
}

func newBatch[T any](c *Client, id string, kind batchKind[T]) *Batch[T] {
	return &Batch[T]{c: c, id: id, kind: kind, polling: make(chan struct{}, 1)}
}

// ID returns the batch's id. Save it: no operation lists batches.
func (b *Batch[T]) ID() string { return b.id }

// Snapshot returns the batch as last read. A resumed batch is zero until its first poll.
func (b *Batch[T]) Snapshot() gen.Batch {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.last
}

// Done reports whether the last snapshot is final: completedAt is set, or the status is COMPLETED.
func (b *Batch[T]) Done() bool {
	s := b.Snapshot()
	return !s.CompletedAt.IsZero() || strings.EqualFold(string(s.Status), string(gen.BatchStatusCompleted))
}

// Poll reads the batch once, with GET /selling/batch/create-listing/{batchId}, GET
// /selling/batch/update-listing/{batchId} or GET /selling/batch/delete-listing/{batchId}. A failed
// poll does not change the snapshot. Errors: [ErrNotFound] for an unknown id, [ErrUnauthorized].
func (b *Batch[T]) Poll(ctx context.Context) (gen.Batch, error) {
	now := time.Now()
	p := b.pollOnce(ctx, now, now)
	return b.Snapshot(), p.err
}

// pollOnce waits until no other goroutine polls, and polls, unless another one has polled after
// since. It ignores a poll that failed before began.
func (b *Batch[T]) pollOnce(ctx context.Context, since, began time.Time) poll {
	select {
	case b.polling <- struct{}{}:
		defer func() { <-b.polling }()
	case <-ctx.Done():
		return poll{at: since, err: ctx.Err()}
	}
	b.mu.Lock()
	latest := b.polled
	b.mu.Unlock()
	if latest.at.After(since) && (latest.err == nil || !latest.at.Before(began)) {
		return latest
	}
	call := b.c.newCall()
	s, err := b.kind.get(gen.Calls{Invoker: call}, ctx, b.id)
	_, full := errors.AsType[*quota.Error](err)
	_, throttled := errors.AsType[*ThrottledError](err)
	if err != nil && (full || throttled || ctx.Err() != nil || !b.isTransient(err)) {
		return poll{at: since, err: err} // not shared: the cause may be this caller's ctx
	}
	return b.store(s, poll{time.Now(), call.header, err})
}

func (b *Batch[T]) store(s *gen.Batch, p poll) poll {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.polled = p; s != nil {
		b.last = *s
	}
	return p
}

// isTransient reports whether a poll may succeed after this failure. A batch that was submitted
// within settleTime may not be found yet.
func (b *Batch[T]) isTransient(err error) bool {
	isNew := b.submitted != nil && time.Since(b.submitted.at) < settleTime
	return IsTransient(err) || isNew && errors.Is(err, ErrNotFound)
}

// Wait polls until the batch is done and returns the results of all its items, in no guaranteed
// order: match them to the inputs that they echo.
//
// Wait succeeds only if every item did. Each must be COMPLETED, without an error. In a create batch
// each must have the listingId of its own listing; in an update or a delete batch each submitted
// listing must be named exactly once, by listingInput or result. The number of items is that of the
// submission; for a resumed batch it is totalItems. If the results do not account for every item,
// or if totalItems or itemStatuses disagree with them, Wait reads them again for up to a minute. It
// then returns the results with a [BatchError] that lists what failed and what is not known. If the
// results cannot be read at all, the error is that of [Batch.Results].
//
// When ctx ends, after 30 minutes if ctx has no deadline, or when a poll fails with a permanent
// error, the error is a [WaitError] with the last snapshot. Waiting again is harmless, and useful
// unless the error was permanent, such as [ErrNotFound]. An unknown status does not end the wait.
// Within a minute of the submission by this client a poll that fails with [ErrNotFound] is
// repeated.
func (b *Batch[T]) Wait(ctx context.Context, opts ...WaitOption) ([]T, error) {
	w, err := newWaiting(b.c.waitOptions, opts)
	if err != nil {
		return nil, err
	}
	var p poll
	began := time.Now()
	err = w.waitUntil(ctx, b.isTransient, func(ctx context.Context) (bool, http.Header, error) {
		if b.Done() {
			return true, nil, nil
		}
		if p = b.pollOnce(ctx, p.at, began); p.err == nil {
			w.progress(b.Snapshot())
		}
		return b.Done(), p.header, p.err
	})
	if err != nil && !b.Done() { // another goroutine may have read its end meanwhile
		return nil, b.waitError(err)
	}
	return b.settle(ctx, w)
}

// redactBatch removes the credentials from the parts of a batch that errors print.
func (c *Client) redactBatch(b gen.Batch) gen.Batch {
	b.BatchID, b.Status = c.redact(b.BatchID, ""), gen.BatchStatus(c.redact(string(b.Status), ""))
	counts := make(gen.Counts, len(b.ItemStatuses))
	for name, n := range b.ItemStatuses {
		counts[c.redact(name, "")] += n
	}
	b.ItemStatuses = counts
	return b
}

// Results reads the items in a status, or all items if status is "", with GET
// /selling/batch/create-listing/{batchId}/items, GET /selling/batch/update-listing/{batchId}/items
// or GET /selling/batch/delete-listing/{batchId}/items. The batch need not be done. Errors: as
// [Batch.Poll].
func (b *Batch[T]) Results(ctx context.Context, status gen.BatchItemStatus) ([]T, error) {
	return b.kind.items(ctx, b.id, set(status))
}
