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
// A row that fails, for a reason that is no mistake of a seller, is given up and logged. If not
// even that is possible, Step processes the other rows and returns an error with their number.
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
	err = s.Store.Update(ctx, func(tx *store.Tx) (err error) {
		c = &change{Service: s, tx: tx, now: s.clock(), worker: true, savepoints: savepoints}
		for _, work := range []func() error{
			c.workTasks, c.workExpiry, c.matchBids, c.workOrders, c.workReviews,
		} {
			if err := work(); err != nil {
				return err
			}
		}
		next, err = tx.NextDue()
		seed = s.Seed
		return err
	})
	if err != nil {
		return 0, next, err
	}
	if s.matchedSeed.Store(&seed); len(c.failed) > 0 { // matching bids may be among them
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

// workRow processes one row. Its failure fails the step, which is then repeated with a savepoint
// for each row: a row that fails again is undone and given up. A row without giveUp, or that cannot
// be given up, stays as it is and fails again in the next step.
func (c *change) workRow(name string, work, giveUp func() error) error {
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
		c.failed = append(c.failed, err)
		return nil
	}
	if failure := c.tx.Savepoint(giveUp); errors.Is(failure, store.ErrAborted) {
		return errors.Join(err, failure)
	} else if failure != nil {
		c.failed = append(c.failed, errors.Join(err, failure))
		return nil
	}
	c.givenUp = append(c.givenUp, err)
	c.worked++
	return nil
}

// workTasks starts items that are due, processes items and operations that are due, and completes
// batches whose items are all done.
//
// Items and operations both change listings, so they are processed in the order they fell due,
// however late. Of those that fell due in the same millisecond, operations come first, and then
// what was accepted first.
func (c *change) workTasks() error {
	started, err := c.tx.StartItems(c.now, c.Delay, chunk)
	if err != nil {
		return err
	}
	c.worked += started
	if err := c.tx.UpdateBatches(c.now); err != nil { // a batch is in progress before it is completed
		return err
	}
	items, err := c.tx.DueItems(c.now, chunk)
	if err != nil {
		return err
	}
	operations, err := c.tx.DueOperations(c.now, chunk)
	if err != nil {
		return err
	}
	// There may be more than a full list has, and the rows of the other list must not overtake
	// them. Items that were not started for want of room fall due after a full list, too.
	end := c.now
	if n := len(items); n == chunk {
		end = items[n-1].DueAt
	}
	itemsEnd := end
	if n := len(operations); n == chunk && !operations[n-1].DueAt.After(end) {
		itemsEnd = operations[n-1].DueAt.Add(-time.Millisecond) // operations of that moment come first
	}
	if err := c.workInOrder(items, itemsEnd, operations, end); err != nil {
		return err
	}
	return c.tx.UpdateBatches(c.now)
}

// workInOrder processes items and operations that fell due by the end of each, in that order.
func (c *change) workInOrder(
	items []store.Item, itemsEnd time.Time, operations []store.Operation, operationsEnd time.Time,
) error {
	for {
		var item *store.Item
		if len(items) > 0 && !items[0].DueAt.After(itemsEnd) {
			item = &items[0]
		}
		var op *store.Operation
		if len(operations) > 0 && !operations[0].DueAt.After(operationsEnd) {
			op = &operations[0]
		}
		var err error
		switch {
		case op != nil && (item == nil || !op.DueAt.After(item.DueAt)):
			operations = operations[1:]
			err = c.workRow("operation "+op.ID,
				func() error { return c.workOperation(*op) },
				func() error { return c.tx.FinishOperation(op.Seq, state.Failed, internalFailure, c.now) })
		case item != nil:
			items = items[1:]
			err = c.workRow("item "+item.ID,
				func() error { return c.workItem(*item) },
				func() error { return c.tx.FinishItem(*item, store.ItemResult{}, internalFailure) })
		default:
			return nil
		}
		if err != nil {
			return err
		}
	}
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
