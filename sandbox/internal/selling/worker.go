package selling

import (
	"context"
	"time"

	"github.com/sellside-sdk/sellside-go/sandbox/internal/store"
)

const (
	// chunk is how many rows of a kind one transaction works at most: enough to
	// make commits cheap, few enough to let requests in between: they wait
	// for some 50 ms at most, as whoever waits for the database is served in turn.
	chunk = 500
	// retryAfter is how long the worker leaves a database alone that failed.
	retryAfter = time.Second
)

// Run works what falls due until ctx ends. It sleeps when there is nothing to
// do, and never looks for work in vain.
func (s *Service) Run(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.wake:
		case <-timer.C:
		}
		worked, next, err := s.Step(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			s.Logger.ErrorContext(ctx, "sandbox worker failed, it tries again", "error", err, "after", retryAfter)
			timer.Reset(retryAfter)
		case worked > 0:
			timer.Reset(0)
		case !next.IsZero():
			timer.Reset(max(next.Sub(s.Now()), time.Millisecond))
		}
	}
}

// Step works what is due now, in one transaction and up to a limit. It returns
// how many rows it moved on and when the next one falls due, the zero time if
// nothing is left. All is done when a step has moved nothing.
func (s *Service) Step(ctx context.Context) (worked int, next time.Time, err error) {
	err = s.Store.Update(ctx, func(tx *store.Tx) error {
		c := &change{Service: s, tx: tx, now: s.clock()}
		worked = 0
		for _, part := range []func() (int, error){c.items, c.operations, c.expiry, c.orders, c.reviews} {
			n, err := part()
			if err != nil {
				return err
			}
			worked += n
		}
		var err error
		next, err = tx.NextDue()
		return err
	})
	return worked, next, err
}

// items starts the items that are due to be started, ends those that are due to
// end, and completes batches that have none left.
func (c *change) items() (int, error) {
	started, err := c.tx.StartItems(c.now, c.Delay, chunk)
	if err != nil {
		return 0, err
	}
	if err := c.tx.TouchBatches(c.now); err != nil { // a batch is in progress before it is completed
		return 0, err
	}
	due, err := c.tx.DueItems(c.now, chunk)
	if err != nil {
		return 0, err
	}
	for _, item := range due {
		if err := c.workItem(item); err != nil {
			return 0, err
		}
	}
	return started + len(due), c.tx.TouchBatches(c.now)
}

func (c *change) operations() (int, error) {
	due, err := c.tx.DueOperations(c.now, chunk)
	if err != nil {
		return 0, err
	}
	for _, op := range due {
		if err := c.work(op); err != nil {
			return 0, err
		}
	}
	return len(due), nil
}

// expiry deactivates listings whose ask has expired, and notes of the others
// that they have.
func (c *change) expiry() (int, error) {
	expiring, err := c.tx.ExpiringListings(c.now, chunk)
	if err != nil {
		return 0, err
	}
	for _, l := range expiring {
		set := store.Change{Active: new(false)}
		if l.Status == store.Active {
			if err := c.apply(&l, store.Expiry, set); err != nil {
				return 0, err
			}
			if err := c.record(l.ID, store.Deactivate, bySystem, viaInternal, set); err != nil {
				return 0, err
			}
		}
		l.Expired = true
		if err := c.tx.SaveListing(l); err != nil {
			return 0, err
		}
	}
	return len(expiring), nil
}
