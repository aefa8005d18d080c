package recovery

import (
	"crypto/rand"
	random "math/rand/v2"
	"slices"
	"time"

	"github.com/sellside-sdk/sellside-go/gen"
)

// SendWithin is how long after it was made an attempt may be sent, so that its age tells when that is over.
const SendWithin = time.Hour

// Attempt is a create batch that is written down before it is sent, so that [Recover] can find out what
// became of it when the answer is lost, in this process or the next. Save it as JSON, which loses nothing, and
// drop it once the batch's id is saved.
type Attempt struct {
	ID     string           `json:"id"`     // Random; the service never sees it.
	MadeAt time.Time        `json:"madeAt"` // By the clock of this machine, in UTC; it is sent after this.
	Items  []gen.CreateItem `json:"items"`  // A copy, with expiry times cut to the millisecond.
}

// Option changes how [New] makes an attempt.
type Option func(*Attempt)

// Marked gives the items without an expiry one that only this attempt has: a random millisecond 947 to 997 days
// ahead. Nothing else tells attempts of equal items apart. The price is that these asks end up to 52 days
// before the service's default of 999, and it takes a service that echoes the millisecond, as the sandbox does;
// with any other, Recover cannot tell. Items with an expiry stay as they are. Mark all attempts or none.
func Marked() Option {
	return func(a *Attempt) {
		const day = 24 * time.Hour
		mark := a.MadeAt.Add(997*day - random.N(50*day)).Truncate(time.Millisecond)
		for i := range a.Items {
			if a.Items[i].ExpiresAt.IsZero() {
				a.Items[i].ExpiresAt = gen.TimeOf(mark)
			}
		}
	}
}

// New makes an attempt to create listings. It does no I/O and checks nothing.
func New(items []gen.CreateItem, opts ...Option) Attempt {
	a := Attempt{ID: rand.Text(), MadeAt: time.Now().UTC().Truncate(time.Millisecond), Items: slices.Clone(items)}
	for i := range a.Items {
		a.Items[i].ExpiresAt = gen.TimeOf(a.Items[i].ExpiresAt.Truncate(time.Millisecond))
		if active := a.Items[i].Active; active != nil {
			a.Items[i].Active = new(*active)
		}
	}
	for _, opt := range opts {
		opt(&a)
	}
	return a
}
