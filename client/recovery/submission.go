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

// sendWithin is how long after New a submission may be sent. It bounds the time in which its batch
// can have been created.
const sendWithin = time.Hour

// Submission is a create batch that is saved before it is sent, so that [Recover] can find out what
// became of it if the response is lost, also in another process. Save it as JSON, which loses
// nothing. Delete it when the id of its batch is saved.
type Submission struct {
	ID     string           `json:"id"`     // Random; it is not sent to the service.
	MadeAt time.Time        `json:"madeAt"` // By the clock of this machine, in UTC, before it is sent.
	Items  []gen.CreateItem `json:"items"`  // A copy, with expiry times truncated to the millisecond.
}

// Option changes how [New] makes a submission.
type Option func(*config)

type config struct{ unmarked bool }

// WithoutMark leaves the expiry of items that have none to the service, whose default is 999 days.
// [Recover] can then not distinguish submissions of equal items: it takes any equal batch that is
// not in [Options].Known.
func WithoutMark() Option { return func(c *config) { c.unmarked = true } }

// New makes a submission of items. Save it, then call [Submit]. New does no I/O.
//
// Items without an expiry get a mark: an expiry that only this submission has, a random millisecond
// 947 to 997 days ahead. Nothing else distinguishes submissions of equal items. These asks end up
// to 52 days before the service's default of 999 days. assumed: the service echoes expiry times to
// the millisecond; if it does not, Recover returns [CannotTell]. [WithoutMark] turns the mark off;
// use it for all submissions or for none. Items that have an expiry keep it.
//
// Errors: [client.ArgumentError], as of [client.Batches.Create]. Submit checks how many items a
// batch may have.
func New(items []gen.CreateItem, opts ...Option) (Submission, error) {
	if err := client.CheckCreate(items); err != nil {
		return Submission{}, err
	}
	var c config
	for _, opt := range opts {
		if opt == nil {
			return Submission{}, invalid("an option is nil: leave it out")
		}
		opt(&c)
	}
	s := Submission{
		ID: rand.Text(), MadeAt: time.Now().UTC().Truncate(time.Millisecond), Items: slices.Clone(items),
	}
	const day = 24 * time.Hour
	mark := s.MadeAt.Add(997*day - random.N(50*day))
	for i := range s.Items {
		expiry := s.Items[i].ExpiresAt.Time
		if expiry.IsZero() && !c.unmarked {
			expiry = mark
		}
		s.Items[i].ExpiresAt = gen.TimeOf(expiry.Truncate(time.Millisecond))
		if active := s.Items[i].Active; active != nil {
			s.Items[i].Active = new(*active)
		}
	}
	return s, nil
}

// Submit sends a saved submission as [client.Batches.Create] does, at the cost of one request.
//
// If the error Is [client.ErrOutcomeUnknown], the batch may exist: wait for the returned handle if
// it is not nil, otherwise call [Recover]. Recover is also for a submission that was saved before a
// crash. After any other error nothing was created.
//
// A submission is sent within an hour of New or not at all: a wait for the quota ends then, and a
// later call is a [client.ArgumentError].
func Submit(ctx context.Context, c *client.Client, s Submission) (*client.Batch[gen.CreateBatchItem], error) {
	if err := check(c, s); err != nil {
		return nil, err
	}
	sendBy := s.MadeAt.Add(sendWithin)
	if time.Now().After(sendBy) {
		return nil, invalid("more than an hour old: call Recover, unless it was never submitted")
	}
	ctx, cancel := context.WithDeadline(ctx, sendBy)
	defer cancel()
	return c.Batches.Create(ctx, s.Items)
}

func check(c *client.Client, s Submission) error {
	if c == nil {
		return refuse(gen.OpCreateListingsBatch, "client", "nil: pass what client.New returned")
	}
	if s.ID == "" || s.MadeAt.IsZero() || len(s.Items) == 0 {
		return invalid("the id, time or items are missing: use New")
	}
	return nil
}

func invalid(problem string) error { return refuse(gen.OpCreateListingsBatch, "submission", problem) }

func refuse(op gen.OperationID, field, problem string) error {
	return &client.ArgumentError{Operation: op, Field: field, Problem: problem}
}
