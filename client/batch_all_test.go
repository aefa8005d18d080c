package client_test

import (
	"context"
	"net/http"
	"path"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/clienttest"
	"github.com/sellside-sdk/sellside-go/gen"
	"github.com/sellside-sdk/sellside-go/sandbox"
	"github.com/sellside-sdk/sellside-go/sandbox/sandboxtest"
)

func TestWaitBatches_PollsOneForEachPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const batches = 10
		market := sandboxtest.NewInProcess(t, func(o *sandbox.Options) { o.Delay = time.Minute }, quirks)
		c := market.Client(client.WithWaitOptions(client.WithPollInterval(10*time.Second, 10*time.Second)))
		var submitted []*client.Batch[gen.CreateBatchItem]
		for i := range batches {
			b, err := c.Batches.Create(t.Context(), []gen.CreateItem{{VariantID: sandboxVariant, Amount: "162", Quantity: gen.Int(1 + i%2)}})
			require.NoError(t, err)
			submitted = append(submitted, b)
		}
		start := time.Now()

		found := map[string]int{}
		for done, err := range client.WaitBatches(t.Context(), submitted) {
			require.NoError(t, err)
			found[done.Batch.ID()] += len(done.Items)
		}

		for i, b := range submitted {
			assert.Equal(t, 1+i%2, found[b.ID()], "the items of each batch, once")
		}
		pauses := int(time.Since(start)/(9*time.Second)) + 1
		assert.LessOrEqual(t, market.Counters().Of(string(gen.OpGetCreateListingsBatch)), pauses+batches)
	})
}

// TestWaitBatches_KeepsPauseAfterBatch has twenty batches end two minutes after each other.
func TestWaitBatches_KeepsPauseAfterBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const batches = 20
		start, polls := time.Now(), 0
		c := newCannedClient(t, func(r *http.Request) canned {
			if path.Base(r.URL.Path) == "items" {
				return canned{status: http.StatusOK, body: `{"items":[{"itemId":"i","status":"COMPLETED","listingInput":{"id":"l"},"result":{"listingId":"l"}}]}`}
			}
			polls++
			id := path.Base(r.URL.Path)
			status := gen.BatchStatusInProgress
			if nth, err := strconv.Atoi(id); assert.NoError(t, err) && time.Since(start) > time.Duration(nth)*2*time.Minute {
				status = gen.BatchStatusCompleted
			}
			return canned{status: http.StatusOK, body: `{"batchId":"` + id + `","status":"` + string(status) + `","totalItems":1,"itemStatuses":{"completed":1}}`}
		})
		var handles []*client.Batch[gen.DeleteBatchItem]
		for nth := range batches {
			handles = append(handles, c.Batches.ResumeDelete(strconv.Itoa(nth+1)))
		}

		done := 0
		for _, err := range client.WaitBatches(t.Context(), handles) {
			require.NoError(t, err)
			done++
		}

		assert.Equal(t, batches, done, "longer than 30 minutes in all, but not for one")
		assert.LessOrEqual(t, polls, int(time.Since(start)/(27*time.Second))+10+batches)
	})
}

func TestWaitBatches_ReportsEveryBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		polls := map[string]int{}
		c := newCannedClient(t, func(r *http.Request) canned {
			id := path.Base(r.URL.Path)
			switch polls[id]++; {
			case id == "unknown":
				return canned{status: http.StatusNotFound}
			case id == "busy" && polls[id] == 1:
				return canned{status: http.StatusServiceUnavailable}
			default:
				return canned{status: http.StatusOK, body: `{"batchId":"` + id + `","status":"IN_PROGRESS","totalItems":1}`}
			}
		}, oneAttempt)
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Second)
		defer cancel()
		handles := []*client.Batch[gen.DeleteBatchItem]{c.Batches.ResumeDelete("stuck"), c.Batches.ResumeDelete("busy"), c.Batches.ResumeDelete("unknown")}

		errs := map[string]error{}
		for done, err := range client.WaitBatches(ctx, handles, client.WithPollInterval(10*time.Second, 10*time.Second)) {
			assert.NotContains(t, errs, done.Batch.ID())
			errs[done.Batch.ID()] = err
		}

		require.ErrorIs(t, errs["unknown"], client.ErrNotFound, "it does not end the wait for the others")
		for _, id := range []string{"stuck", "busy"} {
			assert.True(t, isA[*client.WaitError](errs[id]), id)
			assert.ErrorIs(t, errs[id], context.DeadlineExceeded, id)
		}
		assert.Equal(t, 1, polls["unknown"])
		assert.LessOrEqual(t, polls["stuck"]+polls["busy"], 50/9+2, "one poll for each pause")
	})
}

func TestWaitBatches_RefusesArguments(t *testing.T) {
	c := clienttest.New(t).Client()
	for _, invalid := range []struct {
		batches []*client.Batch[gen.DeleteBatchItem]
		opts    []client.WaitOption
	}{
		{[]*client.Batch[gen.DeleteBatchItem]{nil}, nil},
		{[]*client.Batch[gen.DeleteBatchItem]{c.Batches.ResumeDelete("b")}, []client.WaitOption{nil}},
	} {
		count := 0
		for _, err := range client.WaitBatches(t.Context(), invalid.batches, invalid.opts...) {
			require.ErrorIs(t, err, client.ErrInvalidArgument)
			count++
		}
		assert.Equal(t, 1, count)
	}
	for done, err := range client.WaitBatches[gen.DeleteBatchItem](t.Context(), nil) {
		assert.Fail(t, "there is no batch", "%v, %v", done, err)
	}
}
