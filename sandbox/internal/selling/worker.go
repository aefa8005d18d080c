package selling

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sellside-sdk/sellside-go/sandbox/internal/state"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/store"
)

const (
	// chunk is the most rows of a kind that one transaction processes: enough to make commits
	// cheap, few enough for requests, which get the database in turn, to wait for 50 ms at most.
	chunk = 500
	// retryAfter is how long the worker waits after a failure of the database.
	retryAfter = time.Second
	// internalFailure is the error of an item, an operation or a proposal that was given up.
	internalFailure = "the sandbox failed; its log says why"
)

// Run processes rows that fall due until ctx ends. It sleeps until the next one is due, or Wake is
// called.
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
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			s.Logger.ErrorContext(ctx, "sandbox worker failed, will retry", "error", err, "worked", worked)
		}
		switch {
		case worked > 0: // there may be more
			timer.Reset(0)
		case err != nil:
			timer.Reset(retryAfter)
		case !next.IsZero():
			timer.Reset(max(next.Sub(s.Now()), time.Millisecond))
		}
	}
}

// Step processes rows that are due, in one transaction and up to a limit. It returns the number of
// rows and when the next one falls due, the zero time if none will. Nothing is left to do when it
// returns 0.
//
// Time is simulated in order: each row is processed at the moment at which it fell due, before all
// rows of later moments, however late the step is. What comes out, stamps included, does not depend
// on how often Step is called.
//
// A row that fails for an internal reason is given up and logged. If that fails too, Step processes
// the other rows, and returns their number and an error.
func (s *Service) Step(ctx context.Context) (worked int, next time.Time, err error) {
	worked, next, err = s.step(ctx, false)
	if err != nil && ctx.Err() == nil { // find the row that fails
		worked, next, err = s.step(ctx, true)
	}
	return worked, next, err
}

func (s *Service) step(ctx context.Context, savepoints bool) (worked int, next time.Time, err error) {
	var c *change
	var seed uint64
	var done bool
	err = s.Store.Update(ctx, func(tx *store.Tx) (err error) {
		c = &change{
			Service: s, tx: tx, now: s.clock(), worker: true,
			savepoints: savepoints, left: map[string]bool{},
		}
		if done, err = c.simulate(); err != nil {
			return err
		}
		next, err = tx.NextDue(time.Time{})
		seed = s.Seed
		return err
	})
	if err != nil {
		return 0, next, err
	}
	if done {
		s.matchedSeed.Store(&seed)
	}
	if len(c.failed) > 0 { // matching bids may be among them
		s.matchedSeed.Store(nil)
	}
	for _, err := range c.givenUp {
		s.Logger.ErrorContext(ctx, "sandbox worker gave a row up", "error", err)
	}
	if c.catalogDirty {
		c.failed = append(c.failed, s.LoadCatalog(ctx))
	}
	return c.worked, next, errors.Join(c.failed...)
}

// simulate processes what fell due up to the present, moment by moment, and reports whether that
// was all. It stops early when it has processed enough rows for one transaction.
func (c *change) simulate() (done bool, err error) {
	if c.mayFail, err = c.tx.HasFailures(); err != nil {
		return false, err
	}
	present := c.now
	var passed time.Time // everything up to it is done, except for rows that fail
	for {
		moment, err := c.tx.NextDue(passed)
		if err != nil {
			return false, err
		}
		if moment.IsZero() || moment.After(present) {
			c.now = present
			return true, c.matchAll()
		}
		if c.worked >= chunk {
			return false, nil
		}
		c.now = moment
		worked := c.worked
		if err := c.workMoment(); err != nil {
			return false, err
		}
		if c.worked == worked {
			passed = moment
		}
	}
}

// takeFailure returns the failure that a test wants for an operation or an item, and false if there
// is none.
func (c *change) takeFailure(listingID, variantID, operation string) (f store.Failure, ok bool, err error) {
	if !c.mayFail {
		return f, false, nil
	}
	return c.tx.TakeFailure(listingID, variantID, operation)
}

// workMoment processes rows that fell due at the current moment. It begins again with the first
// kind when there may be more of one kind, so that no other kind overtakes it.
func (c *change) workMoment() error {
	for _, work := range []func() error{
		c.workOperations, c.workItems, c.workExpiry, c.matchChanged, c.workOrders, c.workReviews,
	} {
		worked := c.worked
		if err := work(); err != nil || c.worked >= worked+chunk {
			return err
		}
	}
	return nil
}

// workRow processes one row. Its failure fails the step, which is then repeated with a savepoint
// for each row: a row that fails again is undone and given up. A row without giveUp, or that cannot
// be given up, stays as it is and fails again in the next step.
func (c *change) workRow(name string, work, giveUp func() error) error {
	if c.left[name] {
		return nil
	}
	if !c.savepoints {
		if err := work(); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		c.worked++
		return nil
	}
	err := c.tx.Savepoint(work)
	if err == nil {
		c.worked++
		return nil
	}
	err = fmt.Errorf("%s: %w", name, err)
	if errors.Is(err, store.ErrAborted) {
		return err
	}
	if giveUp == nil {
		c.left[name], c.failed = true, append(c.failed, err)
		return nil
	}
	if failure := c.tx.Savepoint(giveUp); errors.Is(failure, store.ErrAborted) {
		return errors.Join(err, failure)
	} else if failure != nil {
		c.left[name], c.failed = true, append(c.failed, errors.Join(err, failure))
		return nil
	}
	c.givenUp = append(c.givenUp, err)
	c.worked++
	return nil
}

// workOperations processes operations that are due. Of a moment, operations come before items.
func (c *change) workOperations() error {
	due, err := c.tx.DueOperations(c.now, chunk)
	if err != nil {
		return err
	}
	for _, op := range due {
		err := c.workRow("operation "+op.ID,
			func() error { return c.workOperation(op) },
			func() error { return c.tx.FinishOperation(op.Seq, state.Failed, internalFailure, c.now) })
		if err != nil {
			return err
		}
	}
	return nil
}

// workItems starts items that are due, processes those in progress that are due, in the order in
// which they were accepted, and completes batches whose items are all done.
func (c *change) workItems() error {
	started, err := c.tx.StartItems(c.now, c.Delay, chunk)
	if err != nil {
		return err
	}
	c.worked += started
	if err := c.tx.UpdateBatches(c.now); err != nil { // a batch is in progress before it is completed
		return err
	}
	due, err := c.tx.DueItems(c.now, chunk)
	if err != nil {
		return err
	}
	for _, item := range due {
		err := c.workRow("item "+item.ID,
			func() error { return c.workItem(item) },
			func() error { return c.tx.FinishItem(item, store.ItemResult{}, internalFailure) })
		if err != nil {
			return err
		}
	}
	return c.tx.UpdateBatches(c.now)
}

// workExpiry deactivates active listings that expired, and marks the others as Expired.
func (c *change) workExpiry() error {
	expiring, err := c.tx.ExpiringListings(c.now, chunk)
	if err != nil {
		return err
	}
	for _, l := range expiring {
		if err := c.workRow("expiry of listing "+l.ID, func() error { return c.expire(l) }, nil); err != nil {
			return err
		}
	}
	return nil
}

func (c *change) expire(l store.Listing) error {
	if l.Status == state.Active {
		set := store.Change{Active: new(false)}
		if err := c.apply(&l, state.Expiry, set); err != nil {
			return err
		}
		err := c.insertSucceeded(l.ID, state.Deactivate, bySystem, viaInternal, set)
		if err != nil {
			return err
		}
	}
	l.Expired = true
	return c.tx.SaveListing(l)
}
