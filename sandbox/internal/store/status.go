package store

// Statuses of listings.
const (
	Inactive  = "INACTIVE"
	Active    = "ACTIVE"
	Deleted   = "DELETED"
	Canceled  = "CANCELED"
	Matched   = "MATCHED"
	Completed = "COMPLETED" // of batches and items, too
)

// Statuses of batches and their items; they end in Completed.
const (
	Queued     = "QUEUED"
	InProgress = "IN_PROGRESS"
	Failed     = "FAILED" // items only; of operations, too
)

// Statuses of operations; they end in Succeeded or Failed.
const (
	Pending   = "PENDING"
	Succeeded = "SUCCEEDED"
)

// Types of operations; the first three are kinds of batches, too.
const (
	Create     = "CREATE"
	Update     = "UPDATE"
	Delete     = "DELETE"
	Activate   = "ACTIVATE"
	Deactivate = "DEACTIVATE"
)

// OrderCreated is the status an order begins with.
const OrderCreated = "CREATED"
