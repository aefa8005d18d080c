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
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			s.Logger.ErrorContext(ctx, "sandbox worker failed, it tries again", "error", err, "worked", worked)
		}
		switch {
		case worked > 0: // all but what fails
			timer.Reset(0)
		case err != nil:
			timer.Reset(retryAfter)
		case !next.IsZero():
			timer.Reset(max(next.Sub(s.Now()), time.Millisecond))
		}
	}
}

// Step works what is due now, in one transaction and up to a limit. It returns
// how many rows it moved on and when the next one falls due, the zero time if
// nothing is left. All is done when a step has moved nothing.
//
// A row that cannot be worked, for a reason that is no mistake of the seller's,
// is given up and logged. If not even that is possible, Step returns an error
// after it has worked the others, whose number it returns as well.
func (s *Service) Step(ctx context.Context) (worked int, next time.Time, err error) {
	worked, next, err = s.step(ctx, false)
	if err != nil && ctx.Err() == nil { // once more, to part the row that fails from the rest
		worked, next, err = s.step(ctx, true)
	}
	return worked, next, err
}

func (s *Service) step(ctx context.Context, apart bool) (worked int, next time.Time, err error) {
	var c *change
	var seed uint64
	err = s.Store.Update(ctx, func(tx *store.Tx) (err error) {
		c = &change{Service: s, tx: tx, now: s.clock(), worker: true, apart: apart}
		for _, part := range []func() error{c.tasks, c.expiry, c.cross, c.orders, c.reviews} {
			if err := part(); err != nil {
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
	if s.crossed.Store(&seed); len(c.stuck) > 0 { // a market may be among them
		s.crossed.Store(nil)
	}
	for _, failure := range c.givenUp {
		s.Logger.ErrorContext(ctx, "sandbox worker gave something up", "error", failure)
	}
	if c.strayed {
		c.stuck = append(c.stuck, s.LoadCatalog(ctx))
	}
	return c.worked, next, errors.Join(c.stuck...)
}

// expiry deactivates listings whose ask has expired, and notes of the others
// that they have.
func (c *change) expiry() error {
	expiring, err := c.tx.ExpiringListings(c.now, chunk)
	if err != nil {
		return err
	}
	for _, l := range expiring {
		if err := c.row("expiry of listing "+l.ID, func() error { return c.expire(l) }, nil); err != nil {
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
		if err := c.record(l.ID, state.Deactivate, bySystem, viaInternal, set); err != nil {
			return err
		}
	}
	l.Expired = true
	return c.tx.SaveListing(l)
}

// broken is what a seller is told of a row that was given up.
const broken = "the sandbox failed to do this; its log says why"

// row works one row that is due. Usually its failure is that of the whole step,
// which is then redone with every row apart from the others: one that fails
// again leaves nothing behind, and is given up. A row that cannot be given up
// stays as it is and fails again in the next step.
func (c *change) row(name string, work, giveUp func() error) error {
	if !c.apart {
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
		c.stuck = append(c.stuck, err)
		return nil
	}
	if failure := c.tx.Savepoint(giveUp); errors.Is(failure, store.ErrAborted) {
		return errors.Join(err, failure)
	} else if failure != nil {
		c.stuck = append(c.stuck, errors.Join(err, failure))
		return nil
	}
	c.givenUp = append(c.givenUp, err)
	c.worked++
	return nil
}

// tasks starts the items that are due to be started, does what items and
// operations ask for that are due, and completes batches that have none left.
//
// Both change listings, so they are done in the order they fell due, however
// late that is. Of what fell due in the same millisecond operations come first,
// and then what was accepted first.
func (c *change) tasks() error {
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
	// Of a list that is full there may be more, which the others must not overtake;
	// the items that were not started for want of room would come after it, too.
	end := c.now
	if n := len(items); n == chunk {
		end = items[n-1].DueAt
	}
	itemsEnd := end
	if n := len(operations); n == chunk && !operations[n-1].DueAt.After(end) {
		itemsEnd = operations[n-1].DueAt.Add(-time.Millisecond) // operations of that moment come before
	}
	if err := c.inTurn(items, itemsEnd, operations, end); err != nil {
		return err
	}
	return c.tx.UpdateBatches(c.now)
}

// inTurn works items and operations that are due by the end of each.
func (c *change) inTurn(items []store.Item, itemsEnd time.Time, operations []store.Operation, operationsEnd time.Time) error {
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
			err = c.row("operation "+op.ID,
				func() error { return c.work(*op) },
				func() error { return c.tx.FinishOperation(op.Seq, state.Failed, broken, c.now) })
		case item != nil:
			items = items[1:]
			err = c.row("item "+item.ID,
				func() error { return c.workItem(*item) },
				func() error { return c.tx.FinishItem(*item, store.ItemResult{}, broken) })
		default:
			return nil
		}
		if err != nil {
			return err
		}
	}
}
