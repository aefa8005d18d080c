package selling

import "github.com/sellside-sdk/sellside-go/sandbox/internal/store"

// apply does to a listing what an operation asks for, or refuses. The listing
// is changed in memory only.
//
// What is not published and therefore assumed: an update leaves an inactive
// listing inactive unless it says otherwise, its new terms wait for the
// activation; saying "active" of what is active already is no mistake in an
// update; and activating a listing that has expired without a new expiry starts
// the default lifetime again.
func (c *change) apply(l *store.Listing, operation string, set store.Change) error {
	if err := allow(operation, *l); err != nil {
		return err
	}
	assign(l, set)
	l.UpdatedAt = c.now
	wanted := l.Status == store.Active
	if set.Active != nil {
		wanted = *set.Active
	}
	switch {
	case operation == store.Delete:
		l.Status, l.Ask = store.Deleted, store.Ask{}
	case !wanted:
		l.Status, l.Ask = store.Inactive, store.Ask{}
	case l.Status == store.Active:
		l.Ask.UpdatedAt = c.now
	default:
		if !l.ExpiresAt.After(c.now) {
			l.ExpiresAt = c.now.Add(DefaultLifetime)
		}
		id, err := c.newAskID()
		if err != nil {
			return err
		}
		l.Status = store.Active
		l.Ask = store.Ask{ID: id, CreatedAt: c.now, UpdatedAt: c.now}
	}
	return nil
}
