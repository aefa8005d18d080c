package recovery

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/gen"
)

// Kind is what became of a write. The zero value is not a verdict.
type Kind string

const (
	// Landed means that the service has applied the write: exactly one batch was created from equal
	// inputs since the submission was made, or exactly one operation with equal terms was started
	// on the listing. Save its id and wait for it.
	Landed Kind = "landed"
	// NotSeen means that the settle time has passed and that everything the service has shown since
	// differs from the write. It may be sent again, as a new submission. The inference holds if the
	// service shows the first listing of a batch, or an operation, within the settle time. A batch
	// whose items all fail creates no listings, so it is not seen either; sending it again
	// duplicates nothing.
	NotSeen Kind = "not seen"
	// CannotTell means that something may be the write, or that the service did not show
	// everything, so the write must not be sent again. Look at the candidates, or call again when
	// more ids are known. Candidates that match equally are interchangeable: if all of them come
	// from submissions of the caller, each submission may take any one.
	CannotTell Kind = "cannot tell"
)

// Verdict is what became of a write of unknown outcome.
type Verdict struct {
	Kind Kind

	Batch     *client.Batch[gen.CreateBatchItem] // Of Recover if it landed; not polled yet.
	Operation *client.Operation                  // Of the others if it landed; as it was last read.
	ListingID string                             // Of the others.

	Since      time.Time     // Older batches and operations were not considered.
	Settle     time.Duration // The assumption that NotSeen depends on.
	Candidates []string      // Ids of batches or of operations that may be the write, of CannotTell.
	Reason     string        // Why it is CannotTell: prose.
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
		return fmt.Sprintf("not applied: not seen since %s (assumes that the service shows a write within %s)",
			v.Since.Format(time.RFC3339), v.Settle)
	case CannotTell:
		return "cannot tell: " + v.Reason
	default:
		return "no verdict"
	}
}

// decide returns the verdict on a write from the ids of what matches it, and of what may be it. The
// reasons say why it may have been applied although nothing matches. Empty reasons are ignored.
func decide(matches, candidates []string, reasons ...string) Verdict {
	if len(matches) == 1 {
		return Verdict{Kind: Landed}
	}
	if len(matches) > 1 {
		candidates = matches
		reasons = []string{"these match equally: " + strings.Join(slices.Sorted(slices.Values(matches)), ", ")}
	}
	reasons = slices.DeleteFunc(reasons, func(text string) bool { return text == "" })
	if len(reasons) == 0 {
		return Verdict{Kind: NotSeen}
	}
	return Verdict{Kind: CannotTell, Candidates: slices.Sorted(slices.Values(candidates)), Reason: summary(reasons)}
}

// summary joins the first reasons, of which there can be thousands.
func summary(reasons []string) string {
	const most = 10
	first := slices.Clone(reasons[:min(len(reasons), most)])
	for i := range first {
		first[i] = gen.OneLine(first[i]) // ids come from the service
	}
	text := strings.Join(first, "; ")
	if more := len(reasons) - most; more > 0 {
		text += fmt.Sprintf("; and %d more", more)
	}
	return text
}
