package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"slices"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/quota"
	"github.com/sellside-sdk/sellside-go/client/recovery"
	"github.com/sellside-sdk/sellside-go/gen"
	"github.com/sellside-sdk/sellside-go/sandbox"
)

// The quick start: put one listing on the market.
func ExampleNew() {
	baseURL, apiKey, token, stop := startSandbox()
	defer stop()
	ctx := context.Background()

	c, err := client.New(client.WithBaseURL(baseURL), client.WithAPIKey(apiKey), client.WithToken(token))
	if err != nil {
		log.Fatal(err)
	}
	op, err := c.Listings.Create(ctx, gen.CreateListingRequest{VariantID: chicago, Amount: "162"})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := op.Wait(ctx); err != nil {
		log.Fatal(err)
	}
	fmt.Println(op.Snapshot().OperationType, op.Snapshot().OperationStatus)
	// Output: CREATE SUCCEEDED
}

// A list reads a page when the loop reaches it, and no page after the loop.
func ExampleCatalog_Search() {
	c, stop := sandboxClient()
	defer stop()
	ctx := context.Background()

	for product, err := range c.Catalog.Search(ctx, client.ProductQuery{Query: "DZ5485-612"}) {
		if err != nil {
			log.Fatal(err)
		}
		if product.StyleID == "DZ5485-612" { // the search is fuzzy
			fmt.Println(product.Title)
			break
		}
	}
	// Output: Jordan 1 Retro High OG Chicago Lost and Found
}

// Zero fields of a filter are not sent.
func ExampleListings_List() {
	c, stop := sandboxClient()
	defer stop()
	ctx := context.Background()
	sell(ctx, c, "160", "165", "170")

	filter := client.ListingFilter{Statuses: []gen.ListingStatus{gen.ListingStatusActive}}
	for listing, err := range c.Listings.List(ctx, filter) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(listing.Variant.VariantValue, listing.Amount, listing.CurrencyCode)
	}
	// Output:
	// 10.5 170 USD
	// 10.5 165 USD
	// 10.5 160 USD
}

// Failed items are reported by an error, beside the results.
func ExampleBatches_Create() {
	c, stop := sandboxClient()
	defer stop()
	ctx := context.Background()

	batch, err := c.Batches.Create(ctx, []gen.CreateItem{
		{VariantID: chicago, Amount: "162", Quantity: 2},
		{VariantID: "00000000-0000-0000-0000-000000000000", Amount: "99", Quantity: 1},
	})
	if err != nil {
		log.Fatal(err)
	}
	save(batch.ID()) // before waiting: the batch continues if this program ends

	items, err := batch.Wait(ctx, client.WithProgress(func(b gen.Batch) {
		fmt.Println(b.Status, b.ItemStatuses.Of("completed"), "of", b.TotalItems)
	}))
	if partial, ok := errors.AsType[*client.BatchError](err); ok {
		fmt.Println(len(items), "items,", len(partial.Failed), "failed")
	} else if err != nil {
		log.Fatal(err)
	}
	// Output:
	// QUEUED 0 of 3
	// COMPLETED 2 of 3
	// 3 items, 1 failed
}

// A batch continues when the program that submitted it ends. Its id is enough to wait for it again.
func ExampleBatches_ResumeCreate() {
	c, stop := sandboxClient()
	defer stop()
	ctx := context.Background()
	savedID := sell(ctx, c, "160", "165")

	items, err := c.Batches.ResumeCreate(savedID).Wait(ctx)
	if err != nil {
		log.Fatal(err)
	}
	for _, item := range items {
		fmt.Println(item.Status, item.ListingInput.Amount)
	}
	// Output:
	// COMPLETED 160
	// COMPLETED 165
}

// A batch takes 100 items; more items need more batches.
func ExampleBatches_Create_chunks() {
	c, stop := sandboxClient()
	defer stop()
	ctx := context.Background()
	inventory := slices.Repeat([]gen.CreateItem{{VariantID: chicago, Amount: "162", Quantity: 1}}, 250)

	for items := range slices.Chunk(inventory, 100) {
		batch, err := c.Batches.Create(ctx, items)
		if err != nil {
			log.Fatal(err)
		}
		save(batch.ID())
		fmt.Println(batch.Snapshot().TotalItems, "items submitted")
	}
	// Output:
	// 100 items submitted
	// 100 items submitted
	// 50 items submitted
}

// Sentinels classify an error; the error itself has the details.
func ExampleAPIError() {
	c, stop := sandboxClient()
	defer stop()

	_, err := c.Listings.Get(context.Background(), "98e2e748-8000-45bf-a624-5531d6a68318")

	if errors.Is(err, client.ErrNotFound) {
		fmt.Println("there is no such listing")
	}
	if failed, ok := errors.AsType[*client.APIError](err); ok {
		fmt.Println(failed.Method, failed.Route, failed.StatusCode)
	}
	// Output:
	// there is no such listing
	// GET /selling/listings/{listingId} 404
}

// A batch without a response may have been created. Package recovery finds out by reading; to send
// it again would sell the listings twice, because there is no idempotency key.
func ExampleAPIError_outcomeUnknown() {
	c, stop := sandboxClient(loseResponsesToWrites)
	defer stop()
	ctx := context.Background()
	var savedBatchIDs []string // of all batches of the account

	attempt, err := recovery.New([]gen.CreateItem{{VariantID: chicago, Amount: "162", Quantity: 2}})
	if err != nil {
		log.Fatal(err)
	}
	saved, err := json.Marshal(attempt)
	if err != nil {
		log.Fatal(err)
	}
	save(string(saved)) // before it is sent, so that the next process can recover it, too

	batch, err := recovery.Submit(ctx, c, attempt)
	if errors.Is(err, client.ErrOutcomeUnknown) {
		var verdict recovery.Verdict
		verdict, err = recovery.Recover(ctx, c, attempt, recovery.Options{Known: savedBatchIDs})
		switch {
		case err != nil:
			log.Fatal(err) // nothing is decided: call Recover again
		case verdict.Kind == recovery.Landed:
			batch = verdict.Batch
		case verdict.Kind == recovery.NotSeen:
			log.Fatal("the batch did not land: make a new attempt of its items")
		default:
			log.Fatal(verdict) // look at the listings; these items may be among them
		}
	}
	if err != nil {
		log.Fatal(err) // refused: nothing was created
	}
	save(batch.ID())

	items, err := batch.Wait(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(items), "listings were created")
	// Output: 2 listings were created
}

// A quota belongs to an account. Clients of one account share the quota only if they share a
// limiter.
func ExampleWithLimiter() {
	baseURL, apiKey, token, stop := startSandbox()
	defer stop()
	ctx := context.Background()

	account := quota.NewLimiter(quota.Quota{RequestsPerDay: 25_000})
	for _, program := range []string{"shop", "reports"} {
		c, err := client.New(
			client.WithBaseURL(baseURL), client.WithAPIKey(apiKey), client.WithToken(token),
			client.WithLimiter(account),
		)
		if err != nil {
			log.Fatal(err)
		}
		if _, err := c.Orders.ListActivePage(ctx, client.ActiveOrderFilter{}); err != nil {
			log.Fatal(err)
		}
		states, err := c.RemainingQuota(ctx)
		if err != nil {
			log.Fatal(err)
		}
		for _, state := range states {
			fmt.Println(program, "leaves", state.Left(), "of", state.Limit, state.Window)
		}
	}
	// Output:
	// shop leaves 24999 of 25000 requests per day
	// reports leaves 24998 of 25000 requests per day
}

// Zero fields of WithQuota are those of the public quota. Start with Unlimited to set single
// limits.
func ExampleWithQuota() {
	baseURL, apiKey, token, stop := startSandbox()
	defer stop()

	half := quota.Quota{RequestsPerDay: 12_500, ItemsPerWindow: 250, ItemsPerDay: 25_000}
	onlyDays := quota.Unlimited
	onlyDays.RequestsPerDay = 12_500
	for _, q := range []quota.Quota{half, onlyDays} {
		c, err := client.New(
			client.WithBaseURL(baseURL), client.WithAPIKey(apiKey), client.WithToken(token),
			client.WithQuota(q),
		)
		if err != nil {
			log.Fatal(err)
		}
		states, err := c.RemainingQuota(context.Background())
		if err != nil {
			log.Fatal(err)
		}
		for _, state := range states {
			fmt.Println(state.Limit, state.Window)
		}
	}
	// Output:
	// 1 requests per second
	// 12500 requests per day
	// 250 items per window
	// 25000 items per day
	// 12500 requests per day
}

// chicago is a variant of the sandbox's catalog: DZ5485-612 in 10.5.
var chicago = func() string {
	for _, v := range sandbox.Catalog()[0].Variants {
		if v.Size == "10.5" {
			return v.ID
		}
	}
	panic("the catalog has changed")
}()

// startSandbox serves a marketplace that works off writes at once.
func startSandbox(wrap ...func(http.Handler) http.Handler) (baseURL, apiKey, token string, stop func()) {
	market, baseURL, stop := startMarket(wrap...)
	return baseURL, market.APIKey(), market.Token(), stop
}

// startMarket is startSandbox for examples that arrange the market.
func startMarket(wrap ...func(http.Handler) http.Handler) (market *sandbox.Sandbox, baseURL string, stop func()) {
	market, err := sandbox.New(sandbox.Options{Delay: -1})
	if err != nil {
		log.Fatal(err)
	}
	handler := http.Handler(market)
	for _, w := range wrap {
		handler = w(handler)
	}
	srv := httptest.NewServer(handler)
	return market, srv.URL + sandbox.BasePath, func() {
		srv.Close()
		if err := market.Close(); err != nil {
			log.Fatal(err)
		}
	}
}

// sandboxClient returns a client of a new marketplace.
func sandboxClient(wrap ...func(http.Handler) http.Handler) (c *client.Client, stop func()) {
	baseURL, apiKey, token, stop := startSandbox(wrap...)
	c, err := client.New(
		client.WithBaseURL(baseURL), client.WithAPIKey(apiKey), client.WithToken(token), client.WithQuota(quota.Unlimited),
	)
	if err != nil {
		log.Fatal(err)
	}
	return c, stop
}

// sell lists the variant chicago at each of the amounts, and returns the id of the batch.
func sell(ctx context.Context, c *client.Client, amounts ...gen.Amount) (batchID string) {
	var items []gen.CreateItem
	for _, amount := range amounts {
		items = append(items, gen.CreateItem{VariantID: chicago, Amount: amount, Quantity: 1})
	}
	batch, err := c.Batches.Create(ctx, items)
	if err != nil {
		log.Fatal(err)
	}
	if _, err := batch.Wait(ctx); err != nil {
		log.Fatal(err)
	}
	return batch.ID()
}

// save stands for saving an id on disk.
func save(string) {}

// loseResponsesToWrites is a gateway that times out on writes after the service has applied them.
func loseResponsesToWrites(service http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			service.ServeHTTP(w, r)
			return
		}
		service.ServeHTTP(httptest.NewRecorder(), r)
		w.WriteHeader(http.StatusGatewayTimeout)
	})
}
