// Package recovery finds out what became of a create batch whose response was lost. No operation lists batches and
// nothing correlates them, so it compares what the listings show with what was saved before the batch was sent:
//
//	attempt, err := recovery.New(items)        // save it
//	batch, err := recovery.Submit(ctx, c, attempt)
//	if errors.Is(err, client.ErrOutcomeUnknown) {
//		verdict, err := recovery.Recover(ctx, c, attempt, recovery.Options{Known: batchIDs})
//	}
package recovery

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/retry"
)

// Options is what [Recover] may assume. Fields that are not above zero have their defaults.
type Options struct {
	// Known are the ids of create batches that are not the attempt's: all that are saved, by every process of the
	// account. A batch that is not known may be taken for the attempt's, and costs two requests.
	Known []string
	// Settle is how long the service takes at most to show a batch's first listing, 10 minutes by default. No
	// service publishes it; too short a time makes duplicates.
	Settle time.Duration
	// Skew is how far the clocks of the service and of this machine may be from the one that the attempt was made
	// by, 5 minutes by default.
	Skew time.Duration
}

// Recover finds out what became of an attempt whose response was lost. It writes nothing. It lists the listings of
// the attempt's variants since the day before it was made, in every status and expired ones too, and reads the
// batches that made them and their items. The attempt's is the one that is not known, was created since, and
// echoes the same multiset of inputs, amounts by value and defaults filled in.
//
// It returns as soon as one batch matches, even if only one of its listings is there yet. Otherwise it looks
// again until the settle time has passed since the call, or since the last moment at which Submit sends the
// attempt, an hour after it was made: [NotSeen] never comes early. If ctx ends first, or the listings cannot be
// read, the error says so and nothing is decided. Call it after Submit has returned, and for one attempt after
// the other, with the batch that the last one landed as among the known. An equal batch that is neither known
// nor the attempt's is taken for it, unless the attempts are [Marked].
func Recover(ctx context.Context, c *client.Client, attempt Attempt, r Options) (Verdict, error) {
	if err := check(attempt); err != nil {
		return Verdict{}, err
	}
	r.Settle, r.Skew = cmp.Or(max(r.Settle, 0), 10*time.Minute), cmp.Or(max(r.Skew, 0), 5*time.Minute)
	settled, latest := time.Now().Add(r.Settle), attempt.MadeAt.Add(sendWithin).Add(r.Skew).Add(r.Settle)
	if latest.Before(settled) {
		settled = latest
	}
	search := newSearch(c, attempt, r, latest)
	for interval := r.Settle / 50; ; interval = min(interval+interval/2, r.Settle/5) {
		last := !time.Now().Before(settled)
		v, err := search.look(ctx)
		if err == nil && (last || v.Kind == Landed) {
			v.Since, v.Settle = search.since, r.Settle
			return v, nil
		}
		if err == nil || !last && ctx.Err() == nil && client.IsTransient(err) {
			err = retry.Pause(ctx, max(time.Millisecond, min(interval, time.Until(settled))))
		}
		if err != nil {
			return Verdict{}, fmt.Errorf("recover attempt %s: nothing is decided, ask again: %w", attempt.ID, err)
		}
	}
}
