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

// update is the body of an owed update.
type update struct {
	Item   gen.UpdateItem `json:"item"`
	Priced bool           `json:"priced,omitempty"` // A rule changes the amount.
}

// body is what a submission sends.
type body struct {
	Create  *recovery.Submission `json:"create,omitempty"`
	Updates []update             `json:"updates,omitempty"`
	Deletes []string             `json:"deletes,omitempty"`
}

// submit records the next batch of a kind and sends it.
func (e *Engine) submit(ctx context.Context, account ledger.Account, kind decide.WriteKind) error {
	room, more, err := e.windows(ctx, time.Now())
	if err != nil {
		return err
	}
	limit := maxItems
	if n := e.limits[kind]; n > 0 {
		limit = n
	}
	owed, err := ledger.Read(ctx, e.Ledger, func(ctx context.Context, tx ledger.Tx) ([]ledger.Owed, error) {
		return tx.NextOwed(ctx, kind, limit)
	})
	if err != nil {
		return err
	}
	owed, items := take(owed, limit)
	if items > room {
		e.noRoom = more
		return nil
	}
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
	err = e.Ledger.Do(ctx, func(ctx context.Context, tx ledger.Tx) error { return tx.Record(ctx, s, owed) })
	if err != nil {
		return err
	}
	e.turn++
	batch, err := e.send(ctx, s, b)
	return e.sent(ctx, s, batch, err)
}

// take returns the first writes that are not more items than a limit, with a part of the last one if
// it makes several listings.
func take(owed []ledger.Owed, limit int) (taken []ledger.Owed, items int) {
	for _, o := range owed {
		o.Quantity = min(o.Quantity, limit-items)
		if o.Quantity <= 0 {
			break
		}
		taken, items = append(taken, o), items+o.Quantity
	}
	return taken, items
}

func makeBody(kind decide.WriteKind, owed []ledger.Owed) (b body, err error) {
	var creates []gen.CreateItem
	for _, o := range owed {
		switch kind {
		case decide.WriteCreate:
			var item gen.CreateItem
			err = json.Unmarshal([]byte(o.Body), &item)
			item.Quantity = gen.Int(o.Quantity)
			creates = append(creates, item)
		case decide.WriteUpdate:
			var u update
			err = json.Unmarshal([]byte(o.Body), &u)
			b.Updates = append(b.Updates, u)
		default:
			b.Deletes = append(b.Deletes, o.Listing)
		}
		if err != nil {
			return b, fmt.Errorf("row %q: %w", o.SKU, err)
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
		items := make([]gen.UpdateItem, len(b.Updates))
		for i := range b.Updates {
			items[i] = b.Updates[i].Item
		}
		handle, err := e.Client.Batches.Update(sendCtx, items)
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
func (e *Engine) sent(ctx context.Context, s ledger.Submission, batch string, err error) error {
	ctx = context.WithoutCancel(ctx)
	record := func(change func(context.Context, ledger.Tx) error) error { return e.Ledger.Do(ctx, change) }
	switch {
	case batch != "": // also beside an error: what is left of the response has the id
		s.Batch, s.State, s.NextAt = batch, ledger.SubmissionSubmitted, time.Now().Add(e.firstPoll())
		e.limits[s.Kind] = min(maxItems, 2*max(e.limits[s.Kind], maxItems/2))
		return record(func(ctx context.Context, tx ledger.Tx) error { return tx.SetSubmission(ctx, s) })
	case errors.Is(err, client.ErrOutcomeUnknown):
		e.OnEvent(fmt.Sprintf("no response to a batch of %ss: its outcome is found out after %s",
			s.Kind, s.NextAt.Local().Format(time.TimeOnly)))
		s.State = ledger.SubmissionRecorded
		return record(func(ctx context.Context, tx ledger.Tx) error { return tx.SetSubmission(ctx, s) })
	case errors.Is(err, client.ErrBadRequest):
		return e.refused(ctx, s, err)
	}
	recorded := record(func(ctx context.Context, tx ledger.Tx) error { return tx.Unrecord(ctx, s.ID) })
	if full, ok := errors.AsType[*quota.Error](err); ok && recorded == nil {
		e.noRoom = time.Now().Add(max(full.Wait, time.Second))
		return nil
	}
	return errors.Join(recorded, err)
}

// refused handles a batch that was refused as a whole. One item of it may be the reason: smaller
// batches find it.
func (e *Engine) refused(ctx context.Context, s ledger.Submission, reason error) error {
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
	return e.settle(ctx, s, items, nil)
}

// settle records outcomes of items, and what they did to listings.
func (e *Engine) settle(
	ctx context.Context, s ledger.Submission, items []ledger.Item, listings []ledger.Listing,
) error {
	err := e.Ledger.Do(ctx, func(ctx context.Context, tx ledger.Tx) error {
		for _, l := range listings {
			if err := tx.PutListing(ctx, l); err != nil {
				return err
			}
		}
		for _, i := range items {
			if err := tx.SetItem(ctx, i); err != nil {
				return err
			}
			if i.State != ledger.ItemFailed {
				continue
			}
			if err := tx.SetFailure(ctx, i.SKU, i.Error, i.EndedAt); err != nil {
				return err
			}
			if i.Listing != "" {
				if err := tx.Want(ctx, i.Listing); err != nil {
					return err
				}
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

// firstPoll is when a new batch is polled first: when batches like it were done last.
func (e *Engine) firstPoll() time.Duration {
	if e.duration <= 0 {
		return e.FirstPoll
	}
	return min(max(e.duration, e.FirstPoll/10), e.LastPoll)
}
