package gen

// Terminal reports whether nothing further happens to the batch: [BatchStatusCompleted]. Its items may have
// failed all the same. A non-null completedAt of the [Batch] is the end that the service documents. A status
// that this version does not know is not terminal.
func (e BatchStatus) Terminal() bool { return e == BatchStatusCompleted }

// Terminal reports whether the item has its result: [BatchItemStatusCompleted] and [BatchItemStatusFailed]. A
// status that this version does not know is not terminal.
func (e BatchItemStatus) Terminal() bool {
	return e == BatchItemStatusCompleted || e == BatchItemStatusFailed
}

// Terminal reports whether the operation has ended: [OperationStatusSucceeded] and [OperationStatusFailed]. A
// status that this version does not know is not terminal.
func (e OperationStatus) Terminal() bool {
	return e == OperationStatusSucceeded || e == OperationStatusFailed
}

// Terminal reports whether the listing can never be on the market again: [ListingStatusDeleted],
// [ListingStatusCanceled] and [ListingStatusCompleted]. [ListingStatusMatched] is not terminal: its sale is
// still under way, see [ListingStatus.Sold]. A status that this version does not know is not terminal.
func (e ListingStatus) Terminal() bool {
	switch e {
	case ListingStatusDeleted, ListingStatusCanceled, ListingStatusCompleted:
		return true
	default:
		return false
	}
}

// Sold reports whether a buyer took the listing: [ListingStatusMatched] and [ListingStatusCompleted]. A sold
// listing cannot be deleted.
func (e ListingStatus) Sold() bool {
	return e == ListingStatusMatched || e == ListingStatusCompleted
}

// Terminal reports whether the order has ended, well or not: [OrderStatusAuthFailed],
// [OrderStatusDidNotShip], [OrderStatusCanceled], [OrderStatusCompleted] and [OrderStatusReturned], the
// statuses of the order history. A status that this version does not know is not terminal, and neither is
// [OrderStatusUnknown], which is the service's own word for that.
func (e OrderStatus) Terminal() bool {
	switch e {
	case OrderStatusAuthFailed, OrderStatusDidNotShip, OrderStatusCanceled, OrderStatusCompleted, OrderStatusReturned:
		return true
	default:
		return false
	}
}

// Terminal reports whether the review of a proposed product is over: [IngestionStatusCompleted] and
// [IngestionStatusRejected]. A status that this version does not know is not terminal.
func (e IngestionStatus) Terminal() bool {
	return e == IngestionStatusCompleted || e == IngestionStatusRejected
}
