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

// settleTime is how long after its submission a batch may not be found yet, and how long after its
// end its items and counts are read again if they do not account for every item.
const settleTime = time.Minute

// BatchError reports a batch that is done, but whose items did not all succeed, as far as is known.
type BatchError struct {
	BatchID string
	Total   int            // Items submitted; for a resumed batch totalItems, or zero if that is missing.
	Failed  []BatchFailure // Items that failed.
	Unknown []BatchFailure // Items that did not fail, but are not known to have succeeded.
	Missing int            // Items that the results do not contain.
	Problem string         // How totalItems or itemStatuses disagree with the items; "" if they agree.
	Err     error          // Why the items could not be read again, or not for a minute.
}

// BatchFailure is an item that failed, or that is not known to have succeeded.
type BatchFailure struct {
	ItemID  string
	Status  gen.BatchItemStatus
	Reason  gen.Reason // The service's message, without credentials. Show it; never match on it.
	Problem string     // Why an item of BatchError.Unknown is not known to have succeeded.
}

// Error implements the error interface. It shows the first failed item, or the first unknown one.
func (e *BatchError) Error() string {
	s := fmt.Sprintf("batch %s: %d of %d items failed", gen.OneLine(e.BatchID), len(e.Failed), e.Total)
	if len(e.Unknown) > 0 {
		s += fmt.Sprintf(", %d unknown", len(e.Unknown))
	}
	if e.Missing > 0 {
		s += fmt.Sprintf(", %d missing", e.Missing)
	}
	if e.Problem != "" {
		s += "; " + e.Problem
	}
	switch {
	case len(e.Failed) > 0:
		reason := cmp.Or(gen.OneLine(string(e.Failed[0].Reason)), "no reason given")
		s += fmt.Sprintf("; item %s: %s", gen.OneLine(e.Failed[0].ItemID), reason)
	case len(e.Unknown) > 0:
		s += fmt.Sprintf("; item %s: %s", gen.OneLine(e.Unknown[0].ItemID), e.Unknown[0].Problem)
	}
	if e.Err != nil {
		s += "; " + oneLine(e.Err)
	}
	return s
}

// Unwrap returns Err.
func (e *BatchError) Unwrap() error { return e.Err }

// isSettled reports whether every item is known to have succeeded or to have failed.
func (e *BatchError) isSettled() bool {
	return len(e.Unknown) == 0 && e.Missing == 0 && e.Problem == ""
}

// settle reads the results of a batch that is done, for up to a minute until they account for every
// item.
func (b *Batch[T]) settle(ctx context.Context, w *waiting) ([]T, error) {
	var outcome *BatchError
	items, failure := b.Results(ctx, "")
	if failure == nil {
		outcome = b.account(items)
	}
	end := time.Now().Add(settleTime)
	limited, cancel := context.WithDeadline(ctx, end)
	defer cancel()
	began, again := time.Now(), false
	last := poll{at: began}
	err := w.waitUntil(limited, b.isTransient, func(ctx context.Context) (bool, http.Header, error) {
		if again {
			if last = b.pollOnce(ctx, last.at, began); last.err == nil {
				var list []T
				if list, failure = b.Results(ctx, ""); failure == nil {
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
	deadline, _ := limited.Deadline()
	if ended == nil && errors.Is(err, context.DeadlineExceeded) && deadline.Before(end) {
		ended = context.DeadlineExceeded // no time for another poll
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

// batchItem is an item of any kind of batch.
type batchItem struct {
	id     string
	status gen.BatchItemStatus
	reason gen.Reason
	input  string // The listing that the input names; "" for a create batch.
	result string // The listing that the result names.
}

// listing returns the id of the item's listing, in lower case; "" if the item does not name it.
func (i batchItem) listing() string { return strings.ToLower(cmp.Or(i.input, i.result)) }

// account compares the items of a batch that is done with what was submitted.
func (b *Batch[T]) account(items []T) *BatchError {
	snapshot := b.Snapshot()
	out := &BatchError{BatchID: b.c.redact(b.id, ""), Total: max(0, int(snapshot.TotalItems))}
	var submitted map[string]bool // The listings of an update or a delete batch; nil if unknown.
	if b.submitted != nil {
		out.Total = b.submitted.items
		if len(b.submitted.listingIDs) > 0 {
			submitted = map[string]bool{}
		}
		for _, id := range b.submitted.listingIDs {
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

// failure returns the BatchFailure of an item, without credentials.
func (b *Batch[T]) failure(i batchItem, problem string) BatchFailure {
	return BatchFailure{
		ItemID: b.c.redact(i.id, ""), Status: gen.BatchItemStatus(b.c.redact(string(i.status), "")),
		Reason: gen.Reason(b.c.redact(string(i.reason), "")), Problem: problem,
	}
}

// problem returns why an item that did not fail is not known to have succeeded, or "". submitted
// are the listings of the batch, nil if unknown; named are the listings of the items before this
// one.
func (i batchItem) problem(submitted, named map[string]bool) string {
	id := i.listing()
	switch {
	case !hasStatus(i, gen.BatchItemStatusCompleted):
		return "not COMPLETED"
	case id == "":
		return "listingId is missing"
	case i.input != "" && i.result != "" && !strings.EqualFold(i.input, i.result):
		return "listingInput and result name different listings"
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

// countProblem returns how the counts of a batch disagree with its listed items, or "". statuses
// counts the items by status in upper case. A missing count, or one with an unknown name, is
// ignored; without any total the number of items is unknown.
func countProblem(total, listed int, snapshot gen.Batch, statuses map[string]int) string {
	switch {
	case total == 0:
		return "totalItems is missing or zero, so the number of items is unknown"
	case listed > total:
		return fmt.Sprintf("the results contain %d items", listed)
	case snapshot.TotalItems > 0 && int(snapshot.TotalItems) != total:
		return fmt.Sprintf("totalItems is %d", snapshot.TotalItems)
	}
	for _, status := range []gen.BatchItemStatus{
		gen.BatchItemStatusQueued, gen.BatchItemStatusInProgress,
		gen.BatchItemStatusCompleted, gen.BatchItemStatusFailed,
	} {
		for name := range snapshot.ItemStatuses {
			if !strings.EqualFold(name, string(status)) {
				continue
			}
			if count, items := snapshot.ItemStatuses.Of(name), statuses[string(status)]; count != items {
				return fmt.Sprintf("itemStatuses counts %d %s items, the results contain %d", count, status, items)
			}
		}
	}
	return ""
}
