package client_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/clienttest"
	"github.com/sellside-sdk/sellside-go/gen"
)

// hostileCase is a response that the service should never send, and what the client makes of it.
type hostileCase struct {
	name    string
	rule    string // What the case proves.
	call    hostileCall
	respond http.HandlerFunc
	result  string                       // As resultOf writes it.
	check   func(*testing.T, any, error) // Checks more; nil for nothing.
	policy  client.RetryPolicy           // twoAttempts, unless something of it is set.
}

// hostileCall is a typed call, with its value.
type hostileCall func(context.Context, *client.Client) (any, error)

func getListing(ctx context.Context, c *client.Client) (any, error) {
	return c.Listings.Get(ctx, listingID)
}

func getOperation(ctx context.Context, c *client.Client) (any, error) {
	return c.Listings.GetOperation(ctx, listingID, operationID)
}

func getOrder(ctx context.Context, c *client.Client) (any, error) { return c.Orders.Get(ctx, orderID) }

func pollBatch(ctx context.Context, c *client.Client) (any, error) {
	return c.Batches.ResumeCreate(batchID).Poll(ctx)
}

func listListings(ctx context.Context, c *client.Client) (any, error) {
	return c.Listings.ListPage(ctx, client.ListingFilter{})
}

func createListing(ctx context.Context, c *client.Client) (any, error) {
	return c.Listings.Create(ctx, gen.CreateListingRequest{VariantID: variantID, Amount: "162"})
}

// TestHostile_Responses runs the table of hostile responses.
func TestHostile_Responses(t *testing.T) {
	for _, test := range slices.Concat(hostileBodies(), hostileMembers(), hostileStreams(t)) {
		t.Run(test.name, func(t *testing.T) { assertHostile(t, test) })
	}
}

func assertHostile(t *testing.T, test hostileCase) {
	t.Helper()
	var requests, warnings atomic.Int32
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		test.respond(w, r)
	}))
	defer srv.Close()
	if test.policy == (client.RetryPolicy{}) {
		test.policy = twoAttempts(30 * time.Second)
	}
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	c := newClient(t, srv.URL, client.WithRetry(test.policy), client.WithHTTPClient(&http.Client{Transport: transport}), client.WithObserver(func(_ context.Context, e client.Event) {
		if e.Kind == client.EventDecodeWarning {
			warnings.Add(1)
		}
	}))

	value, err := test.call(t.Context(), c)

	assert.Equal(t, test.result, resultOf(err, int(requests.Load()), int(warnings.Load())), "%v", err)
	if err != nil {
		assert.Less(t, len(err.Error()), 700, "an error is bounded")
		assert.NotContains(t, err.Error(), "\n", "an error is one line")
	}
	if test.check != nil {
		test.check(t, value, err)
	}
}

// resultOf describes the result of a call: its error, the number of warnings and of requests.
func resultOf(err error, requests, warnings int) string {
	var parts []string
	failed, _ := errors.AsType[*client.APIError](err)
	switch {
	case err == nil && warnings > 0:
		parts = append(parts, fmt.Sprintf("read, with %d warnings", warnings))
	case err == nil:
		parts = append(parts, "read")
	case failed != nil:
		parts = append(parts, fmt.Sprintf("APIError %d", failed.StatusCode))
	case isA[*client.DecodeError](err):
		parts = append(parts, "DecodeError")
	case isA[*client.TransportError](err):
		parts = append(parts, "TransportError")
	case errors.Is(err, client.ErrPagingStuck):
		parts = append(parts, "ErrPagingStuck")
	default:
		parts = append(parts, fmt.Sprintf("%T", err))
	}
	if errors.Is(err, client.ErrBodyTooLarge) {
		parts = append(parts, "ErrBodyTooLarge")
	}
	if errors.Is(err, client.ErrOutcomeUnknown) {
		parts = append(parts, "ErrOutcomeUnknown")
	}
	return fmt.Sprintf("%s; sent %d", strings.Join(parts, ", "), requests)
}

// hostileBody responds with a file of testdata/hostile, with the Content-Type of its extension.
func hostileBody(status int, name string) http.HandlerFunc {
	types := map[string]string{".json": "application/json", ".html": "text/html; charset=utf-8"}
	return hostileBodyAs(status, name, types[filepath.Ext(name)])
}

func hostileBodyAs(status int, name, contentType string) http.HandlerFunc {
	load := sync.OnceValues(func() ([]byte, error) { return os.ReadFile(filepath.Join("testdata", "hostile", name)) })
	return func(w http.ResponseWriter, _ *http.Request) {
		data, err := load()
		if err != nil {
			panic(err) // the server reports it, and the call fails
		}
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(status)
		_, _ = w.Write(data)
	}
}

// hostileBodies are bodies under a status of success that are unusual as a whole.
func hostileBodies() []hostileCase {
	const readable, refused = "read; sent 1", "DecodeError; sent 1"
	return []hostileCase{
		{name: "100,000 brackets", rule: "depth is bounded", call: getListing, respond: nestedArrays, result: refused, check: assertNoValue},
		{name: "text/plain", rule: "the Content-Type is ignored", call: getOperation, respond: hostileBodyAs(200, "additions-as-list.json", "text/plain"), result: "read, with 1 warnings; sent 1"},
		{name: "no Content-Type", rule: "a missing Content-Type is ignored", call: getListing, respond: hostileBodyAs(200, "ask-id-of-20-digits.json", ""), result: readable},
		{name: "image/png; charset=", rule: "a broken Content-Type is ignored", call: getListing, respond: hostileBodyAs(200, "ask-id-of-20-digits.json", "image/png; charset="), result: readable},
		{
			name: "members twice", rule: "the last one counts",
			call: getListing, respond: hostileBody(200, "members-twice.json"), result: readable,
			check: readListing(func(t *testing.T, l *gen.Listing) { assert.Equal(t, listingID, l.ListingID) }),
		},
		{
			name: "broken UTF-8", rule: "broken bytes are replaced",
			call: getListing, respond: hostileBody(200, "broken-utf8.json"), result: readable,
			check: readListing(func(t *testing.T, l *gen.Listing) { assert.Equal(t, "\uFFFD\uFFFD\uFFFD new", l.Condition) }),
		},
	}
}

func nestedArrays(w http.ResponseWriter, _ *http.Request) {
	_, _ = w.Write([]byte(`{"payout":`))
	for range 1000 {
		_, _ = io.WriteString(w, strings.Repeat("[", 100))
	}
}

// assertNoValue checks that a failed call returns no value.
func assertNoValue(t *testing.T, value any, err error) {
	t.Helper()
	assert.Error(t, err)
	switch v := value.(type) {
	case *gen.Listing:
		assert.Nil(t, v)
	case *client.Operation:
		assert.Nil(t, v)
	default:
		t.Errorf("a value of type %T", value)
	}
}

// readListing returns a check of a listing.
func readListing(check func(*testing.T, *gen.Listing)) func(*testing.T, any, error) {
	return func(t *testing.T, value any, _ error) {
		t.Helper()
		if l, ok := value.(*gen.Listing); assert.True(t, ok) && assert.NotNil(t, l) {
			check(t, l)
		}
	}
}

// hostileMembers are bodies with members that are not what the spec says.
func hostileMembers() []hostileCase {
	const readable = "read; sent 1"
	return []hostileCase{
		{
			name: "every field null", rule: "null is absent",
			call: getListing, respond: hostileBody(200, "every-field-null.json"), result: readable,
			check: readListing(func(t *testing.T, l *gen.Listing) { assert.Equal(t, &gen.Listing{ListingID: listingID}, l) }),
		},
		{
			name: "unknown fields and values", rule: "enums are open, and new fields are ignored",
			call: getListing, respond: hostileBody(200, "unknown-fields-and-values.json"), result: readable,
			check: readListing(func(t *testing.T, l *gen.Listing) {
				assert.Equal(t, gen.ListingStatus("ON_HOLD"), l.Status)
				assert.False(t, l.Status.Valid())
				assert.False(t, l.LastOperation.OperationStatus.Terminal(),
					"an unknown status is not an end")
				assert.Equal(t, gen.Amount("162"), l.Amount)
			}),
		},
		{
			name: "figures and amounts of either kind", rule: "strings and numbers are read digit for digit",
			call: getOrder, respond: hostileBody(200, "figures-as-strings.json"), result: readable,
			check: func(t *testing.T, value any, _ error) {
				o := value.(*gen.Order)
				assert.Equal(t, gen.Amount("210"), o.Amount)
				assert.Equal(t, gen.Figure("210.0000"), o.Payout.SalePrice)
				assert.Equal(t, gen.Figure("184.80"), o.Payout.TotalPayout)
				assert.Equal(t, gen.Figure("0.09"), o.Payout.Adjustments[0].Percentage)
				assert.Equal(t, gen.Figure("-6.30"), o.Payout.Adjustments[1].Amount)
			},
		},
		{
			name: "text where counts belong", rule: "the member is left zero with a warning",
			call: pollBatch, respond: hostileBody(200, "text-for-counts.json"), result: "read, with 1 warnings; sent 1",
			check: func(t *testing.T, value any, _ error) {
				b := value.(gen.Batch)
				assert.Empty(t, b.ItemStatuses)
				assert.Equal(t, gen.Int(12), b.TotalItems)
			},
		},
		{
			name: "text where objects belong", rule: "each member is left zero with a warning",
			call: getListing, respond: hostileBody(200, "text-for-objects.json"), result: "read, with 6 warnings; sent 1",
			check: readListing(func(t *testing.T, l *gen.Listing) {
				assert.Nil(t, l.Ask)
				assert.Nil(t, l.Order)
				assert.Nil(t, l.Payout)
				assert.Nil(t, l.LastOperation)
				assert.Zero(t, l.Product)
				assert.Equal(t, gen.Amount("162"), l.Amount)
			}),
		},
		{
			name: "changes.additions as a list", rule: "an empty list may replace an empty object",
			call: getOperation, respond: hostileBody(200, "additions-as-list.json"), result: "read, with 1 warnings; sent 1",
			check: func(t *testing.T, value any, _ error) {
				o := value.(*gen.ListingOperation)
				assert.Equal(t, gen.OperationStatusSucceeded, o.OperationStatus)
				assert.False(t, o.Changes.Updates.UpdatedAt.IsZero())
			},
		},
		{
			name: "an askId as a number", rule: "a number is no id, because it may be rounded",
			call: getListing, respond: hostileBody(200, "ask-id-as-number.json"), result: "read, with 1 warnings; sent 1",
			check: readListing(func(t *testing.T, l *gen.Listing) {
				assert.Empty(t, l.Ask.AskID)
				assert.False(t, l.Ask.AskCreatedAt.IsZero(), "the rest of the ask is kept")
			}),
		},
		{
			name: "times without a zone", rule: "times are UTC; others are absent, with a warning",
			call: getListing, respond: hostileBody(200, "times-without-zone.json"), result: "read, with 1 warnings; sent 1",
			check: readListing(func(t *testing.T, l *gen.Listing) {
				at := time.Date(2026, 11, 2, 9, 14, 5, 0, time.UTC)
				assert.Equal(t, at.Add(812*time.Millisecond), l.CreatedAt.Time)
				assert.Equal(t, at, l.UpdatedAt.Time)
				assert.Equal(t, at.Truncate(24*time.Hour).AddDate(0, 1, 0), l.Ask.AskExpiresAt.Time)
				assert.True(t, l.Ask.AskCreatedAt.IsZero() && l.Ask.AskUpdatedAt.IsZero())
			}),
		},
		{
			name: "a page with broken entries", rule: "the other entries are kept",
			call: listListings, respond: hostileBody(200, "page-with-broken-entries.json"), result: "read, with 2 warnings; sent 1",
			check: func(t *testing.T, value any, _ error) {
				p := value.(*gen.ListingPage)
				assert.Len(t, p.Listings, 3)
				assert.Equal(t, listingID, p.Listings[2].ListingID)
				assert.Equal(t, gen.Int(3), p.Count)
			},
		},
	}
}

// hostileStreams are responses whose bytes are sent in unusual ways.
func hostileStreams(t *testing.T) []hostileCase {
	t.Helper()
	bomb := gzipped(t, 40<<20)
	theFirst := fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(firstListing),
		firstListing)
	const tooLarge = "DecodeError, ErrBodyTooLarge; sent 1"
	return []hostileCase{
		{name: "100 MB, read", rule: "a body is read up to 16 MiB", call: getListing, respond: spaces(200, 100<<20), result: tooLarge},
		{name: "100 MB, write", rule: "the outcome of the write is unknown", call: createListing, respond: spaces(200, 100<<20), result: "DecodeError, ErrBodyTooLarge, ErrOutcomeUnknown; sent 1"},
		{name: "gzip bomb, read", rule: "the bound holds after decompression", call: getListing, respond: packed(200, bomb), result: tooLarge},
		{name: "gzip bomb of an error", rule: "also for the body of an error", call: getListing, respond: packed(404, bomb), result: "APIError 404; sent 1"},
		{name: "broken gzip", rule: "the body is cut", call: createListing, respond: packed(200, []byte(`{"listingId":"l"}`)), result: "DecodeError, ErrOutcomeUnknown; sent 1"},
		{name: "broken gzip of an error", rule: "the status is kept", call: createListing, respond: packed(409, []byte("conflict")), result: "APIError 409; sent 1"},
		{name: "12 MB of headers", rule: "headers are bounded too", call: createListing, respond: manyHeaders, result: "TransportError, ErrOutcomeUnknown; sent 1"},
		{name: "not HTTP", rule: "another protocol is no response", call: createListing, respond: rawResponse("SSH-2.0-OpenSSH_9.9\r\n"), result: "TransportError, ErrOutcomeUnknown; sent 1"},
		{name: "a length of -1", rule: "a broken header is no response", call: createListing, respond: rawResponse("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n{}"), result: "TransportError, ErrOutcomeUnknown; sent 1"},
		{name: "broken chunks", rule: "the body is cut", call: createListing, respond: rawResponse("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}"), result: "DecodeError, ErrOutcomeUnknown; sent 1"},
		{name: "two responses to one request", rule: "the second one is dropped", call: readTwice, respond: rawResponse(theFirst + strings.Replace(theFirst, "first", "other", 1)), result: "read; sent 2"},
	}
}

const firstListing = `{"listingId":"` + listingID + `","condition":"first"}`

func spaces(status, size int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		block := bytes.Repeat([]byte(" "), 64<<10)
		for sent := 0; sent < size; sent += len(block) {
			if _, err := w.Write(block); err != nil {
				return // the client has read enough
			}
		}
	}
}

func gzipped(t *testing.T, size int) []byte {
	t.Helper()
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestSpeed)
	require.NoError(t, err)
	block := bytes.Repeat([]byte(" "), 1<<20)
	for sent := 0; sent < size; sent += len(block) {
		_, err = w.Write(block)
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	require.Less(t, packed.Len(), 1<<20)
	return packed.Bytes()
}

func packed(status int, data []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		w.WriteHeader(status)
		_, _ = w.Write(data)
	}
}

func manyHeaders(w http.ResponseWriter, _ *http.Request) {
	for i := range 12_000 {
		w.Header().Set(fmt.Sprintf("X-Header-%d", i), string(bytes.Repeat([]byte("x"), 1000)))
	}
	_, _ = io.WriteString(w, `{}`)
}

// rawResponse writes bytes that need not be HTTP, and closes the connection.
func rawResponse(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			panic(err)
		}
		defer conn.Close()
		_, _ = io.WriteString(conn, text)
	}
}

// readTwice reads a listing twice, and gets the first response both times.
func readTwice(ctx context.Context, c *client.Client) (any, error) {
	for range 2 {
		l, err := c.Listings.Get(ctx, listingID)
		if err != nil {
			return nil, err
		}
		if l.Condition != "first" {
			return nil, fmt.Errorf("read the response %q", l.Condition)
		}
	}
	return nil, nil
}

func TestHostile_LargeBodyIsNotReadToItsEnd(t *testing.T) {
	for name, test := range map[string]struct {
		status, most int
	}{
		"success": {200, 20 << 20},
		"failure": {404, 1 << 20},
	} {
		t.Run(name, func(t *testing.T) {
			c, read := countingClient(t, spaces(test.status, 100<<20))
			_, err := c.Listings.Get(t.Context(), listingID)
			require.Error(t, err)
			assert.Less(t, int(read.Load()), test.most, "bytes read off the connection")
		})
	}
}

// countingClient returns a client of a server, and the number of bytes that it has read.
func countingClient(t *testing.T, handler http.Handler) (*client.Client, *atomic.Int64) {
	t.Helper()
	srv := httptest.NewServer(handler)
	t.Cleanup(srv.Close)
	read := new(atomic.Int64)
	transport := &http.Transport{DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
		return &countedConn{conn, read}, err
	}}
	t.Cleanup(transport.CloseIdleConnections)
	return newClient(t, srv.URL, client.WithHTTPClient(&http.Client{Transport: transport})), read
}

type countedConn struct {
	net.Conn
	read *atomic.Int64
}

// Read implements [net.Conn].
func (c *countedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.read.Add(int64(n))
	return n, err
}

// jsonKinds has a value of every kind of JSON; missing stands for no value.
func jsonKinds() map[string]any {
	return map[string]any{
		"null": nil, "text": "N/A", "an empty text": "", "a number": json.Number("-7.5"), "a huge number": json.Number("1e400"),
		"a boolean": true, "a list": []any{}, "a list of lists": []any{[]any{nil}}, "an object": map[string]any{}, "missing": missing{},
	}
}

type missing struct{}

// TestHostile_MemberOfWrongKindKeepsResponse replaces each member of the example of every operation
// by a value of each kind. The response is decoded without that member, unless the member is
// required: an id, the array of a page, or the end of a list.
func TestHostile_MemberOfWrongKindKeepsResponse(t *testing.T) {
	calls := wholeCalls(t)
	for _, op := range gen.Operations() {
		if op.ID == gen.OpGetShippingDocument || calls[op.ID] == nil {
			continue // a document, or an operation that TestDo_EveryOperationHasAMethod reports
		}
		t.Run(string(op.ID), func(t *testing.T) {
			var body []byte
			c := newCannedClient(t,
				func(*http.Request) canned { return canned{status: 200, body: string(body)} })
			kinds, swept := jsonKinds(), 0
			for _, kind := range slices.Sorted(maps.Keys(kinds)) {
				sweep(t, clienttest.ExampleOf(op.ID), kinds[kind], func(member string, changed []byte) {
					body = changed
					err := calls[op.ID](t.Context(), c)
					swept++
					if err == nil {
						return
					}
					assert.Contains(t, requiredMembers(op.ID), member, "as %s: %v", kind, err)
					assert.True(t, isA[*client.DecodeError](err), "%s as %s: %v", member, kind, err)
					assert.Equal(t, !op.RetrySafe, errors.Is(err, client.ErrOutcomeUnknown),
						"%s as %s", member, kind)
				})
			}
			assert.Positive(t, swept)
		})
	}
}

// requiredMembers are the members that a response to an operation must have.
func requiredMembers(op gen.OperationID) []string {
	switch op {
	case gen.OpListListings:
		return []string{"/listings", "/hasNextPage"}
	case gen.OpListActiveOrders, gen.OpListOrderHistory:
		return []string{"/orders", "/hasNextPage"}
	case gen.OpSearchProducts:
		return []string{"/products", "/hasNextPage"}
	case gen.OpListListingOperations:
		return []string{"/operations", "/nextCursor"}
	case gen.OpListCreateListingsBatchItems, gen.OpListUpdateListingsBatchItems, gen.OpListDeleteListingsBatchItems, gen.OpGetIngestion:
		return []string{"/items"}
	case gen.OpGetListing:
		return []string{"/listingId"}
	case gen.OpGetListingOperation, gen.OpCreateListing, gen.OpUpdateListing, gen.OpDeleteListing, gen.OpActivateListing, gen.OpDeactivateListing:
		return []string{"/listingId", "/operationId"}
	case gen.OpGetCreateListingsBatch, gen.OpGetUpdateListingsBatch, gen.OpGetDeleteListingsBatch,
		gen.OpCreateListingsBatch, gen.OpUpdateListingsBatch, gen.OpDeleteListingsBatch:
		return []string{"/batchId"}
	case gen.OpGetOrder:
		return []string{"/orderNumber"}
	case gen.OpGetShippingDocuments:
		return []string{"/shippingDocuments"}
	case gen.OpGetProduct:
		return []string{"/productId"}
	case gen.OpGetVariant, gen.OpGetVariantByGTIN, gen.OpGetVariantMarketData:
		return []string{"/variantId"}
	case gen.OpIngestProducts:
		return []string{"/ingestionId"}
	default:
		return nil
	}
}

// sweep calls visit with the document once for each of its members, with that member replaced.
func sweep(t *testing.T, document []byte, value any, visit func(member string, changed []byte)) {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(document))
	decoder.UseNumber()
	var root any
	require.NoError(t, decoder.Decode(&root))
	_, remove := value.(missing)
	var walk func(path []string, v any)
	emit := func(path []string) {
		changed, err := json.Marshal(root)
		require.NoError(t, err)
		visit("/"+strings.Join(path, "/"), changed)
	}
	walk = func(path []string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for _, name := range slices.Sorted(maps.Keys(v)) {
				before, at := v[name], append(slices.Clone(path), name)
				if v[name] = value; remove {
					delete(v, name)
				}
				emit(at)
				v[name] = before
				walk(at, before)
			}
		case []any:
			for i, before := range v {
				at := append(slices.Clone(path), "0")
				if v[i] = value; remove {
					v[i] = nil
				}
				emit(at)
				v[i] = before
				walk(at, before)
			}
		}
	}
	walk(nil, root)
}
