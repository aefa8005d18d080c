package selling

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/sellside-sdk/sellside-go/sandbox/internal/market"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/state"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/store"
)

// defaultLifetime is the lifetime of an ask without an expiry: 999 days.
const defaultLifetime = 999 * 24 * time.Hour

// The inventory types that sellers can list as.
const (
	Standard = "STANDARD" // the default
	Direct   = "DIRECT"   // has shipping documents of its own
)

// Terms are what a seller asks for. Members that are empty are left out: a new listing takes the
// defaults, and for others see [change.defaults].
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

// newListing returns an inactive listing, as all are at first.
func (c *change) newListing(account int64, n NewListing) (store.Listing, error) {
	v, ok := c.Catalog.Variant(n.VariantID)
	if !ok {
		return store.Listing{}, invalid("variantId", "variant (%.80q): not found", n.VariantID)
	}
	l := store.Listing{
		Account:       account,
		Status:        state.Inactive,
		ProductID:     v.Product.ID,
		VariantID:     v.ID,
		Currency:      market.USD,
		InventoryType: n.InventoryType,
		ExpiresAt:     c.now.Add(defaultLifetime),
		CreatedAt:     c.now,
		UpdatedAt:     c.now,
	}
	switch l.InventoryType {
	case "":
		l.InventoryType = Standard
	case Standard, Direct:
	default:
		return store.Listing{}, invalid("inventoryType", "inventory type (%.20q): must be %s or %s",
			l.InventoryType, Standard, Direct)
	}
	set, err := c.resolve(l, n.Terms)
	if err != nil {
		return store.Listing{}, err
	}
	assign(&l, set)
	l.ID, err = c.newUUID("listing")
	return l, err
}

// activeByDefault: a new listing goes live unless the seller asks for the opposite.
func activeByDefault(active *bool) *bool {
	if active == nil {
		return new(true)
	}
	return active
}

// defaults returns the terms of an operation with what is published for members that are left out:
// an amount is in US dollars, and the ask expires in 999 days, as on creation. Terms without an
// amount keep price and currency, which is assumed. With KeepTerms nothing is filled in: the listing
// keeps what it has.
func (c *change) defaults(operation string, t Terms) Terms {
	if c.KeepTerms || operation != state.Update && operation != state.Activate {
		return t
	}
	if t.Amount != "" {
		t.Currency = cmp.Or(t.Currency, market.USD)
	}
	if t.ExpiresAt.IsZero() {
		t.ExpiresAt = c.now.Add(defaultLifetime)
	}
	return t
}

// resolve checks new terms for a listing and returns the change that they make. If only the
// currency changes, the amount keeps its number.
func (c *change) resolve(l store.Listing, t Terms) (store.Change, error) {
	set := store.Change{Active: t.Active, ExpiresAt: t.ExpiresAt}
	if !t.ExpiresAt.IsZero() && !t.ExpiresAt.After(c.now) {
		return set, invalid("expiresAt", "expiresAt (%s): must not be in the past",
			t.ExpiresAt.UTC().Format(time.RFC3339))
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
		return set, invalid("currencyCode", "currency (%.10q): listings cannot be priced in it", code)
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

// assign sets the terms of a listing, but not its ask.
func assign(l *store.Listing, set store.Change) {
	if set.Amount != 0 {
		l.Amount, l.Currency = set.Amount, set.Currency
	}
	if !set.ExpiresAt.IsZero() {
		l.ExpiresAt, l.Expired = set.ExpiresAt, false
	}
}

// apply makes the change of an operation to a listing, in memory only, or refuses it.
//
// What is not published is assumed: an update without active leaves an inactive listing inactive,
// with its new terms for the next activation; setting active to what it is already is allowed in an
// update; activating an expired listing without a new expiry starts the default lifetime again; an
// expiry that has passed since it was accepted makes an ask that expires at once.
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
		return c.setStatus(l, operation, state.Deleted)
	case !wanted:
		l.Ask = store.Ask{}
		return c.setStatus(l, operation, state.Inactive)
	case l.Status == state.Active:
		l.Ask.UpdatedAt = c.now
		return c.setStatus(l, operation, state.Active)
	default:
		if set.ExpiresAt.IsZero() && !l.ExpiresAt.After(c.now) {
			l.ExpiresAt = c.now.Add(defaultLifetime)
		}
		l.Expired = false
		id, err := c.newAskID()
		if err != nil {
			return err
		}
		l.Ask = store.Ask{ID: id, CreatedAt: c.now, UpdatedAt: c.now}
		return c.setStatus(l, operation, state.Active)
	}
}

// setStatus changes the status of a listing. That the transition exists was checked before, so it
// is a failure of the sandbox if it does not.
func (c *change) setStatus(l *store.Listing, event, status string) error {
	if !state.Listing.Leads(l.Status, event, status) {
		return fmt.Errorf("set status (listing %s): no transition %s from %s to %s", l.ID, event, l.Status, status)
	}
	l.Status, l.UpdatedAt = status, c.now
	return nil
}

// participles are the types of operations in messages.
var participles = map[string]string{
	state.Create:     "created",
	state.Update:     "updated",
	state.Activate:   "activated",
	state.Deactivate: "deactivated",
	state.Delete:     "deleted",
}

// adjectives are the states of a listing in messages.
var adjectives = map[string]string{
	state.Inactive:  "already inactive",
	state.Active:    "already active",
	state.Deleted:   "deleted",
	state.Canceled:  "canceled",
	state.Matched:   "sold",
	state.Completed: "sold",
}

// allow refuses an operation that is not possible in the state of a listing, with what is possible.
func allow(operation string, l store.Listing) error {
	if state.Listing.Allows(l.Status, operation) {
		return nil
	}
	return refused("listing %s cannot be %s: %s; %s",
		l.ID, participles[operation], adjectives[l.Status], possible(l.Status))
}

// possible returns what a seller can do to a listing in a state.
func possible(status string) string {
	var can []string
	for _, event := range state.Listing.Events(status) {
		if participle, ok := participles[event]; ok && event != state.Create {
			can = append(can, participle)
		}
	}
	if len(can) == 0 {
		return "it cannot be changed any more"
	}
	last := len(can) - 1
	return "it can be " + strings.Join(can[:last], ", ") + " or " + can[last]
}
