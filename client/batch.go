package client

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/sellside-sdk/sellside-go/gen"
)

// Batch follows one batch to its end and reads the results of its items, which are of type T. It is safe for
// concurrent use, and goroutines that wait for it together poll no more than one of them would.
type Batch[T any] struct {
	c    *Client
	id   string
	kind batchKind[T]
	sent *submission // What this client has submitted; nil for a batch that was opened by its id.

	turn   chan struct{} // Held by whoever polls.
	mu     sync.Mutex
	last   gen.Batch
	polled poll
}

// poll is how a poll went. All who wait share it, so that a failure or a Retry-After holds for all of them.
type poll struct {
	at     time.Time
	header http.Header
	err    error
}

// batchKind is what create, update and delete batches differ in.
type batchKind[T any] struct {
	get, list gen.OperationID
	read      method[string]
	items     method2[string, *gen.BatchItemStatus]
	view      func(*T) batchItem
}

// submission is what a client knows of a batch that it has submitted itself.
type submission struct {
	at         time.Time // When the service responded.
	items      int       // Counted as listings.
	listingIDs []string  // Of an update or a delete batch.
}

func newBatch[T any](c *Client, id string, kind batchKind[T]) *Batch[T] {
	return &Batch[T]{c: c, id: id, kind: kind, turn: make(chan struct{}, 1)}
}

// ID returns the batch's id. Save it: no operation lists batches.
func (b *Batch[T]) ID() string { return b.id }

// Snapshot returns the batch as it was last read; it is zero after Open until the first poll.
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

// Poll reads the batch once, with GET /selling/batch/create-listing/{batchId} (documented),
// GET /selling/batch/update-listing/{batchId} (documented) or
// GET /selling/batch/delete-listing/{batchId} (documented). A failed poll leaves the snapshot as it was.
// Errors: [ErrNotFound] for an unknown id, [ErrUnauthorized].
func (b *Batch[T]) Poll(ctx context.Context) (gen.Batch, error) {
	now := time.Now()
	p := b.pollOnce(ctx, now, now)
	return b.Snapshot(), p.err
}

// pollOnce polls when it is its turn, unless somebody else has polled after since meanwhile. What failed before the
// caller's wait began is nothing to it.
func (b *Batch[T]) pollOnce(ctx context.Context, since, began time.Time) poll {
	select {
	case b.turn <- struct{}{}:
		defer func() { <-b.turn }()
	case <-ctx.Done():
		return poll{at: since, err: ctx.Err()}
	}
	b.mu.Lock()
	theirs := b.polled
	b.mu.Unlock()
	if theirs.at.After(since) && (theirs.err == nil || !theirs.at.Before(began)) {
		return theirs
	}
	call := newCall(b.kind.get, b.id)
	s, err := do[gen.Batch](ctx, b.c, call, func(ctx context.Context) (*http.Response, error) {
		return b.kind.read(ctx, b.id)
	})
	if err != nil && (ctx.Err() != nil || !b.isTransient(err)) {
		return poll{at: since, err: err} // it may be about this caller's time, so the others ask themselves
	}
	return b.keep(s, poll{time.Now(), call.header, err})
}

func (b *Batch[T]) keep(s *gen.Batch, p poll) poll {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.polled = p; s != nil {
		b.last = *s
	}
	return p
}

// isTransient reports whether a failed poll may be followed by a good one. A batch that was submitted a moment ago may not
// be shown yet.
func (b *Batch[T]) isTransient(err error) bool {
	isNew := b.sent != nil && time.Since(b.sent.at) < settleTime
	return IsTransient(err) || isNew && errors.Is(err, ErrNotFound)
}

// Wait polls until the batch is done and returns the results of all its items, in no promised order: match
// them to the inputs by what they echo. It succeeds only if every item did: each is COMPLETED, without an error; of a
// create batch, each has the listingId of a listing of its own; of an update or a delete batch, each submitted listing
// is named once, by listingInput or result. How many items there are is known from the submission, and from totalItems
// if the batch was opened by its id. Where the results fall short of that, or totalItems or itemStatuses disagree with
// them, they are read again for up to a minute. The results then come with a [BatchError], which has what failed and
// what is not known. If they cannot be read at all, the error is that of [Batch.Results].
//
// When ctx ends, or after 30 minutes if it has no deadline, or when polling fails for good, the error is a
// [WaitError] that keeps the last snapshot; the batch goes on all the same, and waiting again is harmless. A
// status that this module does not know is not an end. A poll that finds no batch ([ErrNotFound]) is repeated within a
// minute of its submission by this client.
func (b *Batch[T]) Wait(ctx context.Context, opts ...WaitOption) ([]T, error) {
	progress := newWaiting(opts).progress
	var p poll
	began := time.Now()
	err := waitUntil(ctx, opts, b.isTransient, func(ctx context.Context) (bool, http.Header, error) {
		if b.Done() {
			return true, nil, nil
		}
		if p = b.pollOnce(ctx, p.at, began); p.err == nil {
			progress(b.Snapshot())
		}
		return b.Done(), p.header, p.err
	})
	if err != nil && !b.Done() { // another who waits may have seen its end meanwhile
		last := b.c.redactBatch(b.Snapshot())
		return nil, &WaitError{What: "batch", ID: b.c.redact(b.id, ""), Batch: &last, Err: err}
	}
	return b.settle(ctx, opts)
}

// redactBatch takes the credentials out of what errors print of a batch.
func (c *Client) redactBatch(b gen.Batch) gen.Batch {
	b.BatchID, b.Status = c.redact(b.BatchID, ""), gen.BatchStatus(c.redact(string(b.Status), ""))
	counts := make(gen.Counts, len(b.ItemStatuses))
	for name, n := range b.ItemStatuses {
		counts[c.redact(name, "")] += n
	}
	b.ItemStatuses = counts
	return b
}

// Results reads the items at any time, all of them or those in one status, with
// GET /selling/batch/create-listing/{batchId}/items (documented),
// GET /selling/batch/update-listing/{batchId}/items (public) or
// GET /selling/batch/delete-listing/{batchId}/items (documented). Errors: as [Batch.Poll].
func (b *Batch[T]) Results(ctx context.Context, status ...gen.BatchItemStatus) ([]T, error) {
	var filter *gen.BatchItemStatus
	if len(status) == 1 {
		filter = &status[0]
	} else if len(status) > 1 {
		return nil, &ArgumentError{Operation: b.kind.list, Field: "status", Problem: "the service filters by one"}
	}
	list, err := do2[struct {
		Items []T `json:"items"`
	}](ctx, b.c, b.kind.list, b.kind.items, b.id, filter)
	if err != nil {
		return nil, err
	}
	return list.Items, nil
}
