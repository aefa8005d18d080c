package client_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/gen"
)

// Sentinels tell what happened, and the error itself tells the rest.
func ExampleAPIError() {
	c, stop := sandboxClient()
	defer stop()

	_, err := c.Listings.Get(context.Background(), "98e2e748-8000-45bf-a624-5531d6a68318")

	if errors.Is(err, client.ErrNotFound) {
		fmt.Println("there is no such listing")
	}
	if answer, ok := errors.AsType[*client.APIError](err); ok {
		fmt.Println(answer.Method, answer.Route, answer.StatusCode)
	}
	// Output:
	// there is no such listing
	// GET /selling/listings/{listingId} 404
}

// A write that was not answered may have been applied. It is settled by reading, never by sending it again:
// there is no idempotency key, and a second listing would be sold.
func ExampleAPIError_outcomeUnknown() {
	c, stop := sandboxClient(loseAnswersToWrites)
	defer stop()
	ctx := context.Background()

	_, err := c.Listings.Create(ctx, gen.CreateListingRequest{VariantID: chicago, Amount: "162"})

	if errors.Is(err, client.ErrOutcomeUnknown) {
		for listing, err := range c.Listings.List(ctx, client.ListListings{VariantIDs: []string{chicago}}) {
			if err != nil {
				log.Fatal(err)
			}
			fmt.Println("it was created, at", listing.Amount)
		}
	}
	// Output: it was created, at 162
}
