package work

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/sellside-sdk/sellside-go/bulk/internal/decide"
	"github.com/sellside-sdk/sellside-go/bulk/internal/ledger"
	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/quota"
	"github.com/sellside-sdk/sellside-go/client/recovery"
	"github.com/sellside-sdk/sellside-go/gen"
)

// grace is how long a call may still take after its context has ended.
const grace = 10 * time.Second

// terms are the body of an owed create or update.
type terms struct {
	decide.Terms
	Variant string `json:"variant,omitempty"` // Of creates.
	Priced  bool   `json:"priced,omitempty"`  // A rule changes the amount.
	// KeepActive leaves out whether the listing has an ask, because that does not change: otherwise a
	// deactivation by another application might be taken for this update.
	KeepActive bool `json:"keepActive,omitempty"`
}

func parseTerms(body string) (t terms, err error) { return t, json.Unmarshal([]byte(body), &t) }

// createItem returns the item that creates listings with these terms. The service's default is to
// give them an ask.
func (t terms) createItem(quantity int) gen.CreateItem {
	item := gen.CreateItem{
		VariantID: t.Variant, Amount: t.Amount, CurrencyCode: t.Currency, ExpiresAt: t.ExpiresAt, Quantity: gen.Int(quantity),
	}
	if !t.Active {
		item.Active = new(false)
	}
	return item
}

// updateItem returns the item that gives a listing these terms.
func (t terms) updateItem(listing string) gen.UpdateItem {
	item := gen.UpdateItem{ListingID: listing, Amount: t.Amount, CurrencyCode: t.Currency, ExpiresAt: t.ExpiresAt}
	if !t.KeepActive {
		item.Active = new(t.Active)
	}
	return item
}

// body is what a submission sends.
type body struct {
	Create  *recovery.Submission `json:"create,omitempty"`
	Updates []gen.UpdateItem     `json:"updates,omitempty"`
	Deletes []string             `json:"deletes,omitempty"`
	Terms   []terms              `json:"terms,omitempty"` // Of creates and updates, as they were owed.
}

// submit records the next batch of a kind and sends it.
func (e *Engine) submit(ctx context.Context, account ledger.Account, kind decide.WriteKind, limit int) error {
	owed, err := ledger.Read(ctx, e.Ledger, func(ctx context.Context, tx ledger.Tx) ([]ledger.Owed, error) {
		return tx.NextOwed(ctx, kind, limit)
	})
	if err != nil {
		return err
	}
	owed = take(owed, limit)
	s := ledger.Submission{
		ID: rand.Text(), Kind: kind, Run: account.Run, Generation: account.Generation, Fence: e.Fence,
		MadeAt: time.Now().UTC().Truncate(time.Millisecond),
	}
	s.NotAfter = s.MadeAt.Add(e.SendWithin)
	s.NextAt = s.NotAfter.Add(e.Settle)
	b, err := makeBody(kind, owed)
	if err != nil {
		return err
	}
	text, err := json.Marshal(b)
	if err != nil {
		return err
	}
	s.Body = string(text)
	err = e.Ledger.Do(ctx, func(ctx context.Context, tx ledger.Tx) error {
		if err := tx.Record(ctx, s, owed); err != nil || kind != decide.WriteDelete {
			return err
		}
		return checkDeletes(ctx, tx, account.Generation)
	})
	if err != nil {
		return err
	}
	batch, err := e.send(ctx, s, b)
	return e.sent(ctx, s, b, batch, err)
}

// take returns the first writes that are not more items than a limit, with a part of the last one if
// it makes several listings.
func take(owed []ledger.Owed, limit int) (taken []ledger.Owed) {
	for _, o := range owed {
		o.Quantity = min(o.Quantity, limit)
		if o.Quantity <= 0 {
			break
		}
		limit -= o.Quantity
		taken = append(taken, o)
	}
	return taken
}

func makeBody(kind decide.WriteKind, owed []ledger.Owed) (b body, err error) {
	var creates []gen.CreateItem
	for _, o := range owed {
		if kind == decide.WriteDelete {
			b.Deletes = append(b.Deletes, o.Listing)
			continue
		}
		t, err := parseTerms(o.Body)
		if err != nil {
			return b, fmt.Errorf("row %q: %w", o.SKU, err)
		}
		b.Terms = append(b.Terms, t)
		if kind == decide.WriteCreate {
			creates = append(creates, t.createItem(o.Quantity))
		} else {
			b.Updates = append(b.Updates, t.updateItem(o.Listing))
		}
	}
	if kind == decide.WriteCreate {
		s, err := recovery.New(creates)
		if err != nil {
			return b, err
		}
		b.Create = &s
	}
	return b, nil
}

// send sends a recorded submission and returns the id of its batch. It is the only function that
// writes to the service.
func (e *Engine) send(ctx context.Context, s ledger.Submission, b body) (batch string, err error) {
	// A call that was begun is not cut by Ctrl-C: that would leave its outcome unknown.
	sendCtx, cancel := context.WithDeadline(context.WithoutCancel(ctx), s.NotAfter.Add(grace))
	defer cancel()
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(grace, cancel) })
	defer stop()
	sendCtx = e.sendable(sendCtx, s)
	switch s.Kind {
	case decide.WriteCreate:
		handle, err := recovery.Submit(sendCtx, e.Client, *b.Create)
		return idOf(handle), err
	case decide.WriteUpdate:
		handle, err := e.Client.Batches.Update(sendCtx, b.Updates)
		return idOf(handle), err
	default:
		handle, err := e.Client.Batches.Delete(sendCtx, b.Deletes)
		return idOf(handle), err
	}
}

func idOf[T any](handle *client.Batch[T]) string {
	if handle == nil {
		return ""
	}
	return handle.ID()
}

// sent records what became of a call.
func (e *Engine) sent(ctx context.Context, s ledger.Submission, b body, batch string, err error) error {
	record := func(change func(context.Context, ledger.Tx) error) error {
		return e.Ledger.Do(context.WithoutCancel(ctx), change)
	}
	switch {
	case batch != "": // also beside an error: what is left of the response has the id
		s.Batch, s.State, s.NextAt = batch, ledger.SubmissionSubmitted, time.Now()
		if n := e.limits[s.Kind]; n > 0 {
			e.limits[s.Kind] = 2 * n
		}
		return record(func(ctx context.Context, tx ledger.Tx) error { return tx.SetSubmission(ctx, s) })
	case errors.Is(err, client.ErrOutcomeUnknown):
		e.OnEvent(fmt.Sprintf("no response to a batch of %ss: its outcome is found out after %s",
			s.Kind, s.NextAt.Local().Format(time.TimeOnly)))
		s.State = ledger.SubmissionRecorded
		return record(func(ctx context.Context, tx ledger.Tx) error { return tx.SetSubmission(ctx, s) })
	case errors.Is(err, client.ErrBadRequest):
		return e.refused(context.WithoutCancel(ctx), s, b, err)
	}
	recorded := record(func(ctx context.Context, tx ledger.Tx) error { return tx.Unrecord(ctx, s.ID) })
	if full, ok := errors.AsType[*quota.Error](err); ok && recorded == nil {
		e.pausedTo = time.Now().Add(min(max(full.Wait, time.Second), time.Minute))
		return nil
	}
	if recorded == nil && (errors.Is(err, client.ErrTooLate) || ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded)) {
		e.OnEvent(fmt.Sprintf("a batch of %ss was not sent in time, and is made again", s.Kind))
		e.pausedTo = time.Now().Add(time.Second)
		return nil
	}
	return errors.Join(recorded, err)
}

// refused handles a batch that was refused as a whole. One item of it may be the reason: smaller
// batches find it.
func (e *Engine) refused(ctx context.Context, s ledger.Submission, b body, reason error) error {
	items, err := ledger.Read(ctx, e.Ledger, func(ctx context.Context, tx ledger.Tx) ([]ledger.Item, error) {
		return tx.Items(ctx, s.ID)
	})
	if err != nil {
		return err
	}
	if n := len(items); n > 1 {
		e.limits[s.Kind] = n / 2
		return e.Ledger.Do(ctx, func(ctx context.Context, tx ledger.Tx) error { return tx.Unrecord(ctx, s.ID) })
	}
	now := time.Now()
	for i := range items {
		items[i].Failed, items[i].State, items[i].EndedAt = items[i].Quantity, ledger.ItemFailed, now
		items[i].Error = gen.OneLine(reason.Error())
	}
	s.State, s.Note = ledger.SubmissionNotMade, gen.OneLine(reason.Error())
	return e.settle(ctx, s, b, items, nil)
}

// settle records outcomes of items, and what they did to listings.
func (e *Engine) settle(
	ctx context.Context, s ledger.Submission, b body, items []ledger.Item, listings []ledger.Listing,
) error {
	err := e.Ledger.Do(context.WithoutCancel(ctx), func(ctx context.Context, tx ledger.Tx) error {
		for _, l := range listings {
			if err := putMade(ctx, tx, l, s.Kind); err != nil {
				return err
			}
		}
		for _, i := range items {
			if err := putItem(ctx, tx, b, i); err != nil {
				return err
			}
		}
		return tx.SetSubmission(ctx, s)
	})
	if err != nil {
		return err
	}
	for _, i := range items {
		e.OnItem(i)
	}
	return nil
}

// putMade records a listing that a write made or changed. What a page or an order has said of a new
// listing before is kept.
func putMade(ctx context.Context, tx ledger.Tx, l ledger.Listing, kind decide.WriteKind) error {
	if kind == decide.WriteCreate {
		known, err := tx.Listings(ctx, l.ID)
		if err != nil {
			return err
		}
		if k, ok := known[l.ID]; ok {
			k.SKU, k.Submission, k.Batch, k.Adopted = l.SKU, l.Submission, l.Batch, 0
			l = k
		}
	}
	return tx.PutListing(ctx, l)
}

// putItem records the outcome of an item. What did not become of a listing as it was sent is read.
func putItem(ctx context.Context, tx ledger.Tx, b body, i ledger.Item) error {
	if err := tx.SetItem(ctx, i); err != nil {
		return err
	}
	if i.State == ledger.ItemFailed {
		refusal := decide.Refusal{Kind: i.Kind, ListingID: i.Listing}
		if i.Seq < len(b.Terms) {
			refusal.Terms = b.Terms[i.Seq].Terms
		}
		if err := tx.AddRefusal(ctx, i.SKU, refusal, i.Error, i.EndedAt); err != nil {
			return err
		}
	}
	if i.Listing == "" || i.State == ledger.ItemDone || i.State == ledger.ItemOpen {
		return nil
	}
	return tx.Want(ctx, i.Listing)
}

// checkDeletes returns a [decide.DeletesError] if a plan has sent more deletes than it may.
func checkDeletes(ctx context.Context, tx ledger.Tx, generation int64) error {
	p, err := policyOf(ctx, tx)
	if err != nil {
		return err
	}
	sent, err := tx.DeletesSent(ctx, generation)
	if err != nil {
		return err
	}
	return decide.CheckDeletes(sent, p.Listings, p.AllowDeletes)
}
