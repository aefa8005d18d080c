package recovery

import (
	"context"
	"crypto/rand"
	random "math/rand/v2"
	"slices"
	"time"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/gen"
)

// sendWithin is how long after it was made an attempt may be sent, so that its age tells when that
// is over.
const sendWithin = time.Hour

// Submission is a create batch that is saved before it is sent, so that [Recover] can find out what
// became of it when the response is lost, in this process or the next. Save it as JSON, which loses
// nothing, and drop it once the batch's id is saved.
type Submission struct {
	ID     string           `json:"id"`     // Random; the service never sees it.
	MadeAt time.Time        `json:"madeAt"` // By the clock of this machine, in UTC; it is sent after this.
	Items  []gen.CreateItem `json:"items"`  // A copy, with expiry times cut to the millisecond.
}

// Option changes how [New] makes an attempt.
type Option func(*making)

type making struct{ unmarked bool }

// WithoutMark leaves the expiry of items that have none to the service, whose default is 999 days.
// Attempts of equal items can then not be told apart: [Recover] takes any equal batch that is not
// known for the attempt's.
func WithoutMark() Option { return func(m *making) { m.unmarked = true } }

// New makes an attempt to create listings. Save it as JSON, then submit it. It does no I/O.
//
// Items without an expiry get a mark, an expiry that only this attempt has: a random millisecond
// 947 to 997 days ahead. Nothing else tells attempts of equal items apart. The price is that these
// asks end up to 52 days before the service's default of 999, and it takes a service that echoes
// the millisecond, as the sandbox does; with any other, Recover cannot tell. [WithoutMark] turns it
// off; mark all attempts or none. Items with an expiry keep it.
//
// Errors: [client.ArgumentError], as for [client.Batches.Create]; Submit checks how many items a
// batch may have.
func New(items []gen.CreateItem, opts ...Option) (Submission, error) {
	if err := client.CheckCreate(items); err != nil {
		return Submission{}, err
	}
	var m making
	for _, opt := range opts {
		if opt == nil {
			return Submission{}, problem("an option is nil: leave it out")
		}
		opt(&m)
	}
	a := Submission{ID: rand.Text(), MadeAt: time.Now().UTC().Truncate(time.Millisecond), Items: slices.Clone(items)}
	const day = 24 * time.Hour
	mark := a.MadeAt.Add(997*day - random.N(50*day))
	for i := range a.Items {
		expiry := a.Items[i].ExpiresAt.Time
		if expiry.IsZero() && !m.unmarked {
			expiry = mark
		}
		a.Items[i].ExpiresAt = gen.TimeOf(expiry.Truncate(time.Millisecond))
		if active := a.Items[i].Active; active != nil {
			a.Items[i].Active = new(*active)
		}
	}
	return a, nil
}

// Submit sends a saved attempt as [client.Batches.Create] does. On [client.ErrOutcomeUnknown], and
// after a crash, call [Recover]; after any other error nothing was created. It is sent within an
// hour of being made or not at all: a wait for the quota ends then, and a later call is a
// [client.ArgumentError].
func Submit(ctx context.Context, c *client.Client, attempt Submission) (*client.Batch[gen.CreateBatchItem], error) {
	if err := check(c, attempt); err != nil {
		return nil, err
	}
	sendBy := attempt.MadeAt.Add(sendWithin)
	if time.Now().After(sendBy) {
		return nil, problem("more than an hour old: recover it, unless it was never submitted")
	}
	ctx, cancel := context.WithDeadline(ctx, sendBy)
	defer cancel()
	return c.Batches.Create(ctx, attempt.Items)
}

func check(c *client.Client, a Submission) error {
	if c == nil {
		return &client.ArgumentError{Operation: gen.OpCreateListingsBatch, Field: "client", Problem: "nil: pass what client.New returned"}
	}
	if a.ID == "" || a.MadeAt.IsZero() || len(a.Items) == 0 {
		return problem("the id, time or items are missing: use New")
	}
	return nil
}

func problem(text string) error {
	return &client.ArgumentError{Operation: gen.OpCreateListingsBatch, Field: "attempt", Problem: text}
}
