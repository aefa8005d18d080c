package selling

import (
	"github.com/sellside-sdk/sellside-go/sandbox/internal/state"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/store"
)

// apply does to a listing what an operation asks for, or refuses. The listing
// is changed in memory only.
//
// What is not published and therefore assumed: an update leaves an inactive
// listing inactive unless it says otherwise, its new terms wait for the
// activation; saying "active" of what is active already is no mistake in an
// update; and activating a listing that has expired without a new expiry starts
// the default lifetime again. An expiry that was asked for and has come since
// makes an ask that expires at once.
func (c *change) apply(l *store.Listing, operation string, set store.Change) error {
	defer c.noteAsk(l)
	if err := allow(operation, *l); err != nil {
		return err
	}
	assign(l, set)
	wanted := l.Status == state.Active
	if set.Active != nil {
		wanted = *set.Active
	}
	switch {
	case operation == state.Delete:
		l.Ask = store.Ask{}
		return c.enter(l, operation, state.Deleted)
	case !wanted:
		l.Ask = store.Ask{}
		return c.enter(l, operation, state.Inactive)
	case l.Status == state.Active:
		l.Ask.UpdatedAt = c.now
		return c.enter(l, operation, state.Active)
	default:
		if set.ExpiresAt.IsZero() && !l.ExpiresAt.After(c.now) {
			l.ExpiresAt = c.now.Add(DefaultLifetime)
		}
		l.Expired = false
		id, err := c.newAskID()
		if err != nil {
			return err
		}
		l.Ask = store.Ask{ID: id, CreatedAt: c.now, UpdatedAt: c.now}
		return c.enter(l, operation, state.Active)
	}
}
