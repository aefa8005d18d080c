package selling

import (
	"time"

	"github.com/sellside-sdk/sellside-go/sandbox/internal/state"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/store"
)

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
	if err := c.tx.TouchBatches(c.now); err != nil { // a batch is in progress before it is completed
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
	return c.tx.TouchBatches(c.now)
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
