package client_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"slices"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/gen"
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

// A list asks for a page when the loop reaches it, and for nothing more once the loop is left.
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

// Zero fields of a filter filter nothing.
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

// Items that fail come as an error beside the results.
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
	save(batch.ID()) // first of all: the batch goes on without us

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

// A batch goes on when the program that submitted it ends. Its id is all it takes to follow it again.
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

// A batch takes 100 items. More of them are more batches.
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
