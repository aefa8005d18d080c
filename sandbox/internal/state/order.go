package state

// States of orders that are active: the seller is still to be paid.
const (
	OrderCreated    = "CREATED"
	CardDeclined    = "CCAUTHORIZATIONFAILED"
	OrderPending    = "PENDING"
	Suspended       = "SUSPENDED"
	DoNotShip       = "DONOTSHIP"
	Shipped         = "SHIPPED"
	Received        = "RECEIVED"
	Authenticating  = "AUTHENTICATING"
	Authenticated   = "AUTHENTICATED"
	SystemFulfilled = "SYSTEMFULFILLED"
	PayoutPending   = "PAYOUTPENDING"
	PayoutFailed    = "PAYOUTFAILED"
	PayoutCompleted = "PAYOUTCOMPLETED"
)

// States of orders in history.
const (
	OrderCompleted = "COMPLETED"
	OrderCanceled  = "CANCELED"
	DidNotShip     = "DIDNOTSHIP"
	AuthFailed     = "AUTHFAILED"
	Returned       = "RETURNED"
)

// Ship is the event of an order that is on its way from its seller.
const Ship = "SHIP"

// Order is the machine of orders. Those that have ended are in history. UNKNOWN
// is in no table: answers of a live service have it, and no order gets there.
var Order = &Machine{
	name: "order",
	states: []State{
		{Name: OrderCreated, Means: "It is sold, and the seller is to ship it."},
		{Name: CardDeclined, Means: "The buyer's card was declined: it is not to be shipped yet."},
		{Name: OrderPending, Means: "The sale is looked into: it is not to be shipped yet."},
		{Name: Suspended, Means: "The sale is on hold: it is not to be shipped yet."},
		{Name: DoNotShip, Means: "The sale is about to be canceled: it is not to be shipped."},
		{Name: Shipped, Means: "It is on its way to the service."},
		{Name: Received, Means: "It has arrived at the service."},
		{Name: Authenticating, Means: "It is being checked."},
		{Name: Authenticated, Means: "It has passed the check."},
		{Name: SystemFulfilled, Means: "It was fulfilled from stock that the service held and had checked."},
		{Name: PayoutPending, Means: "The payout is on its way."},
		{Name: PayoutFailed, Means: "The payout did not reach the seller."},
		{Name: PayoutCompleted, Means: "The seller is paid."},
		{Name: OrderCompleted, Means: "It is closed: the seller is paid and the buyer has the item.", Ended: true},
		{Name: OrderCanceled, Means: "The sale was called off.", Ended: true},
		{Name: DidNotShip, Means: "The seller did not ship it.", Ended: true},
		{Name: AuthFailed, Means: "It has not passed the check.", Ended: true},
		{Name: Returned, Means: "It is back at the seller.", Ended: true},
	},
	transitions: []Transition{
		{OrderCreated, Ship, Shipped, "The seller hands it to the carrier.", true},
		{OrderCreated, "FULFILL", SystemFulfilled, "The item is taken from stock that the service holds.", false},
		{OrderCreated, "DECLINE", CardDeclined, "The buyer's card is declined.", false},
		{OrderCreated, "REVIEW", OrderPending, "Something about the sale is looked into.", false},
		{OrderCreated, "SUSPEND", Suspended, "The sale is put on hold.", false},
		{OrderCreated, "STOP", DoNotShip, "The seller is told not to ship.", false},
		{OrderCreated, "MISS", DidNotShip, "The seller lets the ship-by date pass.", false},
		{OrderCreated, "CANCEL", OrderCanceled, "The sale is called off.", false},
		{CardDeclined, "AUTHORIZE", OrderCreated, "The buyer pays after all.", false},
		{CardDeclined, "CANCEL", OrderCanceled, "The buyer does not pay.", false},
		{OrderPending, "RELEASE", OrderCreated, "There was nothing about it.", false},
		{OrderPending, "SUSPEND", Suspended, "There is something about it.", false},
		{OrderPending, "CANCEL", OrderCanceled, "The sale is called off.", false},
		{Suspended, "RELEASE", OrderCreated, "The sale goes on.", false},
		{Suspended, "CANCEL", OrderCanceled, "The sale is called off.", false},
		{DoNotShip, "RELEASE", OrderCreated, "The sale goes on after all.", false},
		{DoNotShip, "CANCEL", OrderCanceled, "The sale is called off.", false},
		{Shipped, "RECEIVE", Received, "The parcel arrives.", true},
		{Shipped, "RETURN", Returned, "The parcel goes back undelivered.", false},
		{Shipped, "CANCEL", OrderCanceled, "The parcel is lost, and the sale called off.", false},
		{Received, "INSPECT", Authenticating, "The check begins.", true},
		{Received, "RETURN", Returned, "The parcel holds something else, and is sent back unchecked.", false},
		{Authenticating, "PASS", Authenticated, "The item is what it should be.", true},
		{Authenticating, "FAIL", AuthFailed, "The item is not what it should be.", false},
		{AuthFailed, "RETURN", Returned, "The item is sent back to the seller.", false},
		{Authenticated, "SETTLE", PayoutPending, "The payout is started.", true},
		{SystemFulfilled, "SETTLE", PayoutPending, "The payout is started.", true},
		{SystemFulfilled, "CANCEL", OrderCanceled, "The sale is called off.", false},
		{PayoutPending, "PAY", PayoutCompleted, "The payout reaches the seller.", true},
		{PayoutPending, "BOUNCE", PayoutFailed, "The payout comes back.", false},
		{PayoutFailed, "SETTLE", PayoutPending, "The payout is started again.", false},
		{PayoutCompleted, "CLOSE", OrderCompleted, "The order goes into history.", true},
	},
}
