package selling

import (
	"context"
	"errors"

	"github.com/sellside-sdk/sellside-go/sandbox/internal/state"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/store"
)

// Who initiates operations, and through which channel.
const (
	byUser      = "USER"
	bySystem    = "SYSTEM"
	viaAPI      = "PUBLIC-API"
	viaInternal = "INTERNAL-SYSTEM"
)

// Create inserts a new listing, which is inactive until its pending operation has succeeded.
func (s *Service) Create(ctx context.Context, account int64, n NewListing) (op store.Operation, err error) {
	err = s.write(ctx, func(c *change) error {
		l, err := c.newListing(account, n)
		if err != nil {
			return err
		}
		if err := c.tx.InsertListing(l); err != nil {
			return err
		}
		op, err = c.insertPending(l.ID, state.Create, store.Change{
			Active: activeByDefault(n.Active), Amount: l.Amount, Currency: l.Currency, ExpiresAt: l.ExpiresAt,
		})
		return err
	})
	return op, err
}

// Update starts an operation that gives a listing new terms.
func (s *Service) Update(ctx context.Context, account int64, id string, t Terms) (store.Operation, error) {
	return s.start(ctx, account, id, state.Update, t)
}

// Activate starts an operation that gives an inactive listing an ask, and new terms if there are
// any.
func (s *Service) Activate(ctx context.Context, account int64, id string, t Terms) (store.Operation, error) {
	t.Active = new(true)
	return s.start(ctx, account, id, state.Activate, t)
}

// Deactivate starts an operation that takes the ask off a listing.
func (s *Service) Deactivate(ctx context.Context, account int64, id string) (store.Operation, error) {
	return s.start(ctx, account, id, state.Deactivate, Terms{Active: new(false)})
}

// Delete starts an operation that deletes a listing.
func (s *Service) Delete(ctx context.Context, account int64, id string) (store.Operation, error) {
	return s.start(ctx, account, id, state.Delete, Terms{Active: new(false)})
}

// start checks an operation against the listing as its pending operations will leave it, and
// inserts it. It is checked again when it falls due, since the listing may have been sold by then.
func (s *Service) start(
	ctx context.Context, account int64, id, operation string, t Terms,
) (op store.Operation, err error) {
	err = s.write(ctx, func(c *change) error {
		l, err := c.tx.Listing(account, id)
		if err != nil {
			return lookup(err, "listing", id)
		}
		if err := c.allowPending(operation, l); err != nil {
			return err
		}
		pending, err := c.tx.PendingTerms(l.ID)
		if err != nil {
			return err
		}
		assign(&l, pending)
		set, err := c.resolve(l, c.defaults(operation, t))
		if err != nil {
			return err
		}
		op, err = c.insertPending(id, operation, set)
		return err
	})
	return op, err
}

// allowPending refuses an operation that is not possible in the state in which the pending operations
// of a listing will leave it.
func (c *change) allowPending(operation string, l store.Listing) error {
	last, err := c.tx.LastPendingSwitch(l.ID)
	if errors.Is(err, store.ErrNotFound) || err == nil && l.Status != state.Active && l.Status != state.Inactive {
		return allow(operation, l)
	}
	if err != nil {
		return err
	}
	present := l.Status
	switch {
	case last.Type == state.Delete:
		l.Status = state.Deleted
	case *last.Change.Active:
		l.Status = state.Active
	default:
		l.Status = state.Inactive
	}
	if err = allow(operation, l); err != nil && l.Status != present {
		return refused("%s, once its pending operations are done", err)
	}
	return err
}

// insertPending inserts a pending operation of a seller.
func (c *change) insertPending(listingID, operation string, set store.Change) (store.Operation, error) {
	id, err := c.newUUID("operation")
	if err != nil {
		return store.Operation{}, err
	}
	op := store.Operation{
		ID: id, ListingID: listingID, Type: operation, Status: state.Pending,
		InitiatedBy: byUser, InitiatedVia: viaAPI,
		DueAt: c.now.Add(c.Delay), Change: set, CreatedAt: c.now, UpdatedAt: c.now,
	}
	return op, c.tx.InsertOperation(op)
}

// insertSucceeded inserts an operation that was made at once, as those of batches are.
func (c *change) insertSucceeded(listingID, operation, by, via string, set store.Change) error {
	id, err := c.newUUID("operation")
	if err != nil {
		return err
	}
	return c.tx.InsertOperation(store.Operation{
		ID: id, ListingID: listingID, Type: operation, Status: state.Succeeded,
		InitiatedBy: by, InitiatedVia: via, Change: set, CreatedAt: c.now, UpdatedAt: c.now,
	})
}

// workOperation makes the change of a pending operation, or fails it if that is no longer possible.
func (c *change) workOperation(op store.Operation) error {
	l, err := c.tx.AnyListing(op.ListingID)
	if err != nil {
		return err
	}
	failure, fails, err := c.takeFailure(l.ID, l.VariantID, op.Type)
	if err != nil {
		return err
	}
	if fails && failure.Error == "" {
		return c.tx.HoldOperation(op.Seq)
	}
	mistake := failure.Error
	if !fails {
		mistake, err = split(c.apply(&l, op.Type, op.Change))
	}
	if err != nil {
		return err
	}
	if mistake != "" {
		return c.tx.FinishOperation(op.Seq, state.Failed, mistake, c.now)
	}
	if err := c.tx.SaveListing(l); err != nil {
		return err
	}
	return c.tx.FinishOperation(op.Seq, state.Succeeded, "", c.now)
}
