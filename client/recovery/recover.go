// Package recovery finds out what became of a write whose response was lost, by reading; it writes
// nothing but what [Submit] sends. There is no idempotency key, so a write that is sent again may
// be applied twice.
//
// No operation lists batches and nothing correlates them. So a create batch is saved before it is
// sent, as an [Submission], and the listings that the service shows are compared with it:
//
//	attempt, err := recovery.New(items)
//	save(attempt)
//	batch, err := recovery.Submit(ctx, c, attempt)
//	if errors.Is(err, client.ErrOutcomeUnknown) {
//		verdict, err := recovery.Recover(ctx, c, attempt, recovery.Options{Known: savedBatchIDs})
//	}
//
// Other writes leave operations on their listings: see [SettleUpdate], [SettleDelete] and
// [SettleOperation].
//
// A [Verdict] is [Landed], [NotSeen] or [CannotTell]. NotSeen needs proof: everything that the
// service has shown since the write is certainly something else. Every doubt, also about clocks and
// about what a list may have left out, is CannotTell, because what is not seen is sent again. The
// functions are safe for concurrent use.
package recovery

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/sellside-sdk/sellside-go/client"
)

// Options is what [Recover] and the functions that settle may assume. Fields that are not above
// zero have their defaults.
type Options struct {
	// Known are the ids of create batches that are not the attempt's: all that are saved, by every
	// process of the account. A batch that is not known may be taken for the attempt's or make it
	// impossible to tell, and costs two requests. For a write to listings they are ids of
	// operations.
	Known []string
	// Settle is how long the service takes at most to show a batch's first listing, or an
	// operation, 10 minutes by default. No service publishes it; too short a time makes duplicates.
	Settle time.Duration
	// Skew is how far the clocks of the service and of this machine may be from the one that the
	// attempt was made by, 5 minutes by default.
	Skew time.Duration
}

func (o Options) withDefaults() Options {
	o.Settle, o.Skew = cmp.Or(max(o.Settle, 0), 10*time.Minute), cmp.Or(max(o.Skew, 0), 5*time.Minute)
	return o
}

// Recover finds out what became of an attempt whose response was lost. It writes nothing. It lists
// the listings of the attempt's variants since the day before it was made, in every status and
// expired ones too, and reads the batches that made them and their items. The attempt's is the one
// that is not known, was created since, and echoes the same multiset of inputs, amounts by value
// and defaults filled in.
//
// It returns as soon as one batch matches, even if only one of its listings is there yet. Otherwise
// it looks again until the settle time has passed since the call, or since the last moment at which
// Submit sends the attempt, an hour after it was made: [NotSeen] never comes early, and only if
// everything that was seen is explained. There are ten looks by default. Each costs four requests,
// more if there are more than 100 listings, and two for each batch that is neither known nor ruled
// out by an earlier look.
//
// If ctx ends first, or the listings cannot be read, the error says so and nothing is decided. Call
// it after Submit has returned, and for one attempt after the other, with the batch that the last
// one landed as among the known. An equal batch that is neither known nor the attempt's is taken
// for it if the attempts are made [WithoutMark].
func Recover(ctx context.Context, c *client.Client, attempt Submission, r Options) (Verdict, error) {
	if err := check(c, attempt); err != nil {
		return Verdict{}, err
	}
	r = r.withDefaults()
	settled, latest := time.Now().Add(r.Settle), attempt.MadeAt.Add(sendWithin).Add(r.Skew).Add(r.Settle)
	if latest.Before(settled) {
		settled = latest
	}
	search := newSearch(c, attempt, r, latest)
	var v Verdict
	err := lookUntil(ctx, settled, r.Settle, func() (decided bool, err error) {
		v, err = search.look(ctx)
		return v.Kind == Landed, err
	})
	if err != nil {
		return Verdict{}, fmt.Errorf("recover attempt %s: nothing decided, call Recover again: %w", attempt.ID, err)
	}
	v.Since, v.Settle = search.since, r.Settle
	return v, nil
}

// lookUntil looks until it is decided or a time is over; the last look is after that. Pauses grow
// from a fiftieth of the settle time to a fifth. Failures that may pass are waited out.
func lookUntil(ctx context.Context, settled time.Time, settle time.Duration, look func() (decided bool, err error)) error {
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
