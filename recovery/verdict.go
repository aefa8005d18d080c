package recovery

import (
	"fmt"
	"time"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/gen"
)

// Kind is what [Recover] found out. The zero value is no verdict.
type Kind string

const (
	// Landed says that one batch was made from these inputs since the attempt was made: save its id and wait for it.
	Landed Kind = "landed"
	// NotSeen says that no listing shows a batch that could be the attempt's, though the settle time has passed
	// since it can have been sent last. That is an inference and never certain: it holds if the service shows
	// a batch's first listing within that time. A batch all of whose items fail makes no listings and is not
	// seen either. To send the items again, as a new attempt, duplicates nothing in either case.
	NotSeen Kind = "not seen"
	// CannotTell says that Verdict.Candidates may be the attempt's batch, so that it must not be sent again: look,
	// or ask again when more batches are known. Candidates that match equally are interchangeable: if all of
	// them are from attempts of the caller's, each attempt may take any one.
	CannotTell Kind = "cannot tell"
)

// Verdict is what became of an attempt whose response was lost.
type Verdict struct {
	Kind       Kind
	Batch      *client.Batch[gen.CreateBatchItem] // Its handle if it landed, not polled yet; nil if not.
	Since      time.Time                          // Batches created before were not considered.
	Settle     time.Duration                      // What NotSeen rests on.
	Candidates []string                           // Batch ids, if it cannot be told.
	Reason     string                             // Why it cannot be told: prose.
}

// String says the verdict in one line.
func (v Verdict) String() string {
	switch v.Kind {
	case Landed:
		return "landed as batch " + v.Batch.ID()
	case NotSeen:
		return fmt.Sprintf("not seen since %s, if listings show within %s", v.Since.Format(time.RFC3339), v.Settle)
	case CannotTell:
		return "cannot tell: " + v.Reason
	default:
		return "no verdict"
	}
}
