package gen

import (
	"encoding/json"
	"fmt"
)

// Terminal reports whether the batch is done: [BatchStatusCompleted]. Its items may have failed.
// The service documents a non-null completedAt of the [Batch] as its end. A status that this
// version does not know is not terminal.
func (e BatchStatus) Terminal() bool { return e == BatchStatusCompleted }

// Terminal reports whether the item has its result: [BatchItemStatusCompleted] or
// [BatchItemStatusFailed]. A status that this version does not know is not terminal.
func (e BatchItemStatus) Terminal() bool {
	return e == BatchItemStatusCompleted || e == BatchItemStatusFailed
}

// Terminal reports whether the operation has ended: [OperationStatusSucceeded] or
// [OperationStatusFailed]. A status that this version does not know is not terminal.
func (e OperationStatus) Terminal() bool {
	return e == OperationStatusSucceeded || e == OperationStatusFailed
}

// Terminal reports whether the listing can never be on the market again: [ListingStatusDeleted],
// [ListingStatusCanceled] or [ListingStatusCompleted]. [ListingStatusMatched] is not terminal: its
// sale is still under way, see [ListingStatus.Sold]. A status that this version does not know is
// not terminal.
func (e ListingStatus) Terminal() bool {
	switch e {
	case ListingStatusDeleted, ListingStatusCanceled, ListingStatusCompleted:
		return true
	default:
		return false
	}
}

// Sold reports whether a buyer took the listing: [ListingStatusMatched] or
// [ListingStatusCompleted]. A sold listing cannot be deleted.
func (e ListingStatus) Sold() bool {
	return e == ListingStatusMatched || e == ListingStatusCompleted
}

// Terminal reports whether the order has ended, successfully or not: [OrderStatusAuthFailed],
// [OrderStatusDidNotShip], [OrderStatusCanceled], [OrderStatusCompleted] or [OrderStatusReturned],
// the statuses of the order history. [OrderStatusUnknown], which the service itself sends, is not
// terminal, and neither is a status that this version does not know.
func (e OrderStatus) Terminal() bool {
	switch e {
	case OrderStatusAuthFailed, OrderStatusDidNotShip, OrderStatusCanceled, OrderStatusCompleted,
		OrderStatusReturned:
		return true
	default:
		return false
	}
}

// Terminal reports whether the review of a proposed product is over: [IngestionStatusCompleted] or
// [IngestionStatusRejected]. A status that this version does not know is not terminal.
func (e IngestionStatus) Terminal() bool {
	return e == IngestionStatusCompleted || e == IngestionStatusRejected
}

// Reason is a text that says why an operation or a batch item failed. It is localised and has no
// code: show it, and do not match on it. The empty Reason means that there was no error.
//
// It marshals as a JSON string, and unmarshals from a JSON string, null, or an object with a
// message, which some responses hold instead.
type Reason string

// UnmarshalJSON implements [json.Unmarshaler].
func (r *Reason) UnmarshalJSON(data []byte) error {
	*r = ""
	var text string
	if json.Unmarshal(data, &text) == nil { // null leaves text empty
		*r = Reason(text)
		return nil
	}
	var object map[string]json.RawMessage // names match exactly
	if err := json.Unmarshal(data, &object); err != nil {
		return fmt.Errorf("decode reason: want a string or an object with a message: %w", err)
	}
	if message, ok := object["message"]; ok {
		if err := json.Unmarshal(message, &text); err != nil {
			return fmt.Errorf("decode reason: the message is not a string: %w", err)
		}
	}
	*r = Reason(text)
	return nil
}
