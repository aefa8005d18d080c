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

// Types of operations. Each is an event of its listing; the first three are kinds of batches, too.
const (
	Create      = "CREATE"
	Update      = "UPDATE"
	Delete      = "DELETE"
	Activate    = "ACTIVATE"
	Deactivate  = "DEACTIVATE"
	CancelOrder = "CANCEL_ORDER"
)

// Types of operations that no seller starts, and that are not events.
const (
	Reclaim       = "RECLAIM"
	CancelReclaim = "CANCEL_RECLAIM"
	TPSCheck      = "TPS_CHECK"
)

// OperationTypes are all types of operations.
var OperationTypes = []string{
	Create, Update, Delete, Activate, Deactivate, CancelOrder, Reclaim, CancelReclaim, TPSCheck,
}

// Events of a listing that are not types of operations.
const (
	Expiry = "EXPIRY"
	Sale   = "SALE"
	Payout = "PAYOUT"
)

// Listing is the machine of listings.
var Listing = &Machine{
	name: "listing",
	states: []State{
		{Name: Inactive, Means: "It has no ask and cannot be bought."},
		{Name: Active, Means: "It has an ask on the market."},
		{Name: Matched, Means: "It is sold; the order is active."},
		{Name: Completed, Means: "It is sold; the seller was paid.", Ended: true},
		{Name: Canceled, Means: "It was sold; the order ended without a payout.", Ended: true},
		{Name: Deleted, Means: "The seller deleted it.", Ended: true},
	},
	transitions: []Transition{
		{Inactive, Create, Active, "The ask of a new listing goes live.", false},
		{Inactive, Create, Inactive, "A new listing is created without an ask.", false},
		{Inactive, Update, Inactive, "It gets new terms, for its next ask.", false},
		{Inactive, Update, Active, "An update with active set makes the ask go live.", false},
		{Inactive, Activate, Active, "An ask goes live.", false},
		{Inactive, Delete, Deleted, "The listing is deleted.", false},
		{Active, Update, Active, "The ask gets new terms.", false},
		{Active, Update, Inactive, "An update with active cleared takes the ask off the market.", false},
		{Active, Deactivate, Inactive, "The ask is taken off the market; the listing stays.", false},
		{Active, Delete, Deleted, "The ask and the listing are deleted.", false},
		{Active, Expiry, Inactive, "The ask expires; the system records a DEACTIVATE.", true},
		{Active, Sale, Matched, "A buyer takes the ask, which makes an order.", false},
		{Matched, Payout, Completed, "The seller is paid for the order.", false},
		{Matched, CancelOrder, Canceled, "The order ends without a payout; the system records the operation.", false},
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
		{Name: Pending, Means: "It was accepted, when it was possible."},
		{Name: Succeeded, Means: "Its changes were made to the listing.", Ended: true},
		{Name: Failed, Means: "It changed nothing, and has an error.", Ended: true},
	},
	transitions: []Transition{
		{Pending, "SUCCEED", Succeeded, "The listing is changed, in the same transaction.", true},
		{Pending, "FAIL", Failed, "It is no longer possible: the listing was sold, for example.", true},
	},
}
