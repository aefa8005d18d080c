package sell_test

import (
	"context"
	"errors"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/clienttest"
	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/sell"
	"github.com/sellside-sdk/sellside-go/gen"
)

func TestResultsComeInTheOrderOfTheRows(t *testing.T) {
	srv := clienttest.New(t)
	srv.Expect(gen.OpCreateListingsBatch).
		BodyJSON(`{"items":[{"variantId":"v0","amount":"162","currencyCode":"USD","quantity":2},{"variantId":"v1","amount":"162","currencyCode":"USD","quantity":1}]}`).
		Respond(200, batchOf(gen.BatchStatusQueued, 3, 0, 0))
	srv.Expect(gen.OpGetCreateListingsBatch).Respond(200, batchOf(gen.BatchStatusInProgress, 3, 1, 0))
	srv.Expect(gen.OpGetCreateListingsBatch).Respond(200, batchOf(gen.BatchStatusCompleted, 3, 2, 1))
	srv.Expect(gen.OpListCreateListingsBatchItems).Respond(200, items(t, "v1 COMPLETED L3", "v0 FAILED sold-out", "v0 COMPLETED L1"))
	w := &told{}

	results, err := run(t.Context(), srv, w, stock(2, 1))

	require.NoError(t, err, "items that fail are results")
	assert.Equal(t, []sell.Result{
		{Line: 2, Nth: 1, Status: "FAILED", Error: "sold-out"},
		{Line: 2, Nth: 2, Status: "COMPLETED", ListingID: "L1"},
		{Line: 3, Nth: 1, Status: "COMPLETED", ListingID: "L3"},
	}, results)
	assert.Equal(t, "submitted 1/1 "+batchID+": 3 after 0 of 3", w.events[0])
	assert.Subset(t, w.events, []string{"moved 1: 1", "moved 1: 3"})
	assert.Equal(t, "finished 1: 2, 1", w.events[len(w.events)-1])
	assert.Equal(t, results, w.saved[len(w.saved)-1])
	assert.Equal(t, "NOT_SENT", w.saved[0][0].Status, "the file can be written before anything is sent")
	assert.Equal(t, "SUBMITTED", w.saved[1][0].Status, "and knows the batch before the waiting begins")
	assert.Contains(t, w.saved[1][0].Error, batchID)
}

func TestABatchOfUnknownOutcomeIsNotSentAgainAndEndsTheRun(t *testing.T) {
	for _, when := range []clienttest.Moment{clienttest.BeforeHeaders, clienttest.MidBody} {
		srv := clienttest.New(t)
		srv.Expect(gen.OpCreateListingsBatch).Disconnect(when, "the batch may have been taken")
		w := &told{}

		results, err := run(t.Context(), srv, w, stock(100, 1))

		require.ErrorIs(t, err, client.ErrOutcomeUnknown)
		require.ErrorContains(t, err, "batch 1 of 2")
		for _, r := range results[:100] {
			assert.Equal(t, sell.StatusUnknown, r.Status)
			assert.Contains(t, r.Error, "look for it among the listings")
		}
		assert.Equal(t, sell.Result{Line: 3, Nth: 1, Status: sell.StatusNotSent, Error: "it was not sent: sell the row again"}, results[100])
		assert.Equal(t, results, w.saved[len(w.saved)-1])
		assert.Len(t, srv.Requests(gen.OpCreateListingsBatch), 1)
	}
}

func TestARefusedBatchDoesNotKeepTheOthersFromBeingSold(t *testing.T) {
	srv := clienttest.New(t)
	srv.Expect(gen.OpCreateListingsBatch).RespondError(http.StatusBadRequest, "/items/0/amount: no")
	srv.Expect(gen.OpCreateListingsBatch).Respond(200, batchOf(gen.BatchStatusCompleted, 1, 1, 0))
	srv.Expect(gen.OpListCreateListingsBatchItems).Respond(200, items(t, "v1 COMPLETED L1"))

	results, err := run(t.Context(), srv, &told{}, stock(100, 1))

	require.NoError(t, err)
	assert.Equal(t, sell.StatusRefused, results[0].Status)
	assert.Contains(t, results[0].Error, "/items/0/amount: no")
	assert.Equal(t, "L1", results[100].ListingID)
}

func TestARunEndsWhereNoBatchCanBeSent(t *testing.T) {
	srv := clienttest.New(t)
	srv.Expect(gen.OpCreateListingsBatch).RespondError(http.StatusForbidden, "not yours")

	results, err := run(t.Context(), srv, &told{}, stock(100, 1))

	require.ErrorIs(t, err, client.ErrForbidden)
	for _, r := range results {
		assert.Equal(t, sell.StatusNotSent, r.Status, "nothing was made")
	}
}

func TestWhenTheRunIsStoppedItTakesWhatThereIs(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	srv := clienttest.New(t)
	srv.Expect(gen.OpCreateListingsBatch).Respond(200, batchOf(gen.BatchStatusQueued, 2, 0, 0))
	srv.Expect(gen.OpGetCreateListingsBatch).
		Check(func(testing.TB, *http.Request, []byte) { stop() }).
		Respond(200, batchOf(gen.BatchStatusInProgress, 2, 1, 0))
	srv.Expect(gen.OpListCreateListingsBatchItems).Respond(200, items(t, "v1 COMPLETED L1", "v0 QUEUED -"))

	results, err := run(ctx, srv, &told{}, stock(1, 1))

	require.ErrorIs(t, err, context.Canceled)
	assert.Equal(t, "QUEUED", results[0].Status)
	assert.Equal(t, sell.Result{Line: 3, Nth: 1, Status: "COMPLETED", ListingID: "L1"}, results[1])
}

func TestWhenNothingCanBeReadTheBatchIsNamed(t *testing.T) {
	srv := clienttest.New(t)
	srv.Expect(gen.OpCreateListingsBatch).Respond(200, batchOf(gen.BatchStatusQueued, 1, 0, 0))
	srv.Expect(gen.OpGetCreateListingsBatch).RespondError(http.StatusForbidden, "not any more")
	srv.Expect(gen.OpListCreateListingsBatchItems).RespondError(http.StatusForbidden, "not any more")

	results, err := run(t.Context(), srv, &told{}, stock(1))

	require.ErrorIs(t, err, client.ErrForbidden)
	assert.Equal(t, sell.StatusSubmitted, results[0].Status)
	assert.Contains(t, results[0].Error, batchID)
}

func TestAListingWithoutAResultIsUnknown(t *testing.T) {
	srv := clienttest.New(t)
	srv.Expect(gen.OpCreateListingsBatch).Respond(200, batchOf(gen.BatchStatusCompleted, 2, 2, 0))
	srv.Expect(gen.OpListCreateListingsBatchItems).Respond(200, items(t, "v0 COMPLETED L1", "somebody-elses COMPLETED L2"))

	results, err := run(t.Context(), srv, &told{}, stock(2))

	require.NoError(t, err)
	assert.Equal(t, "L1", results[0].ListingID)
	assert.Equal(t, sell.StatusUnknown, results[1].Status)
	assert.Contains(t, results[1].Error, batchID)
}

func TestNothingIsSentWhenResultsCannotBeSaved(t *testing.T) {
	full := errors.New("the disk is full")
	results, err := run(t.Context(), clienttest.New(t), &told{broken: full}, stock(1))
	require.ErrorIs(t, err, full)
	assert.Equal(t, sell.StatusNotSent, results[0].Status)
}
