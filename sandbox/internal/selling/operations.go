package selling

import (
	"context"

	"github.com/sellside-sdk/sellside-go/sandbox/internal/state"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/store"
)

// Who starts operations, and through which channel.
const (
	byUser      = "USER"
	bySystem    = "SYSTEM"
	viaAPI      = "PUBLIC-API"
	viaInternal = "INTERNAL-SYSTEM"
)

// Create writes down a new listing, which is inactive until its pending
// operation has succeeded.
func (s *Service) Create(ctx context.Context, account int64, n NewListing) (op store.Operation, err error) {
	err = s.write(ctx, func(c *change) error {
		l, err := c.listing(account, n)
		if err != nil {
			return err
		}
		if err := c.tx.InsertListing(l); err != nil {
			return err
		}
		op, err = c.pend(l.ID, state.Create, store.Change{
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

// Activate starts an operation that gives an inactive listing an ask, with new
// terms if there are any.
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

// start checks an operation against the listing as it is now and writes it
// down. It is checked again when it is worked, for much can happen until then.
// Terms that it leaves open are those of the operations before it, though they
// are still pending.
func (s *Service) start(ctx context.Context, account int64, id, operation string, t Terms) (op store.Operation, err error) {
	err = s.write(ctx, func(c *change) error {
		l, err := c.tx.Listing(account, id)
		if err != nil {
			return found(err, "listing", id)
		}
		if err := allow(operation, l); err != nil {
			return err
		}
		pending, err := c.tx.PendingOperations(l.ID)
		if err != nil {
			return err
		}
		for _, before := range pending {
			assign(&l, before.Change)
		}
		set, err := c.resolve(l, t)
		if err != nil {
			return err
		}
		op, err = c.pend(id, operation, set)
		return err
	})
	return op, err
}

// pend writes down a pending operation of the seller's.
func (c *change) pend(listingID, operation string, set store.Change) (store.Operation, error) {
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

// record writes down an operation that has succeeded at once, as those of
// batches do.
func (c *change) record(listingID, operation, by, via string, set store.Change) error {
	id, err := c.newUUID("operation")
	if err != nil {
		return err
	}
	return c.tx.InsertOperation(store.Operation{
		ID: id, ListingID: listingID, Type: operation, Status: state.Succeeded,
		InitiatedBy: by, InitiatedVia: via, Change: set, CreatedAt: c.now, UpdatedAt: c.now,
	})
}

// work does what a pending operation asks for. It fails if that is no longer
// possible.
func (c *change) work(op store.Operation) error {
	l, err := c.tx.AnyListing(op.ListingID)
	if err != nil {
		return err
	}
	failed, err := mistake(c.apply(&l, op.Type, op.Change))
	if err != nil {
		return err
	}
	if failed != "" {
		return c.tx.FinishOperation(op.Seq, state.Failed, failed, c.now)
	}
	if err := c.tx.SaveListing(l); err != nil {
		return err
	}
	return c.tx.FinishOperation(op.Seq, state.Succeeded, "", c.now)
}

// activeByDefault: a new listing goes live unless the seller says otherwise.
func activeByDefault(active *bool) *bool {
	if active == nil {
		return new(true)
	}
	return active
}
