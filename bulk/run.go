package bulk

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/sellside-sdk/sellside-go/bulk/internal/decide"
	"github.com/sellside-sdk/sellside-go/bulk/internal/ledger"
	"github.com/sellside-sdk/sellside-go/bulk/internal/work"
)

// RunState is the state of a run.
type RunState string

// The states of runs.
const (
	RunRunning  RunState = "running"  // Or its process was killed.
	RunDone     RunState = "done"     // Nothing is owed or in flight any more.
	RunStopped  RunState = "stopped"  // Before its work was done.
	RunCanceled RunState = "canceled" // By the seller.
	RunReplaced RunState = "replaced" // By a newer plan.
)

// Run is the execution of a plan.
type Run struct {
	ID         int64     `json:"id"`
	Command    string    `json:"command,omitempty"`
	Source     string    `json:"source,omitempty"`
	Generation int64     `json:"generation"`
	State      RunState  `json:"state"`
	StartedAt  time.Time `json:"startedAt"`
	EndedAt    time.Time `json:"endedAt,omitzero"`
	Note       string    `json:"note,omitempty"`

	Done    int `json:"done"` // Listings that were created, updated or deleted.
	Failed  int `json:"failed"`
	Open    int `json:"open"`    // Rows' parts of batches in flight.
	Unknown int `json:"unknown"` // Of unknown outcome: see [Bulk.Resolve].
}

func runOf(r ledger.Run) Run {
	return Run{
		ID: r.ID, Command: r.Command, Source: r.Source, Generation: r.Generation, State: RunState(r.State),
		StartedAt: r.StartedAt, EndedAt: r.EndedAt, Note: r.Note,
		Done: r.Made, Failed: r.Failed, Open: r.Open, Unknown: r.Unknown,
	}
}

// Result is the outcome of a row's part of a batch.
type Result struct {
	SKU      string    `json:"sku"`
	Kind     string    `json:"kind"`              // create, update or delete.
	Listing  string    `json:"listing,omitempty"` // Of updates and deletes.
	Quantity int       `json:"quantity"`          // Listings that were to be created; 1 for other kinds.
	Done     int       `json:"done"`
	Failed   int       `json:"failed"`
	State    string    `json:"state"` // open, done, failed, stuck or not made.
	Error    string    `json:"error,omitempty"`
	EndedAt  time.Time `json:"endedAt,omitzero"`
}

func resultOf(i ledger.Item) Result {
	return Result{
		SKU: i.SKU, Kind: string(i.Kind), Listing: i.Listing, Quantity: i.Quantity, Done: i.Made, Failed: i.Failed,
		State: string(i.State), Error: i.Error, EndedAt: i.EndedAt,
	}
}

// Apply submits what a plan owes, and returns when nothing of it is owed or in flight any more. Rows
// that the service refuses, that are of unknown outcome or that wait for a price are left.
//
// If ctx ends, Apply waits for the request that is under way, and returns ctx's error: planning the
// same inventory again and applying it continues the work. Errors: [ErrReplaced], [ErrCanceled], the
// plan's Refused, and failures of the service that do not pass.
func (b *Bulk) Apply(ctx context.Context, p *Plan, command string) (Run, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if p.Refused != nil {
		return Run{}, fmt.Errorf("apply: %w", p.Refused)
	}
	if err := b.start(ctx); err != nil {
		return Run{}, fmt.Errorf("apply: %w", err)
	}
	var id int64
	err := b.ledger.Do(ctx, func(ctx context.Context, tx ledger.Tx) (err error) {
		id, err = tx.StartRun(ctx, command, p.Source, p.Generation, time.Now())
		if err != nil {
			return err
		}
		return tx.KeepAdoptions(ctx, p.Generation)
	})
	if err != nil {
		return Run{}, fmt.Errorf("apply: %w", err)
	}
	b.engine.Observe(work.Needs{Sales: p.MadeAt, LookUps: true})
	worked := b.work(ctx, func(s work.Status) bool { return s.Idle })
	state, note := ledger.RunDone, ""
	if worked != nil {
		state, note = ledger.RunStopped, worked.Error()
	}
	ended := context.WithoutCancel(ctx)
	err = b.ledger.Do(ended, func(ctx context.Context, tx ledger.Tx) error {
		return tx.EndRun(ctx, id, state, note, time.Now())
	})
	run, unread := b.Run(ended, id)
	if err = errors.Join(worked, err, unread); err != nil {
		return run, fmt.Errorf("apply: %w", err)
	}
	switch run.State {
	case RunCanceled:
		return run, fmt.Errorf("apply: %w", ErrCanceled)
	case RunReplaced:
		return run, fmt.Errorf("apply: %w", ErrReplaced)
	default:
		return run, nil
	}
}

// Runs returns the last 1,000 runs, the newest first.
func (b *Bulk) Runs(ctx context.Context) ([]Run, error) {
	const limit = 1000
	runs, err := ledger.Read(ctx, b.ledger, func(ctx context.Context, tx ledger.Tx) ([]ledger.Run, error) {
		return tx.Runs(ctx, limit)
	})
	all := make([]Run, len(runs))
	for i := range runs {
		all[i] = runOf(runs[i])
	}
	return all, err
}

// Run returns a run. Errors: [ErrNotFound].
func (b *Bulk) Run(ctx context.Context, id int64) (Run, error) {
	r, err := ledger.Read(ctx, b.ledger, func(ctx context.Context, tx ledger.Tx) (*ledger.Run, error) {
		return tx.RunOf(ctx, id)
	})
	if err == nil && r == nil {
		err = fmt.Errorf("run %d: %w", id, ErrNotFound)
	}
	if err != nil {
		return Run{}, err
	}
	return runOf(*r), nil
}

// Results yields the outcomes of a run's rows: those in a state, or all if state is "".
func (b *Bulk) Results(ctx context.Context, id int64, state string) iter.Seq2[Result, error] {
	items := pages(func(last *ledger.Item) ([]ledger.Item, error) {
		submission, seq := "", -1
		if last != nil {
			submission, seq = last.Submission, last.Seq
		}
		return ledger.Read(ctx, b.ledger, func(ctx context.Context, tx ledger.Tx) ([]ledger.Item, error) {
			return tx.RunItems(ctx, id, ledger.ItemState(state), submission, seq, planRows)
		})
	})
	return func(yield func(Result, error) bool) {
		for item, err := range items {
			if !yield(resultOf(item), err) {
				return
			}
		}
	}
}

// Cancel ends a run, also one of another process: nothing more is submitted. What is in flight is
// still settled by the process that runs it, or by the next plan. Errors: [ErrNotFound].
func (b *Bulk) Cancel(ctx context.Context, id int64) error {
	if _, err := b.Run(ctx, id); err != nil {
		return fmt.Errorf("cancel: %w", err)
	}
	return b.ledger.Do(ctx, func(ctx context.Context, tx ledger.Tx) error {
		return tx.EndRun(ctx, id, ledger.RunCanceled, "", time.Now())
	})
}

// Retry lets the rows of a run be tried again whose writes the service refused, by the next plan or
// by the run that is under way. It returns how many rows these are. Errors: [ErrNotFound].
func (b *Bulk) Retry(ctx context.Context, id int64) (rows int, err error) {
	if _, err := b.Run(ctx, id); err != nil {
		return 0, fmt.Errorf("retry: %w", err)
	}
	var n int64
	err = b.ledger.Do(ctx, func(ctx context.Context, tx ledger.Tx) (err error) {
		n, err = tx.RetryRows(ctx, id)
		return err
	})
	return int(n), err
}

// Resolve states what became of the writes of a row whose outcome could not be found out: the
// listings that they made, changed or deleted, or none. The row is decided again. Listings that it
// names are read before anything is created. Errors: [ErrNotFound] if the row has no such write.
func (b *Bulk) Resolve(ctx context.Context, id int64, sku string, made ...string) error {
	now := time.Now()
	found := false
	err := b.ledger.Do(ctx, func(ctx context.Context, tx ledger.Tx) error {
		items, err := tx.StuckItems(ctx, sku)
		if err != nil {
			return err
		}
		left := made
		for _, i := range items {
			if i.Run != id {
				continue
			}
			found = true
			n := min(len(left), i.Quantity-i.Made-i.Failed)
			if i.Kind != decide.WriteCreate {
				n = min(n, 1)
			}
			for _, listing := range left[:n] {
				if err := resolveMade(ctx, tx, i, listing, now); err != nil {
					return err
				}
			}
			left = left[n:]
			i.Made += n
			i.State, i.Error, i.EndedAt = ledger.ItemDone, "resolved by the seller", now
			if i.Made == 0 {
				i.State = ledger.ItemNotMade
			}
			if err := tx.SetItem(ctx, i); err != nil {
				return err
			}
			if i.Listing != "" {
				if err := tx.Want(ctx, i.Listing); err != nil {
					return err
				}
			}
		}
		if len(left) > 0 && found {
			return fmt.Errorf("%d listings are more than the writes can have made", len(made))
		}
		return nil
	})
	if err == nil && !found {
		err = fmt.Errorf("a write of unknown outcome of row %q in run %d: %w", sku, id, ErrNotFound)
	}
	if err != nil {
		return fmt.Errorf("resolve: %w", err)
	}
	return nil
}

// resolveMade records that a write made or changed a listing, which is read before the row creates.
func resolveMade(ctx context.Context, tx ledger.Tx, i ledger.Item, listing string, now time.Time) error {
	known, err := tx.Listings(ctx, listing)
	if err != nil {
		return err
	}
	l, ok := known[listing]
	if !ok {
		l.ID, l.Presence, l.CreatedAt = listing, decide.PresenceUnknown, now
	}
	l.SKU, l.Submission = i.SKU, cmp.Or(l.Submission, i.Submission)
	if err := tx.PutListing(ctx, l); err != nil {
		return err
	}
	return tx.Want(ctx, listing)
}
