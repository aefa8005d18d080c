package selling

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sellside-sdk/sellside-go/sandbox/internal/state"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/store"
)

// verbs are the types of operations in words.
var verbs = map[string]string{
	state.Create:     "created",
	state.Update:     "updated",
	state.Activate:   "activated",
	state.Deactivate: "deactivated",
	state.Delete:     "deleted",
}

// conditions are the states of a listing in words.
var conditions = map[string]string{
	state.Inactive:  "it is inactive already",
	state.Active:    "it is active already",
	state.Deleted:   "it is deleted",
	state.Canceled:  "it is canceled",
	state.Matched:   "it is sold",
	state.Completed: "it is sold",
}

// allow refuses an operation that is impossible in the listing's state, and
// says what is possible.
func allow(operation string, l store.Listing) error {
	if state.Listing.Allows(l.Status, operation) {
		return nil
	}
	return refused("listing %s cannot be %s: %s; %s", l.ID, verbs[operation], conditions[l.Status], possible(l.Status))
}

// possible says what a seller can do to a listing in a state.
func possible(status string) string {
	var can []string
	for _, event := range state.Listing.Events(status) {
		if verb, ok := verbs[event]; ok && event != state.Create {
			can = append(can, verb)
		}
	}
	if len(can) == 0 {
		return "nothing more can be done to it"
	}
	last := len(can) - 1
	return "it can be " + strings.Join(can[:last], ", ") + " or " + can[last]
}

// enter changes the status of a listing. That an event leads there was checked
// before, so it is a mistake of the sandbox's own if it does not.
func (c *change) enter(l *store.Listing, event, status string) error {
	if !state.Listing.Leads(l.Status, event, status) {
		return fmt.Errorf("%s does not lead a listing from %s to %s", event, l.Status, status)
	}
	l.Status, l.UpdatedAt = status, c.now
	return nil
}

// step finds the way of an order to a status, or refuses it and says where it
// can go instead.
func step(o store.Order, status string) (state.Transition, error) {
	if !state.Order.Has(status) {
		all := slices.Concat(state.Order.Names(false), state.Order.Names(true))
		return state.Transition{}, invalid("status", "there is no order status %.40q: use one of %s", status, strings.Join(all, ", "))
	}
	t, ok := state.Order.Toward(o.Status, status)
	if ok {
		return t, nil
	}
	targets := state.Order.Targets(o.Status)
	if len(targets) == 0 {
		return t, refused("order %s cannot be moved to %s: it is %s, which is final", o.Number, status, o.Status)
	}
	return t, refused("order %s cannot be moved to %s: it is %s, from which it can be moved to %s",
		o.Number, status, o.Status, strings.Join(targets, ", "))
}
