package client

import (
	"context"
	"fmt"
	"iter"
	"net/http"
	"slices"
	"time"
)

// FinishedBatch is a batch with its items, as [Batch.Wait] returns them.
type FinishedBatch[T any] struct {
	Batch *Batch[T]
	Items []T
}

// WaitBatches waits for several batches of one kind. It yields each of them once, as soon as it is
// found done, with its items and the error that [Batch.Wait] would return for it.
//
// It polls one batch at a time, in turns, with the pauses of one wait: n batches cost as many polls as
// the pauses, and n more, instead of n polls for each pause. A batch that is done is found after a
// pause for each batch that is not, so finished batches are not always yielded in the order of their
// ends. If ctx has no deadline, waiting ends when no batch was found done for 30 minutes. What is not
// done when waiting ends is yielded with a [WaitError].
func WaitBatches[T any](
	ctx context.Context, batches []*Batch[T], opts ...WaitOption,
) iter.Seq2[FinishedBatch[T], error] {
	return func(yield func(FinishedBatch[T], error) bool) {
		if i := slices.Index(batches, nil); i >= 0 {
			yield(FinishedBatch[T]{}, invalid("wait", fmt.Sprintf("batches[%d]", i), "must not be nil"))
			return
		}
		if len(batches) == 0 {
			return
		}
		w, err := newWaiting(batches[0].c.waitOptions, opts)
		if err != nil {
			yield(FinishedBatch[T]{}, err)
			return
		}
		all := &batchesWait[T]{waiting: w, interval: w.first, began: time.Now()}
		for _, b := range batches {
			all.open = append(all.open, &openBatch[T]{Batch: b})
		}
		for len(all.open) > 0 {
			done, err := all.next(ctx)
			if done == nil { // waiting has ended for all of them
				for _, b := range all.open {
					if !yield(FinishedBatch[T]{Batch: b.Batch}, b.waitError(err)) {
						return
					}
				}
				return
			}
			finished := FinishedBatch[T]{Batch: done.Batch}
			if err != nil {
				err = done.waitError(err)
			} else {
				finished.Items, err = done.settle(ctx, w)
			}
			if !yield(finished, err) {
				return
			}
		}
	}
}

// batchesWait is the state of one [WaitBatches].
type batchesWait[T any] struct {
	*waiting
	open     []*openBatch[T]
	turn     int           // The index in open of the batch to poll.
	interval time.Duration // The next pause, which grows as that of a single wait.
	began    time.Time
}

// openBatch is a batch that is not known to be done.
type openBatch[T any] struct {
	*Batch[T]
	polled poll
}

// next polls until it finds a batch that is done, or that cannot be polled, which it returns with the
// error of the poll. It returns no batch if waiting has ended.
func (a *batchesWait[T]) next(ctx context.Context) (*openBatch[T], error) {
	var found *openBatch[T]
	var failed error
	turns := *a.waiting
	turns.first = a.interval
	always := func(error) bool { return true } // a poll that is not transient ends with its batch found
	err := turns.waitUntil(ctx, always, func(ctx context.Context) (bool, http.Header, error) {
		a.turn %= len(a.open)
		b := a.open[a.turn]
		if !b.Done() {
			if b.polled = b.pollOnce(ctx, b.polled.at, a.began); b.polled.err == nil {
				a.progress(b.Snapshot())
			}
		}
		err := b.polled.err
		if !b.Done() && (err == nil || b.isTransient(err) || ctx.Err() != nil) {
			a.turn++
			a.interval = min(a.interval+a.interval/2, a.longest)
			return false, b.polled.header, err
		}
		if !b.Done() {
			failed = err
		}
		a.open = slices.Delete(a.open, a.turn, a.turn+1)
		found = b
		return true, nil, nil
	})
	if found != nil {
		return found, failed
	}
	return nil, err
}

// waitError returns the error of a wait that has ended before the batch.
func (b *Batch[T]) waitError(err error) error {
	last := b.c.redactBatch(b.Snapshot())
	return &WaitError{What: "batch", ID: b.c.redact(b.id, ""), Batch: &last, Err: err}
}
