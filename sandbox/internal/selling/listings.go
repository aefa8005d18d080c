package selling

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sellside-sdk/sellside-go/sandbox/internal/market"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/state"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/store"
)

// DefaultLifetime is how long an ask lives when nobody says: 999 days.
const DefaultLifetime = 999 * 24 * time.Hour

// Terms is what a seller asks for; empty members stay as they are, or take
// their default where there is nothing yet.
type Terms struct {
	Amount    string // decimal text
	Currency  string
	ExpiresAt time.Time
	Active    *bool
}

// NewListing is what a seller wants to sell.
type NewListing struct {
	VariantID     string
	InventoryType string
	Terms
}

// listing makes a listing of a seller's wish; it is inactive, as all are in the
// beginning.
func (c *change) listing(account int64, n NewListing) (store.Listing, error) {
	v, ok := c.Catalog.Variant(n.VariantID)
	if !ok {
		return store.Listing{}, invalid("variantId", "there is no variant %.80q", n.VariantID)
	}
	l := store.Listing{
		Account:       account,
		Status:        state.Inactive,
		ProductID:     v.Product.ID,
		VariantID:     v.ID,
		Currency:      market.USD,
		InventoryType: n.InventoryType,
		ExpiresAt:     c.now.Add(DefaultLifetime),
		CreatedAt:     c.now,
		UpdatedAt:     c.now,
	}
	switch l.InventoryType {
	case "":
		l.InventoryType = Standard
	case Standard, Direct:
	default:
		return store.Listing{}, invalid("inventoryType", "nobody can list as %.20q: use %s or %s", l.InventoryType, Standard, Direct)
	}
	set, err := c.resolve(l, n.Terms)
	if err != nil {
		return store.Listing{}, err
	}
	assign(&l, set)
	l.ID, err = c.newUUID("listing")
	return l, err
}

// resolve checks new terms for a listing and makes the change they amount to.
// An amount stays the same number when only the currency changes.
func (c *change) resolve(l store.Listing, t Terms) (store.Change, error) {
	set := store.Change{Active: t.Active, ExpiresAt: t.ExpiresAt}
	if !t.ExpiresAt.IsZero() && !t.ExpiresAt.After(c.now) {
		return set, invalid("expiresAt", "expiresAt %s is in the past", t.ExpiresAt.UTC().Format(time.RFC3339))
	}
	if t.Amount == "" && t.Currency == "" {
		return set, nil
	}
	code := t.Currency
	if code == "" {
		code = l.Currency
	}
	currency, ok := market.Lookup(code)
	if !ok {
		return set, invalid("currencyCode", "listings cannot be priced in %.10q", code)
	}
	if t.Amount == "" {
		old, _ := market.Lookup(l.Currency)
		t.Amount = market.FormatAmount(l.Amount, old)
	}
	minor, err := market.ParseAmount(t.Amount, currency)
	if err != nil {
		return set, invalid("amount", "%s", err.Error())
	}
	set.Amount, set.Currency = minor, code
	return set, nil
}

// assign gives a listing its new terms, but no ask.
func assign(l *store.Listing, set store.Change) {
	if set.Amount != 0 {
		l.Amount, l.Currency = set.Amount, set.Currency
	}
	if !set.ExpiresAt.IsZero() {
		l.ExpiresAt, l.Expired = set.ExpiresAt, false
	}
}

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

// apply does to a listing what an operation asks for, or refuses. The listing
// is changed in memory only.
//
// What is not published and therefore assumed: an update leaves an inactive
// listing inactive unless it says otherwise, its new terms wait for the
// activation; saying "active" of what is active already is no mistake in an
// update; and activating a listing that has expired without a new expiry starts
// the default lifetime again. An expiry that was asked for and has come since
// makes an ask that expires at once.
func (c *change) apply(l *store.Listing, operation string, set store.Change) error {
	defer c.noteAsk(l)
	if err := allow(operation, *l); err != nil {
		return err
	}
	assign(l, set)
	wanted := l.Status == state.Active
	if set.Active != nil {
		wanted = *set.Active
	}
	switch {
	case operation == state.Delete:
		l.Ask = store.Ask{}
		return c.enter(l, operation, state.Deleted)
	case !wanted:
		l.Ask = store.Ask{}
		return c.enter(l, operation, state.Inactive)
	case l.Status == state.Active:
		l.Ask.UpdatedAt = c.now
		return c.enter(l, operation, state.Active)
	default:
		if set.ExpiresAt.IsZero() && !l.ExpiresAt.After(c.now) {
			l.ExpiresAt = c.now.Add(DefaultLifetime)
		}
		l.Expired = false
		id, err := c.newAskID()
		if err != nil {
			return err
		}
		l.Ask = store.Ask{ID: id, CreatedAt: c.now, UpdatedAt: c.now}
		return c.enter(l, operation, state.Active)
	}
}
