package sell

import (
	"fmt"

	"github.com/sellside-sdk/sellside-go/gen"
)

// Result is what became of one listing. A row of quantity n has n of them.
type Result struct {
	Line      int    // Of the inventory.
	Nth       int    // Of the listings of its row, from 1.
	ListingID string // Empty unless the listing was made.
	Status    string // The service's status of the item, such as COMPLETED or FAILED, or one of the Status constants.
	Error     string // Why it failed, or what to do about it.
}

// What is said of listings that the service has said nothing of.
const (
	StatusNotSent   = "NOT_SENT"  // It was never submitted.
	StatusRefused   = "REFUSED"   // Its batch was refused as a whole, and nothing was made.
	StatusSubmitted = "SUBMITTED" // Its batch was accepted; how it ended was not learned.
	StatusUnknown   = "UNKNOWN"   // It may have been made or not. It must not be sent again blindly.
)

const adviceNotSent = "it was not sent: sell the row again"

// Completed reports whether the listing was made.
func (r Result) Completed() bool { return r.Status == string(gen.BatchItemStatusCompleted) }

// fill says the same of all listings of a batch.
func (b *batch) fill(status, format string, args ...any) {
	for i := range b.results {
		b.results[i].Status, b.results[i].Error = status, fmt.Sprintf(format, args...)
	}
}

// take writes down what the service says of the listings of a batch.
func (b *batch) take(batchID string, items []gen.CreateBatchItem) {
	echoes := make([]terms, len(items))
	for i := range items {
		echoes[i] = echoOf(&items[i].ListingInput)
	}
	for i, owner := range match(b.inputs, echoes) {
		r := &b.results[i]
		if owner == nobody {
			r.Status = StatusUnknown
			r.Error = fmt.Sprintf("batch %s has no result for it: look for it among your listings before you sell it again", batchID)
			continue
		}
		item := &items[owner]
		r.ListingID, r.Status, r.Error = item.Result.ListingID, string(item.Status), string(item.Error)
		if !item.Status.Terminal() && r.Error == "" {
			r.Error = fmt.Sprintf("it was not finished yet: batch %s goes on, look for its listings later", batchID)
		}
	}
}
