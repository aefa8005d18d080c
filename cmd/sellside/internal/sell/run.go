package sell

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/inventory"
	"github.com/sellside-sdk/sellside-go/gen"
)

// lastLook is how long a run that is stopped may take to read how far its batch has come.
const lastLook = 5 * time.Second

// Run sells an inventory. Its batches are sent one after the other, and none is ever sent twice.
type Run struct {
	Batches *client.Batches
	Watch   Watcher
	// Save is given all results before anything is sent and whenever they change. If it fails, nothing more
	// is sent.
	Save func([]Result) error
	// Poll says how often a batch is looked at; empty is the client's own pace.
	Poll []client.WaitOption
}

// Watcher is told how a run goes, from the goroutine of the run.
type Watcher interface {
	Submitted(b Batch)                       // It has its id, and the waiting begins.
	Moved(b Batch, finished int)             // So many of its listings are finished.
	Finished(b Batch, completed, failed int) // It is over, or was refused and has no id.
}

// Batch is what a watcher is told of a batch.
type Batch struct {
	ID            string
	Number, Of    int // From 1.
	Listings      int // That it makes.
	Before, Total int // Listings of the batches before it, and of all.
}

// Sell lists rows, all of which must have their variant id, and returns the results in the order of the rows.
// They are complete and true however the run ends; the error says why it ended early: ctx was over, the
// outcome of a batch is unknown ([client.ErrOutcomeUnknown]), the service could not be reached, or Save failed.
func (r *Run) Sell(ctx context.Context, rows []inventory.Row) ([]Result, error) {
	results, batches := plan(rows)
	if err := r.Save(results); err != nil {
		return results, err
	}
	before := 0
	for i := range batches {
		b := &batches[i]
		told := Batch{Number: i + 1, Of: len(batches), Listings: len(b.results), Before: before, Total: len(results)}
		before += told.Listings
		err := r.sellBatch(ctx, b, told, func() error { return r.Save(results) })
		if err != nil {
			err = fmt.Errorf("batch %d of %d: %w", told.Number, told.Of, err)
		}
		if err := errors.Join(err, r.Save(results)); err != nil {
			return results, err
		}
	}
	return results, nil
}

func (r *Run) sellBatch(ctx context.Context, b *batch, told Batch, save func() error) error {
	sentAt := time.Now().UTC().Format(time.RFC3339)
	handle, err := r.Batches.Create(ctx, b.items)
	switch {
	case errors.Is(err, client.ErrOutcomeUnknown):
		b.fill(StatusUnknown, "it was sent at %s and no answer came: look for it among the listings created since then before you sell the row again", sentAt)
		return err
	case errors.Is(err, client.ErrBadRequest):
		b.fill(StatusRefused, "nothing was made, the service refused the whole batch: %v", err)
		r.Watch.Finished(told, 0, told.Listings)
		return nil
	case err != nil:
		return err
	}
	told.ID = handle.ID()
	r.Watch.Submitted(told)
	b.fill(StatusSubmitted, "how it ended was not learned: look for the listings of batch %s before you sell the row again", told.ID)
	if err := save(); err != nil {
		return err
	}
	return r.follow(ctx, handle, b, told)
}

// follow waits for a batch and takes its results. When the waiting is cut short it takes what there is.
func (r *Run) follow(ctx context.Context, handle *client.Batch[gen.CreateBatchItem], b *batch, told Batch) error {
	items, err := handle.Wait(ctx, append(slices.Clone(r.Poll), client.WithProgress(func(s gen.Batch) {
		r.Watch.Moved(told, s.ItemStatuses.Of(string(gen.BatchItemStatusCompleted))+s.ItemStatuses.Of(string(gen.BatchItemStatusFailed)))
	}))...)
	if failed := (*client.BatchError)(nil); errors.As(err, &failed) {
		err = nil // each result says it for itself
	}
	if err != nil {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastLook)
		defer cancel()
		var unread error
		if items, unread = handle.Results(ctx); unread != nil {
			return err
		}
	}
	b.take(told.ID, items)
	completed := 0
	for _, result := range b.results {
		if result.Completed() {
			completed++
		}
	}
	if err == nil {
		r.Watch.Finished(told, completed, told.Listings-completed)
	}
	return err
}
