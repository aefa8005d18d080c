package store

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/sandbox/internal/state"
)

// fullScan matches the steps of a plan that scan a whole table or index. Scans of the results of
// subqueries, which have names in brackets or are constant, are allowed.
var fullScan = regexp.MustCompile(`^SCAN (listings|batch_items|batch_inputs|operations|batches|orders|listing_blocks|bids|[libno])\b`)

// TestPlans_ScanNoTable runs the frequent statements, and then asks SQLite for their plans.
func TestPlans_ScanNoTable(t *testing.T) {
	s := reopen(t, "")
	l := Listing{
		ID: "l", Account: 1, Status: state.Active, Ask: Ask{ID: "a"}, ProductID: "p",
		VariantID: "v", Amount: 1, Currency: "USD",
		InventoryType: "STANDARD", BatchID: "b", ItemID: "i", ExpiresAt: start.Add(time.Hour),
		CreatedAt: start, UpdatedAt: start,
	}
	filters := []ListingFilter{
		{},
		{Statuses: []string{state.Active}},
		{Statuses: []string{state.Active, state.Inactive}, InventoryTypes: []string{"DIRECT"}},
		{WithExpired: true},
		{From: start, Until: start.Add(time.Minute)},
		{BatchIDs: []string{"b"}},
		{ProductIDs: []string{"p"}},
		{ProductIDs: []string{"p", "q"}, Statuses: []string{state.Active}},
		{VariantIDs: []string{"v"}, ProductIDs: []string{"p"}, Statuses: []string{state.Active}, From: start},
		{ShipmentIDs: []string{"s"}, Statuses: []string{state.Active}, From: start},
	}
	require.NoError(t, s.Update(t.Context(), func(tx *Tx) error {
		_, err := tx.InsertBatch(Batch{ID: "b", Account: 1, Kind: state.Create, CreatedAt: start}, []Item{{ID: "i", DueAt: start}})
		require.NoError(t, err)
		require.NoError(t, tx.InsertListing(l))
		require.NoError(t, tx.InsertOperation(Operation{ID: "o", ListingID: "l", Type: state.Create, Status: state.Pending, DueAt: start, CreatedAt: start, UpdatedAt: start}))
		return nil
	}))
	require.NoError(t, s.Update(t.Context(), func(tx *Tx) error {
		for _, f := range filters {
			f.Account = 1
			page, count, err := tx.Listings(f, 100, 0)
			require.NoError(t, err)
			assert.Len(t, page, count)
		}
		now := start.Add(time.Hour)
		_, err := tx.StartItems(now, 0, 100)
		require.NoError(t, err)
		require.NoError(t, tx.UpdateBatches(now))
		items, err := tx.DueItems(now, 100)
		require.NoError(t, err)
		require.NoError(t, tx.FinishItem(items[0], ItemResult{}, "failed"))
		require.NoError(t, tx.UpdateBatches(now))
		b, err := tx.Batch(1, state.Create, "b")
		require.NoError(t, err)
		_, err = tx.Items(b, "")
		require.NoError(t, err)
		_, err = tx.PendingTerms("l")
		require.NoError(t, err)
		_, err = tx.LastPendingSwitch("l")
		require.ErrorIs(t, err, ErrNotFound)
		operations, err := tx.DueOperations(now, 100)
		require.NoError(t, err)
		require.NoError(t, tx.FinishOperation(operations[0].Seq, state.Succeeded, "", now))
		_, err = tx.Operation("l", "o")
		require.NoError(t, err)
		_, err = tx.LastOperation("l")
		require.NoError(t, err)
		expiring, err := tx.ExpiringListings(now, 100)
		require.NoError(t, err)
		require.NoError(t, tx.SaveListing(expiring[0]))
		_, err = tx.LowestAsk("v", "USD", now)
		require.NoError(t, err)
		_, err = tx.HighestBid("v", "USD", 1)
		require.NoError(t, err)
		for _, f := range []OrderFilter{
			{},
			{InventoryTypes: []string{"DIRECT"}, From: start},
			{ShipmentIDs: []string{"s"}, ByShipBy: true},
			{ProductID: "p"},
		} {
			f.Account, f.Statuses = 1, []string{"CREATED", "SHIPPED"}
			_, _, err = tx.Orders(f, 100, 0)
			require.NoError(t, err)
		}
		_, err = tx.NextDue(time.Time{})
		return err
	}))
	require.NoError(t, s.View(t.Context(), func(tx *Tx) error {
		queries := slices.Collect(maps.Keys(tx.conn.prepared))
		require.Greater(t, len(queries), 20)
		for _, query := range queries {
			for _, step := range explain(t, tx, query) {
				assert.NotRegexp(t, fullScan, step, query)
			}
		}
		return nil
	}))
}

func TestPlans_SelectivePagesAreReadInOrder(t *testing.T) {
	s := reopen(t, "")
	for _, f := range []ListingFilter{
		{BatchIDs: []string{"b"}},
		{ProductIDs: []string{"p"}},
		{VariantIDs: []string{"v"}, Statuses: []string{state.Active, state.Inactive}},
	} {
		require.NoError(t, s.View(t.Context(), func(tx *Tx) error {
			w := narrow(f, 0, endOfTime)
			plan := explain(t, tx, `SELECT l.seq FROM listings l INDEXED BY `+f.narrowest()+w.String()+` ORDER BY l.seq DESC`)
			require.Len(t, plan, 1, "reading stops after the page, since nothing is sorted")
			assert.Contains(t, plan[0], "USING COVERING INDEX "+f.narrowest()+" (account=? AND ")
			assert.Contains(t, plan[0], " AND seq>? AND seq<?)", "dates use the index, too")
			return nil
		}))
	}
}

func TestPlans_OrdersAreCountedAndSortedInTheIndex(t *testing.T) {
	s := reopen(t, "")
	require.NoError(t, s.View(t.Context(), func(tx *Tx) error {
		for _, f := range []OrderFilter{
			{Statuses: []string{"CREATED"}},
			{
				Statuses: []string{"CREATED", "SHIPPED"}, InventoryTypes: []string{"DIRECT"},
				From: start, ByShipBy: true,
			},
		} {
			_, _, err := tx.Orders(f, 100, 0)
			require.NoError(t, err)
		}
		require.Len(t, tx.conn.prepared, 4)
		for _, query := range slices.Collect(maps.Keys(tx.conn.prepared)) {
			plan := explain(t, tx, query)
			assert.Contains(t, strings.Join(plan, "\n"),
				"USING COVERING INDEX orders_by_state (account=? AND status=?)", query)
			if strings.Contains(query, "status IN (?)") && strings.Contains(query, "ORDER BY") {
				assert.NotContains(t, strings.Join(plan, "\n"), "USE TEMP B-TREE",
					"one status is in the order of the index")
			}
		}
		return nil
	}))
}

func TestPlans_PendingTermsAreReadFromTheirEnd(t *testing.T) {
	s := reopen(t, "")
	require.NoError(t, s.View(t.Context(), func(tx *Tx) error {
		_, err := tx.PendingTerms("l")
		require.NoError(t, err)
		for _, query := range slices.Collect(maps.Keys(tx.conn.prepared)) {
			plan := explain(t, tx, query)
			require.Len(t, plan, 1, "nothing is sorted")
			assert.Regexp(t, `USING INDEX operations_pending_(amount|expiry) \(listing_id=\? AND `, plan[0])
		}
		return nil
	}))
}

// explain returns the steps of the plan of a query.
func explain(t *testing.T, tx *Tx, query string) []string {
	t.Helper()
	type step struct {
		id, parent, unused int
		detail             string
	}
	var args []any
	for n := range max(strings.Count(query, "?"), 20) { // surplus arguments are ignored
		args = append(args, n)
	}
	steps, err := list(tx, func(s *step) []any { return []any{&s.id, &s.parent, &s.unused, &s.detail} }, `EXPLAIN QUERY PLAN `+query, args...)
	require.NoError(t, err)
	var details []string
	for _, s := range steps {
		details = append(details, s.detail)
	}
	return details
}
