package client_test

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/clienttest"
	"github.com/sellside-sdk/sellside-go/gen"
)

// tracedWrite is a write and the ids of the handle that it returns, "" for none.
type tracedWrite struct {
	op gen.OperationID
	do func(context.Context, *client.Client) (ids string, err error)
}

func batchIDOf[T any](b *client.Batch[T], err error) (string, error) {
	if b == nil {
		return "", err
	}
	return b.ID(), err
}

func operationIDsOf(o *client.Operation, err error) (string, error) {
	if o == nil {
		return "", err
	}
	return o.ListingID() + " " + o.ID(), err
}

// tracedWrites are all writes there are.
func tracedWrites(t *testing.T) map[string]tracedWrite {
	t.Helper()
	write := func(op gen.OperationID, do func(context.Context, *client.Client) (string, error)) tracedWrite {
		return tracedWrite{op, do}
	}
	return map[string]tracedWrite{
		"create batch": write(gen.OpCreateListingsBatch, func(ctx context.Context, c *client.Client) (string, error) {
			return batchIDOf(c.Batches.Create(ctx, items(1)))
		}),
		"update batch": write(gen.OpUpdateListingsBatch, func(ctx context.Context, c *client.Client) (string, error) {
			return batchIDOf(c.Batches.Update(ctx, updates(1)))
		}),
		"delete batch": write(gen.OpDeleteListingsBatch, func(ctx context.Context, c *client.Client) (string, error) {
			return batchIDOf(c.Batches.Delete(ctx, []string{listingID}))
		}),
		"create": write(gen.OpCreateListing, func(ctx context.Context, c *client.Client) (string, error) {
			return operationIDsOf(c.Listings.Create(ctx, gen.CreateListingRequest{VariantID: variantID, Amount: "162"}))
		}),
		"update": write(gen.OpUpdateListing, func(ctx context.Context, c *client.Client) (string, error) {
			return operationIDsOf(c.Listings.Update(ctx, listingID, gen.UpdateListingRequest{Amount: "162"}))
		}),
		"activate": write(gen.OpActivateListing, func(ctx context.Context, c *client.Client) (string, error) {
			return operationIDsOf(c.Listings.Activate(ctx, listingID, gen.ActivateListingRequest{}))
		}),
		"deactivate": write(gen.OpDeactivateListing, func(ctx context.Context, c *client.Client) (string, error) {
			return operationIDsOf(c.Listings.Deactivate(ctx, listingID))
		}),
		"delete": write(gen.OpDeleteListing, func(ctx context.Context, c *client.Client) (string, error) {
			return operationIDsOf(c.Listings.Delete(ctx, listingID))
		}),
		"ingest": write(gen.OpIngestProducts, func(ctx context.Context, c *client.Client) (string, error) {
			taken, err := c.Catalog.Ingest(ctx, requestOf[gen.IngestProductsRequest](t, gen.OpIngestProducts).Items)
			if taken == nil {
				return "", err
			}
			return taken.IngestionID, err
		}),
	}
}

// TestWrite_KeepsTheIDOfABrokenResponse cuts the example response of every write after each of its bytes. The handle
// is there from the byte on that ends the last id, and never with another id.
func TestWrite_KeepsTheIDOfABrokenResponse(t *testing.T) {
	writes := tracedWrites(t)
	covered := map[gen.OperationID]bool{}
	for name, write := range writes {
		covered[write.op] = true
		t.Run(name, func(t *testing.T) {
			whole := bytes.TrimSpace(clienttest.ExampleOf(write.op))
			var body []byte
			c := cannedClient(t, func(*http.Request) canned { return canned{status: 200, body: body} })
			body = whole
			want, err := write.do(t.Context(), c)
			require.NoError(t, err)
			found := false
			for n := range whole {
				body = whole[:n]

				got, err := write.do(t.Context(), c)

				require.True(t, isA[*client.DecodeError](err), "%v", err)
				require.ErrorIs(t, err, client.ErrOutcomeUnknown)
				if found = found || got != ""; found {
					require.Equal(t, want, got, "%s", body)
				}
			}
			assert.True(t, found)
		})
	}
	for _, op := range gen.Operations() {
		assert.Equal(t, !op.RetrySafe, covered[op.ID], "%s is a write that is tested", op.ID)
	}
}

func TestWrite_TakesAnIDFromABrokenResponseOnlyIfItIsWhole(t *testing.T) {
	for _, tc := range []struct {
		body, id string
		why      string
	}{
		{`{"batchId":"b1"`, "b1", "cut after the id"},
		{`{"status":"QUEUED","counts":{"a":[1,{}]},"batchId":"b1","totalItems":1`, "b1", "cut after a number"},
		{`{"batchId":"b1"}<html>`, "b1", "something else behind it"},
		{`{"batchId":"b1"}{"batchId":"b2"}`, "b1", "the first of two documents"},
		{`{"batchId":"b1",status:QUEUED}`, "b1", "no JSON from there on"},
		{`{"batchId":"b\u0031"`, "b1", "an escaped character"},
		{`{"batchId":"b1","items":` + strings.Repeat("[", 20_000), "b1", "nested too deep"},

		{`{"batchId":"b1`, "", "cut within the id"},
		{`{"batchId":"b1\`, "", "cut within an escape"},
		{`{"batchId":`, "", "cut before it"},
		{`{"batchId":7,`, "", "not a string"},
		{`{"batchId":null,`, "", "null"},
		{`{"batchId":"",`, "", "empty"},
		{`{"batchId":["b1"],`, "", "within an array"},
		{`{"data":{"batchId":"b1"},`, "", "within another member"},
		{`[{"batchId":"b1"},`, "", "within an array at the top"},
		{`{"text":"\"batchId\":\"b1\"",`, "", "within a string"},
		{`{"a":{]},"batchId":"b1",`, "", "no JSON before it"},
		{`{"batchId":"b1","batchId":"b2",`, "", "two of them"},
		{`{"batchId":"b1","batchId":"b1",`, "", "twice"},
		{`{"batchId":"b` + "\xff" + `1",`, "", "not UTF-8"},
		{`{"batchId":"b-` + clienttest.APIKey + `",`, "", "a credential, which is taken out of the body"},
		{`{"text":"` + strings.Repeat("x", 64<<10) + `","batchId":"b1",`, "", "beyond what is kept of a body"},
	} {
		c := cannedClient(t, func(*http.Request) canned { return canned{status: 200, body: []byte(tc.body)} })

		id, err := batchIDOf(c.Batches.Create(t.Context(), items(1)))

		require.ErrorIs(t, err, client.ErrOutcomeUnknown, tc.why)
		assert.Equal(t, tc.id, id, tc.why)
	}
}

func TestWrite_TakesTheIDsOfTheListingThatItIsAbout(t *testing.T) {
	for _, tc := range []struct{ body, ids, why string }{
		{`{"listingId":"` + listingID + `","operationId":"o1",`, listingID + " o1", "both"},
		{`{"operationId":"o1",`, listingID + " o1", "the listing is known"},
		{`{"listingId":"` + strings.ToUpper(listingID) + `","operationId":"o1",`, listingID + " o1", "in another case"},
		{`{"listingId":"` + listingID + `",`, "", "no operation"},
		{`{"listingId":"another","operationId":"o1",`, "", "another listing"},
		{`{"listingId":"another","operationId":"o1"}`, "", "a whole response about another listing"},
	} {
		c := cannedClient(t, func(*http.Request) canned { return canned{status: 200, body: []byte(tc.body)} })
		ids, err := operationIDsOf(c.Listings.Delete(t.Context(), listingID))
		require.ErrorIs(t, err, client.ErrOutcomeUnknown, tc.why)
		assert.Equal(t, tc.ids, ids, tc.why)
	}
	c := cannedClient(t, func(*http.Request) canned { return canned{status: 200, body: []byte(`{"operationId":"o1",`)} })
	ids, err := operationIDsOf(c.Listings.Create(t.Context(), gen.CreateListingRequest{VariantID: variantID, Amount: "162"}))
	require.ErrorIs(t, err, client.ErrOutcomeUnknown)
	assert.Empty(t, ids, "the listing is not known")
}

// TestWrite_TakesTheIDFromTheBodyOfAnyDecodeError does not care which stage has read the body.
func TestWrite_TakesTheIDFromTheBodyOfAnyDecodeError(t *testing.T) {
	broken := &client.DecodeError{CallInfo: client.CallInfo{OutcomeUnknown: true}, StatusCode: 200, Body: []byte(`{"batchId":"b1","sta`), Err: errors.New("cut")}
	c := cannedClient(t, nil, client.WithMiddleware(func(client.Doer) client.Doer {
		return client.DoerFunc(func(*http.Request) (*http.Response, error) { return nil, broken })
	}))
	id, err := batchIDOf(c.Batches.Create(t.Context(), items(1)))
	require.ErrorIs(t, err, client.ErrOutcomeUnknown)
	assert.Equal(t, "b1", id)
}

// TestWrite_ABatchFromABrokenResponseCanBeWaitedFor knows also how many items were submitted.
func TestWrite_ABatchFromABrokenResponseCanBeWaitedFor(t *testing.T) {
	srv := clienttest.New(t)
	srv.Expect(gen.OpCreateListingsBatch).Raw(200, nil, []byte(`{"batchId":"`+batchID+`","status":"QUE`), "it breaks off")
	srv.Expect(gen.OpGetCreateListingsBatch).Path("batchId", batchID).Respond(200, batchAnswer("COMPLETED", true, 2, `{"completed":2}`))
	srv.Expect(gen.OpListCreateListingsBatchItems).Respond(200, itemAnswer("COMPLETED", "COMPLETED"))

	b, err := srv.Client().Batches.Create(t.Context(), items(2))
	require.ErrorIs(t, err, client.ErrOutcomeUnknown)
	require.NotNil(t, b)
	assert.Zero(t, b.Snapshot(), "nothing was read of it yet")
	results, err := b.Wait(t.Context())

	require.NoError(t, err)
	assert.Len(t, results, 2)
}

// FuzzSalvage gives a write broken responses. The id is one that encoding/json reads at the top of the document.
func FuzzSalvage(f *testing.F) {
	for _, seed := range []string{`{"batchId":"b1"`, `{"a":[{}],"batchId":"b1",`, `{"batchId":"b1","batchId":"b2"`, `{"batchId":"\ud83d\ude00",`, `[`, `{"batchId"`, `{"batchId":{"batchId":"b1"}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		c := cannedClient(t, func(*http.Request) canned { return canned{status: 200, body: body} })
		id, err := batchIDOf(c.Batches.Create(t.Context(), items(1)))
		if err != nil && id != "" {
			require.ErrorIs(t, err, client.ErrOutcomeUnknown)
			require.Contains(t, string(body), "batchId")
			if !strings.ContainsAny(string(body), `\`) {
				require.Contains(t, string(body), `"`+id+`"`)
			}
		}
	})
}
