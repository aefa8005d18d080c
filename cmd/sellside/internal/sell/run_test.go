package sell_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/clienttest"
	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/inventory"
	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/sell"
	"github.com/sellside-sdk/sellside-go/gen"
	"github.com/sellside-sdk/sellside-go/sandbox"
	"github.com/sellside-sdk/sellside-go/sandbox/sandboxtest"
)

const (
	createBatch = "CreateListingsBatch"
	batchID     = "5ee0ab0e-2a2b-4a3e-9a46-bd8d4ee8c54f"
)

// variant returns the id of the nth variant of the sandbox.
func variant(n int) string { return sandbox.Catalog()[0].Variants[n].ID }

// stock returns a row for each quantity, on the lines from 2 on, each of another variant.
func stock(quantities ...int) []inventory.Row {
	var rows []inventory.Row
	for i, quantity := range quantities {
		rows = append(rows, inventory.Row{Line: i + 2, VariantID: variant(i), Price: "162", Currency: "USD", Quantity: quantity})
	}
	return rows
}

// recorder records the events of a run and everything that is saved.
type recorder struct {
	events    []string
	saved     [][]sell.Result
	unsettled []*sell.Unsettled
	err       error // Of Save.
}

func (w *recorder) Submitted(b sell.Batch) {
	w.add("submitted %d/%d: %d after %d of %d", b.Number, b.Of, b.Listings, b.Before, b.Total)
}
func (w *recorder) Settling(b sell.Batch)            { w.add("settling %d", b.Number) }
func (w *recorder) Moved(b sell.Batch, finished int) { w.add("moved %d: %d", b.Number, finished) }
func (w *recorder) Finished(b sell.Batch, c sell.Counts) {
	w.add("finished %d: %d, %d, %d", b.Number, c.Listed, c.NotMade, c.Unknown)
}

func (w *recorder) add(format string, args ...any) {
	w.events = append(w.events, fmt.Sprintf(format, args...))
}

func (w *recorder) save(results []sell.Result, u *sell.Unsettled) error {
	if u != nil {
		u = new(*u)
	}
	w.saved, w.unsettled = append(w.saved, slices.Clone(results)), append(w.unsettled, u)
	return w.err
}

// left returns what the last save has left unsettled, as another process reads it.
func (w *recorder) left(t *testing.T) *sell.Unsettled {
	t.Helper()
	text, err := json.Marshal(w.unsettled[len(w.unsettled)-1])
	require.NoError(t, err)
	var u *sell.Unsettled
	require.NoError(t, json.Unmarshal(text, &u))
	return u
}

// polling makes a client poll without pauses.
var polling = client.WithWaitOptions(client.WithPollInterval(time.Millisecond, time.Millisecond))

func runOf(c *client.Client, w *recorder) *sell.Run {
	return &sell.Run{Client: c, Watch: w, Save: w.save}
}

// inMarket runs a test in a bubble of simulated time, with a sandbox and a client that sends every
// request once.
func inMarket(t *testing.T, test func(t *testing.T, m *sandboxtest.Market, c *client.Client)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		m := sandboxtest.NewInProcess(t)
		test(t, m, m.Client(client.WithRetry(client.RetryPolicy{MaxAttempts: 1})))
	})
}

// fail makes submissions of batches fail in turn. A fault without a kind lets one pass.
func fail(t *testing.T, m *sandboxtest.Market, faults ...sandbox.Fault) {
	t.Helper()
	for _, f := range faults {
		f.Operation = createBatch
		require.NoError(t, m.Fail(f))
	}
}

// listings returns the ids of all listings of the sandbox.
func listings(t *testing.T, c *client.Client) (ids []string) {
	t.Helper()
	for l, err := range c.Listings.List(t.Context(), client.ListingFilter{}) {
		require.NoError(t, err)
		ids = append(ids, l.ListingID)
	}
	return ids
}

// listed returns the ids of the results that are listed.
func listed(results []sell.Result) (ids []string) {
	for _, r := range results {
		if r.Listed() {
			ids = append(ids, r.ListingID)
		}
	}
	return ids
}

// statuses returns the statuses of results, each once.
func statuses(results []sell.Result) (all []string) {
	for _, r := range results {
		all = append(all, r.Status)
	}
	return slices.Compact(all)
}

var (
	lostRequest  = sandbox.Fault{Kind: sandbox.FaultLost}
	lostResponse = sandbox.Fault{Kind: sandbox.FaultLost, Applied: true}
)

func TestRun_MakesEveryListingOnceWhateverIsLost(t *testing.T) {
	status := func(code int, applied bool) sandbox.Fault {
		return sandbox.Fault{Kind: sandbox.FaultStatus, Status: code, Applied: applied}
	}
	for _, row := range []struct {
		why         string
		faults      []sandbox.Fault
		submissions int
		settled     int // How often the listings are read.
	}{
		{"nothing is lost", nil, 2, 0},
		{"a response is lost", []sandbox.Fault{lostResponse}, 2, 1},
		{"a request is lost", []sandbox.Fault{lostRequest}, 3, 1},
		{"a gateway times out after the service", []sandbox.Fault{status(504, true)}, 2, 1},
		{"a gateway fails before the service", []sandbox.Fault{status(503, false)}, 3, 1},
		{"a response is an HTML page", []sandbox.Fault{{Kind: sandbox.FaultHTML, Applied: true}}, 2, 1},
		{"a response is cut, and still shows the id", []sandbox.Fault{{Kind: sandbox.FaultCutJSON, Applied: true}}, 2, 0},
		{"requests and responses of both batches", []sandbox.Fault{lostRequest, lostResponse, lostRequest, lostRequest, lostResponse}, 5, 5},
	} {
		t.Run(row.why, func(t *testing.T) {
			inMarket(t, func(t *testing.T, m *sandboxtest.Market, c *client.Client) {
				fail(t, m, row.faults...)
				w := &recorder{}

				results, err := runOf(c, w).Sell(t.Context(), stock(100, 1))

				require.NoError(t, err)
				assert.ElementsMatch(t, listings(t, c), listed(results))
				assert.Len(t, listed(results), 101)
				assert.Equal(t, row.submissions, m.Counters().Of(createBatch))
				assert.Len(t, slices.DeleteFunc(slices.Clone(w.events), func(e string) bool { return e[:3] != "set" }), row.settled)
				assert.Nil(t, w.left(t))
				assert.Equal(t, results, w.saved[len(w.saved)-1])
			})
		})
	}
}

// Equal batches are distinguished by their marks and by the ids that the run knows.
func TestRun_SettlesEqualBatches(t *testing.T) {
	inMarket(t, func(t *testing.T, m *sandboxtest.Market, c *client.Client) {
		fail(t, m, lostResponse, lostRequest, lostResponse)
		results, err := runOf(c, &recorder{}).Sell(t.Context(), stock(200))
		require.NoError(t, err)
		assert.Len(t, listed(results), 200)
		assert.ElementsMatch(t, listings(t, c), listed(results))
	})
}

func TestRun_SavesABatchBeforeSendingIt(t *testing.T) {
	inMarket(t, func(t *testing.T, m *sandboxtest.Market, c *client.Client) {
		w := &recorder{}
		r := runOf(c, w)
		r.Save = func(results []sell.Result, u *sell.Unsettled) error {
			if u != nil && u.BatchID == "" {
				assert.Zero(t, m.Counters().Of(createBatch))
				assert.Equal(t, []string{sell.StatusUnknown}, statuses(results), "a process that is killed leaves it so")
			}
			return w.save(results, u)
		}
		_, err := r.Sell(t.Context(), stock(1))
		require.NoError(t, err)
		assert.Equal(t, []string{sell.StatusNotSent}, statuses(w.saved[0]))
		assert.Empty(t, w.unsettled[1].BatchID)
		assert.Equal(t, []string{sell.StatusSubmitted}, statuses(w.saved[2]), "the id is saved before the wait")
		assert.NotEmpty(t, w.unsettled[2].BatchID)
		assert.Nil(t, w.left(t))
	})
}

func TestRun_StopsAtADoubtfulBatch(t *testing.T) {
	inMarket(t, func(t *testing.T, m *sandboxtest.Market, c *client.Client) {
		equal := []gen.CreateItem{{VariantID: variant(0), Amount: "162.00", CurrencyCode: "USD", Quantity: 100}}
		other, err := c.Batches.Create(t.Context(), equal)
		require.NoError(t, err)
		fail(t, m, lostRequest)
		w := &recorder{}

		results, err := runOf(c, w).Sell(t.Context(), stock(100, 1))

		require.ErrorIs(t, err, sell.ErrUnsettled)
		assert.Equal(t, []string{sell.StatusUnknown, sell.StatusNotSent}, statuses(results))
		assert.False(t, results[0].Listed() || results[0].NotMade())
		assert.Contains(t, results[0].Error, other.ID(), "the candidate is named")
		assert.Equal(t, 2, m.Counters().Of(createBatch), "it is not sent again")
		require.NotNil(t, w.left(t))

		w = &recorder{unsettled: []*sell.Unsettled{w.left(t)}}
		u := w.left(t)
		u.Known = append(u.Known, other.ID())
		results, err = runOf(c, w).Settle(t.Context(), *u)
		require.NoError(t, err, "it can be settled when the other batch is known")
		assert.Equal(t, []string{sell.StatusNotSeen, sell.StatusNotSent}, statuses(results))
	})
}

func TestRun_SubmitsABatchThreeTimesAtMost(t *testing.T) {
	inMarket(t, func(t *testing.T, m *sandboxtest.Market, c *client.Client) {
		fail(t, m, lostRequest, lostRequest, lostRequest, lostRequest)
		w := &recorder{}
		results, err := runOf(c, w).Sell(t.Context(), stock(100, 1))
		require.Error(t, err)
		require.NotErrorIs(t, err, sell.ErrUnsettled, "it is proved not to have arrived")
		assert.Equal(t, []string{sell.StatusNotSeen, sell.StatusNotSent}, statuses(results))
		assert.True(t, results[0].NotMade())
		assert.Equal(t, 3, m.Counters().Of(createBatch))
		assert.Empty(t, listings(t, c))
		assert.Nil(t, w.left(t))
	})
}

func TestRun_LeavesABatchToBeSettledByTheNextRun(t *testing.T) {
	for _, row := range []struct {
		why   string
		fault sandbox.Fault
		want  []string
		made  int
		last  string // The error of the last listing.
	}{
		{"it was made", lostResponse, []string{"COMPLETED", "NOT_SENT"}, 2, "not sent: list the row again with quantity 1, not 99"},
		{"it was not made", lostRequest, []string{sell.StatusNotSeen, sell.StatusNotSent}, 0, "not sent: list the row again"},
	} {
		t.Run(row.why, func(t *testing.T) {
			inMarket(t, func(t *testing.T, m *sandboxtest.Market, c *client.Client) {
				fail(t, m, row.fault)
				require.NoError(t, m.Fail(sandbox.Fault{Operation: "ListListings", Kind: sandbox.FaultStatus, Status: http.StatusForbidden}))
				w := &recorder{}
				rows := stock(2, 1)
				rows[1].Quantity = 99 // one more than the first batch holds
				results, err := runOf(c, w).Sell(t.Context(), rows)
				require.ErrorIs(t, err, sell.ErrUnsettled)
				require.ErrorIs(t, err, client.ErrForbidden)
				require.Equal(t, []string{sell.StatusUnknown, sell.StatusNotSent}, statuses(results))
				assert.Equal(t, "not sent: list the row again with quantity 1, not 99", results[len(results)-1].Error,
					"the others may be made")

				results, err = runOf(c, w).Settle(t.Context(), *w.left(t))

				require.NoError(t, err)
				assert.Equal(t, row.want, statuses(results))
				assert.Equal(t, row.last, results[len(results)-1].Error)
				assert.ElementsMatch(t, listings(t, c), listed(results))
				assert.Equal(t, 1, m.Counters().Of(createBatch), "nothing is sent")
				assert.Nil(t, w.left(t))
			})
		})
	}
}

func TestRun_RefusesADamagedBatch(t *testing.T) {
	inMarket(t, func(t *testing.T, _ *sandboxtest.Market, c *client.Client) {
		item := func(quantity gen.Int) gen.CreateItem {
			return gen.CreateItem{VariantID: variant(0), Amount: "1", Quantity: quantity}
		}
		for _, row := range []struct {
			items          []gen.CreateItem
			results, first int
			why            string
		}{
			{nil, 2, 0, "no items"},
			{[]gen.CreateItem{item(2)}, 1, 0, "too few results"},
			{[]gen.CreateItem{item(2)}, 2, 1, "too few results from the first"},
			{[]gen.CreateItem{item(2)}, 2, -1, "no first result"},
			{[]gen.CreateItem{item(2)}, 2, 5, "a first result beyond the last"},
			{[]gen.CreateItem{item(3), item(-1)}, 2, 0, "a negative quantity"},
			{[]gen.CreateItem{item(1 << 62), item(1 << 62)}, 2, 0, "quantities that overflow"},
		} {
			u := sell.Unsettled{BatchID: batchID, First: row.first, Results: make([]sell.Result, row.results)}
			u.Submission.Items = row.items
			_, err := runOf(c, &recorder{}).Settle(t.Context(), u)
			require.Error(t, err, row.why)
			require.NotErrorIs(t, err, sell.ErrUnsettled, row.why)
		}
	})
}

func TestRun_StopsWhereNoBatchCanBeSent(t *testing.T) {
	inMarket(t, func(t *testing.T, m *sandboxtest.Market, c *client.Client) {
		fail(t, m, sandbox.Fault{Kind: sandbox.FaultStatus, Status: http.StatusForbidden})
		w := &recorder{}
		results, err := runOf(c, w).Sell(t.Context(), stock(100, 1))
		require.ErrorIs(t, err, client.ErrForbidden)
		assert.Equal(t, []string{sell.StatusRefused, sell.StatusNotSent}, statuses(results), "one was sent and refused")
		assert.True(t, results[0].NotMade())
		assert.Nil(t, w.left(t))
	})
}

func TestRun_ContinuesAfterARefusedBatch(t *testing.T) {
	inMarket(t, func(t *testing.T, m *sandboxtest.Market, c *client.Client) {
		fail(t, m, sandbox.Fault{Kind: sandbox.FaultStatus, Status: http.StatusBadRequest})
		w := &recorder{}
		results, err := runOf(c, w).Sell(t.Context(), stock(100, 1))
		require.NoError(t, err)
		assert.Equal(t, []string{sell.StatusRefused, "COMPLETED"}, statuses(results))
		assert.Equal(t, "finished 1: 0, 100, 0", w.events[0])
	})
}

func TestRun_ResumesABatchWhoseOutcomeWasNotRead(t *testing.T) {
	inMarket(t, func(t *testing.T, m *sandboxtest.Market, c *client.Client) {
		for _, op := range []string{"GetCreateListingsBatch", "ListCreateListingsBatchItems"} {
			require.NoError(t, m.Fail(sandbox.Fault{Operation: op, Kind: sandbox.FaultStatus, Status: http.StatusForbidden}))
		}
		w := &recorder{}
		results, err := runOf(c, w).Sell(t.Context(), stock(1))
		require.ErrorIs(t, err, sell.ErrUnsettled)
		require.ErrorIs(t, err, client.ErrForbidden)
		assert.Equal(t, sell.StatusSubmitted, results[0].Status)
		assert.Contains(t, results[0].Error, w.left(t).BatchID)

		results, err = runOf(c, w).Settle(t.Context(), *w.left(t))

		require.NoError(t, err)
		assert.ElementsMatch(t, listings(t, c), listed(results))
		assert.Equal(t, 1, m.Counters().Of("ListListings"), "the id is known, so the listings need not be read")
		assert.Nil(t, w.left(t))
	})
}

func TestRun_SendsNothingIfSaveFails(t *testing.T) {
	full := errors.New("no space left on device")
	results, err := runOf(clienttest.New(t).Client(), &recorder{err: full}).Sell(t.Context(), stock(1))
	require.ErrorIs(t, err, full)
	assert.Equal(t, sell.StatusNotSent, results[0].Status)
}

// Until the results of a batch that was sent are saved, its file is of unknown outcome.
func TestRun_LeavesABatchUnsettledIfItsResultsAreNotSaved(t *testing.T) {
	for save, want := range map[int]string{3: sell.StatusSubmitted, 4: "COMPLETED"} {
		inMarket(t, func(t *testing.T, m *sandboxtest.Market, c *client.Client) {
			full := errors.New("no space left on device")
			w := &recorder{}
			r := runOf(c, w)
			r.Save = func(results []sell.Result, u *sell.Unsettled) error {
				if len(w.saved)+1 == save {
					return full
				}
				return w.save(results, u)
			}
			results, err := r.Sell(t.Context(), stock(1))
			require.ErrorIs(t, err, full)
			require.ErrorIs(t, err, sell.ErrUnsettled)
			assert.Equal(t, want, results[0].Status)
			require.NotNil(t, w.left(t))
			assert.Equal(t, 1, m.Counters().Of(createBatch))
		})
	}
}

// batchOf is a batch in a state that only a script can show at this moment.
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

// item is an item of a batch for the nth variant. The listing id and the error may be empty.
func item(n int, status, listingID, reason string) map[string]any {
	i := map[string]any{
		"itemId": fmt.Sprint("i-", n, status, listingID), "status": status,
		"listingInput": map[string]any{"variantId": variant(n), "amount": "162.0000", "currencyCode": nil, "active": nil, "expiresAt": nil},
	}
	if listingID != "" {
		i["result"] = map[string]any{"listingId": listingID, "askId": "14226361841571254272"}
	}
	if reason != "" {
		i["error"] = reason
	}
	return i
}

func itemList(items ...map[string]any) map[string]any { return map[string]any{"items": items} }

func TestRun_ReturnsResultsInTheOrderOfTheRows(t *testing.T) {
	srv := clienttest.New(t)
	srv.Expect(gen.OpCreateListingsBatch).Respond(200, batchOf(gen.BatchStatusQueued, 3, 0, 0))
	srv.Expect(gen.OpGetCreateListingsBatch).Respond(200, batchOf(gen.BatchStatusInProgress, 3, 1, 0))
	srv.Expect(gen.OpGetCreateListingsBatch).Respond(200, batchOf(gen.BatchStatusCompleted, 3, 2, 1))
	srv.Expect(gen.OpListCreateListingsBatchItems).Respond(200, itemList(
		item(1, "COMPLETED", "L3", ""), item(0, "FAILED", "", "sold out"), item(0, "COMPLETED", "L1", "")))
	w := &recorder{}

	results, err := runOf(srv.Client(polling), w).Sell(t.Context(), stock(2, 1))

	require.NoError(t, err, "failed items are results")
	assert.Equal(t, []sell.Result{
		{Line: 2, Nth: 1, Status: "FAILED", BatchID: batchID, Error: "sold out"},
		{Line: 2, Nth: 2, Status: "COMPLETED", BatchID: batchID, ListingID: "L1"},
		{Line: 3, Nth: 1, Status: "COMPLETED", BatchID: batchID, ListingID: "L3"},
	}, results)
	assert.Equal(t, []string{"submitted 1/1: 3 after 0 of 3", "moved 1: 0", "moved 1: 1", "moved 1: 3", "finished 1: 2, 1, 0"}, w.events)
}

func TestRun_TakesWhatThereIsWhenItIsStopped(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	srv := clienttest.New(t)
	srv.Expect(gen.OpCreateListingsBatch).Respond(200, batchOf(gen.BatchStatusQueued, 2, 0, 0))
	srv.Expect(gen.OpGetCreateListingsBatch).
		Check(func(testing.TB, *http.Request, []byte) { stop() }).
		Respond(200, batchOf(gen.BatchStatusInProgress, 2, 1, 0))
	srv.Expect(gen.OpListCreateListingsBatchItems).Respond(200, itemList(item(1, "COMPLETED", "L1", ""), item(0, "QUEUED", "", "")))

	w := &recorder{}
	results, err := runOf(srv.Client(polling), w).Sell(ctx, stock(1, 1))

	require.ErrorIs(t, err, context.Canceled)
	require.ErrorIs(t, err, sell.ErrUnsettled)
	assert.Equal(t, batchID, w.left(t).BatchID)
	assert.Equal(t, "QUEUED", results[0].Status)
	assert.True(t, results[0].UnderWay())
	assert.False(t, results[0].NotMade())
	assert.Equal(t, sell.Result{Line: 3, Nth: 1, Status: "COMPLETED", BatchID: batchID, ListingID: "L1"}, results[1])
}
