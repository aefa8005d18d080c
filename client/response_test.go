package client_test

import (
	"bytes"
	"context"
	"encoding/json"
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

// noResponses are bodies under status 200 that no operation responds with.
func noResponses() map[string]string {
	return map[string]string{
		"a gateway that throttles":     `{"message":"Too many requests"}`,
		"the error body":               `{"statusCode":429,"message":"Rate limit exceeded"}`,
		"another error body":           `{"errors":[{"message":"slow down"}],"requestId":"7f3a"}`,
		"a problem of RFC 7807":        `{"type":"about:blank","title":"Too Many Requests","detail":"slow down"}`,
		"an object without members":    `{}`,
		"members of another operation": `{"data":{"listingId":"` + listingID + `","listings":[]}}`,
		"a bot filter's page":          "<!DOCTYPE html>\n<html><body>Checking your browser</body></html>",
		"a page without a doctype":     "<html>",
		"text":                         "Too many requests",
		"JSON text":                    `"Too many requests"`,
		"null":                         `null`,
		"nothing":                      ``,
		"white space":                  " \r\n",
		"a byte order mark":            "\ufeff{}",
		"two documents":                `{"listingId":"` + listingID + `"}{}`,
		"JSON that is cut":             `{"listingId":"` + listingID + `","status":`,
	}
}

// TestResponse_OfNoOperationIsDecodeError gives every operation each of the bodies.
func TestResponse_OfNoOperationIsDecodeError(t *testing.T) {
	for why, body := range noResponses() {
		c := newCannedClient(t, func(*http.Request) canned { return canned{status: 200, body: body} })
		for id, call := range typedCalls(t) {
			op, _ := gen.LookupOperation(id)
			err := call(t.Context(), c)

			failed, ok := errors.AsType[*client.DecodeError](err)
			if !assert.True(t, ok, "client/response.go: let verify refuse %s as a response to %s (%v)", why, op.ID, err) {
				continue
			}
			assert.Equal(t, 200, failed.StatusCode)
			assert.Equal(t,
				client.CallInfo{Operation: op.ID, Method: op.Method, Route: op.Route, Attempts: 1, OutcomeUnknown: !op.RetrySafe},
				failed.CallInfo)
			assert.Equal(t, body, string(failed.Body), "%s for %s", why, op.ID)
			assert.Equal(t, !op.RetrySafe, errors.Is(err, client.ErrOutcomeUnknown), op.ID)
		}
	}
}

func TestResponse_OfListMustBeAPage(t *testing.T) {
	for why, body := range noResponses() {
		c := newCannedClient(t, func(*http.Request) canned { return canned{status: 200, body: body} })
		for _, p := range pagedLists() {
			got, errs := collect(p.list(t.Context(), c))
			assert.Empty(t, got)
			if assert.Len(t, errs, 1, "%s for %s", why, p.op) {
				assert.True(t, isA[*client.DecodeError](errs[0]), "%s for %s: %v", why, p.op, errs[0])
			}
		}
	}
}

// objects are the operations whose response has the ids of the path, and their members.
func objects() map[gen.OperationID][]string {
	return map[gen.OperationID][]string{
		gen.OpGetListing: {"listingId"}, gen.OpGetListingOperation: {"listingId", "operationId"},
		gen.OpUpdateListing: {"listingId"}, gen.OpDeleteListing: {"listingId"}, gen.OpActivateListing: {"listingId"}, gen.OpDeactivateListing: {"listingId"},
		gen.OpGetCreateListingsBatch: {"batchId"}, gen.OpGetUpdateListingsBatch: {"batchId"}, gen.OpGetDeleteListingsBatch: {"batchId"},
		gen.OpGetOrder: {"orderNumber"}, gen.OpGetProduct: {"productId"}, gen.OpGetVariant: {"variantId"}, gen.OpGetVariantMarketData: {"variantId"},
	}
}

func TestResponse_OfAnotherObjectIsRefused(t *testing.T) {
	calls := typedCalls(t)
	for op, members := range objects() {
		for _, member := range members {
			for _, tc := range []struct {
				change func(string) string
				ok     bool
				why    string
			}{
				{func(id string) string { return id }, true, "the id that was asked for"},
				{strings.ToUpper, true, "in another case"},
				{func(id string) string { return id[:len(id)-1] + "x" }, false, "another id"},
				{func(id string) string { return id + " " }, false, "a longer one"},
			} {
				body := edit(t, clienttest.ExampleOf(op),
					func(object map[string]any) { object[member] = tc.change(object[member].(string)) })
				c := newCannedClient(t,
					func(*http.Request) canned { return canned{status: 200, body: body} })

				err := calls[op](t.Context(), c)

				assert.Equal(t, tc.ok, err == nil, "%s of %s: %s: %v", member, op, tc.why, err)
				assert.Equal(t, tc.ok, !isA[*client.DecodeError](err), "%s of %s: %v", member, op, err)
			}
		}
	}
}

// TestResponse_OfNewObjectNeedsAnID takes any id that is not empty.
func TestResponse_OfNewObjectNeedsAnID(t *testing.T) {
	calls := typedCalls(t)
	for op, members := range map[gen.OperationID][]string{
		gen.OpCreateListing: {"listingId", "operationId"}, gen.OpUpdateListing: {"operationId"}, gen.OpIngestProducts: {"ingestionId"},
		gen.OpCreateListingsBatch: {"batchId"}, gen.OpUpdateListingsBatch: {"batchId"}, gen.OpDeleteListingsBatch: {"batchId"},
		gen.OpGetVariantByGTIN: {"variantId"},
	} {
		for _, member := range members {
			for id, ok := range map[any]bool{"any id": true, "": false, nil: false, 7: false} {
				body := edit(t, clienttest.ExampleOf(op),
					func(object map[string]any) { object[member] = id })
				c := newCannedClient(t,
					func(*http.Request) canned { return canned{status: 200, body: body} })

				err := calls[op](t.Context(), c)

				assert.Equal(t, ok, err == nil, "%s of %s is %v: %v", member, op, id, err)
			}
		}
	}
}

func TestResponse_EntriesMayLackAnything(t *testing.T) {
	calls := typedCalls(t)
	for op, body := range map[gen.OperationID]string{
		gen.OpListListings: `{"listings":[{},null],"hasNextPage":false}`, gen.OpListActiveOrders: `{"orders":[{}],"hasNextPage":false}`,
		gen.OpSearchProducts: `{"products":[{}],"hasNextPage":false}`, gen.OpListListingOperations: `{"operations":[{}],"nextCursor":null}`,
		gen.OpListCreateListingsBatchItems: `{"items":[{}]}`, gen.OpGetIngestion: `{"items":[{}]}`,
		gen.OpListVariants: `[{}]`, gen.OpListProductMarketData: `[{}]`,
	} {
		c := newCannedClient(t, func(*http.Request) canned { return canned{status: 200, body: body} })
		require.NoError(t, calls[op](t.Context(), c), op)
	}
}

func TestResponse_MarketDataNeedsOneKnownMember(t *testing.T) {
	for body, ok := range map[string]bool{
		`{"lowestAskAmount":null}`:        true,
		`{"flexMarketData":"none"}`:       true,
		`{"currencyCode":"USD","more":1}`: true,
		`{"more":{"lowestAskAmount":1}}`:  false,
	} {
		c := newCannedClient(t, func(*http.Request) canned { return canned{status: 200, body: body} })
		_, err := c.Catalog.GetMarketData(t.Context(), productID, variantID, "")
		assert.Equal(t, ok, err == nil, "%s: %v", body, err)
	}
}

func TestResponse_DocumentIsAPDF(t *testing.T) {
	for _, tc := range []struct {
		body, contentType string
		ok                bool
		why               string
	}{
		{"%PDF-1.7\n", "application/pdf", true, "a PDF"},
		{"%PDF-1.7\n", "text/html", true, "the Content-Type is ignored"},
		{"%", "", true, "the first byte is enough"},
		{"\ufeff\n" + strings.Repeat(" ", 1000) + "%PDF-1.7\n", "", true, "a header within 1024 bytes"},
		{strings.Repeat(" ", 1024) + "%PDF-1.7\n", "", false, "a header after 1024 bytes"},
		{"<html>%PDF</html>", "application/pdf", false, "a page"},
		{"", "application/pdf", false, "nothing"},
	} {
		c := newCannedClient(t, func(*http.Request) canned {
			return canned{status: 200, header: http.Header{"Content-Type": {tc.contentType}}, body: tc.body}
		})
		document, err := c.Orders.DownloadShippingDocument(t.Context(), orderID, "label")
		if !tc.ok {
			failed, isDecode := errors.AsType[*client.DecodeError](err)
			if assert.True(t, isDecode, "%s: %v", tc.why, err) {
				assert.Equal(t, tc.body[:min(len(tc.body), 1024)], string(failed.Body), tc.why)
			}
			continue
		}
		require.NoError(t, err, tc.why)
		got := make([]byte, len(tc.body))
		n, err := document.Read(got)
		require.NoError(t, err, tc.why)
		assert.Equal(t, tc.body, string(got[:n]), "every byte is there")
		require.NoError(t, document.Close())
	}
}

func TestResponse_TooManyElementsAreADecodeError(t *testing.T) {
	c := newCannedClient(t, func(*http.Request) canned {
		return canned{status: 200, body: `{"listings":[` + strings.Repeat(`{},`, 50_000) + `{}],"hasNextPage":false}`}
	})
	_, err := c.Listings.ListPage(t.Context(), client.ListingFilter{})
	failed, ok := errors.AsType[*client.DecodeError](err)
	require.True(t, ok, "%v", err)
	assert.Len(t, failed.Body, 64<<10, "the body of an error is bounded")
}

func TestResponse_DecodingEndsWithTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	c := newCannedClient(t, func(*http.Request) canned {
		cancel() // After the request was sent; the fake transport returns the body anyway.
		return canned{status: 200, body: `{"listings":[{"condition":"` + strings.Repeat("x", 1<<20) + `"}],"hasNextPage":false}`}
	})
	_, err := c.Listings.ListPage(ctx, client.ListingFilter{})
	require.ErrorIs(t, err, context.Canceled)
}

// edit changes a JSON object.
func edit(t *testing.T, document []byte, change func(map[string]any)) string {
	t.Helper()
	var object map[string]any
	require.NoError(t, json.Unmarshal(document, &object))
	change(object)
	return string(mustMarshal(t, object))
}

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

// tracedWrites are all writes.
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
			return operationIDsOf(c.Listings.Update(ctx, listingID, gen.UpdateListingRequest{Amount: "162", CurrencyCode: "USD"}))
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
			taken, err := c.Catalog.Ingest(ctx,
				requestOf[gen.IngestProductsRequest](t, gen.OpIngestProducts).Items)
			if taken == nil {
				return "", err
			}
			return taken.IngestionID, err
		}),
	}
}

// TestSalvage_KeepsIDOfBrokenResponse cuts the example response of every write after each of its
// bytes. The handle is returned from the end of the last id on, and never with another id.
func TestSalvage_KeepsIDOfBrokenResponse(t *testing.T) {
	writes := tracedWrites(t)
	covered := map[gen.OperationID]bool{}
	for name, write := range writes {
		covered[write.op] = true
		t.Run(name, func(t *testing.T) {
			whole := string(bytes.TrimSpace(clienttest.ExampleOf(write.op)))
			var body string
			c := newCannedClient(t, func(*http.Request) canned { return canned{status: 200, body: body} })
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

func TestSalvage_TakesWholeIDsOnly(t *testing.T) {
	for _, tc := range []struct {
		body, id string
		why      string
	}{
		{`{"batchId":"b1"`, "b1", "cut after the id"},
		{`{"status":"QUEUED","counts":{"a":[1,{}]},"batchId":"b1","totalItems":1`, "b1", "cut after a number"},
		{`{"batchId":"b1"}<html>`, "b1", "a page after it"},
		{`{"batchId":"b1"}{"batchId":"b2"}`, "b1", "the first of two documents"},
		{`{"batchId":"b1",status:QUEUED}`, "b1", "broken JSON after it"},
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
		{`{"a":{]},"batchId":"b1",`, "", "broken JSON before it"},
		{`{"batchId":"b1","batchId":"b2",`, "", "two ids"},
		{`{"batchId":"b1","batchId":"b1",`, "", "one id twice"},
		{`{"batchId":"b` + "\xff" + `1",`, "", "not UTF-8"},
		{`{"batchId":"b-` + clienttest.APIKey + `",`, "", "an id that was redacted"},
		{`{"text":"` + strings.Repeat("x", 64<<10) + `","batchId":"b1",`, "", "beyond 64 KiB"},
	} {
		c := newCannedClient(t, func(*http.Request) canned { return canned{status: 200, body: tc.body} })

		id, err := batchIDOf(c.Batches.Create(t.Context(), items(1)))

		require.ErrorIs(t, err, client.ErrOutcomeUnknown, tc.why)
		assert.Equal(t, tc.id, id, tc.why)
	}
}

func TestSalvage_TakesIDsOfTheSameListingOnly(t *testing.T) {
	for _, tc := range []struct{ body, ids, why string }{
		{`{"listingId":"` + listingID + `","operationId":"o1",`, listingID + " o1", "both"},
		{`{"operationId":"o1",`, listingID + " o1", "the listing is known"},
		{`{"listingId":"` + strings.ToUpper(listingID) + `","operationId":"o1",`, listingID + " o1", "in another case"},
		{`{"listingId":"` + listingID + `",`, "", "no operation"},
		{`{"listingId":"another","operationId":"o1",`, "", "another listing"},
		{`{"listingId":"another","operationId":"o1"}`, "", "a whole response about another listing"},
	} {
		c := newCannedClient(t, func(*http.Request) canned { return canned{status: 200, body: tc.body} })
		ids, err := operationIDsOf(c.Listings.Delete(t.Context(), listingID))
		require.ErrorIs(t, err, client.ErrOutcomeUnknown, tc.why)
		assert.Equal(t, tc.ids, ids, tc.why)
	}
	c := newCannedClient(t, func(*http.Request) canned { return canned{status: 200, body: `{"operationId":"o1",`} })
	ids, err := operationIDsOf(c.Listings.Create(t.Context(), gen.CreateListingRequest{VariantID: variantID, Amount: "162"}))
	require.ErrorIs(t, err, client.ErrOutcomeUnknown)
	assert.Empty(t, ids, "the listing is not known")
}

// TestSalvage_ReadsBodyOfAnyDecodeError has a middleware return the error.
func TestSalvage_ReadsBodyOfAnyDecodeError(t *testing.T) {
	broken := &client.DecodeError{CallInfo: client.CallInfo{OutcomeUnknown: true}, StatusCode: 200, Body: []byte(`{"batchId":"b1","sta`), Err: errors.New("cut")}
	c := newCannedClient(t, nil, client.WithMiddleware(func(client.Doer) client.Doer {
		return client.DoerFunc(func(*http.Request) (*http.Response, error) { return nil, broken })
	}))
	id, err := batchIDOf(c.Batches.Create(t.Context(), items(1)))
	require.ErrorIs(t, err, client.ErrOutcomeUnknown)
	assert.Equal(t, "b1", id)
}

// TestSalvage_BatchCanBeWaitedFor checks that the handle has the number of submitted items.
func TestSalvage_BatchCanBeWaitedFor(t *testing.T) {
	srv := clienttest.New(t)
	srv.Expect(gen.OpCreateListingsBatch).Raw(200, nil, []byte(`{"batchId":"`+batchID+`","status":"QUE`), "it breaks off")
	srv.Expect(gen.OpGetCreateListingsBatch).Path("batchId", batchID).Respond(200, batchJSON("COMPLETED", true, 2, `{"completed":2}`))
	srv.Expect(gen.OpListCreateListingsBatchItems).Respond(200, itemsJSON("COMPLETED", "COMPLETED"))

	b, err := srv.Client().Batches.Create(t.Context(), items(2))
	require.ErrorIs(t, err, client.ErrOutcomeUnknown)
	require.NotNil(t, b)
	assert.Zero(t, b.Snapshot(), "the batch was not read yet")
	results, err := b.Wait(t.Context())

	require.NoError(t, err)
	assert.Len(t, results, 2)
}

// FuzzSalvage gives a write broken responses. The id is one that encoding/json reads at the top of
// the document.
func FuzzSalvage(f *testing.F) {
	for _, seed := range []string{`{"batchId":"b1"`, `{"a":[{}],"batchId":"b1",`, `{"batchId":"b1","batchId":"b2"`, `{"batchId":"\ud83d\ude00",`, `[`, `{"batchId"`, `{"batchId":{"batchId":"b1"}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		c := newCannedClient(t,
			func(*http.Request) canned { return canned{status: 200, body: string(body)} })
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
