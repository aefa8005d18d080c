package decide

import "fmt"

// The most that a plan may delete without leave: either of both is enough.
const (
	freeDeletes        = 10 // Listings.
	freeDeletesPercent = 10 // Of the listings of the account.
)

// DeletesError reports that a plan deletes more listings than it may.
type DeletesError struct {
	Deletes  int // Of the plan, with those that it has already sent.
	Listings int // Live listings of the account before the plan.
	Allowed  int // The count that the seller allowed, or what is free.
}

func (e *DeletesError) Error() string {
	return fmt.Sprintf("check deletes: the plan deletes %d of %d listings (%d allowed): "+
		"check the inventory, then allow that count", e.Deletes, e.Listings, e.Allowed)
}

// CheckDeletes returns a *[DeletesError] if a plan deletes too many listings: more than allowed, or,
// if allowed is nil, more than 10 and more than 10 percent of the account. deletes are all of the
// plan, also those that it has already sent; listings are the live ones of the account before it.
// It is to be called when a plan is made and, because decisions change while a plan is applied, in
// the transaction that records deletes.
func CheckDeletes(deletes, listings int, allowed *int) error {
	limit := max(freeDeletes, listings*freeDeletesPercent/100)
	if allowed != nil {
		limit = *allowed
	}
	if deletes <= limit {
		return nil
	}
	return &DeletesError{Deletes: deletes, Listings: listings, Allowed: limit}
}
