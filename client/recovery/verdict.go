package recovery

import (
	"fmt"
	"time"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/gen"
)

// Kind is what became of a write. The zero value is no verdict.
type Kind string

const (
	// Landed means that the service took the write: one batch was made from these inputs since the
	// attempt was made, or one operation with these terms was started on the listing. Save the id
	// and wait for it.
	Landed Kind = "landed"
	// NotSeen means that the settle time has passed and everything that the service has shown since
	// is certainly something else. That is an inference: it holds if the service shows a batch's
	// first listing, or an operation, within that time. A batch all of whose items fail makes no
	// listings and is not seen either. To send the items again, as a new attempt, duplicates
	// nothing in either case.
	NotSeen Kind = "not seen"
	// CannotTell means that something may be the write, so that it must not be sent again, or that
	// the service did not show everything: look, or call again when more ids are known. Candidates
	// that match equally are interchangeable: if all of them are from attempts of the caller's,
	// each attempt may take any one.
	CannotTell Kind = "cannot tell"
)

// Verdict is what became of a write of unknown outcome.
type Verdict struct {
	Kind Kind

	Batch     *client.Batch[gen.CreateBatchItem] // Of Recover, if it landed: its handle, not polled yet.
	Operation *client.Operation                  // Of the others, if it landed: its handle, as it was last read.
	ListingID string                             // Of the others.

	Since      time.Time     // What the service had before was not considered.
	Settle     time.Duration // What NotSeen rests on.
	Candidates []string      // Ids of batches, or of operations, that may be it, if it cannot be told.
	Reason     string        // Why it cannot be told: prose.
}

// String returns the verdict in one line.
func (v Verdict) String() string {
	switch v.Kind {
	case Landed:
		if v.Operation != nil {
			return fmt.Sprintf("landed on listing %s as operation %s", v.ListingID, v.Operation.ID())
		}
		return "landed as batch " + v.Batch.ID()
	case NotSeen:
		return fmt.Sprintf("not seen since %s, if it shows within %s", v.Since.Format(time.RFC3339), v.Settle)
	case CannotTell:
		return "cannot tell: " + v.Reason
	default:
		return "no verdict"
	}
}
