package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/recovery"
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

// A batch without a response may have been created. Package recovery finds out by reading; to send
// it again would sell the listings twice, because there is no idempotency key.
func ExampleAPIError_outcomeUnknown() {
	c, stop := sandboxClient(loseAnswersToWrites)
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
