package work

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/sellside-sdk/sellside-go/bulk/internal/decide"
	"github.com/sellside-sdk/sellside-go/bulk/internal/ledger"
	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/recovery"
	"github.com/sellside-sdk/sellside-go/gen"
)

const (
	// maxLooks is how often the recovery looks before a row waits for the seller.
	maxLooks = 3
	// maxReads is how often the results of a batch that is done are read until they have all items.
	maxReads = 6
	// settleItems is how many updates or deletes one step finds the outcome of.
	settleItems = 5
	// lookPause is the pause between looks that could not tell.
	lookPause = 2 * time.Minute
)

// flight looks at a submission that is due.
func (e *Engine) flight(ctx context.Context, s *ledger.Submission) error {
	var b body
	if err := json.Unmarshal([]byte(s.Body), &b); err != nil {
		return fmt.Errorf("submission %s: %w", s.ID, err)
	}
	items, err := ledger.Read(ctx, e.Ledger, func(ctx context.Context, tx ledger.Tx) ([]ledger.Item, error) {
		return tx.Items(ctx, s.ID)
	})
	switch {
	case err != nil:
		return err
	case s.State == ledger.SubmissionSubmitted:
		return e.poll(ctx, *s, b, items)
	case s.Kind == decide.WriteCreate:
		return e.recover(ctx, *s, b, items)
	default:
		return e.settleWrites(ctx, *s, b, items)
	}
}

// poller is a handle of a batch of any kind.
type poller interface {
	Poll(ctx context.Context) (gen.Batch, error)
	Done() bool
}

// poll reads a batch and, if it is done, its results.
func (e *Engine) poll(ctx context.Context, s ledger.Submission, b body, items []ledger.Item) error {
	var handle poller
	var read func() ([]ledger.Item, []ledger.Listing, error)
	switch s.Kind {
	case decide.WriteCreate:
		h := e.Client.Batches.ResumeCreate(s.Batch)
		handle, read = h, func() ([]ledger.Item, []ledger.Listing, error) {
			results, err := h.Results(ctx, "")
			if err != nil {
				return nil, nil, err
			}
			changed, listings := e.created(s, *b.Create, items, results)
			return changed, listings, nil
		}
	case decide.WriteUpdate:
		h := e.Client.Batches.ResumeUpdate(s.Batch)
		handle, read = h, func() ([]ledger.Item, []ledger.Listing, error) {
			results, err := h.Results(ctx, "")
			if err != nil {
				return nil, nil, err
			}
			outcomes := map[string]outcome{}
			for _, r := range results {
				add(outcomes, r.ListingInput.ListingID, r.Result.ListingID, r.Status, r.Error)
			}
			return e.written(ctx, b, items, outcomes)
		}
	default:
		h := e.Client.Batches.ResumeDelete(s.Batch)
		handle, read = h, func() ([]ledger.Item, []ledger.Listing, error) {
			results, err := h.Results(ctx, "")
			if err != nil {
				return nil, nil, err
			}
			outcomes := map[string]outcome{}
			for _, r := range results {
				add(outcomes, r.ListingInput.ID, r.Result.ListingID, r.Status, r.Error)
			}
			return e.written(ctx, b, items, outcomes)
		}
	}
	state, err := handle.Poll(ctx)
	if err != nil {
		return e.postpone(ctx, s, err)
	}
	s.Looks++
	s.LookedAt = time.Now()
	s.NextAt = decide.PollAgain(s.MadeAt, s.LookedAt)
	if !handle.Done() {
		return e.Ledger.Do(ctx, func(ctx context.Context, tx ledger.Tx) error { return tx.SetSubmission(ctx, s) })
	}
	if !state.CompletedAt.IsZero() && !state.CreatedAt.IsZero() {
		s.Took = max(state.CompletedAt.Sub(state.CreatedAt.Time), time.Millisecond)
	}
	changed, listings, err := read()
	if err != nil {
		return e.postpone(ctx, s, err)
	}
	return e.finish(ctx, s, b, items, changed, listings)
}

// postpone looks at a submission again later, after a failure. A batch that the service does not
// know is no reason to stop: it may be too new.
func (e *Engine) postpone(ctx context.Context, s ledger.Submission, reason error) error {
	if !client.IsTransient(reason) && !errors.Is(reason, client.ErrNotFound) && !errors.Is(reason, client.ErrBadRequest) {
		return reason
	}
	s.LookedAt = time.Now()
	s.NextAt, s.Note = decide.PollAgain(s.MadeAt, s.LookedAt), gen.OneLine(reason.Error())
	s.Looks = max(s.Looks, 1)
	err := e.Ledger.Do(context.WithoutCancel(ctx), func(ctx context.Context, tx ledger.Tx) error {
		return tx.SetSubmission(ctx, s)
	})
	if client.IsTransient(reason) {
		return errors.Join(reason, err)
	}
	return err
}

// finish records the outcomes that the results of a batch show. Items without one are read again,
// and at last wait for the seller.
func (e *Engine) finish(
	ctx context.Context, s ledger.Submission, b body, items, changed []ledger.Item, listings []ledger.Listing,
) error {
	ended := map[int]bool{}
	for _, i := range changed {
		ended[i.Seq] = i.State != ledger.ItemOpen
	}
	for _, i := range items {
		if i.State != ledger.ItemOpen || ended[i.Seq] {
			continue
		}
		if s.Looks <= maxReads {
			return e.settle(ctx, s, b, changed, listings)
		}
		i.State, i.EndedAt = ledger.ItemStuck, time.Now()
		i.Error = fmt.Sprintf("batch %s has no result for it", s.Batch)
		for n := range changed {
			if changed[n].Seq == i.Seq {
				i.Made, i.Failed = changed[n].Made, changed[n].Failed
			}
		}
		changed = append(changed, i)
	}
	s.State = ledger.SubmissionDone
	return e.settle(ctx, s, b, changed, listings)
}

// created returns the items of a create batch that ended, and the listings that they made.
func (e *Engine) created(
	s ledger.Submission, sent recovery.Submission, items []ledger.Item, results []gen.CreateBatchItem,
) (changed []ledger.Item, listings []ledger.Listing) {
	now := time.Now()
	seen := map[string]bool{}
	for seq, matched := range sent.Match(results) {
		item := &items[seq]
		if item.State != ledger.ItemOpen {
			continue
		}
		made, failed, reason := 0, 0, ""
		for _, r := range matched {
			id := r.Result.ListingID
			switch {
			case r.Status == gen.BatchItemStatusCompleted && id != "" && !seen[id]:
				seen[id] = true
				made++
				listings = append(listings, newListing(s, sent.Items[seq], item.SKU, id, now))
			case r.Status == gen.BatchItemStatusFailed && id == "":
				failed++
				reason = gen.OneLine(string(r.Error))
			}
		}
		next := *item
		next.Made, next.Failed, next.Error = made, failed, reason
		if made+failed == item.Quantity {
			next.State, next.EndedAt = ledger.ItemDone, now
			if failed > 0 {
				next.State = ledger.ItemFailed
			}
		}
		if next.Made != item.Made || next.Failed != item.Failed || next.State != item.State {
			changed = append(changed, next)
		}
	}
	return changed, listings
}

func newListing(s ledger.Submission, item gen.CreateItem, sku, id string, now time.Time) ledger.Listing {
	return ledger.Listing{
		Listing: decide.Listing{
			ID: id, Presence: decide.PresenceLive, Variant: item.VariantID,
			Active: item.Active == nil || *item.Active, Amount: item.Amount, Currency: item.CurrencyCode,
			ExpiresAt: item.ExpiresAt, CreatedAt: s.MadeAt, ReadAt: now,
		},
		SKU: sku, Submission: s.ID, Batch: s.Batch,
	}
}

// outcome is what a result says of the write to a listing.
type outcome struct {
	done, failed bool
	reason       string
}

func add(outcomes map[string]outcome, input, result string, status gen.BatchItemStatus, reason gen.Reason) {
	id := input
	if id == "" {
		id = result
	}
	switch status {
	case gen.BatchItemStatusCompleted:
		outcomes[id] = outcome{done: true}
	case gen.BatchItemStatusFailed:
		outcomes[id] = outcome{failed: true, reason: gen.OneLine(string(reason))}
	}
}

// written returns the items of an update or delete that ended, and the listings that they changed.
func (e *Engine) written(
	ctx context.Context, b body, items []ledger.Item, outcomes map[string]outcome,
) (changed []ledger.Item, listings []ledger.Listing, err error) {
	ids := make([]string, len(items))
	for i := range items {
		ids[i] = items[i].Listing
	}
	known, err := ledger.Read(ctx, e.Ledger, func(ctx context.Context, tx ledger.Tx) (map[string]ledger.Listing, error) {
		return tx.Listings(ctx, ids...)
	})
	if err != nil {
		return nil, nil, err
	}
	now := time.Now()
	for _, item := range items {
		o := outcomes[item.Listing]
		if item.State != ledger.ItemOpen || !o.done && !o.failed {
			continue
		}
		item.EndedAt = now
		if o.failed {
			item.Failed, item.State, item.Error = 1, ledger.ItemFailed, o.reason
			changed = append(changed, item)
			continue
		}
		item.Made, item.State = 1, ledger.ItemDone
		changed = append(changed, item)
		l, ok := known[item.Listing]
		if !ok {
			continue
		}
		if item.Kind == decide.WriteDelete {
			l.Presence, l.Active = decide.PresenceEnded, false
		} else {
			apply(&l, b.Terms[item.Seq], now)
		}
		l.ReadAt = now
		listings = append(listings, l)
	}
	return changed, listings, nil
}

// apply applies an update to a listing.
func apply(l *ledger.Listing, u terms, now time.Time) {
	l.Amount, l.Currency = u.Amount, u.Currency
	if !u.KeepActive {
		l.Active = u.Active
	}
	if !u.ExpiresAt.IsZero() {
		l.ExpiresAt = u.ExpiresAt
	}
	if u.Priced {
		recent := l.ChangedAt[:0:0]
		for _, at := range l.ChangedAt {
			if now.Sub(at) < 24*time.Hour {
				recent = append(recent, at)
			}
		}
		l.ChangedAt = append(recent, now.UTC())
	}
}

// recover finds out what became of a create batch without a response.
func (e *Engine) recover(ctx context.Context, s ledger.Submission, b body, items []ledger.Item) error {
	opts := e.options(&s)
	known, err := ledger.Read(ctx, e.Ledger, func(ctx context.Context, tx ledger.Tx) ([]string, error) {
		return tx.KnownBatches(ctx, s.MadeAt.Add(-48*time.Hour))
	})
	if err != nil {
		return err
	}
	opts.Known = known
	verdict, err := recovery.Recover(ctx, e.Client, *b.Create, opts)
	if err != nil {
		return err
	}
	e.OnEvent(fmt.Sprintf("the batch without a response of %s: %s", s.MadeAt.Local().Format(time.TimeOnly), verdict))
	switch verdict.Kind {
	case recovery.Landed:
		s.Batch, s.State, s.NextAt, s.Looks = verdict.Batch.ID(), ledger.SubmissionSubmitted, time.Now(), 0
		return e.Ledger.Do(ctx, func(ctx context.Context, tx ledger.Tx) error { return tx.SetSubmission(ctx, s) })
	case recovery.NotSeen:
		for i := range items {
			items[i].State, items[i].EndedAt = ledger.ItemNotMade, time.Now()
		}
		s.State, s.Note = ledger.SubmissionNotMade, verdict.String()
		return e.settle(ctx, s, b, items, nil)
	default:
		return e.doubt(ctx, s, b, items, verdict)
	}
}

// doubt looks again later, or leaves the items to the seller.
func (e *Engine) doubt(
	ctx context.Context, s ledger.Submission, b body, items []ledger.Item, v recovery.Verdict,
) error {
	s.Looks++
	s.Note = gen.OneLine(v.String())
	if s.Looks < maxLooks {
		s.NextAt = time.Now().Add(min(lookPause, e.Settle))
		return e.Ledger.Do(ctx, func(ctx context.Context, tx ledger.Tx) error { return tx.SetSubmission(ctx, s) })
	}
	s.State = ledger.SubmissionStuck
	var stuck []ledger.Item
	for _, i := range items {
		if i.State == ledger.ItemOpen {
			i.State, i.Error, i.EndedAt = ledger.ItemStuck, s.Note, time.Now()
			stuck = append(stuck, i)
		}
	}
	return e.settle(ctx, s, b, stuck, nil)
}

// settleWrites finds out what became of updates or deletes without a response, a few at a time.
func (e *Engine) settleWrites(ctx context.Context, s ledger.Submission, b body, items []ledger.Item) error {
	var open []ledger.Item
	for _, i := range items {
		if i.State == ledger.ItemOpen {
			open = append(open, i)
		}
	}
	if len(open) == 0 {
		s.State = ledger.SubmissionDone
		return e.Ledger.Do(ctx, func(ctx context.Context, tx ledger.Tx) error { return tx.SetSubmission(ctx, s) })
	}
	rest := len(open) > settleItems
	open = open[:min(len(open), settleItems)]
	opts := e.options(&s)
	var verdicts []recovery.Verdict
	var err error
	if s.Kind == decide.WriteUpdate {
		sent := make([]gen.UpdateItem, len(open))
		for n, i := range open {
			sent[n] = b.Updates[i.Seq]
		}
		verdicts, err = recovery.SettleUpdate(ctx, e.Client, sent, s.MadeAt, opts)
	} else {
		sent := make([]string, len(open))
		for n, i := range open {
			sent[n] = i.Listing
		}
		verdicts, err = recovery.SettleDelete(ctx, e.Client, sent, s.MadeAt, opts)
	}
	if err != nil {
		return err
	}
	outcomes := map[string]outcome{}
	var changed []ledger.Item
	isPending := false
	for n, v := range verdicts {
		i := open[n]
		switch {
		case v.Kind == recovery.Landed && v.Operation.Done():
			o := v.Operation.Snapshot()
			isDone := strings.EqualFold(string(o.OperationStatus), string(gen.OperationStatusSucceeded))
			outcomes[i.Listing] = outcome{done: isDone, failed: !isDone, reason: gen.OneLine(string(o.Error))}
		case v.Kind == recovery.Landed:
			isPending = true
		case v.Kind == recovery.NotSeen:
			i.State, i.EndedAt = ledger.ItemNotMade, time.Now()
			changed = append(changed, i)
		case s.Looks+1 < maxLooks:
			isPending = true
		default:
			// Another operation on the listing prevents a verdict. Nothing of the batch arrives any more,
			// and updates and deletes state all that they change: the listing is read, and what it lacks
			// is owed again.
			i.State, i.Error, i.EndedAt = ledger.ItemNotMade, gen.OneLine(v.String()), time.Now()
			changed = append(changed, i)
		}
	}
	ended, listings, err := e.written(ctx, b, items, outcomes)
	if err != nil {
		return err
	}
	changed = append(changed, ended...)
	switch {
	case isPending:
		s.Looks++
		s.NextAt = time.Now().Add(min(lookPause, e.Settle))
	case rest:
		s.NextAt = time.Now()
	}
	return e.settle(ctx, s, b, changed, listings)
}
