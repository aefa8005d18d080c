package selling

import (
	"slices"

	"github.com/sellside-sdk/sellside-go/sandbox/internal/store"
)

// rules says in which states of a listing a type of operation is possible. What
// is not listed is refused.
var rules = map[string][]string{
	store.Create:     {store.Inactive}, // a listing begins inactive
	store.Update:     {store.Inactive, store.Active},
	store.Activate:   {store.Inactive},
	store.Deactivate: {store.Active},
	store.Delete:     {store.Inactive, store.Active},
}

// verbs are the types of operations in words.
var verbs = map[string]string{
	store.Create:     "created",
	store.Update:     "updated",
	store.Activate:   "activated",
	store.Deactivate: "deactivated",
	store.Delete:     "deleted",
}

// states are the states of a listing in words.
var states = map[string]string{
	store.Inactive:  "it is inactive already",
	store.Active:    "it is active already",
	store.Deleted:   "it is deleted",
	store.Canceled:  "it is canceled",
	store.Matched:   "it is sold",
	store.Completed: "it is sold",
}

// allow refuses an operation that is impossible in the listing's state.
func allow(operation string, l store.Listing) error {
	if slices.Contains(rules[operation], l.Status) {
		return nil
	}
	return refused("listing %s cannot be %s: %s", l.ID, verbs[operation], states[l.Status])
}
