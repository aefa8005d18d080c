package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"path"
	"slices"
	"strconv"
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
	"github.com/sellside-sdk/sellside-go/sandbox"
	"github.com/sellside-sdk/sellside-go/sandbox/sandboxtest"
)

// socketService is the sandbox behind all servers of a matrix. It works off nothing before the end,
// so that no call changes the state for another one.
type socketService struct {
	*sandbox.Sandbox
	trials
	direct *client.Client // Without a socket.
	writes map[gen.OperationID]func() socketCall
	reads  map[gen.OperationID]func() socketCall

	mu     sync.Mutex
	checks []func(*testing.T)
}

// socketCall is one call. Each write has its own listing.
type socketCall struct {
	op    gen.Operation
	typed func(context.Context, *client.Client) error
	raw   func(context.Context, *gen.Client) (*http.Response, error) // The same through the generated client; of writes.
	// applied reads how often a write was applied; it is nil for a read, and for a write that
	// leaves no trace.
	applied func(*testing.T) int
}

// openSocketService starts a sandbox with the listings for each write, the given number of times.
func openSocketService(t *testing.T, each int) *socketService {
	t.Helper()
	market := sandboxtest.NewInProcess(t, func(o *sandbox.Options) {
		o.APIKey, o.Token, o.Manual = clienttest.APIKey, clienttest.Token, true
	}, quirks)
	s := &socketService{Sandbox: market.Sandbox}
	s.direct = socketClient(t, strings.TrimSuffix(market.URL, sandbox.BasePath),
		market.HTTPClient().Transport)
	product := sandbox.Catalog()[0]
	s.reads = s.readCalls(t, product)
	s.writes = s.writeCalls(t, product, each)
	for _, op := range gen.Operations() {
		if !op.RetrySafe {
			require.Contains(t, s.writes, op.ID, "client/socket_service_test.go: add %s to writeCalls", op.ID)
		}
	}
	return s
}

// socketClient returns a client with two attempts a call, whose requests carry the key of their
// trial.
func socketClient(
	t *testing.T, url string, transport http.RoundTripper, opts ...client.Option,
) *client.Client {
	t.Helper()
	return newClient(t, url, append([]client.Option{
		client.WithBaseURL(url + sandbox.BasePath), client.WithHTTPClient(&http.Client{Transport: transport}),
		client.WithRetry(twoAttempts(30 * time.Second)), client.WithMiddleware(sendKey),
	}, opts...)...)
}

// countAttempts stores how many requests the last call has sent.
func countAttempts(attempts *atomic.Int32) client.Option {
	return client.WithObserver(func(_ context.Context, e client.Event) {
		if e.Kind == client.EventDone {
			attempts.Store(int32(e.Attempt))
		}
	})
}

// ServeHTTP implements [http.Handler]. It counts what is applied for the trial that a request
// belongs to.
func (s *socketService) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	got := httptest.NewRecorder()
	s.Sandbox.ServeHTTP(got, r)
	if trial := s.of(r); trial != nil {
		if got.Code/100 == 2 {
			trial.applied.Add(1)
		}
		if trial.silent.Load() {
			defer trial.cancel() // there is nothing to wait for
		}
	}
	maps.Copy(w.Header(), got.Header())
	w.WriteHeader(got.Code)
	_, _ = w.Write(got.Body.Bytes())
}

// start starts a trial, and adds the check of what the sandbox shows in the end.
func (s *socketService) start(t *testing.T, trial *trial) {
	t.Helper()
	s.add(trial)
	if trial.call.applied == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.checks = append(s.checks, func(t *testing.T) {
		t.Helper()
		assert.EqualValues(t, trial.applied.Load(), trial.call.applied(t), "applied: %s", trial)
	})
}

// assertApplied has the sandbox work off all writes, and reads how often each was applied.
func (s *socketService) assertApplied(t *testing.T) {
	t.Helper()
	require.NoError(t, s.Work(t.Context()))
	assert.NotEmpty(t, s.checks)
	for _, check := range s.checks {
		check(t)
	}
}

// sell creates listings.
func (s *socketService) sell(t *testing.T, item gen.CreateItem) *idPool {
	t.Helper()
	batch, err := s.direct.Batches.Create(t.Context(), []gen.CreateItem{item})
	require.NoError(t, err)
	require.NoError(t, s.Work(t.Context()))
	results, err := batch.Results(t.Context(), "")
	require.NoError(t, err)
	made := &idPool{}
	for _, r := range results {
		made.ids = append(made.ids, r.Result.ListingID)
	}
	return made
}

// idPool returns each of its ids once.
type idPool struct {
	ids   []string
	taken atomic.Int32
}

func (s *idPool) take() string { return s.ids[s.taken.Add(1)-1] }

// readCalls read a listing, a page of listings and a streamed document.
func (s *socketService) readCalls(t *testing.T, product sandbox.Product) map[gen.OperationID]func() socketCall {
	t.Helper()
	listings := s.sell(t, gen.CreateItem{
		VariantID: product.Variants[0].ID, Amount: "102", Quantity: 2, InventoryType: gen.InventoryTypeDirect,
	})
	listingID := listings.take()
	order, err := s.Buy(t.Context(), listings.take())
	require.NoError(t, err)
	documents, err := s.direct.Orders.ListShippingDocuments(t.Context(), order)
	require.NoError(t, err)
	links := slices.Collect(maps.Values(documents.ShippingDocuments.RequiredDocuments))
	require.NotEmpty(t, links)

	calls := map[gen.OperationID]func() socketCall{}
	read := func(id gen.OperationID, do func(context.Context, *client.Client) error) {
		op, _ := gen.LookupOperation(id)
		calls[id] = func() socketCall { return socketCall{op: op, typed: do} }
	}
	read(gen.OpGetListing,
		func(ctx context.Context, c *client.Client) error { return failure(c.Listings.Get(ctx, listingID)) })
	read(gen.OpListListings, func(ctx context.Context, c *client.Client) error {
		return failure(c.Listings.ListPage(ctx, client.ListingFilter{PageSize: 1}))
	})
	read(gen.OpGetShippingDocument, func(ctx context.Context, c *client.Client) error {
		return readDocument(ctx, c, order, path.Base(links[0]))
	})
	return calls
}

// writeCalls act on a listing each, or make one at a price that no other call has.
func (s *socketService) writeCalls(t *testing.T, product sandbox.Product, each int) map[gen.OperationID]func() socketCall {
	t.Helper()
	variantID := product.Variants[0].ID
	active := s.sell(t, gen.CreateItem{VariantID: variantID, Amount: "100", Quantity: gen.Int(5 * each)})
	inactive := s.sell(t,
		gen.CreateItem{VariantID: variantID, Amount: "100", Quantity: gen.Int(each), Active: new(false)})

	calls := map[gen.OperationID]func() socketCall{}
	change := func(
		id gen.OperationID, from *idPool, kind gen.OperationType,
		typed func(context.Context, *client.Client, string) error,
		raw func(context.Context, *gen.Client, string) (*http.Response, error),
	) {
		op, _ := gen.LookupOperation(id)
		calls[id] = func() socketCall {
			listingID := from.take()
			return socketCall{
				op:      op,
				typed:   func(ctx context.Context, c *client.Client) error { return typed(ctx, c, listingID) },
				raw:     func(ctx context.Context, c *gen.Client) (*http.Response, error) { return raw(ctx, c, listingID) },
				applied: func(t *testing.T) int { return s.operations(t, listingID)[kind] },
			}
		}
	}
	var prices atomic.Int32
	made := sync.OnceValue(func() map[string]int { return s.listings(t, product.Variants[1].ID) })
	create := func(
		id gen.OperationID,
		typed func(context.Context, *client.Client, gen.Amount) error,
		raw func(context.Context, *gen.Client, gen.Amount) (*http.Response, error),
	) {
		op, _ := gen.LookupOperation(id)
		calls[id] = func() socketCall {
			price := strconv.Itoa(1000 + int(prices.Add(1)))
			return socketCall{
				op:    op,
				typed: func(ctx context.Context, c *client.Client) error { return typed(ctx, c, gen.Amount(price)) },
				raw: func(ctx context.Context, c *gen.Client) (*http.Response, error) {
					return raw(ctx, c, gen.Amount(price))
				},
				applied: func(*testing.T) int { return made()[price] },
			}
		}
	}

	listing := func(price gen.Amount) gen.CreateListingRequest {
		return gen.CreateListingRequest{VariantID: product.Variants[1].ID, Amount: price}
	}
	create(gen.OpCreateListing,
		func(ctx context.Context, c *client.Client, price gen.Amount) error {
			return failure(c.Listings.Create(ctx, listing(price)))
		},
		func(ctx context.Context, c *gen.Client, price gen.Amount) (*http.Response, error) {
			return c.CreateListing(ctx, listing(price))
		})
	items := func(price gen.Amount) []gen.CreateItem {
		return []gen.CreateItem{{VariantID: product.Variants[1].ID, Amount: price, Quantity: 1}}
	}
	create(gen.OpCreateListingsBatch,
		func(ctx context.Context, c *client.Client, price gen.Amount) error {
			return failure(c.Batches.Create(ctx, items(price)))
		},
		func(ctx context.Context, c *gen.Client, price gen.Amount) (*http.Response, error) {
			return c.CreateListingsBatch(ctx, gen.CreateListingsBatchRequest{Items: items(price)})
		})
	change(gen.OpUpdateListing, active, gen.OperationTypeUpdate,
		func(ctx context.Context, c *client.Client, id string) error {
			return failure(c.Listings.Update(ctx, id, gen.UpdateListingRequest{Amount: "150", CurrencyCode: "USD"}))
		},
		func(ctx context.Context, c *gen.Client, id string) (*http.Response, error) {
			return c.UpdateListing(ctx, id, gen.UpdateListingRequest{Amount: "150", CurrencyCode: "USD"})
		})
	change(gen.OpUpdateListingsBatch, active, gen.OperationTypeUpdate,
		func(ctx context.Context, c *client.Client, id string) error {
			return failure(c.Batches.Update(ctx, []gen.UpdateItem{{ListingID: id, Amount: "150", CurrencyCode: "USD"}}))
		},
		func(ctx context.Context, c *gen.Client, id string) (*http.Response, error) {
			return c.UpdateListingsBatch(ctx,
				gen.UpdateListingsBatchRequest{Items: []gen.UpdateItem{{ListingID: id, Amount: "150", CurrencyCode: "USD"}}})
		})
	change(gen.OpDeactivateListing, active, gen.OperationTypeDeactivate,
		func(ctx context.Context, c *client.Client, id string) error {
			return failure(c.Listings.Deactivate(ctx, id))
		},
		func(ctx context.Context, c *gen.Client, id string) (*http.Response, error) {
			return c.DeactivateListing(ctx, id)
		})
	change(gen.OpActivateListing, inactive, gen.OperationTypeActivate,
		func(ctx context.Context, c *client.Client, id string) error {
			return failure(c.Listings.Activate(ctx, id, gen.ActivateListingRequest{}))
		},
		func(ctx context.Context, c *gen.Client, id string) (*http.Response, error) {
			return c.ActivateListing(ctx, id, gen.ActivateListingRequest{})
		})
	change(gen.OpDeleteListing, active, gen.OperationTypeDelete,
		func(ctx context.Context, c *client.Client, id string) error {
			return failure(c.Listings.Delete(ctx, id))
		},
		func(ctx context.Context, c *gen.Client, id string) (*http.Response, error) {
			return c.DeleteListing(ctx, id)
		})
	change(gen.OpDeleteListingsBatch, active, gen.OperationTypeDelete,
		func(ctx context.Context, c *client.Client, id string) error {
			return failure(c.Batches.Delete(ctx, []string{id}))
		},
		func(ctx context.Context, c *gen.Client, id string) (*http.Response, error) {
			return c.DeleteListingsBatch(ctx,
				gen.DeleteListingsBatchRequest{Items: []gen.DeleteItem{{ListingID: id}}})
		})
	ingest, _ := gen.LookupOperation(gen.OpIngestProducts)
	products := requestOf[gen.IngestProductsRequest](t, gen.OpIngestProducts)
	calls[ingest.ID] = func() socketCall { // no operation lists what was ingested
		return socketCall{
			op: ingest,
			typed: func(ctx context.Context, c *client.Client) error {
				return failure(c.Catalog.Ingest(ctx, products.Items))
			},
			raw: func(ctx context.Context, c *gen.Client) (*http.Response, error) {
				return c.IngestProducts(ctx, products)
			},
		}
	}
	return calls
}

// operations counts what was done to a listing, by type.
func (s *socketService) operations(t *testing.T, listingID string) map[gen.OperationType]int {
	t.Helper()
	count := map[gen.OperationType]int{}
	for o, err := range s.direct.Listings.ListOperations(t.Context(), listingID) {
		require.NoError(t, err)
		count[o.OperationType]++
	}
	return count
}

// listings counts those of a variant, by price.
func (s *socketService) listings(t *testing.T, variantID string) map[string]int {
	t.Helper()
	count := map[string]int{}
	for l, err := range s.direct.Listings.List(t.Context(), client.ListingFilter{VariantIDs: []string{variantID}, PageSize: 100}) {
		require.NoError(t, err)
		price, err := l.Amount.Decimal()
		require.NoError(t, err)
		count[price.Trim(0).String()]++
	}
	return count
}

// trials are the calls that servers see, by the key that each request carries.
type trials struct {
	byKey sync.Map
	count atomic.Int64
}

// trial is one call, and what the server saw of it.
type trial struct {
	key    string
	call   socketCall
	ending fmt.Stringer
	raw    bool     // Whether the call is made through the generated client.
	faults int32    // How many of its requests meet the ending.
	others *barrier // The requests that are in flight with it, or nil.
	cancel context.CancelFunc

	seen, applied atomic.Int32 // Requests.
	silent        atomic.Bool  // Whether nothing comes back of what is applied.
}

// String names the trial.
func (tr *trial) String() string {
	way := "typed"
	if tr.raw {
		way = "raw"
	}
	return fmt.Sprintf("%s (%s) meets %s", tr.call.op.ID, way, tr.ending)
}

const keyHeader = "X-Test-Key"

type trialKey struct{}

// sendKey is a middleware that puts the key of a trial into its requests.
func sendKey(next client.Doer) client.Doer {
	return client.DoerFunc(func(req *http.Request) (*http.Response, error) {
		if key, ok := req.Context().Value(trialKey{}).(string); ok {
			req = req.Clone(req.Context())
			req.Header.Set(keyHeader, key)
		}
		return next.Do(req)
	})
}

func (ts *trials) add(tr *trial) {
	tr.key = strconv.FormatInt(ts.count.Add(1), 10)
	ts.byKey.Store(tr.key, tr)
}

// of returns the trial that a request belongs to, or nil for none.
func (ts *trials) of(r *http.Request) *trial {
	found, ok := ts.byKey.Load(r.Header.Get(keyHeader))
	if !ok {
		return nil
	}
	return found.(*trial)
}

// arrive counts a request, and reports whether the ending applies to it.
func (tr *trial) arrive(ctx context.Context) bool {
	n := tr.seen.Add(1)
	if n == 1 && tr.others != nil {
		tr.others.wait(ctx)
	}
	return n <= tr.faults
}

// run makes the call.
func (tr *trial) run(ctx context.Context, c *client.Client) error {
	ctx, tr.cancel = context.WithCancel(context.WithValue(ctx, trialKey{}, tr.key))
	defer tr.cancel()
	if !tr.raw {
		return tr.call.typed(ctx, c)
	}
	resp, err := tr.call.raw(ctx, c.Raw())
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return err
	}
	if resp.StatusCode/100 != 2 {
		return &client.APIError{StatusCode: resp.StatusCode}
	}
	return nil
}

// report is the outcome of a write as its call reports it.
type report string

const (
	reportedDone    report = "succeeded"
	reportedUnknown report = "unknown"
	reportedRefused report = "refused"
	reportedNotSent report = "not sent"
)

func reportOf(err error) report {
	switch {
	case err == nil:
		return reportedDone
	case errors.Is(err, client.ErrOutcomeUnknown):
		return reportedUnknown
	case isA[*client.APIError](err):
		return reportedRefused
	default:
		return reportedNotSent
	}
}

// wrongReport is what is wrong with a report, given what the server saw of the write; empty if
// nothing is.
func (tr *trial) wrongReport(reported report) string {
	seen, applied := tr.seen.Load(), tr.applied.Load()
	switch {
	case applied > 1:
		return "applied more than once"
	case seen > 1 && (reported == reportedUnknown || reported == reportedNotSent):
		return "sent more than once"
	case reported == reportedDone && applied == 0:
		return "succeeded, but not applied"
	case (reported == reportedRefused || reported == reportedNotSent) && applied > 0:
		return "failed, but applied"
	case reported == reportedNotSent && seen > 0:
		return "reported as not sent, but the server saw the request"
	default:
		return ""
	}
}

// assertReport checks that the report of the call is true.
func (tr *trial) assertReport(t *testing.T, err error) {
	t.Helper()
	assert.Empty(t, tr.wrongReport(reportOf(err)), "%s: seen %d times, applied %d times: %v", tr,
		tr.seen.Load(), tr.applied.Load(), err)
}

// barrier is where requests wait until all of them have arrived.
type barrier struct {
	missing atomic.Int32
	all     chan struct{}
}

func newBarrier(n int) *barrier {
	r := &barrier{all: make(chan struct{})}
	r.missing.Store(int32(n))
	return r
}

func (r *barrier) wait(ctx context.Context) {
	if r.missing.Add(-1) == 0 {
		close(r.all)
	}
	select {
	case <-r.all:
	case <-ctx.Done():
	}
}
