// Package recovery finds out what became of a write whose response was lost. It only reads; nothing
// but [Submit] writes. The service has no idempotency key, so a write that is sent twice may be
// applied twice.
//
// # Create batches
//
// No operation lists batches, and nothing correlates them with requests. Therefore a batch is saved
// as a [Submission] before it is sent, and the listings of the account are compared with it if the
// response is lost:
//
//	s, err := recovery.New(items)
//	save(s)
//	batch, err := recovery.Submit(ctx, c, s)
//	if batch == nil && errors.Is(err, client.ErrOutcomeUnknown) {
//		verdict, err := recovery.Recover(ctx, c, s, recovery.Options{Known: savedBatchIDs})
//	}
//
// # Other writes
//
// An update, deletion, activation or deactivation leaves an operation on its listing. See
// [SettleUpdate], [SettleDelete] and [SettleOperation].
//
// # Verdicts
//
// A [Verdict] is [Landed], [NotSeen] or [CannotTell]. Only NotSeen allows the write to be sent
// again. It needs proof: the settle time has passed, and everything that the service has shown
// since the write differs from it. Any doubt is CannotTell, including doubts about clocks and about
// entries that a list may lack.
//
// # Costs
//
// The functions look up to ten times during the settle time, 10 minutes by default, and return
// early once the write is found. Requests of the default settings:
//
//	a look of Recover      4, one more for each further page of 100 listings,
//	                       2 for each batch that is neither known nor ruled out before
//	a look of Settle...    1 for each listing that is not decided, one more for each further
//	                       100 operations on it
//	found by the first     4 and 2 for a batch; 1 for each listing of an update
//	not found              40 for a batch; 10 for each listing of an update
//
// They count against the quota of the client. All functions are safe for concurrent use.
package recovery

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/sellside-sdk/sellside-go/client"
)

// Options are the assumptions of [Recover] and of the functions that settle. A duration that is not
// positive has its default.
type Options struct {
	// Known are the ids of create batches that are not of the submission: all that are saved, by
	// every process of the account. An unknown batch may be mistaken for that of the submission or
	// prevent a verdict, and costs two requests. For writes to listings they are ids of operations.
	Known []string
	// Settle is the longest time that the service takes to show the first listing of a batch, or an
	// operation; 10 minutes by default. assumed: no service publishes it. Too short a time causes
	// duplicates.
	Settle time.Duration
	// Skew is the largest difference between the clocks of the service, of this machine, and of the
	// machine that made the write; 5 minutes by default.
	Skew time.Duration
	// SentBy is the latest time at which the write can have been sent, if the caller knows it; zero
	// is the time of the call. The settle time begins then: if it is over, the functions look once
	// and return.
	SentBy time.Time
}

// settled returns when the settle time is over.
func (o Options) settled() time.Time {
	begins := time.Now()
	if !o.SentBy.IsZero() && o.SentBy.Before(begins) {
		begins = o.SentBy
	}
	return begins.Add(o.Settle)
}

func (o Options) withDefaults() Options {
	o.Settle, o.Skew = cmp.Or(max(o.Settle, 0), 10*time.Minute), cmp.Or(max(o.Skew, 0), 5*time.Minute)
	return o
}

// Recover finds out what became of a submission whose response was lost. It writes nothing. It
// lists the listings of its variants, of every status, and compares the batches that they name with
// the submission.
//
// It returns [Landed] as soon as one batch matches, even if only one of its listings is shown yet.
// Otherwise it looks again until the settle time has passed since the call of Recover, 10 minutes
// by default, or since New plus an hour and the skew, whichever is earlier. [NotSeen] never comes
// before that. Do not call Submit after it; make a new submission.
//
// If ctx ends first, or the listings cannot be read, the error says so and nothing is decided. Call
// it after Submit has returned, and for one submission after the other: the batch of each that has
// landed is Known to the next. For submissions made [WithoutMark], an equal batch that is not known
// is taken for that of the submission.
func Recover(ctx context.Context, c *client.Client, s Submission, opts Options) (Verdict, error) {
	if err := check(c, s); err != nil {
		return Verdict{}, err
	}
	opts = opts.withDefaults()
	settled := opts.settled()
	latest := s.MadeAt.Add(sendWithin).Add(opts.Skew).Add(opts.Settle)
	if latest.Before(settled) {
		settled = latest
	}
	search := newSearch(c, s, opts, latest)
	var v Verdict
	err := lookUntil(ctx, settled, opts.Settle, func() (decided bool, err error) {
		v, err = search.look(ctx)
		return v.Kind == Landed, err
	})
	if err != nil {
		err = fmt.Errorf("recover (submission %s): nothing is decided, call Recover again: %w",
			s.ID, err)
		return Verdict{}, err
	}
	v.Since, v.Settle = search.since, opts.Settle
	return v, nil
}

// lookUntil looks until the write is decided or the settle time is over; the last look is after it.
// Pauses grow from a fiftieth of the settle time to a fifth. Transient failures are repeated.
func lookUntil(
	ctx context.Context, settled time.Time, settle time.Duration, look func() (decided bool, err error),
) error {
	for interval := settle / 50; ; interval = min(interval+interval/2, settle/5) {
		last := !time.Now().Before(settled)
		decided, err := look()
		if err == nil && (last || decided) {
			return nil
		}
		if err == nil || !last && ctx.Err() == nil && client.IsTransient(err) {
			select {
			case <-time.After(max(time.Millisecond, min(interval, time.Until(settled)))):
				continue
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return err
	}
}
