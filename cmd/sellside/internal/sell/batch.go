package sell

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/sellside-sdk/sellside-go/client/recovery"
	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/inventory"
	"github.com/sellside-sdk/sellside-go/gen"
)

// MaxListings is the most listings of one batch. assumed: the limit of creations, which is not
// documented, is that of all other batches.
const MaxListings = 100

// Result is the outcome of one listing. A row of quantity n has n of them.
type Result struct {
	Line      int    `json:"line"`                // Of the inventory.
	Nth       int    `json:"nth"`                 // Of the listings of its row, from 1.
	ListingID string `json:"listingId,omitempty"` // Empty unless the service has returned it.
	Status    string `json:"status"`              // As the service reports it, such as COMPLETED, or a Status constant.
	BatchID   string `json:"batchId,omitempty"`   // Empty unless its batch is known to have been created.
	Error     string `json:"error,omitempty"`     // Why it failed, or what to do.

	reason string // Why a listing was not seen; the error has what to do as well.
}

// The statuses of listings whose status the service has not reported.
const (
	StatusNotSent   = "NOT_SENT"  // It was never submitted.
	StatusRefused   = "REFUSED"   // Its batch was refused as a whole. It was not made.
	StatusNotSeen   = "NOT_SEEN"  // Its batch was sent and is proved not to have arrived. It was not made.
	StatusSubmitted = "SUBMITTED" // Its batch was accepted, and its outcome was not read.
	StatusUnknown   = "UNKNOWN"   // It may have been made or not. To send it again may duplicate it.
)

// Listed reports whether the listing was made. Only a listing id proves that.
func (r Result) Listed() bool {
	return r.ListingID != "" && r.Status == string(gen.BatchItemStatusCompleted)
}

// UnderWay reports whether the batch of the listing was accepted and is not known to have finished
// with it. The listing may have been made since, or not.
func (r Result) UnderWay() bool {
	return slices.Contains([]string{
		StatusSubmitted, string(gen.BatchItemStatusQueued), string(gen.BatchItemStatusInProgress),
	}, r.Status)
}

// NotMade reports whether the listing is known not to have been made. A listing that is neither
// Listed, nor UnderWay, nor NotMade is of unknown outcome.
func (r Result) NotMade() bool {
	return slices.Contains([]string{
		StatusNotSent, StatusRefused, StatusNotSeen, string(gen.BatchItemStatusFailed),
	}, r.Status)
}

// Counts are the numbers of listings by outcome. Only those of NotMade can be listed again without
// making any of them twice.
type Counts struct{ Listed, NotMade, UnderWay, Unknown int }

// Count counts results.
func Count(results []Result) (c Counts) {
	for _, r := range results {
		switch {
		case r.Listed():
			c.Listed++
		case r.NotMade():
			c.NotMade++
		case r.UnderWay():
			c.UnderWay++
		default:
			c.Unknown++
		}
	}
	return c
}

// batch is one batch to submit.
type batch struct {
	items   []gen.CreateItem
	results []Result // Of the listings that the items make, in their order; a part of the results of the run.
}

// plan distributes rows over batches in their order. A row that does not fit into a batch continues
// in the next.
func plan(rows []inventory.Row) ([]Result, []batch) {
	var results []Result
	var batches []batch
	room := 0
	for i := range rows {
		row := &rows[i]
		for nth := 0; nth < row.Quantity; {
			if room == 0 {
				batches, room = append(batches, batch{}), MaxListings
			}
			n := min(row.Quantity-nth, room)
			room -= n
			b := &batches[len(batches)-1]
			b.items = append(b.items, gen.CreateItem{
				VariantID: row.VariantID, Amount: row.Price, CurrencyCode: row.Currency, Quantity: gen.Int(n),
				Active: row.Active, ExpiresAt: row.ExpiresAt,
			})
			for range n {
				nth++
				results = append(results, Result{Line: row.Line, Nth: nth, Status: StatusNotSent})
			}
		}
	}
	advise(results)
	rest := results
	for i := range batches {
		n := min(MaxListings, len(rest))
		batches[i].results, rest = rest[:n:n], rest[n:]
	}
	return results, batches
}

// fill sets the same outcome for all listings of a batch.
func (b *batch) fill(status, format string, args ...any) {
	for i := range b.results {
		b.results[i].ListingID, b.results[i].Status, b.results[i].reason = "", status, ""
		b.results[i].Error = fmt.Sprintf(format, args...)
	}
}

// advise sets the errors of the listings that can be listed again: how many of each row are left.
func advise(results []Result) {
	all, left := map[int]int{}, map[int]int{}
	isLeft := func(r *Result) bool { return r.Status == StatusNotSent || r.Status == StatusNotSeen }
	for i := range results {
		r := &results[i]
		all[r.Line]++
		if isLeft(r) {
			left[r.Line]++
		}
	}
	for i := range results {
		r := &results[i]
		if !isLeft(r) {
			continue
		}
		advice := "list the row again"
		if left[r.Line] < all[r.Line] {
			advice = fmt.Sprintf("list the row again with quantity %d, not %d", left[r.Line], all[r.Line])
		}
		r.Error = cmp.Or(r.reason, "not sent") + ": " + advice
	}
}

// notSent sets that no listing of a batch was sent.
func (b *batch) notSent() { b.fill(StatusNotSent, "") }

// notSeen sets that a batch is proved not to have arrived, with the reason.
func (b *batch) notSeen(format string, args ...any) {
	b.fill(StatusNotSeen, "")
	for i := range b.results {
		b.results[i].reason = fmt.Sprintf(format, args...)
	}
}

// take sets the outcomes that the service reports for the listings of a batch, which is done or not.
func (b *batch) take(batchID string, s recovery.Submission, items []gen.CreateBatchItem, done bool) {
	matched := s.Match(items)
	seen := map[string]bool{}
	at := 0
	for i, item := range s.Items {
		for n := range int(item.Quantity) {
			r := &b.results[at]
			at++
			if n < len(matched[i]) {
				r.Status, r.ListingID, r.Error = outcome(batchID, matched[i][n], seen, done)
				continue
			}
			r.Status, r.ListingID = StatusUnknown, ""
			r.Error = fmt.Sprintf("batch %s has no result for this listing: look for it before you list it again", batchID)
		}
	}
}

// outcome returns the outcome of a listing from the item of its batch. Seen are the listing ids of
// the items before. An item that is not finished although its batch is done is of unknown outcome.
func outcome(
	batchID string, item gen.CreateBatchItem, seen map[string]bool, done bool,
) (status, listingID, text string) {
	id, reason := item.Result.ListingID, string(item.Error)
	status = strings.ToUpper(string(item.Status))
	isDuplicate := seen[id]
	seen[id] = id != ""
	switch s := gen.BatchItemStatus(status); {
	case s == gen.BatchItemStatusFailed && id == "":
		return status, "", reason
	case s == gen.BatchItemStatusCompleted && id != "" && reason == "" && !isDuplicate:
		return status, id, ""
	case !done && (s == gen.BatchItemStatusQueued || s == gen.BatchItemStatusInProgress) && id == "":
		return status, "", fmt.Sprintf("not finished: batch %s continues, look for its listings later",
			batchID)
	}
	problem := "with a listing id"
	switch {
	case id == "":
		problem = "without a listing id"
	case isDuplicate:
		problem = "with the listing id of another item"
	}
	if reason != "" {
		problem += " and the error " + reason
	}
	return StatusUnknown, id, fmt.Sprintf("batch %s reports status %q %s: look for the listing before you list it again",
		batchID, item.Status, problem)
}
