package client_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/clienttest"
	"github.com/sellside-sdk/sellside-go/gen"
)

// batchJSON is a batch of total items, with completedAt if it is completed.
func batchJSON(status string, completed bool, total int, counts string) string {
	at := "null"
	if completed {
		at = `"2026-11-02T09:15:00.000Z"`
	}
	return fmt.Sprintf(`{"batchId":%q,"status":%q,"completedAt":%s,"createdAt":"2026-11-02T09:14:05.812Z",
		"updatedAt":"2026-11-02T09:14:05.812Z","totalItems":%d,"itemStatuses":%s}`, batchID, status, at, total, counts)
}

// itemsJSON is a list of the items of a batch, one per status. Failed items have an error.
func itemsJSON(statuses ...string) string {
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

func TestBatch_WaitReturnsResultsAndReportsProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := clienttest.New(t, clienttest.InProcess())
		srv.Expect(gen.OpCreateListingsBatch).Respond(200, batchJSON("QUEUED", false, 2, `{"queued":2}`))
		srv.Expect(gen.OpGetCreateListingsBatch).Respond(200, batchJSON("IN_PROGRESS", false, 2, `{"completed":1,"in_progress":1}`))
		srv.Expect(gen.OpGetCreateListingsBatch).Respond(200, batchJSON("COMPLETED", true, 2, `{"completed":2}`))
		srv.Expect(gen.OpListCreateListingsBatchItems).NoQuery().
			Respond(200, itemsJSON("COMPLETED", "COMPLETED"))

		b, err := srv.Client().Batches.Create(t.Context(), items(2))
		require.NoError(t, err)
		var progress []string
		results, err := b.Wait(t.Context(), client.WithProgress(func(s gen.Batch) {
			progress = append(progress,
				fmt.Sprintf("%s %d of %d", s.Status, s.ItemStatuses.Of("completed"), s.TotalItems))
		}))

		require.NoError(t, err)
		assert.Equal(t, []string{"QUEUED 0 of 2", "IN_PROGRESS 1 of 2", "COMPLETED 2 of 2"}, progress,
			"the response to the submission counts as the first poll")
		require.Len(t, results, 2)
		assert.Equal(t, "l1", results[0].Result.ListingID)
		assert.Equal(t, gen.Amount("162"), results[0].ListingInput.Amount)
		assert.True(t, b.Done())
	})
}

func TestBatch_IsResumedByIDWithoutIO(t *testing.T) {
	ended := batchJSON("COMPLETED", true, 1, `{"completed":1}`)
	tests := map[string]struct {
		get, list gen.OperationID
		open      func(*client.Client) (before gen.Batch, wait func() error)
		items     string
	}{
		"create": {gen.OpGetCreateListingsBatch, gen.OpListCreateListingsBatchItems, func(c *client.Client) (gen.Batch, func() error) {
			b := c.Batches.ResumeCreate(batchID)
			return b.Snapshot(), func() error { return failure(b.Wait(t.Context())) }
		}, itemsJSON("COMPLETED")},
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
			require.Zero(t, before, "no request is sent")
			srv.Expect(test.get).Path("batchId", batchID).Respond(200, ended)
			srv.Expect(test.list).Path("batchId", batchID).Respond(200, test.items)

			require.NoError(t, wait())
		})
	}
}

func TestBatch_ResultsOfOneStatus(t *testing.T) {
	srv := clienttest.New(t)
	srv.Expect(gen.OpListUpdateListingsBatchItems).Query("status", "FAILED").RespondExample()
	b := srv.Client().Batches.ResumeUpdate(batchID)

	failed, err := b.Results(t.Context(), gen.BatchItemStatusFailed)
	require.NoError(t, err)

	assert.Equal(t, gen.Reason("The listing was sold."), failed[0].Error)
}

func TestBatch_FailedPollKeepsSnapshot(t *testing.T) {
	srv := clienttest.New(t)
	srv.Expect(gen.OpGetDeleteListingsBatch).
		Raw(200, nil, []byte(batchJSON("IN_PROGRESS", false, 4, `{"completed":"3","queued":1}`)), "a count is text")
	srv.Expect(gen.OpGetDeleteListingsBatch).RespondError(404, "there is no such batch")
	b := srv.Client().Batches.ResumeDelete(batchID)

	first, err := b.Poll(t.Context())
	require.NoError(t, err)
	second, err := b.Poll(t.Context())

	require.ErrorIs(t, err, client.ErrNotFound)
	assert.Equal(t, first, second)
	assert.Equal(t, 3, second.ItemStatuses.Of("completed"), "a count may be text")
}

// batchService is a service with one batch, which is done as soon as it is submitted.
type batchService struct {
	batch, items func(read int) canned // From 1.

	start       time.Time
	polls, gets int // Of the batch, and of its items.
}

func (s *batchService) RoundTrip(req *http.Request) (*http.Response, error) {
	switch {
	case req.Method == http.MethodPost:
		return canned{status: 200, body: batchJSON("QUEUED", false, 0, `{}`)}.response(req)
	case strings.HasSuffix(req.URL.Path, "/items"):
		s.gets++
		return s.items(s.gets).response(req)
	default:
		s.polls++
		return s.batch(s.polls).response(req)
	}
}

// client makes a client of the service. Call it in a bubble.
func (s *batchService) client(t *testing.T) *client.Client {
	t.Helper()
	s.start = time.Now()
	return newTransportClient(t, s, oneAttempt)
}

func always(body string) func(int) canned {
	return func(int) canned { return canned{status: 200, body: body} }
}

// submitTwo submits or resumes a batch of two listings, l1 and l2, and returns its wait.
var submitTwo = map[string]func(context.Context, *client.Client) (func(context.Context) (int, error), error){
	"create": func(ctx context.Context, c *client.Client) (func(context.Context) (int, error), error) {
		b, err := c.Batches.Create(ctx, items(2))
		return waitFor(b), err
	},
	"create by quantity": func(ctx context.Context, c *client.Client) (func(context.Context) (int, error), error) {
		b, err := c.Batches.Create(ctx,
			[]gen.CreateItem{{VariantID: variantID, Amount: "162", Quantity: 2}})
		return waitFor(b), err
	},
	"update": func(ctx context.Context, c *client.Client) (func(context.Context) (int, error), error) {
		b, err := c.Batches.Update(ctx, updates(2))
		return waitFor(b), err
	},
	"delete": func(ctx context.Context, c *client.Client) (func(context.Context) (int, error), error) {
		b, err := c.Batches.Delete(ctx, []string{"l1", "l2"})
		return waitFor(b), err
	},
	"resumed create": func(_ context.Context, c *client.Client) (func(context.Context) (int, error), error) {
		return waitFor(c.Batches.ResumeCreate(batchID)), nil
	},
	"resumed update": func(_ context.Context, c *client.Client) (func(context.Context) (int, error), error) {
		return waitFor(c.Batches.ResumeUpdate(batchID)), nil
	},
	"resumed delete": func(_ context.Context, c *client.Client) (func(context.Context) (int, error), error) {
		return waitFor(c.Batches.ResumeDelete(batchID)), nil
	},
}

// waitFor returns the wait for a batch, which returns the number of items.
func waitFor[T any](b *client.Batch[T]) func(context.Context) (int, error) {
	return func(ctx context.Context) (int, error) {
		results, err := b.Wait(ctx)
		return len(results), err
	}
}

// item is an item of a batch as the service lists it. The rest of its members names its listing.
func item(id, status, rest string) string {
	return `{"itemId":"` + id + `","status":` + status + rest + `}`
}

func created(listing string) string {
	return `,"listingInput":{},"result":{"listingId":"` + listing + `"}`
}

const (
	done = `"COMPLETED"`
	asL1 = `,"listingInput":{"listingId":"l1","id":"l1"}`
	asL2 = `,"listingInput":{"listingId":"l2","id":"l2"}`
)

// batchEnding is a final state of a batch of two items, and what Wait reports.
type batchEnding struct {
	how    string
	total  string // totalItems, "2" if it is empty.
	counts string // itemStatuses
	items  []string

	unknown   []string // The itemIds of unknown items.
	missing   int
	disagrees bool // Whether a count disagrees with the items.
	why       string
}

// batchEndings are final states in which not every item is known to have succeeded.
func batchEndings() []batchEnding {
	one, two := item("i1", done, created("l1")), item("i2", done, created("l2"))
	u1, u2 := item("i1", done, asL1), item("i2", done, asL2)
	return []batchEnding{
		{how: "create", items: nil, missing: 2, why: "no item is listed"},
		{how: "create", items: []string{one}, missing: 1, why: "an item is not listed"},
		{how: "create", total: "1", items: []string{one}, missing: 1, disagrees: true, why: "totalItems lacks one"},
		{how: "create by quantity", total: "1", counts: `{"completed":1}`, items: []string{one}, missing: 1, disagrees: true, why: "totalItems lacks one of a quantity"},
		{how: "create", items: []string{one, item("i2", `"QUEUED"`, created("l2"))}, unknown: []string{"i2"}, why: "an item is queued"},
		{how: "create", items: []string{one, item("i2", `"IN_PROGRESS"`, "")}, unknown: []string{"i2"}, why: "an item is in progress"},
		{how: "create", items: []string{one, item("i2", `null`, created("l2"))}, unknown: []string{"i2"}, why: "an item without a status"},
		{how: "create", items: []string{one, item("i2", `"SKIPPED"`, created("l2"))}, unknown: []string{"i2"}, why: "an unknown status"},
		{how: "create", items: []string{one, item("i2", done, "")}, unknown: []string{"i2"}, why: "no result"},
		{how: "create", items: []string{one, item("i2", done, `,"result":{"listingId":null,"askId":"7"}`)}, unknown: []string{"i2"}, why: "a result without a listing"},
		{how: "create", items: []string{one, item("i2", done, created("L1"))}, unknown: []string{"i2"}, why: "one listing for two items"},
		{how: "create", items: []string{one, two, item("i3", done, created("l3"))}, disagrees: true, why: "more items than were submitted"},
		{how: "create", total: "3", items: []string{one, two}, disagrees: true, why: "totalItems counts one more"},
		{how: "create", counts: `{"completed":1,"failed":1}`, items: []string{one, two}, disagrees: true, why: "a count has a failure that is not listed"},
		{how: "create", counts: `{"COMPLETED":"1"}`, items: []string{one, two}, disagrees: true, why: "a count has one success only"},
		{how: "create", counts: `{"in_progress":2}`, items: []string{one, two}, disagrees: true, why: "a count has two in progress"},
		{how: "create", items: []string{"null", one}, unknown: []string{""}, why: "an item that is null"},

		{how: "update", items: []string{u1, item("i2", done, asL1)}, unknown: []string{"i2"}, missing: 1, why: "one listing twice, the other one missing"},
		{how: "delete", items: []string{u1, item("i2", done, `,"listingInput":{"listingId":"l9","id":"l9"}`)}, unknown: []string{"i2"}, missing: 1, why: "a listing that was not submitted"},
		{how: "update", items: []string{u1, item("i2", done, `,"listingInput":{}`)}, unknown: []string{"i2"}, why: "an item without a listing"},
		{how: "delete", items: []string{u1, item("i2", done, asL2+`,"result":{"listingId":"l1"}`)}, unknown: []string{"i2"}, why: "a result of another listing"},
		{how: "update", items: []string{u1, u2, item("i3", done, `,"result":{"listingId":"l3"}`)}, unknown: []string{"i3"}, disagrees: true, why: "an item too many"},
		{how: "delete", total: "1", items: []string{u1}, missing: 1, disagrees: true, why: "totalItems lacks one to delete"},

		{how: "resumed create", items: []string{one}, missing: 1, why: "fewer than totalItems"},
		{how: "resumed create", total: "0", items: []string{}, disagrees: true, why: "an empty batch"},
		{how: "resumed create", total: "null", counts: `{"completed":2}`, items: []string{one, two}, disagrees: true, why: "totalItems is null"},
		{how: "resumed update", total: `"many"`, items: []string{u1, u2}, disagrees: true, why: "totalItems cannot be read"},
		{how: "resumed delete", items: []string{u1, item("i2", done, asL1)}, unknown: []string{"i2"}, why: "one listing twice"},
		{how: "resumed delete", items: []string{u1, u2, item("i3", done, `,"result":{"listingId":"l3"}`)}, disagrees: true, why: "more than totalItems"},
	}
}

func (e batchEnding) service() *batchService {
	total, counts := e.total, e.counts
	if total == "" {
		total = "2"
	}
	if counts == "" {
		counts = `{}`
	}
	batch := strings.Replace(batchJSON("COMPLETED", true, 12345, counts), "12345", total, 1)
	return &batchService{batch: always(batch), items: always(`{"items":[` + strings.Join(e.items, ",") + `]}`)}
}

// wait submits the batch and waits for it.
func (e batchEnding) wait(t *testing.T) (items int, took time.Duration, s *batchService, err error) {
	t.Helper()
	s = e.service()
	wait, err := submitTwo[e.how](t.Context(), s.client(t))
	require.NoError(t, err)
	items, err = wait(t.Context())
	return items, time.Since(s.start), s, err
}

func TestBatch_WaitAccountsForEveryItem(t *testing.T) {
	for _, tc := range batchEndings() {
		t.Run(tc.how+" "+tc.why, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n, took, s, err := tc.wait(t)

				var outcome *client.BatchError
				require.ErrorAs(t, err, &outcome)
				assert.Empty(t, outcome.Failed)
				assert.Equal(t, tc.unknown, itemIDs(outcome.Unknown))
				assert.Equal(t, tc.missing, outcome.Missing)
				assert.Equal(t, tc.disagrees, outcome.Problem != "", outcome.Problem)
				for _, f := range outcome.Unknown {
					assert.NotEmpty(t, f.Problem)
				}
				require.NoError(t, outcome.Err)
				assert.Equal(t, batchID, outcome.BatchID)
				assert.Equal(t, len(tc.items), n, "the results are returned, too")
				assert.NotContains(t, err.Error(), "\n")
				assert.LessOrEqual(t, took, time.Minute+2*time.Second,
					"the batch was polled a second after it was submitted")
				assert.Greater(t, s.gets, 5, "the items were read again")
				assert.Greater(t, s.polls, 5, "the counts were read again")
			})
		})
	}
}

func itemIDs(failures []client.BatchFailure) []string {
	var ids []string
	for _, f := range failures {
		ids = append(ids, f.ItemID)
	}
	return ids
}

func TestBatch_WaitSucceedsIfEveryItemSucceeded(t *testing.T) {
	one, two := item("i1", done, created("l1")), item("i2", done, created("l2"))
	u1, u2 := item("i1", done, asL1), item("i2", done, asL2)
	for _, tc := range []batchEnding{
		{how: "create", items: []string{one, two}, why: "two items"},
		{how: "create by quantity", counts: `{"completed":2,"failed":0}`, items: []string{two, one}, why: "counts that agree"},
		{how: "create", items: []string{item("i1", `"completed"`, created("l1")), item("i2", `"Completed"`, created("l2"))}, why: "any case of the status"},
		{how: "create", total: "null", items: []string{one, two}, why: "the submission has the number"},
		{how: "create", total: `"2"`, counts: `"COMPLETED"`, items: []string{one, two}, why: "counts that cannot be read are ignored"},
		{how: "create", counts: `{"done":2,"completed":"two"}`, items: []string{one, two}, why: "counts under other names are ignored"},
		{how: "update", items: []string{u2, u1}, why: "each listing once, in any order"},
		{how: "update", items: []string{item("i1", done, `,"listingInput":{"listingId":"L1"}`), item("i2", done, `,"result":{"listingId":"l2"}`)}, why: "by input or result, in any case"},
		{how: "delete", items: []string{item("i1", done, asL1+`,"result":{"listingId":"L1"}`), u2}, why: "by input and result"},
		{how: "resumed create", items: []string{one, two}, why: "totalItems has the number"},
		{how: "resumed update", items: []string{u1, u2}, why: "updates"},
		{how: "resumed delete", counts: `{"completed":2}`, items: []string{u1, u2}, why: "deletes"},
	} {
		t.Run(tc.how+" "+tc.why, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n, took, s, err := tc.wait(t)
				require.NoError(t, err)
				assert.Equal(t, 2, n)
				assert.Equal(t, 1, s.gets, "the items are read once")
				assert.Less(t, took, 2*time.Second)
			})
		})
	}
}

func TestBatch_WaitReportsFailedItemsAtOnce(t *testing.T) {
	one := item("i1", done, created("l1"))
	for _, tc := range []struct {
		batchEnding

		reason gen.Reason
	}{
		{
			batchEnding{how: "create", counts: `{"completed":1,"failed":1}`, items: []string{one, item("i2", `"FAILED"`, `,"error":"The variant is unknown."`)}, why: "with a reason"},
			"The variant is unknown.",
		},
		{
			batchEnding{how: "create", items: []string{one, item("i2", `"failed"`, "")}, why: "without a reason, and the status in another case"},
			"",
		},
		{
			batchEnding{how: "create", items: []string{one, item("i2", `"REJECTED"`, `,"error":"No."`)}, why: "an error under an unknown status"},
			"No.",
		},
		{
			batchEnding{how: "create", items: []string{one, item("i2", done, `,"error":{"message":"No."}`+created("l2"))}, why: "an error under COMPLETED"},
			"No.",
		},
		{
			batchEnding{how: "delete", items: []string{item("i1", done, asL1), item("i2", `"FAILED"`, `,"error":"Sold.\nSorry."`)}, why: "of a delete batch"},
			"Sold.\nSorry.",
		},
	} {
		t.Run(tc.why, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n, took, s, err := tc.wait(t)

				var outcome *client.BatchError
				require.ErrorAs(t, err, &outcome)
				require.Len(t, outcome.Failed, 1)
				assert.Equal(t, "i2", outcome.Failed[0].ItemID)
				assert.Equal(t, tc.reason, outcome.Failed[0].Reason)
				assert.Empty(t, outcome.Unknown)
				assert.Equal(t, 2, n)
				assert.Equal(t, 1, s.gets)
				assert.Less(t, took, 2*time.Second, "no item is read again")
			})
		})
	}
}

// lateItems lists one item at first, and both from some time on.
func lateItems(from time.Duration, s *batchService) func(int) canned {
	one, two := item("i1", done, created("l1")), item("i2", done, created("l2"))
	return func(int) canned {
		if time.Since(s.start) < from {
			return canned{status: 200, body: `{"items":[` + one + `]}`}
		}
		return canned{status: 200, body: `{"items":[` + one + `,` + two + `]}`}
	}
}

func TestBatch_WaitReadsItemsAgainUntilTheyAgree(t *testing.T) {
	ended := batchJSON("COMPLETED", true, 2, `{}`)
	for _, tc := range []struct {
		script func(*batchService)
		ctx    time.Duration // Zero for none.
		ok     bool
		cause  error
		took   time.Duration // At most.
		why    string
	}{
		{func(s *batchService) { s.items = lateItems(20*time.Second, s) }, 0, true, nil, 40 * time.Second, "an item that is late"},
		{func(s *batchService) { s.items = lateItems(2*time.Minute, s) }, 0, false, nil, 62 * time.Second, "an item that is too late"},
		{func(s *batchService) {
			s.items = lateItems(0, s)
			s.batch = func(read int) canned {
				return canned{status: 200, body: batchJSON("COMPLETED", true, 2, map[bool]string{true: `{"queued":2}`, false: `{"completed":2}`}[read < 4])}
			}
		}, 0, true, nil, 10 * time.Second, "counts that are late"},
		{func(s *batchService) {
			s.items = func(read int) canned {
				if read < 4 {
					return []canned{{}, {status: 503}, {status: 200, body: `{"message":"slow down"}`}}[read-1]
				}
				return lateItems(0, s)(read)
			}
		}, 0, true, nil, 10 * time.Second, "transient failures"},
		{func(s *batchService) {
			s.items = func(read int) canned {
				if read == 1 {
					return lateItems(time.Hour, s)(read)
				}
				return canned{status: 403}
			}
		}, 0, false, client.ErrForbidden, 3 * time.Second, "a failure that is not transient"},
		{func(s *batchService) { s.items = lateItems(time.Hour, s) }, 30 * time.Second, false, context.DeadlineExceeded, 30 * time.Second, "the deadline of the caller"},
		{func(s *batchService) { s.items = func(int) canned { return canned{status: 503} } }, 0, false, client.ErrServer, 62 * time.Second, "items that cannot be read"},
		{func(s *batchService) { s.items = func(int) canned { return canned{status: 503} } }, 30 * time.Second, false, context.DeadlineExceeded, 30 * time.Second, "items that cannot be read before the deadline"},
	} {
		t.Run(tc.why, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &batchService{batch: always(ended)}
				tc.script(s)
				ctx := t.Context()
				c := s.client(t)
				if tc.ctx > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, tc.ctx)
					defer cancel()
				}
				b, err := c.Batches.Create(ctx, items(2))
				require.NoError(t, err)

				results, err := b.Wait(ctx)

				assert.LessOrEqual(t, time.Since(s.start), tc.took)
				if tc.ok {
					require.NoError(t, err)
					assert.Len(t, results, 2)
					return
				}
				require.Error(t, err)
				outcome, ok := errors.AsType[*client.BatchError](err)
				if tc.cause != nil {
					require.ErrorIs(t, err, tc.cause)
				}
				if len(results) > 0 {
					require.True(t, ok, "%T", err)
					assert.Equal(t, 1, outcome.Missing)
					assert.Equal(t, tc.cause == nil, outcome.Err == nil)
				}
				assert.LessOrEqual(t, s.gets, 12, "the pauses are those of polls")
			})
		})
	}
}

func TestBatch_WaitToleratesNotFoundAfterSubmission(t *testing.T) {
	one := item("i1", done, created("l1"))
	for _, tc := range []struct {
		opened bool          // Resumed by its id.
		shown  time.Duration // When the batch is first found.
		ok     bool
		took   time.Duration
		why    string
	}{
		{false, 40 * time.Second, true, 62 * time.Second, "the batch is found within a minute"},
		{false, 2 * time.Minute, false, 95 * time.Second, "the batch is found too late"},
		{true, 2 * time.Second, false, 0, "a resumed batch may be of another account"},
	} {
		t.Run(tc.why, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &batchService{items: always(`{"items":[` + one + `]}`)}
				s.batch = func(int) canned {
					if time.Since(s.start) < tc.shown {
						return canned{status: 404}
					}
					return canned{status: 200, body: batchJSON("COMPLETED", true, 1, `{}`)}
				}
				c := s.client(t)
				b := c.Batches.ResumeCreate(batchID)
				if !tc.opened {
					var err error
					b, err = c.Batches.Create(t.Context(), items(1))
					require.NoError(t, err)
				}
				_, err := b.Poll(t.Context())
				require.ErrorIs(t, err, client.ErrNotFound, "a poll does not wait")

				_, err = b.Wait(t.Context())

				assert.LessOrEqual(t, time.Since(s.start), tc.took)
				if tc.ok {
					require.NoError(t, err)
					return
				}
				require.True(t, isA[*client.WaitError](err), "%T", err)
				require.ErrorIs(t, err, client.ErrNotFound)
				if !tc.opened {
					assert.GreaterOrEqual(t, time.Since(s.start), time.Minute, "the wait lasts a minute")
				}
			})
		})
	}
}
