package store

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/sandbox/internal/state"
)

func TestOverview_ShowsUnfinishedRowsFirst(t *testing.T) {
	s := reopen(t, "")
	require.NoError(t, s.Update(t.Context(), func(tx *Tx) error {
		for i := range 4 {
			id := fmt.Sprint(i)
			_, err := tx.InsertBatch(Batch{ID: id, Account: 1, Kind: state.Create, CreatedAt: start}, []Item{{ID: "i" + id, DueAt: start}})
			require.NoError(t, err)
			require.NoError(t, tx.InsertListing(Listing{
				ID: id, Account: 1, Status: state.Active, Ask: Ask{ID: "a"}, ProductID: "p", VariantID: "v",
				Amount: 100 + int64(i/2), Currency: "USD", InventoryType: "STANDARD",
				ExpiresAt: start.Add(time.Hour), CreatedAt: start, UpdatedAt: start,
			}))
			require.NoError(t, tx.InsertOrder(Order{
				Number: "n" + id, Account: 1, Status: state.OrderCreated, ListingID: id, ShippingID: id,
				ShipBy: start, CreatedAt: start, UpdatedAt: start,
			}))
			_, err = tx.InsertBid(Bid{VariantID: "v", Currency: "USD", Amount: 10 + int64(i/2), CreatedAt: start})
			require.NoError(t, err)
		}
		require.NoError(t, tx.InsertFailure(Failure{Operation: "UPDATE", Times: 2, Error: "no"}))
		newest, err := tx.AnyOrder("n3")
		require.NoError(t, err)
		newest.Status = state.OrderCanceled
		require.NoError(t, tx.SaveOrder(newest))
		_, err = tx.StartItems(start, 0, 100)
		require.NoError(t, err)
		require.NoError(t, tx.UpdateBatches(start))
		items, err := tx.DueItems(start, 100)
		require.NoError(t, err)
		require.NoError(t, tx.FinishItem(items[3], ItemResult{}, "broken"))
		return tx.UpdateBatches(start)
	}))
	require.NoError(t, s.View(t.Context(), func(tx *Tx) error {
		batches, err := tx.RecentBatches(4)
		require.NoError(t, err)
		assert.Equal(t, []string{"2", "1", "0", "3"}, []string{batches[0].ID, batches[1].ID, batches[2].ID, batches[3].ID})
		text, err := tx.ItemError(batches[3])
		require.NoError(t, err)
		assert.Equal(t, "broken", text)
		text, err = tx.ItemError(batches[0])
		require.NoError(t, err)
		assert.Empty(t, text)
		orders, err := tx.RecentOrders([]string{state.OrderCanceled}, 3)
		require.NoError(t, err)
		assert.Equal(t, []string{"n2", "n1", "n0"}, []string{orders[0].Number, orders[1].Number, orders[2].Number})
		counts, err := tx.CountOrders()
		require.NoError(t, err)
		assert.ElementsMatch(t, []StatusCount{{Status: state.OrderCanceled, N: 1}, {Status: state.OrderCreated, N: 3}}, counts)
		counts, err = tx.CountListings()
		require.NoError(t, err)
		assert.Equal(t, []StatusCount{{Status: state.Active, N: 4}}, counts)
		listings, err := tx.NewestListings(2)
		require.NoError(t, err)
		require.Len(t, listings, 2)
		assert.Equal(t, []string{"3", "2"}, []string{listings[0].ID, listings[1].ID})
		x := Crossing{VariantID: "v", Currency: "USD"}
		levels, err := tx.AskLevels(x, start, 9)
		require.NoError(t, err)
		assert.Equal(t, []Level{{100, 2}, {101, 2}}, levels)
		levels, err = tx.BidLevels(x, 1)
		require.NoError(t, err)
		assert.Equal(t, []Level{{11, 2}}, levels)
		failures, err := tx.Failures(9)
		require.NoError(t, err)
		require.Len(t, failures, 1)
		assert.Equal(t, "no", failures[0].Error)
		return nil
	}))
}
