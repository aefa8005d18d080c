package client

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/sellside-sdk/sellside-go/gen"
	"github.com/sellside-sdk/sellside-go/recovery"
)

// Attempt is a create batch that is written down before it is sent; see package recovery.
type Attempt = recovery.Attempt

// Recovery is what [Batches.Recover] may assume; see package recovery.
type Recovery = recovery.Options

// AttemptOption changes how [NewAttempt] makes an attempt.
type AttemptOption = recovery.Option

// Marked makes attempts of equal items distinguishable; see package recovery.
func Marked() AttemptOption { return recovery.Marked() }

// VerdictKind is what [Batches.Recover] found out; see package recovery.
type VerdictKind = recovery.Kind

// The kinds of a [Verdict]; see package recovery.
const (
	Landed     = recovery.Landed
	NotSeen    = recovery.NotSeen
	CannotTell = recovery.CannotTell
)

// Verdict is what became of an attempt whose answer was lost; see package recovery.
type Verdict struct {
	recovery.Verdict
	Batch *Batch[gen.CreateBatchItem] // If it landed: its handle, not polled yet.
}

// NewAttempt makes an attempt to create listings. Save it as JSON, then submit it. It does no I/O. Errors:
// [ArgumentError], as for [Batches.Create]; how many items a batch may have is for Submit to check.
func NewAttempt(items []gen.CreateItem, opts ...AttemptOption) (Attempt, error) {
	if _, err := checkCreate(items, len(items)); err != nil {
		return Attempt{}, err
	}
	return recovery.New(items, opts...), nil
}

// Submit sends a saved attempt as [Batches.Create] does. On [ErrOutcomeUnknown], and after a crash, ask
// [Batches.Recover]; after any other error nothing was created. It is sent within an hour of being made or not
// at all: a wait for the quota ends then, and a later call is an [ArgumentError].
func (s *Batches) Submit(ctx context.Context, attempt Attempt) (*Batch[gen.CreateBatchItem], error) {
	if err := checkAttempt(attempt); err != nil {
		return nil, err
	}
	sendBy := attempt.MadeAt.Add(recovery.SendWithin)
	if time.Now().After(sendBy) {
		return nil, attemptProblem("it is more than an hour old: recover it, unless it was never submitted")
	}
	ctx, cancel := context.WithDeadline(ctx, sendBy)
	defer cancel()
	return s.Create(ctx, attempt.Items)
}

// Recover finds out what became of an attempt whose answer was lost, by reading; package recovery says how, and
// how far the verdicts can be trusted. It writes nothing. It takes until the settle time has passed, unless a
// batch matches before. Call it after Submit has returned, and for one attempt after the other. If ctx ends
// first, or the listings cannot be read, the error says so and nothing is decided.
func (s *Batches) Recover(ctx context.Context, attempt Attempt, r Recovery) (Verdict, error) {
	if err := checkAttempt(attempt); err != nil {
		return Verdict{}, err
	}
	v, err := recovery.Recover(ctx, reader{s.c}, attempt, r)
	out := Verdict{Verdict: v}
	if v.Kind == Landed {
		out.Batch = s.OpenCreate(v.BatchID)
	}
	return out, err
}

func checkAttempt(a Attempt) error {
	if a.ID == "" || a.MadeAt.IsZero() || len(a.Items) == 0 {
		return attemptProblem("its id, time or items are missing: use NewAttempt")
	}
	return nil
}

func attemptProblem(text string) error {
	return &ArgumentError{Operation: gen.OpCreateListingsBatch, Field: "attempt", Problem: text}
}

// reader reads for package recovery.
type reader struct{ c *Client }

func (r reader) Listings(ctx context.Context, variantIDs []string, from time.Time, expired bool) iter.Seq2[gen.Listing, error] {
	return r.c.Listings.List(ctx, ListListings{VariantIDs: variantIDs, From: from, Expired: expired})
}

func (r reader) Batch(ctx context.Context, id string) (gen.Batch, error) {
	return r.c.Batches.OpenCreate(id).Poll(ctx)
}

func (r reader) Items(ctx context.Context, id string) ([]gen.CreateBatchItem, error) {
	return r.c.Batches.OpenCreate(id).Results(ctx)
}

func (r reader) MayPass(err error) bool { return mayPass(err) }

func (r reader) Refused(err error) bool {
	return errors.Is(err, ErrBadRequest) || errors.Is(err, ErrInvalidArgument)
}
