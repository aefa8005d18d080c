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

// Ship is the event of an order that its seller ships.
const Ship = "SHIP"

// Order is the machine of orders. Those that have ended are in history. UNKNOWN, which responses of
// a live service have, is in no table: no order of the sandbox gets there.
var Order = &Machine{
	name: "order",
	states: []State{
		{Name: OrderCreated, Means: "It is sold; the seller has to ship it."},
		{Name: CardDeclined, Means: "The buyer's card was declined; it must not be shipped yet."},
		{Name: OrderPending, Means: "The sale is under review; it must not be shipped yet."},
		{Name: Suspended, Means: "The sale is suspended; it must not be shipped yet."},
		{Name: DoNotShip, Means: "The sale is about to be canceled; it must not be shipped."},
		{Name: Shipped, Means: "It is on its way to the service."},
		{Name: Received, Means: "It arrived at the service."},
		{Name: Authenticating, Means: "It is being authenticated."},
		{Name: Authenticated, Means: "It passed authentication."},
		{Name: SystemFulfilled, Means: "It was fulfilled from stock at the service."},
		{Name: PayoutPending, Means: "The payout is on its way."},
		{Name: PayoutFailed, Means: "The payout did not reach the seller."},
		{Name: PayoutCompleted, Means: "The seller is paid."},
		{Name: OrderCompleted, Means: "It is closed: the seller is paid and the buyer has the item.", Ended: true},
		{Name: OrderCanceled, Means: "The sale was canceled.", Ended: true},
		{Name: DidNotShip, Means: "The seller did not ship it.", Ended: true},
		{Name: AuthFailed, Means: "It failed authentication.", Ended: true},
		{Name: Returned, Means: "It was returned to the seller.", Ended: true},
	},
	transitions: []Transition{
		{OrderCreated, Ship, Shipped, "The seller hands it to the carrier.", true},
		{OrderCreated, "FULFILL", SystemFulfilled, "The item is taken from stock at the service.", false},
		{OrderCreated, "DECLINE", CardDeclined, "The buyer's card is declined.", false},
		{OrderCreated, "REVIEW", OrderPending, "The sale is reviewed.", false},
		{OrderCreated, "SUSPEND", Suspended, "The sale is suspended.", false},
		{OrderCreated, "STOP", DoNotShip, "The service asks the seller not to ship.", false},
		{OrderCreated, "MISS", DidNotShip, "The ship-by date passes.", false},
		{OrderCreated, "CANCEL", OrderCanceled, "The sale is canceled.", false},
		{CardDeclined, "AUTHORIZE", OrderCreated, "The buyer pays.", false},
		{CardDeclined, "CANCEL", OrderCanceled, "The buyer does not pay.", false},
		{OrderPending, "RELEASE", OrderCreated, "The review finds nothing.", false},
		{OrderPending, "SUSPEND", Suspended, "The review finds something.", false},
		{OrderPending, "CANCEL", OrderCanceled, "The sale is canceled.", false},
		{Suspended, "RELEASE", OrderCreated, "The sale is resumed.", false},
		{Suspended, "CANCEL", OrderCanceled, "The sale is canceled.", false},
		{DoNotShip, "RELEASE", OrderCreated, "The sale is resumed.", false},
		{DoNotShip, "CANCEL", OrderCanceled, "The sale is canceled.", false},
		{Shipped, "RECEIVE", Received, "The parcel arrives.", true},
		{Shipped, "RETURN", Returned, "The parcel is returned undelivered.", false},
		{Shipped, "CANCEL", OrderCanceled, "The parcel is lost, and the sale canceled.", false},
		{Received, "INSPECT", Authenticating, "Authentication begins.", true},
		{Received, "RETURN", Returned, "The parcel has another item in it, and is returned.", false},
		{Authenticating, "PASS", Authenticated, "The item is authentic.", true},
		{Authenticating, "FAIL", AuthFailed, "The item is not authentic.", false},
		{AuthFailed, "RETURN", Returned, "The item is returned to the seller.", false},
		{Authenticated, "SETTLE", PayoutPending, "The payout is started.", true},
		{SystemFulfilled, "SETTLE", PayoutPending, "The payout is started.", true},
		{SystemFulfilled, "CANCEL", OrderCanceled, "The sale is canceled.", false},
		{PayoutPending, "PAY", PayoutCompleted, "The payout reaches the seller.", true},
		{PayoutPending, "BOUNCE", PayoutFailed, "The payout comes back.", false},
		{PayoutFailed, "SETTLE", PayoutPending, "The payout is started again.", false},
		{PayoutCompleted, "CLOSE", OrderCompleted, "The order goes into history.", true},
	},
}
