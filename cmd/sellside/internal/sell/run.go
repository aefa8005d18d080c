// Package sell lists an inventory in batches and finds out the outcome of every listing.
package sell

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/recovery"
	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/inventory"
	"github.com/sellside-sdk/sellside-go/gen"
)

const (
	// finalReadTimeout is how long a run that is stopped may take to read the state of its batch.
	finalReadTimeout = 5 * time.Second
	// maxSubmissions is how often a batch is submitted that is proved not to have arrived.
	maxSubmissions = 3
)

// ErrUnsettled marks the end of a run that has left a batch unsettled.
var ErrUnsettled = errors.New("the outcome of the batch is unknown")

// Run sells an inventory. It sends one batch after the other, and settles a batch of unknown
// outcome before it sends the next.
type Run struct {
	Client *client.Client
	Watch  Watcher
	// Save is called with all results before a batch is sent, and whenever they change. Unsettled
	// is the batch whose outcome they lack, nil if there is none. If Save fails, nothing more is
	// sent.
	Save func(results []Result, unsettled *Unsettled) error
	// SettleTime is the longest time that the service takes to show the first listing of a batch;
	// zero is the default of [recovery.Options].
	SettleTime time.Duration
	// Known are the ids of batches of earlier runs, which cannot be those of this run. The run adds
	// its own.
	Known []string
}

// Unsettled is a batch that was sent, or is about to be, and whose outcome was not read. Another
// process can settle it with [Run.Settle]. It is saved as JSON.
type Unsettled struct {
	Submission recovery.Submission `json:"submission"`
	BatchID    string              `json:"batchId,omitempty"` // Empty unless it is known.
	Known      []string            `json:"known"`             // Ids of the batches before it, of its run and of others.
	Results    []Result            `json:"results"`           // Of its whole run.
	First      int                 `json:"first"`             // Index of the first result of the batch.
}

// Watcher receives the events of a run, on its goroutine.
type Watcher interface {
	Submitted(b Batch)           // It has its id, and the wait begins.
	Settling(b Batch)            // It has no response; the listings are read.
	Moved(b Batch, finished int) // So many of its listings are finished.
	Finished(b Batch, c Counts)  // It is done, or was refused and has no id.
}

type createBatch = client.Batch[gen.CreateBatchItem]

// Batch describes a batch to a [Watcher].
type Batch struct {
	ID            string
	Number, Of    int // From 1.
	Listings      int // That it makes.
	Before, Total int // Listings of the batches before it, and of all.
}

// Sell lists rows, each of which must have its variant id, and returns the results in the order of
// the rows. They are complete and true however the run ends. The error says why it ended early: ctx
// ended, the service could not be reached, or Save failed. It Is [ErrUnsettled] if the last batch
// may have been made, and its outcome was not read.
func (r *Run) Sell(ctx context.Context, rows []inventory.Row) ([]Result, error) {
	results, batches := plan(rows)
	if err := r.save(results, nil); err != nil {
		return results, err
	}
	before := 0
	for i := range batches {
		b := &batches[i]
		e := Batch{Number: i + 1, Of: len(batches), Listings: len(b.results), Before: before, Total: len(results)}
		before += e.Listings
		if err := r.sellBatch(ctx, b, e, results); err != nil {
			return results, fmt.Errorf("batch %d of %d: %w", e.Number, e.Of, err)
		}
	}
	return results, nil
}

// Settle finds out the outcome of a batch that an earlier run has left unsettled, and waits for the
// batch if it was created. It sends nothing. It returns the results of that run.
func (r *Run) Settle(ctx context.Context, u Unsettled) ([]Result, error) {
	b := &batch{items: u.Submission.Items}
	if err := client.CheckCreate(b.items); err != nil {
		return u.Results, fmt.Errorf("settle: the file is damaged: %w", err)
	}
	listings := 0
	for _, item := range b.items {
		listings += int(item.Quantity)
	}
	if u.First < 0 || listings > len(u.Results)-u.First {
		return u.Results, fmt.Errorf("settle (batch of %d listings from %d): the file is damaged, it has %d results",
			listings, u.First, len(u.Results))
	}
	b.results = u.Results[u.First : u.First+listings]
	r.Known = u.Known
	e := Batch{Number: 1, Of: 1, Listings: listings, Total: listings}
	handle := r.Client.Batches.ResumeCreate(u.BatchID)
	if u.BatchID == "" {
		var err error
		if handle, err = r.recover(ctx, b, e, &u); handle == nil {
			return u.Results, err
		}
	}
	return u.Results, r.follow(ctx, handle, b, e, &u)
}

// save saves the results.
func (r *Run) save(results []Result, u *Unsettled) error {
	advise(results)
	return r.Save(results, u)
}

// sellBatch submits a batch until it is known to have arrived, and waits for it.
func (r *Run) sellBatch(ctx context.Context, b *batch, e Batch, results []Result) error {
	for range maxSubmissions {
		submission, err := recovery.New(b.items)
		if err != nil {
			return err
		}
		u := &Unsettled{Submission: submission, Known: r.Known, Results: results, First: e.Before}
		b.fill(StatusUnknown, "sent at %s without a response: settle it before you list it again",
			submission.MadeAt.Format(time.RFC3339))
		if err := r.save(results, u); err != nil {
			b.notSent()
			advise(results)
			return err
		}
		handle, err := recovery.Submit(ctx, r.Client, submission)
		switch {
		case handle != nil: // also beside an error: what is left of the response has the id
		case errors.Is(err, client.ErrOutcomeUnknown):
			if handle, err = r.recover(ctx, b, e, u); err != nil {
				return err
			}
			if handle == nil {
				continue
			}
		case errors.Is(err, client.ErrBadRequest):
			b.fill(StatusRefused, "not made, the service refused the whole batch: %v", err)
			r.Watch.Finished(e, Count(b.results))
			return r.save(results, nil)
		default:
			b.notSent()
			if _, refused := errors.AsType[*client.APIError](err); refused {
				b.fill(StatusRefused, "not made, the service refused the batch: %v", err)
			}
			return errors.Join(err, r.save(results, nil))
		}
		return r.follow(ctx, handle, b, e, u)
	}
	return fmt.Errorf("submitted %d times and not seen: the service does not receive it, try again later",
		maxSubmissions)
}

// recover finds out the outcome of a batch without a response. It returns its handle if it was
// created, nil if it was not, and an error if that is not known.
func (r *Run) recover(ctx context.Context, b *batch, e Batch, u *Unsettled) (*createBatch, error) {
	r.Watch.Settling(e)
	sentAt := u.Submission.MadeAt.Format(time.RFC3339)
	opts := recovery.Options{Known: r.Known, Settle: r.SettleTime}
	verdict, err := recovery.Recover(ctx, r.Client, u.Submission, opts)
	switch {
	case err != nil:
		return nil, errors.Join(fmt.Errorf("%w: %w", ErrUnsettled, withoutAdvice(err)), r.save(u.Results, u))
	case verdict.Kind == recovery.Landed:
		return verdict.Batch, nil
	case verdict.Kind == recovery.NotSeen:
		b.notSeen("not made, the batch sent at %s is %s", sentAt, verdict)
		return nil, r.save(u.Results, nil)
	default:
		b.fill(StatusUnknown, "sent at %s without a response, %s: look for it before you list it again",
			sentAt, verdict)
		return nil, errors.Join(fmt.Errorf("%w: %s", ErrUnsettled, verdict.Reason), r.save(u.Results, u))
	}
}

// withoutAdvice returns the reason why the listings or a batch could not be read, without the advice
// for Go programs: sellers type commands and call nothing.
func withoutAdvice(err error) error {
	if wait, ok := errors.AsType[*client.WaitError](err); ok {
		return fmt.Errorf("wait for batch %s: %w", wait.ID, wait.Err)
	}
	if reason := errors.Unwrap(err); reason != nil {
		return fmt.Errorf("read the listings: %w", reason)
	}
	return err
}

// follow waits for a batch and takes its results. If the wait ends early it takes what there is.
func (r *Run) follow(ctx context.Context, handle *createBatch, b *batch, e Batch, u *Unsettled) error {
	e.ID, u.BatchID = handle.ID(), handle.ID()
	r.Known = append(r.Known, e.ID)
	r.Watch.Submitted(e)
	for i := range b.results {
		b.results[i].BatchID = e.ID
	}
	b.fill(StatusSubmitted, "batch %s was accepted and its outcome was not read: look for its listings before you list them again",
		e.ID)
	if err := r.save(u.Results, u); err != nil {
		return fmt.Errorf("%w: %w", ErrUnsettled, err)
	}
	items, err := handle.Wait(ctx, client.WithProgress(func(s gen.Batch) {
		completed := s.ItemStatuses.Of(string(gen.BatchItemStatusCompleted))
		r.Watch.Moved(e, completed+s.ItemStatuses.Of(string(gen.BatchItemStatusFailed)))
	}))
	if _, ok := errors.AsType[*client.BatchError](err); ok && ctx.Err() == nil {
		err = nil // each result has its own
	}
	if err != nil {
		err = fmt.Errorf("%w: %w", ErrUnsettled, withoutAdvice(err))
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), finalReadTimeout)
		defer cancel()
		var unread error
		if items, unread = handle.Results(ctx, ""); unread != nil {
			return err
		}
		b.take(e.ID, u.Submission, items, false)
		return errors.Join(err, r.save(u.Results, u))
	}
	b.take(e.ID, u.Submission, items, true)
	r.Watch.Finished(e, Count(b.results))
	if err := r.save(u.Results, nil); err != nil { // the files still have the batch as it was before
		return fmt.Errorf("%w: %w", ErrUnsettled, err)
	}
	return nil
}
