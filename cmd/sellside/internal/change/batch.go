package change

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/recovery"
	"github.com/sellside-sdk/sellside-go/gen"
)

// maxBatch is how many listings a batch of changes has at most.
const maxBatch = 100

// Update sends changes of the terms of listings, in batches. It calls done with the result of each,
// in order. If it returns an error, the changes that follow were not sent, which is their result.
func (s Settings) Update(ctx context.Context, items []gen.UpdateItem, done func(Result) error) error {
	ids := make([]string, len(items))
	for i, item := range items {
		ids[i] = item.ListingID
	}
	return many(ctx, batches[gen.UpdateBatchItem]{
		Settings: s, kind: gen.OperationTypeUpdate, ids: ids,
		send: func(ctx context.Context, from, to int) (*client.Batch[gen.UpdateBatchItem], error) {
			return s.Client.Batches.Update(ctx, items[from:to])
		},
		settle: func(ctx context.Context, from, to int, sentAt time.Time) ([]recovery.Verdict, error) {
			return recovery.SettleUpdate(ctx, s.Client, items[from:to], sentAt, s.options())
		},
		view: func(i gen.UpdateBatchItem) (string, gen.BatchItemStatus, gen.Reason) {
			return i.ListingInput.ListingID, i.Status, i.Error
		},
	}, done)
}

// Delete deletes listings, in batches, as Update changes them.
func (s Settings) Delete(ctx context.Context, ids []string, done func(Result) error) error {
	return many(ctx, batches[gen.DeleteBatchItem]{
		Settings: s, kind: gen.OperationTypeDelete, ids: ids,
		send: func(ctx context.Context, from, to int) (*client.Batch[gen.DeleteBatchItem], error) {
			return s.Client.Batches.Delete(ctx, ids[from:to])
		},
		settle: func(ctx context.Context, from, to int, sentAt time.Time) ([]recovery.Verdict, error) {
			return recovery.SettleDelete(ctx, s.Client, ids[from:to], sentAt, s.options())
		},
		view: func(i gen.DeleteBatchItem) (string, gen.BatchItemStatus, gen.Reason) {
			return i.ListingInput.ID, i.Status, i.Error
		},
	}, done)
}

// batches are changes of one type, whose items have results of type T.
type batches[T any] struct {
	Settings
	kind   gen.OperationType
	ids    []string
	send   func(ctx context.Context, from, to int) (*client.Batch[T], error)
	settle func(ctx context.Context, from, to int, sentAt time.Time) ([]recovery.Verdict, error)
	view   func(T) (listingID string, status gen.BatchItemStatus, err gen.Reason)
}

// many sends batches one after the other.
func many[T any](ctx context.Context, b batches[T], done func(Result) error) error {
	for from := 0; from < len(b.ids); from += maxBatch {
		to := min(from+maxBatch, len(b.ids))
		results, stop := b.one(ctx, from, to)
		if stop != nil {
			for _, id := range b.ids[to:] {
				results = append(results, Result{
					ListingID: id, Change: b.kind, Status: NotSent, Error: "not sent, because an earlier batch could not be completed",
				})
			}
		}
		for _, r := range results {
			if err := done(r); err != nil {
				return err
			}
		}
		if stop != nil {
			return stop
		}
	}
	return nil
}

// one sends one batch.
func (b batches[T]) one(ctx context.Context, from, to int) ([]Result, error) {
	results := make([]Result, to-from)
	for i, id := range b.ids[from:to] {
		results[i] = Result{ListingID: id, Change: b.kind}
	}
	sentAt := time.Now()
	batch, err := b.send(ctx, from, to)
	switch {
	case batch != nil:
		return b.wait(ctx, results, batch)
	case !errors.Is(err, client.ErrOutcomeUnknown):
		for i := range results {
			results[i] = results[i].unsent(err)
		}
		return results, Stops(ctx, err)
	}
	b.Log("no response to a batch: reading the operations of its listings for up to %s", b.Settle)
	verdicts, err := b.settle(ctx, from, to, sentAt)
	for i := range results {
		switch {
		case i >= len(verdicts) || verdicts[i].Kind == "":
			results[i] = results[i].unknown(err.Error())
		case verdicts[i].Kind == recovery.Landed:
			results[i], _ = b.Settings.wait(ctx, results[i], verdicts[i].Operation)
		default:
			results[i] = results[i].judged(verdicts[i])
		}
	}
	return results, err
}

// wait waits until a batch is done, and reads the results of its items.
func (b batches[T]) wait(ctx context.Context, results []Result, batch *client.Batch[T]) ([]Result, error) {
	b.Log("batch %s submitted: %d listings", batch.ID(), len(results))
	var items []T
	var err error
	why := "not waited for"
	if !b.NoWait {
		items, err = batch.Wait(ctx)
	}
	_, isComplete := errors.AsType[*client.BatchError](err)
	if err != nil && !isComplete {
		why = err.Error()
	}
	for i := range results {
		r := &results[i]
		r.BatchID, r.Status = batch.ID(), Submitted
		r.Error = fmt.Sprintf("%s: read its outcome with sellside batches wait %s --kind %s", why, r.BatchID, strings.ToLower(string(b.kind)))
		at := slices.IndexFunc(items, func(item T) bool {
			id, _, _ := b.view(item)
			return strings.EqualFold(id, r.ListingID)
		})
		if at < 0 {
			continue
		}
		switch _, status, failure := b.view(items[at]); {
		case status == gen.BatchItemStatusFailed || failure != "":
			r.Status, r.Error = Failed, reason(failure)
		case status == gen.BatchItemStatusCompleted:
			r.Status, r.Error = Succeeded, ""
		}
	}
	if isComplete {
		return results, nil
	}
	return results, err
}
