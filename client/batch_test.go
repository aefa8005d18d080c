package client_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/clienttest"
	"github.com/sellside-sdk/sellside-go/gen"
)

// batchAnswer is a batch of total items as the service shows it; completedAt is set if it says so.
func batchAnswer(status string, completed bool, total int, counts string) string {
	at := "null"
	if completed {
		at = `"2026-11-02T09:15:00.000Z"`
	}
	return fmt.Sprintf(`{"batchId":%q,"status":%q,"completedAt":%s,"createdAt":"2026-11-02T09:14:05.812Z",
		"updatedAt":"2026-11-02T09:14:05.812Z","totalItems":%d,"itemStatuses":%s}`, batchID, status, at, total, counts)
}

// itemAnswer is the items of a batch as the service lists them, one per status; those that failed say why.
func itemAnswer(statuses ...string) string {
	list := make([]string, len(statuses))
	for i, status := range statuses {
		outcome := fmt.Sprintf(`"result":{"listingId":"l%d","askId":"14226361841571254272"}`, i+1)
		if status == "FAILED" {
			outcome = `"error":"The variant is unknown."`
		}
		list[i] = fmt.Sprintf(`{"itemId":"i%d","status":%q,"listingInput":{"variantId":%q,"amount":"162"},%s}`, i+1, status, variantID, outcome)
	}
	return `{"items":[` + strings.Join(list, ",") + `]}`
}

func TestWaitReturnsTheResultsAndTellsItsProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := clienttest.New(t, clienttest.InProcess())
		srv.Expect(gen.OpCreateListingsBatch).Respond(200, batchAnswer("QUEUED", false, 2, `{"queued":2}`))
		srv.Expect(gen.OpGetCreateListingsBatch).Respond(200, batchAnswer("IN_PROGRESS", false, 2, `{"completed":1,"in_progress":1}`))
		srv.Expect(gen.OpGetCreateListingsBatch).Respond(200, batchAnswer("COMPLETED", true, 2, `{"completed":2}`))
		srv.Expect(gen.OpListCreateListingsBatchItems).NoQuery().Respond(200, itemAnswer("COMPLETED", "COMPLETED"))

		b, err := srv.Client().Batches.Create(t.Context(), items(2))
		require.NoError(t, err)
		var progress []string
		results, err := b.Wait(t.Context(), client.WithProgress(func(s gen.Batch) {
			progress = append(progress, fmt.Sprintf("%s %d of %d", s.Status, s.ItemStatuses.Of("completed"), s.TotalItems))
		}))

		require.NoError(t, err)
		assert.Equal(t, []string{"QUEUED 0 of 2", "IN_PROGRESS 1 of 2", "COMPLETED 2 of 2"}, progress,
			"the answer to the submission counts as the first poll")
		require.Len(t, results, 2)
		assert.Equal(t, "l1", results[0].Result.ListingID)
		assert.Equal(t, gen.Amount("162"), results[0].ListingInput.Amount)
		assert.True(t, b.Done())
	})
}

func TestABatchIsResumedByItsIDWithoutIO(t *testing.T) {
	ended := batchAnswer("COMPLETED", true, 1, `{"completed":1}`)
	tests := map[string]struct {
		get, list gen.OperationID
		open      func(*client.Client) (before gen.Batch, wait func() error)
		items     string
	}{
		"create": {gen.OpGetCreateListingsBatch, gen.OpListCreateListingsBatchItems, func(c *client.Client) (gen.Batch, func() error) {
			b := c.Batches.ResumeCreate(batchID)
			return b.Snapshot(), func() error { return failure(b.Wait(t.Context())) }
		}, itemAnswer("COMPLETED")},
		"update": {gen.OpGetUpdateListingsBatch, gen.OpListUpdateListingsBatchItems, func(c *client.Client) (gen.Batch, func() error) {
			b := c.Batches.ResumeUpdate(batchID)
			return b.Snapshot(), func() error { return failure(b.Wait(t.Context())) }
		}, `{"items":[{"itemId":"i1","status":"COMPLETED","listingInput":{"listingId":"l1"}}]}`},
		"delete": {gen.OpGetDeleteListingsBatch, gen.OpListDeleteListingsBatchItems, func(c *client.Client) (gen.Batch, func() error) {
			b := c.Batches.ResumeDelete(batchID)
			return b.Snapshot(), func() error { return failure(b.Wait(t.Context())) }
		}, `{"items":[{"itemId":"i1","status":"COMPLETED","listingInput":{"id":"l1"}}]}`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			srv := clienttest.New(t)
			before, wait := test.open(srv.Client())
			require.Zero(t, before, "opening asks for nothing")
			srv.Expect(test.get).Path("batchId", batchID).Respond(200, ended)
			srv.Expect(test.list).Path("batchId", batchID).Respond(200, test.items)

			require.NoError(t, wait())
		})
	}
}

func TestResultsAreReadAtAnyTimeAllOrThoseInOneStatus(t *testing.T) {
	srv := clienttest.New(t)
	srv.Expect(gen.OpListUpdateListingsBatchItems).Query("status", "FAILED").RespondExample()
	b := srv.Client().Batches.ResumeUpdate(batchID)

	failed, err := b.Results(t.Context(), gen.BatchItemStatusFailed)
	require.NoError(t, err)
	_, err = b.Results(t.Context(), gen.BatchItemStatusFailed, gen.BatchItemStatusCompleted)

	assert.Equal(t, gen.Reason("The listing was sold."), failed[0].Error)
	refused(t, err, gen.OpListUpdateListingsBatchItems, "status")
}

func TestAFailedPollLeavesTheSnapshot(t *testing.T) {
	srv := clienttest.New(t)
	srv.Expect(gen.OpGetDeleteListingsBatch).
		Raw(200, nil, []byte(batchAnswer("IN_PROGRESS", false, 4, `{"completed":"3","queued":1}`)), "a count is text")
	srv.Expect(gen.OpGetDeleteListingsBatch).RespondError(404, "there is no such batch")
	b := srv.Client().Batches.ResumeDelete(batchID)

	first, err := b.Poll(t.Context())
	require.NoError(t, err)
	second, err := b.Poll(t.Context())

	require.ErrorIs(t, err, client.ErrNotFound)
	assert.Equal(t, first, second)
	assert.Equal(t, 3, second.ItemStatuses.Of("completed"), "counts may come as text")
}
