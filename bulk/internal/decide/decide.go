// Package decide decides what an inventory needs: of one row what is owed, and of an account what
// to do next. Its functions are pure: they read the ledger's view and a clock value, and do no I/O.
// They are safe for concurrent use, and keep nothing of their arguments.
//
//   - [Observe] keeps the counts of a SKU, from which a [Row] gets its CountedAt and Before.
//   - [Decide] compares a row with its listings and writes, and returns a [Decision].
//   - [Adopt] matches foreign listings to rows that would create listings.
//   - [Totals] adds decisions up, [CheckDeletes] refuses a plan that deletes too much, and [LeastTime]
//     is the time that the quota needs for it.
//   - [Next] says what an account does next, from a [View] of the ledger in aggregates.
//
// # Rows
//
// A decision is made again when something that it depends on changed: the row, its listings and
// sales, a write that ended, the market or own asks (of rows with rules), and at Decision.At. What
// is owed is recorded as [Write] in the transaction that compares the plan's generation, so that the
// next decision counts it. When a write ends, it leaves Row.InFlight in the transaction that changes
// Row.Listings: listings that a create made are added, one that a write failed for becomes
// [PresenceUnknown], and an item that was refused becomes a [Refusal].
//
// # Clocks
//
// Sales and creations have times of the service, counts those of the seller or the ledger. Only
// order matters, and only between a sale and a count.
package decide

import (
	"cmp"
	"slices"
	"time"

	"github.com/govalues/decimal"

	"github.com/sellside-sdk/sellside-go/bulk/stock"
	"github.com/sellside-sdk/sellside-go/gen"
)

// Row is a desired row with what the ledger knows of it.
type Row struct {
	stock.Row

	// Missing means that the inventory no longer has the SKU. The ledger keeps such a row while it
	// has listings or writes.
	Missing bool
	// Variant is the id of the variant that the row's item was resolved to; empty if it was not yet.
	Variant string

	// CountedAt is when Quantity was counted: the stated time or, if none is stated, the time at
	// which the ledger first saw this SKU with this quantity. See [Observe].
	CountedAt time.Time
	// Before is the count that Quantity is in doubt against, from [Observe]: the earliest one since
	// the last stated time, or a stated one that is later than CountedAt; nil if there is none.
	Before *Count

	Listings []Listing // Every listing that was made or adopted for the SKU.
	InFlight []Write   // Writes that are recorded, sent or of unknown outcome.
	Refusals []Refusal // Writes that the service refused, until the seller has them sent again.
}

// Presence is what is known of a listing's existence.
type Presence string

// The presences of a listing.
const (
	PresenceLive    Presence = "live"    // It can be sold: it is active, or inactive and not ended.
	PresenceSold    Presence = "sold"    // An order exists, or the listing is matched or completed.
	PresenceEnded   Presence = "ended"   // Deleted, canceled or gone. It cannot be sold any more.
	PresenceUnknown Presence = "unknown" // The last full reading did not show it, and it was not read by id since.
)

// Listing is a listing that was made or adopted for a row.
type Listing struct {
	ID        string
	Presence  Presence
	Variant   string // Empty counts as the row's.
	Active    bool
	Amount    gen.Amount
	Currency  gen.CurrencyCode // Empty counts as the row's.
	ExpiresAt gen.Time         // Zero if there is no ask or its expiry is not known.
	CreatedAt time.Time
	// RecordedAt is when the ledger recorded the create that made the listing, by the ledger's
	// clock; zero if it was adopted. A listing that was recorded after a count was sold after it,
	// whatever the clocks of the ledger and of the service say.
	RecordedAt time.Time
	SoldAt     time.Time // Zero if the time of the sale is not known, which counts as after any time.
	// Unpaid means that its order ended without a payout: canceled, not shipped, failed or returned.
	Unpaid bool
	// EndedAt is when such an order ended; zero if that is not known.
	EndedAt time.Time
	// ChangedAt are the times at which its price was changed within the last 24 hours.
	ChangedAt []time.Time
	ReadAt    time.Time // When the service last showed it.
}

// WriteKind is a kind of write.
type WriteKind string

// The kinds of writes.
const (
	WriteCreate WriteKind = "create"
	WriteUpdate WriteKind = "update"
	WriteDelete WriteKind = "delete"
)

// Write is a write of a row that has no known outcome yet.
type Write struct {
	Kind      WriteKind
	ListingID string // Of updates and deletes.
	Quantity  int    // Of creates: listings that it may make and that are not in Row.Listings.
	// Unknown means that no response says what became of it: nothing is sent for its row until
	// recovery has settled it.
	Unknown bool
}

// Refusal is an item of a batch that failed. The same write is not sent again: of a listing the
// same update or delete, of the row a create with the same terms.
type Refusal struct {
	Kind      WriteKind
	ListingID string    // Of updates and deletes.
	Terms     Terms     // Of creates and updates.
	Until     time.Time // When it may be sent again; zero if only the seller decides that.
}

// Policy is what the seller allows, and how prices are paced. The zero value deletes no missing
// rows and has the default pace.
type Policy struct {
	DeleteMissing bool // Delete the listings of rows that the inventory no longer has.

	// MinStepPercent is the least change of a rule's price, in percent of the amount that the
	// listing has. Zero is 0.5.
	MinStepPercent decimal.Decimal
	// MaxChanges is how often a rule changes the price of a listing in any 24 hours. Zero is 4.
	MaxChanges int
}

// Class is the main thing that a plan says of a row.
type Class string

// The classes of rows, in order of precedence: a row that needs several things has the first class
// that applies. [Decision] has all that it needs.
const (
	ClassConflict  Class = "conflict"  // The seller has to settle something; the lower reading holds.
	ClassCreated   Class = "created"   // Listings are to be created.
	ClassUpdated   Class = "updated"   // Listings are to be updated.
	ClassDeleted   Class = "deleted"   // Listings are to be deleted.
	ClassFailed    Class = "failed"    // The service refused what is owed.
	ClassWaiting   Class = "waiting"   // Something is to be known first, see Reasons.
	ClassSoldOut   Class = "sold out"  // All of the stock is sold.
	ClassUnchanged Class = "unchanged" // Nothing is to be done.
)

// Reason says why a row is as it is.
type Reason string

// The reasons of conflicts.
const (
	// ReasonChangedQuantity: the quantity changed without a stated time after items had been sold,
	// so it may be from before the sales or after them.
	ReasonChangedQuantity Reason = "quantity changed without as_of"
	// ReasonOlderCount: the inventory states an earlier time than one it stated before, or the same
	// time with another quantity.
	ReasonOlderCount Reason = "older as_of"
	// ReasonUnpaidSale: a sale ended without a payout. The item may be in stock again.
	ReasonUnpaidSale Reason = "sale without payout"
)

// The reasons why a row waits.
const (
	ReasonInFlight      Reason = "write in flight"
	ReasonUnknownWrite  Reason = "write of unknown outcome"
	ReasonUnreadListing Reason = "listing to be read by id" // See Decision.Reads.
	ReasonUnresolved    Reason = "variant not resolved"
	ReasonDeleteFirst   Reason = "listing to be deleted first"
	ReasonMarketUnread  Reason = "market not read"
	ReasonNoPrice       Reason = "no price" // Neither the market nor a fallback has one.
)

// Other reasons.
const (
	ReasonMissing      Reason = "missing from the inventory"
	ReasonSurplus      Reason = "more listings than owed"
	ReasonOtherVariant Reason = "listing of another variant"
	ReasonExpired      Reason = "expires_at is past" // Nothing is created; asks are deactivated.
	ReasonRefused      Reason = "write refused"      // See Row.Refusals.
	ReasonMinStep      Reason = "price step too small"
	ReasonMaxChanges   Reason = "price changed too often" // Decision.At is when it may change again.
)

// Terms are the terms of a listing. Writes send all of them that are set, because the service may
// set those that are left out to defaults: Amount and Currency always, ExpiresAt if the row states
// it or if the listing has one to keep. A zero ExpiresAt leaves it to the service.
type Terms struct {
	Amount    gen.Amount
	Currency  gen.CurrencyCode
	ExpiresAt gen.Time
	Active    bool
}

// Update is an update of a listing to terms.
type Update struct {
	ListingID string
	Terms     Terms
	// Deactivates means that the update ends an ask, so that it belongs before creates and other
	// updates.
	Deactivates bool
	// Priced means that a rule changes the amount: its time belongs in Listing.ChangedAt.
	Priced bool
}

// Decision is what a row needs. All counts are of listings.
type Decision struct {
	Class   Class
	Reasons []Reason // Each at most once.

	Owed     int       // Listings that should exist.
	Live     int       // Listings that exist.
	MayLive  int       // Listings that may exist: unread ones, and what creates in flight may make.
	Sold     int       // Sales after the quantity was counted.
	LastSold time.Time // Of the sales whose time is known.

	Creates   int // To be created with Terms in variant Row.Variant.
	Terms     Terms
	Updates   []Update
	Deletes   []string // IDs, in the order in which to delete them.
	Reads     []string // IDs of listings to read before anything is created.
	Conflicts []Conflict

	// At is the next time at which the clock alone may change the decision; zero if there is none.
	At time.Time
}

// Decide returns what a row needs. market is that of the row's variant and currency, own are the
// seller's active asks in it.
//
// Stock. Owed is the quantity less the sales at or after CountedAt. A sale of unknown time is after
// it, and so is one of a listing that was recorded after it. A quantity that is in doubt is a
// conflict: its lower reading holds, for deletes as well. A sale that ended without a payout counts
// as a sale and is a conflict: only a newer as_of lists the item again.
//
// Creates. Listings that exist or may exist (unread ones, creates in flight, and those that a
// delete in flight has not deleted yet) are never more than owed by what Decide adds: creates fill
// up to owed. They wait until each listing of the row is accounted for by its id.
//
// Deletes. While listings that exist and those that creates in flight may make are more than owed,
// listings are deleted: first those of another variant (which are deleted in any case), then
// inactive ones, then those with other terms than the row's, then the newest, then by id from the
// last.
//
// Writes in flight. A listing that has one is neither updated nor deleted, and a create in flight
// counts as made. After a write of unknown outcome nothing of the row is sent until it is settled.
//
// Updates. Amounts are compared by value, and only with a currency that is equal; an expiry only if
// the row states one, to the second. A row that is inactive or whose expiry is past only has its
// asks ended. A rule's price is paced by policy, unless the listing has another currency or an
// amount outside the floor and ceiling of the row.
//
// Missing rows. Nothing is owed, and their listings stay as they are, unless policy deletes the
// listings of such rows.
func Decide(row Row, market Market, own []Ask, now time.Time, policy Policy) Decision {
	holds, conflicts := readings(row)
	d := Decision{Owed: holds.Owed, Sold: holds.Sold, Conflicts: conflicts}
	if row.Missing {
		d.reason(ReasonMissing)
		d.Owed, d.Conflicts = 0, nil
	}
	for _, c := range d.Conflicts {
		d.reason(c.Reason)
	}
	d.at(row.ExpiresAt.Time, now)
	for _, r := range row.Refusals {
		d.at(r.Until, now)
	}
	s := survey(row)
	d.Live, d.MayLive, d.Reads = len(s.live), s.creating+len(s.unread), s.unread
	for _, l := range row.Listings {
		if l.soldAfter(holds.Count.At) && l.SoldAt.After(d.LastSold) {
			d.LastSold = l.SoldAt
		}
	}
	if row.Missing && !policy.DeleteMissing {
		d.Owed, d.Reads, d.Class = d.Live, nil, ClassUnchanged
		return d
	}
	p := price(row, market, own)
	d.owe(row, s, p, now, policy)
	if s.unknown {
		// Nothing of the row is sent, but it can be read.
		d.reason(ReasonUnknownWrite)
		d.Creates, d.Terms, d.Updates, d.Deletes = 0, Terms{}, nil, nil
	}
	d.Class = d.class(row)
	return d
}

// state is what the listings and writes of a row add up to.
type state struct {
	live     []Listing
	unread   []string
	creating int             // Listings that creates in flight may make.
	busy     map[string]bool // Listings with a write in flight.
	deleting map[string]bool // Listings with a delete in flight.
	unknown  bool            // A write is of unknown outcome.
}

func survey(row Row) state {
	s := state{busy: make(map[string]bool), deleting: make(map[string]bool)}
	for _, w := range row.InFlight {
		s.unknown = s.unknown || w.Unknown
		switch w.Kind {
		case WriteCreate:
			s.creating += w.Quantity
		case WriteDelete:
			s.busy[w.ListingID], s.deleting[w.ListingID] = true, true
		default:
			s.busy[w.ListingID] = true
		}
	}
	for _, l := range row.Listings {
		switch l.Presence {
		case PresenceLive:
			s.live = append(s.live, l)
		case PresenceSold, PresenceEnded:
		default: // An unknown value may be live.
			s.unread = append(s.unread, l.ID)
		}
	}
	return s
}

// owe sets what is owed and why something is not.
func (d *Decision) owe(row Row, s state, p priced, now time.Time, policy Policy) {
	updates := make(map[string]Update)
	for _, l := range s.live {
		if s.busy[l.ID] {
			d.reason(ReasonInFlight)
			continue
		}
		if u, ok := d.update(row, l, p, now, policy); ok {
			updates[l.ID] = u
		}
	}
	d.delete(row, s, updates, now)
	for _, l := range s.live {
		u, ok := updates[l.ID]
		switch {
		case !ok || slices.Contains(d.Deletes, l.ID):
		case row.refused(Refusal{Kind: WriteUpdate, ListingID: l.ID, Terms: u.Terms}, now):
			d.reason(ReasonRefused)
		default:
			d.Updates = append(d.Updates, u)
		}
	}
	d.create(row, s, p, now)
}

// delete chooses the listings to delete, in the order that [Decide] states.
func (d *Decision) delete(row Row, s state, updates map[string]Update, now time.Time) {
	other := func(l Listing) bool {
		return row.Variant != "" && l.Variant != "" && l.Variant != row.Variant
	}
	var candidates []Listing
	existing := s.creating
	for _, l := range s.live {
		if s.deleting[l.ID] {
			continue
		}
		existing++
		switch {
		case s.busy[l.ID]:
		case row.refused(Refusal{Kind: WriteDelete, ListingID: l.ID}, now):
			if other(l) || len(s.live)+s.creating > d.Owed {
				d.reason(ReasonRefused)
			}
		default:
			candidates = append(candidates, l)
		}
	}
	slices.SortFunc(candidates, func(a, b Listing) int {
		_, updatedA := updates[a.ID]
		_, updatedB := updates[b.ID]
		return cmp.Or(
			compareBool(other(b), other(a)),
			compareBool(a.Active, b.Active),
			compareBool(updatedB, updatedA),
			b.CreatedAt.Compare(a.CreatedAt),
			cmp.Compare(b.ID, a.ID),
		)
	})
	surplus := max(0, existing-d.Owed)
	for _, l := range candidates {
		switch {
		case other(l):
			d.reason(ReasonOtherVariant)
		case surplus > len(d.Deletes):
			d.reason(ReasonSurplus)
		default:
			continue
		}
		d.Deletes = append(d.Deletes, l.ID)
	}
}

// create fills up to what is owed.
func (d *Decision) create(row Row, s state, p priced, now time.Time) {
	n := d.Owed - len(s.live) - s.creating - len(s.unread)
	if s.creating > 0 {
		d.reason(ReasonInFlight)
	}
	if len(s.unread) > 0 {
		d.reason(ReasonUnreadListing)
		return
	}
	replaced := len(d.Deletes) + len(s.deleting) // Listings that make room once they are gone.
	switch {
	case n <= 0 && d.Owed > 0 && n+replaced > 0:
		d.reason(ReasonDeleteFirst)
	case n <= 0:
	case row.expired(now):
		d.reason(ReasonExpired)
	case row.Variant == "":
		d.reason(ReasonUnresolved)
	case p.reason != "":
		d.reason(p.reason)
	default:
		terms := Terms{
			Amount: p.amount, Currency: row.currency(), ExpiresAt: row.ExpiresAt, Active: row.active(now),
		}
		if row.refused(Refusal{Kind: WriteCreate, Terms: terms}, now) {
			d.reason(ReasonRefused)
			return
		}
		d.Creates, d.Terms = n, terms
	}
}

// update returns the update that a listing needs, and false if it needs none.
func (d *Decision) update(row Row, l Listing, p priced, now time.Time, policy Policy) (Update, bool) {
	if row.Missing {
		return Update{}, false
	}
	l.Currency = cmp.Or(l.Currency, row.currency())
	expired := !l.ExpiresAt.IsZero() && !l.ExpiresAt.After(now)
	hasAsk := l.Active && !expired
	terms := Terms{Amount: l.Amount, Currency: l.Currency, Active: row.active(now)}
	if !expired {
		terms.ExpiresAt = l.ExpiresAt
		d.at(l.ExpiresAt.Time, now)
	}
	if !terms.Active {
		if row.expired(now) {
			d.reason(ReasonExpired)
		}
		return Update{ListingID: l.ID, Terms: terms, Deactivates: true}, hasAsk
	}
	d.reason(p.reason)
	if p.reason != "" && !hasAsk {
		return Update{}, false // An ask needs a price.
	}
	u := Update{ListingID: l.ID, Terms: terms}
	needed := !hasAsk
	if !row.ExpiresAt.IsZero() {
		u.Terms.ExpiresAt = row.ExpiresAt
		needed = needed || !sameSecond(row.ExpiresAt.Time, l.ExpiresAt.Time)
	}
	if p.reason == "" && (!p.amount.Equal(l.Amount) || row.currency() != l.Currency) {
		if !hasAsk || !p.rule || d.reprice(row, l, p, now, policy) {
			u.Terms.Amount, u.Terms.Currency = p.amount, row.currency()
			u.Priced = p.rule
			needed = true
		}
	}
	return u, needed
}

// class returns the class of the decision. Its order is that of the constants.
func (d *Decision) class(row Row) Class {
	waits := func(r Reason) bool {
		switch r {
		case ReasonInFlight, ReasonUnknownWrite, ReasonUnreadListing, ReasonUnresolved,
			ReasonDeleteFirst, ReasonMarketUnread, ReasonNoPrice:
			return true
		}
		return false
	}
	switch {
	case len(d.Conflicts) > 0:
		return ClassConflict
	case d.Creates > 0:
		return ClassCreated
	case len(d.Updates) > 0:
		return ClassUpdated
	case len(d.Deletes) > 0:
		return ClassDeleted
	case slices.Contains(d.Reasons, ReasonRefused):
		return ClassFailed
	case slices.ContainsFunc(d.Reasons, waits):
		return ClassWaiting
	case row.Quantity > 0 && d.Owed == 0 && d.Sold > 0 && !row.Missing:
		return ClassSoldOut
	default:
		return ClassUnchanged
	}
}

func (d *Decision) reason(r Reason) {
	if r != "" && !slices.Contains(d.Reasons, r) {
		d.Reasons = append(d.Reasons, r)
	}
}

// at notes that the clock may change the decision at t.
func (d *Decision) at(t, now time.Time) {
	if t.After(now) && (d.At.IsZero() || t.Before(d.At)) {
		d.At = t
	}
}

// currency returns the currency of the row; empty is the service's default.
func (r Row) currency() gen.CurrencyCode { return cmp.Or(r.Currency, gen.CurrencyCodeUSD) }

func (r Row) expired(now time.Time) bool { return !r.ExpiresAt.IsZero() && !r.ExpiresAt.After(now) }

// refused reports whether the service refused a write that is not to be sent again yet.
func (r Row) refused(w Refusal, now time.Time) bool {
	return slices.ContainsFunc(r.Refusals, func(had Refusal) bool {
		return had.Kind == w.Kind && had.ListingID == w.ListingID && had.Terms.equal(w.Terms) &&
			(had.Until.IsZero() || now.Before(had.Until))
	})
}

// equal compares amounts by value and expiries to the second.
func (t Terms) equal(other Terms) bool {
	return t.Amount.Equal(other.Amount) && t.Currency == other.Currency && t.Active == other.Active &&
		sameSecond(t.ExpiresAt.Time, other.ExpiresAt.Time)
}

// active reports whether the row's listings should have asks.
func (r Row) active(now time.Time) bool { return (r.Active == nil || *r.Active) && !r.expired(now) }

// sameSecond compares expiries to the second: the service may keep no finer part.
func sameSecond(a, b time.Time) bool { return a.Sub(b).Abs() < time.Second }

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	default:
		return 1
	}
}
