package client_test

import (
	"context"
	"fmt"
	"log"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/quota"
	"github.com/sellside-sdk/sellside-go/gen"
	"github.com/sellside-sdk/sellside-go/sandbox"
)

// arrange starts a marketplace, arranges it, and returns a client of it.
func arrange(do func(ctx context.Context, market *sandbox.Sandbox)) (ctx context.Context, c *client.Client, stop func()) {
	market, baseURL, stop := startMarket()
	ctx = context.Background()
	do(ctx, market)
	c, err := client.New(
		client.WithBaseURL(baseURL), client.WithAPIKey(market.APIKey()), client.WithToken(market.Token()),
		client.WithQuota(quota.Unlimited),
	)
	if err != nil {
		log.Fatal(err)
	}
	return ctx, c, stop
}

// oneListing arranges a listing at 180 in a market whose lowest ask is 171.
func oneListing(ctx context.Context, market *sandbox.Sandbox) {
	if _, err := market.AddListings(ctx, 1, sandbox.Listing{VariantID: chicago, Amount: "180"}); err != nil {
		log.Fatal(err)
	}
	if err := market.SetBook(ctx, chicago, "USD", sandbox.Book{Asks: []string{"171"}, Bids: []string{"150"}}); err != nil {
		log.Fatal(err)
	}
}

// oneOrder arranges one sale at 162.
func oneOrder(ctx context.Context, market *sandbox.Sandbox) {
	if _, err := market.AddOrder(ctx, sandbox.Listing{VariantID: chicago, Amount: "162"}, "CREATED"); err != nil {
		log.Fatal(err)
	}
}

// An amount needs its currency, and a listing keeps its expiry only if that is sent.
func ExampleListings_Update() {
	ctx, c, stop := arrange(oneListing)
	defer stop()

	for listing, err := range c.Listings.List(ctx, client.ListingFilter{}) {
		if err != nil {
			log.Fatal(err)
		}
		op, err := c.Listings.Update(ctx, listing.ListingID, gen.UpdateListingRequest{
			Amount: "170", CurrencyCode: listing.CurrencyCode, ExpiresAt: listing.Ask.AskExpiresAt,
		})
		if err != nil {
			log.Fatal(err)
		}
		if _, err := op.Wait(ctx); err != nil {
			log.Fatal(err)
		}
		fmt.Println(op.Snapshot().OperationType, op.Snapshot().OperationStatus)
	}
	// Output: UPDATE SUCCEEDED
}

// Several batches are waited for with the polls of one.
func ExampleWaitBatches() {
	ctx, c, stop := arrange(func(context.Context, *sandbox.Sandbox) {})
	defer stop()

	var batches []*client.Batch[gen.CreateBatchItem]
	for _, amount := range []gen.Amount{"160", "165"} {
		batch, err := c.Batches.Create(ctx, []gen.CreateItem{{VariantID: chicago, Amount: amount, Quantity: 2}})
		if err != nil {
			log.Fatal(err)
		}
		save(batch.ID())
		batches = append(batches, batch)
	}
	listings := 0
	for done, err := range client.WaitBatches(ctx, batches) {
		if err != nil {
			log.Fatal(err)
		}
		listings += len(done.Items)
	}
	fmt.Println(listings, "listings")
	// Output: 4 listings
}

// The results of a batch can be read by status, also before it is done.
func ExampleBatch_Results() {
	c, stop := sandboxClient()
	defer stop()
	ctx := context.Background()
	savedID := sell(ctx, c, "160", "165")

	failed, err := c.Batches.ResumeCreate(savedID).Results(ctx, gen.BatchItemStatusFailed)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(failed), "items failed")
	// Output: 0 items failed
}

// Active orders often have no payout yet.
func ExampleOrders_ListActive() {
	ctx, c, stop := arrange(oneOrder)
	defer stop()

	for order, err := range c.Orders.ListActive(ctx, client.ActiveOrderFilter{Sort: gen.OrderSortShipByDate}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(order.Status, order.Amount, order.CurrencyCode)
	}
	// Output: CREATED 162 USD
}

// The mark is saved after a change is handled. A program that is started again continues there.
func ExampleOrders_Watch() {
	ctx, c, stop := arrange(oneOrder)
	defer stop()
	var savedMark []byte // Nil in the first run.

	for change, err := range c.Orders.Watch(ctx, client.OrderWatch{Labels: true, Mark: savedMark}) {
		if client.IsTransient(err) {
			log.Print(err) // the next round follows
			continue
		}
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(change.Kind, change.Order.Status, "label ready:", change.LabelReady)
		if change.LabelReady {
			labels, err := c.Orders.DownloadLabels(ctx, &change.Order)
			if err != nil {
				log.Fatal(err)
			}
			for _, label := range labels {
				fmt.Println(label.Document.ContentType)
				if err := label.Document.Close(); err != nil {
					log.Fatal(err)
				}
			}
		}
		savedMark = change.Mark()
		break // this example has one order
	}
	save(string(savedMark))
	// Output:
	// new CREATED label ready: true
	// application/pdf
	// application/pdf
}

// One request for each product, and one for one's own listings.
func ExampleCatalog_ListPrices() {
	ctx, c, stop := arrange(oneListing)
	defer stop()

	for price, err := range c.Catalog.ListPrices(ctx, client.PriceQuery{Own: true}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println("lowest", price.Market.LowestAskAmount, "mine", price.Own[0].Amount, "is lowest:", price.LowestIsOwn)
	}
	// Output: lowest 171 mine 180 is lowest: false
}

// A proposed product is reviewed; its variant has an id once it is accepted.
func ExampleCatalog_Ingest() {
	ctx, c, stop := arrange(func(context.Context, *sandbox.Sandbox) {})
	defer stop()

	ingestion, err := c.Catalog.Ingest(ctx, []gen.IngestionProduct{{
		Category: gen.IngestionCategoryApparel, ProductTitle: "Box Logo Tee", Brand: "Supreme",
		ProductImages: []string{"https://images.example.com/tee.png"}, Variants: []string{"S", "M"},
		RetailPrice: "54.00", ReleaseDate: "2026-03-01", CountryOfOrigin: "PT",
		Colorway: "White", Material: "Cotton", Gender: "men",
	}})
	if err != nil {
		log.Fatal(err)
	}
	save(ingestion.IngestionID)
	items, err := c.Catalog.GetIngestion(ctx, ingestion.IngestionID, "")
	if err != nil {
		log.Fatal(err)
	}
	for _, item := range items {
		fmt.Println(item.Status)
	}
	// Output:
	// In Review
}

// The request id of a success is what the support of a service asks for.
func ExampleWithResponseInfo() {
	ctx, c, stop := arrange(oneListing)
	defer stop()

	var info client.ResponseInfo
	if _, err := c.Listings.ListPage(client.WithResponseInfo(ctx, &info), client.ListingFilter{}); err != nil {
		log.Fatal(err)
	}
	fmt.Println(info.Operation, info.StatusCode, info.Attempts, "attempt", info.Header.Get("Content-Type"))
	// Output: ListListings 200 1 attempt application/json
}
