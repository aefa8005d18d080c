package selling

import (
	"errors"
	"fmt"

	"github.com/sellside-sdk/sellside-go/sandbox/internal/store"
)

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
	err := c.tx.Isolate(work)
	if err == nil {
		c.worked++
		return nil
	}
	err = fmt.Errorf("%s: %w", name, err)
	if errors.Is(err, store.ErrLost) {
		return err
	}
	if giveUp == nil {
		c.stuck = append(c.stuck, err)
		return nil
	}
	if failure := c.tx.Isolate(giveUp); errors.Is(failure, store.ErrLost) {
		return errors.Join(err, failure)
	} else if failure != nil {
		c.stuck = append(c.stuck, errors.Join(err, failure))
		return nil
	}
	c.givenUp = append(c.givenUp, err)
	c.worked++
	return nil
}
