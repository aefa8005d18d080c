// Package decide decides what an inventory needs: of one row what is owed, and of an account what
// to do next. Its functions are pure: they read the ledger's view and a clock value, and do no I/O.
package decide

import (
	"time"

	"github.com/sellside-sdk/sellside-go/bulk/stock"
	"github.com/sellside-sdk/sellside-go/gen"
)

// Row is a desired row with what the ledger knows of it.
type Row struct {
	stock.Row

	// CountedAt is when Quantity was counted: the stated time or, if none is stated, the time at
	// which the ledger first saw this SKU with this quantity.
	CountedAt time.Time
	// Before is the quantity that the ledger last saw before this one, and when it was counted; nil
	// if there was none, or if CountedAt is stated.
	Before *Count

	Listings []Listing // Every listing that was made or adopted for the SKU.
	InFlight []Write   // Writes that are recorded, sent or of unknown outcome.
}

// Count is a quantity of a SKU at a time.
type Count struct {
	Quantity int
	At       time.Time
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
	Active    bool
	Amount    gen.Amount
	Currency  gen.CurrencyCode
	ExpiresAt gen.Time
	CreatedAt time.Time
	SoldAt    time.Time // Zero if the time of the sale is not known, which counts as after any time.
	// Unpaid means that its order ended without a payout: canceled, not shipped, failed or returned.
	Unpaid bool
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
	Quantity  int    // Of creates: listings that it may make.
}
