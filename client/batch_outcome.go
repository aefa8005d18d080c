package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/sellside-sdk/sellside-go/gen"
)

// settleTime is how long after the submission of a batch a poll may not find it yet, and for how long after its end
// its items and counts are read again if they do not account for all of it.
const settleTime = time.Minute

// BatchError reports a batch that is done, but not every item of which is known to have succeeded.
type BatchError struct {
	BatchID string
	Total   int            // Items submitted; of a batch opened by its id totalItems, or zero if that is no count.
	Failed  []BatchFailure // Items that failed.
	Unknown []BatchFailure // Items that did not fail, but are not known to have succeeded.
	Missing int            // Items that are not listed.
	Problem string         // How totalItems or itemStatuses disagree with the items; "" if they do not.
	Err     error          // What kept the items from being read again, or ended that before a minute was over.
}

// BatchFailure is one item that failed, or is not known to have succeeded.
type BatchFailure struct {
	ItemID  string
	Status  gen.BatchItemStatus
	Reason  gen.Reason // The service's words, with the credentials taken out. Prose: show it, never match on it.
	Problem string     // Why an item of BatchError.Unknown is not known to have succeeded.
}

// Error implements the error interface. Of the items it shows the first that failed, or the first unknown one.
func (e *BatchError) Error() string {
	s := fmt.Sprintf("batch %s: %d of %d items failed", gen.OneLine(e.BatchID), len(e.Failed), e.Total)
	if len(e.Unknown) > 0 {
		s += fmt.Sprintf(", %d are unknown", len(e.Unknown))
	}
	if e.Missing > 0 {
		s += fmt.Sprintf(", %d are not listed", e.Missing)
	}
	if e.Problem != "" {
		s += "; " + e.Problem
	}
	switch {
	case len(e.Failed) > 0:
		s += fmt.Sprintf("; item %s: %s", gen.OneLine(e.Failed[0].ItemID), cmp.Or(gen.OneLine(string(e.Failed[0].Reason)), "no reason given"))
	case len(e.Unknown) > 0:
		s += fmt.Sprintf("; item %s: %s", gen.OneLine(e.Unknown[0].ItemID), e.Unknown[0].Problem)
	}
	if e.Err != nil {
		s += "; " + oneLine(e.Err)
	}
	return s
}

// Unwrap returns what ended the reading of the items.
func (e *BatchError) Unwrap() error { return e.Err }

// isSettled reports whether every item is known to have succeeded or to have failed.
func (e *BatchError) isSettled() bool {
	return len(e.Unknown) == 0 && e.Missing == 0 && e.Problem == ""
}

// settle reads the results of a batch that is done, again for up to a minute until they account for every item.
func (b *Batch[T]) settle(ctx context.Context, opts []WaitOption) ([]T, error) {
	var outcome *BatchError
	items, failure := b.Results(ctx)
	if failure == nil {
		outcome = b.account(items)
	}
	end := time.Now().Add(settleTime)
	limited, cancel := context.WithDeadline(ctx, end)
	defer cancel()
	began, again := time.Now(), false
	last := poll{at: began}
	err := waitUntil(limited, opts, b.isTransient, func(ctx context.Context) (bool, http.Header, error) {
		if again {
			if last = b.pollOnce(ctx, last.at, began); last.err == nil {
				var list []T
				if list, failure = b.Results(ctx); failure == nil {
					items, outcome = list, b.account(list)
				}
			} else {
				failure = last.err
			}
		}
		again = true
		return failure == nil && outcome.isSettled(), last.header, failure
	})
	cause := failure
	ended := ctx.Err()
	if deadline, _ := limited.Deadline(); ended == nil && errors.Is(err, context.DeadlineExceeded) && deadline.Before(end) {
		ended = context.DeadlineExceeded // There is no time for another poll.
	}
	if ended != nil && !errors.Is(cause, ended) {
		cause = joinErrors(cause, ended)
	}
	switch {
	case outcome == nil:
		return nil, cause
	case err != nil:
		outcome.Err = cause
		return items, outcome
	case len(outcome.Failed) > 0:
		return items, outcome
	default:
		return items, nil
	}
}

// batchItem is what an item of any kind of batch reports.
type batchItem struct {
	id     string
	status gen.BatchItemStatus
	reason gen.Reason
	input  string // The listing that the input names; "" for a create batch.
	result string // The listing that the result names.
}

// listing returns the id of the item's listing, in lower case; "" if the item does not name it.
func (i batchItem) listing() string { return strings.ToLower(cmp.Or(i.input, i.result)) }

// account compares what is known of a batch that is done with what was submitted.
func (b *Batch[T]) account(items []T) *BatchError {
	snapshot := b.Snapshot()
	out := &BatchError{BatchID: b.c.redact(b.id, ""), Total: max(0, int(snapshot.TotalItems))}
	var submitted map[string]bool // The listings of an update or a delete batch, if they are known.
	if b.sent != nil {
		out.Total = b.sent.items
		if len(b.sent.listingIDs) > 0 {
			submitted = map[string]bool{}
		}
		for _, id := range b.sent.listingIDs {
			submitted[strings.ToLower(id)] = true
		}
	}
	named, statuses, nameless := map[string]bool{}, map[string]int{}, 0
	for i := range items {
		item := b.kind.view(&items[i])
		statuses[strings.ToUpper(string(item.status))]++
		problem := item.problem(submitted, named)
		if id := item.listing(); id != "" {
			named[id] = true
		} else {
			nameless++
		}
		switch {
		case item.reason != "" || hasStatus(item, gen.BatchItemStatusFailed):
			out.Failed = append(out.Failed, b.failure(item, ""))
		case problem != "":
			out.Unknown = append(out.Unknown, b.failure(item, problem))
		}
	}
	out.Missing = max(0, out.Total-len(items))
	if submitted != nil {
		for id := range named {
			delete(submitted, id)
		}
		out.Missing = max(0, len(submitted)-nameless)
	}
	out.Problem = countProblem(out.Total, len(items), snapshot, statuses)
	return out
}

// failure describes an item without credentials.
func (b *Batch[T]) failure(i batchItem, problem string) BatchFailure {
	return BatchFailure{
		ItemID: b.c.redact(i.id, ""), Status: gen.BatchItemStatus(b.c.redact(string(i.status), "")),
		Reason: gen.Reason(b.c.redact(string(i.reason), "")), Problem: problem,
	}
}

// problem reports why an item that did not fail is not known to have succeeded. It is given the listings that were
// submitted, nil if they are not known, and those that the items before it name.
func (i batchItem) problem(submitted, named map[string]bool) string {
	id := i.listing()
	switch {
	case !hasStatus(i, gen.BatchItemStatusCompleted):
		return "not COMPLETED"
	case id == "":
		return "listingId is missing"
	case i.input != "" && i.result != "" && !strings.EqualFold(i.input, i.result):
		return "the result is of another listing"
	case submitted != nil && !submitted[id]:
		return "the listing was not submitted"
	case named[id]:
		return "another item has the same listingId"
	default:
		return ""
	}
}

func hasStatus(i batchItem, status gen.BatchItemStatus) bool {
	return strings.EqualFold(string(i.status), string(status))
}

// countProblem reports how the counts of a batch disagree with the items that are listed, by their statuses in upper
// case. A count that is missing or under an unknown name disagrees with nothing, but without any total nothing is known.
func countProblem(total, listed int, snapshot gen.Batch, statuses map[string]int) string {
	switch {
	case total == 0:
		return "the number of items is not known, totalItems is missing or zero"
	case listed > total:
		return fmt.Sprintf("%d items are listed", listed)
	case snapshot.TotalItems > 0 && int(snapshot.TotalItems) != total:
		return fmt.Sprintf("totalItems is %d", snapshot.TotalItems)
	}
	for _, status := range []gen.BatchItemStatus{
		gen.BatchItemStatusQueued, gen.BatchItemStatusInProgress, gen.BatchItemStatusCompleted, gen.BatchItemStatusFailed,
	} {
		for name := range snapshot.ItemStatuses {
			if !strings.EqualFold(name, string(status)) {
				continue
			}
			if count, items := snapshot.ItemStatuses.Of(name), statuses[string(status)]; count != items {
				return fmt.Sprintf("itemStatuses counts %d items as %s, %d are listed so", count, status, items)
			}
		}
	}
	return ""
}
