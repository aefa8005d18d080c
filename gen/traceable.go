package gen

import "errors"

// Traceable refuses the answer to a write that lacks the id by which to follow what it started.
func Traceable(answer any) error {
	switch v := answer.(type) {
	case *Batch:
		if v.BatchID == "" {
			return errors.New("it lacks batchId")
		}
	case *ListingOperation:
		if v.ListingID == "" || v.OperationID == "" {
			return errors.New("it lacks listingId or operationId")
		}
	case *Ingestion:
		if v.IngestionID == "" {
			return errors.New("it lacks ingestionId")
		}
	}
	return nil
}
