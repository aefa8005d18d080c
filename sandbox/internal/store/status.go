package store

import machines "github.com/sellside-sdk/sellside-go/sandbox/internal/state"

// Statuses of listings.
const (
	Inactive  = machines.Inactive
	Active    = machines.Active
	Deleted   = machines.Deleted
	Canceled  = machines.Canceled
	Matched   = machines.Matched
	Completed = machines.Completed // of batches and items, too
)

// Statuses of batches and their items; they end in Completed.
const (
	Queued     = machines.Queued
	InProgress = machines.InProgress
	Failed     = machines.Failed // items only; of operations, too
)

// Statuses of operations; they end in Succeeded or Failed.
const (
	Pending   = machines.Pending
	Succeeded = machines.Succeeded
)

// Types of operations; the first three are kinds of batches, too.
const (
	Create      = machines.Create
	Update      = machines.Update
	Delete      = machines.Delete
	Activate    = machines.Activate
	Deactivate  = machines.Deactivate
	CancelOrder = machines.CancelOrder
)

// Expiry is the event of a listing whose ask has expired.
const Expiry = machines.Expiry
