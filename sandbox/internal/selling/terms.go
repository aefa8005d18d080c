package selling

import (
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
