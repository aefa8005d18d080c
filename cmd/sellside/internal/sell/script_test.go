package sell_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/clienttest"
	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/inventory"
	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/sell"
	"github.com/sellside-sdk/sellside-go/gen"
)

const batchID = "5ee0ab0e-2a2b-4a3e-9a46-bd8d4ee8c54f"

// stock is a row for each quantity, on lines 2, 3 and so on, each of another variant.
func stock(quantities ...int) []inventory.Row {
	var rows []inventory.Row
	for i, quantity := range quantities {
		rows = append(rows, inventory.Row{Line: i + 2, VariantID: fmt.Sprint("v", i), Price: "162", Currency: "USD", Quantity: quantity})
	}
	return rows
}

// told writes down what a watcher is told, and every state that is saved.
type told struct {
	events []string
	saved  [][]sell.Result
	broken error
}

func (w *told) Submitted(b sell.Batch) {
	w.note("submitted %d/%d %s: %d after %d of %d", b.Number, b.Of, b.ID, b.Listings, b.Before, b.Total)
}
func (w *told) Moved(b sell.Batch, finished int) { w.note("moved %d: %d", b.Number, finished) }
func (w *told) Finished(b sell.Batch, completed, failed int) {
	w.note("finished %d: %d, %d", b.Number, completed, failed)
}

func (w *told) note(format string, args ...any) {
	w.events = append(w.events, fmt.Sprintf(format, args...))
}

func (w *told) save(results []sell.Result) error {
	w.saved = append(w.saved, slices.Clone(results))
	return w.broken
}

func run(ctx context.Context, srv *clienttest.Server, w *told, rows []inventory.Row) ([]sell.Result, error) {
	r := sell.Run{
		Batches: srv.Client().Batches, Watch: w, Save: w.save,
		Poll: []client.WaitOption{client.WithPollInterval(time.Millisecond, time.Millisecond)},
	}
	return r.Sell(ctx, rows)
}

func batchOf(status gen.BatchStatus, total, completed, failed int) gen.Batch {
	at := gen.TimeOf(time.Date(2026, 11, 2, 9, 14, 5, 0, time.UTC))
	b := gen.Batch{
		BatchID: batchID, Status: status, TotalItems: gen.Int(total), CreatedAt: at, UpdatedAt: at,
		ItemStatuses: gen.BatchStatusCounts{"completed": gen.Int(completed), "failed": gen.Int(failed), "queued": gen.Int(total - completed - failed)},
	}
	if status == gen.BatchStatusCompleted {
		b.CompletedAt = at
	}
	return b
}

// items answers with an item for each text: "v0 COMPLETED L1" or "v0 FAILED why".
func items(t *testing.T, texts ...string) json.RawMessage {
	t.Helper()
	list := []map[string]any{}
	for i, text := range texts {
		var variant, status, rest string
		_, err := fmt.Sscan(text, &variant, &status, &rest)
		require.NoError(t, err)
		item := map[string]any{
			"itemId": fmt.Sprint("i", i), "status": status,
			"listingInput": map[string]any{"variantId": variant, "amount": "162.0000", "currencyCode": nil, "active": nil, "expiresAt": nil},
		}
		if status == "COMPLETED" {
			item["result"] = map[string]any{"listingId": rest, "askId": "14226361841571254272"}
		} else {
			item["error"] = rest
		}
		list = append(list, item)
	}
	data, err := json.Marshal(map[string]any{"items": list})
	require.NoError(t, err)
	return data
}
