package state

// States of listings.
const (
	Inactive  = "INACTIVE"
	Active    = "ACTIVE"
	Deleted   = "DELETED"
	Canceled  = "CANCELED"
	Matched   = "MATCHED"
	Completed = "COMPLETED" // of batches and items, too
)

// Types of operations. Each is an event of its listing; the first three are
// kinds of batches, too.
const (
	Create      = "CREATE"
	Update      = "UPDATE"
	Delete      = "DELETE"
	Activate    = "ACTIVATE"
	Deactivate  = "DEACTIVATE"
	CancelOrder = "CANCEL_ORDER"
)

// Events of a listing that are no types of operations.
const (
	Expiry = "EXPIRY"
	Sale   = "SALE"
	Payout = "PAYOUT"
)

// Listing is the machine of listings.
var Listing = &Machine{
	name: "listing",
	states: []State{
		{Name: Inactive, Means: "It has no ask: nobody can buy it."},
		{Name: Active, Means: "It has an ask on the market."},
		{Name: Matched, Means: "It is sold, and its order is under way."},
		{Name: Completed, Means: "It is sold, and the seller is paid.", Ended: true},
		{Name: Canceled, Means: "It was sold, but the sale fell through.", Ended: true},
		{Name: Deleted, Means: "The seller took it back for good.", Ended: true},
	},
	transitions: []Transition{
		{Inactive, Create, Active, "The ask of a new listing goes live.", false},
		{Inactive, Create, Inactive, "A new listing was asked for without an ask.", false},
		{Inactive, Update, Inactive, "The new terms wait for an ask.", false},
		{Inactive, Update, Active, "An update that says so makes the ask go live, too.", false},
		{Inactive, Activate, Active, "An ask goes live.", false},
		{Inactive, Delete, Deleted, "The listing is taken back.", false},
		{Active, Update, Active, "The ask gets new terms.", false},
		{Active, Update, Inactive, "An update that says so takes the ask off the market, too.", false},
		{Active, Deactivate, Inactive, "The ask is taken off the market, and the listing stays.", false},
		{Active, Delete, Deleted, "The ask and the listing are taken back.", false},
		{Active, Expiry, Inactive, "The ask has expired; it is recorded as a DEACTIVATE of the system.", true},
		{Active, Sale, Matched, "A buyer takes the ask, and an order is made.", false},
		{Matched, Payout, Completed, "The seller is paid for the order.", false},
		{Matched, CancelOrder, Canceled, "The order ends without a payout; it is recorded as an operation of the system.", false},
	},
}

// States of operations; they end in Succeeded or Failed.
const (
	Pending   = "PENDING"
	Succeeded = "SUCCEEDED"
)

// Operation is the machine of operations on a listing.
var Operation = &Machine{
	name: "operation",
	states: []State{
		{Name: Pending, Means: "It was asked for when it was possible, and is still to be done."},
		{Name: Succeeded, Means: "Its changes are those of the listing.", Ended: true},
		{Name: Failed, Means: "It has changed nothing, and has an error that says why.", Ended: true},
	},
	transitions: []Transition{
		{Pending, "SUCCEED", Succeeded, "The listing is changed, in the same moment.", true},
		{Pending, "FAIL", Failed, "It has become impossible since it was asked for: the listing was sold, say.", true},
	},
}
