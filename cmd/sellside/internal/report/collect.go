// Package report shows people the outcome of a run: the result file and the summary.
package report

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"strings"

	"github.com/sellside-sdk/sellside-go/bulk"
	"github.com/sellside-sdk/sellside-go/bulk/stock"
)

const (
	adviceNotSent  = "run the same command again to send it"
	adviceUnderWay = "its outcome was not read: run the same command again"
)

// Collect returns the outcome of every listing of rows: those that are live or sold, also of earlier
// runs, and those that a run did not make. Rows that the catalog does not have are left out.
func Collect(
	ctx context.Context, b *bulk.Bulk, plan *bulk.Plan, run bulk.Run, rows iter.Seq2[stock.Row, error],
) ([]Result, error) {
	changes := map[string]bulk.Change{}
	for c, err := range plan.Changes(ctx, "") {
		if err != nil {
			return nil, err
		}
		changes[c.SKU] = c
	}
	made := map[string][]bulk.Listing{}
	for l, err := range b.Listings(ctx) {
		if err != nil {
			return nil, err
		}
		if l.SKU != "" && l.Presence != "ended" {
			made[l.SKU] = append(made[l.SKU], l)
		}
	}
	notMade, err := notMade(ctx, b, run)
	if err != nil {
		return nil, err
	}
	var results []Result
	for row, err := range rows {
		if err != nil {
			return nil, err
		}
		change := changes[row.SKU]
		if change.Class == bulk.ClassInvalid {
			continue
		}
		n := 0
		add := func(times int, r Result) {
			for range times {
				n++
				r.Line, r.Nth, r.Fields = row.Line, n, row.Fields
				results = append(results, r)
			}
		}
		for _, l := range made[row.SKU] {
			add(1, Result{ListingID: l.ID, BatchID: l.BatchID, Status: StatusCompleted})
		}
		for _, o := range notMade[row.SKU] {
			add(o.times, o.result)
		}
		// The row may not have been decided again since its last batch was recorded.
		owed := change.Creates
		hasExpired := change.Class == bulk.ClassUnchanged && n == 0 && change.Detail != ""
		if change.Class == bulk.ClassFailed || change.Class == bulk.ClassWaiting || hasExpired {
			owed = row.Quantity // The rest of the row is not sent for now.
		}
		add(min(owed, row.Quantity-n), Result{Status: StatusNotSent, Error: cmp.Or(change.Detail, adviceNotSent)})
	}
	return results, nil
}

// outcome is how many listings of a row have a result.
type outcome struct {
	times  int
	result Result
}

// notMade returns what a run did not make, and what is of unknown outcome in all runs, by SKU.
func notMade(ctx context.Context, b *bulk.Bulk, run bulk.Run) (map[string][]outcome, error) {
	runs, err := b.Runs(ctx)
	if err != nil {
		return nil, err
	}
	outcomes := map[string][]outcome{}
	for _, r := range runs {
		if r.ID != run.ID && r.Open+r.Unknown == 0 {
			continue
		}
		for item, err := range b.Results(ctx, r.ID, "") {
			if err != nil {
				return nil, err
			}
			if item.Kind != "create" {
				continue
			}
			add := func(times int, status, text string) {
				outcomes[item.SKU] = append(outcomes[item.SKU], outcome{times, Result{Status: status, Error: text}})
			}
			open := item.Quantity - item.Done - item.Failed
			switch {
			case item.State == "open":
				add(open, StatusUnderWay, adviceUnderWay)
			case item.State == "stuck":
				advice := fmt.Sprintf("look for it, and settle it with sellside runs resolve %d --row %s", r.ID, item.SKU)
				add(open, StatusUnknown, strings.TrimPrefix(item.Error+": "+advice, ": "))
			case r.ID == run.ID:
				add(item.Failed, StatusFailed, item.Error)
			}
		}
	}
	return outcomes, nil
}
