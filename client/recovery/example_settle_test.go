package recovery_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/recovery"
	"github.com/sellside-sdk/sellside-go/gen"
	"github.com/sellside-sdk/sellside-go/sandbox"
)

// loseResponses is a gateway that gives up on some writes after the service has applied them.
func loseResponses(method string) func(http.Handler) http.Handler {
	return func(service http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method != method || r.URL.Path == sandbox.BasePath+"/selling/batch/create-listing" {
				service.ServeHTTP(w, r)
				return
			}
			service.ServeHTTP(httptest.NewRecorder(), r)
			w.WriteHeader(http.StatusGatewayTimeout)
		})
	}
}

// offer creates listings and returns their ids.
func offer(ctx context.Context, c *client.Client, quantity gen.Int) (ids []string) {
	batch, err := c.Batches.Create(ctx, []gen.CreateItem{{VariantID: chicago, Amount: "162", Quantity: quantity}})
	if err != nil {
		log.Fatal(err)
	}
	items, err := batch.Wait(ctx)
	if err != nil {
		log.Fatal(err)
	}
	for _, item := range items {
		ids = append(ids, item.Result.ListingID)
	}
	return ids
}

func ExampleSettleUpdate() {
	ctx := context.Background()
	c, stop := sandboxClient(loseResponses(http.MethodPost))
	defer stop()
	ids := offer(ctx, c, 2)

	items := []gen.UpdateItem{{ListingID: ids[0], Amount: "158"}, {ListingID: ids[1], Amount: "171.50"}}
	sentAt := time.Now()
	_, err := c.Batches.Update(ctx, items)
	if errors.Is(err, client.ErrOutcomeUnknown) {
		verdicts, err := recovery.SettleUpdate(ctx, c, items, sentAt, recovery.Options{})
		if err != nil {
			log.Fatal(err)
		}
		for i, v := range verdicts { // send those again that were not seen
			fmt.Println(items[i].Amount, v.Kind)
		}
	}
	// Output:
	// 158 landed
	// 171.50 landed
}

func ExampleSettleDelete() {
	ctx := context.Background()
	c, stop := sandboxClient(loseResponses(http.MethodPost))
	defer stop()
	ids := offer(ctx, c, 2)

	sentAt := time.Now()
	_, err := c.Batches.Delete(ctx, ids)
	if errors.Is(err, client.ErrOutcomeUnknown) {
		verdicts, err := recovery.SettleDelete(ctx, c, ids, sentAt, recovery.Options{})
		if err != nil {
			log.Fatal(err)
		}
		for _, v := range verdicts {
			fmt.Println(v.Kind)
		}
	}
	// Output:
	// landed
	// landed
}

func ExampleSettleOperation() {
	ctx := context.Background()
	c, stop := sandboxClient(loseResponses(http.MethodPatch))
	defer stop()
	id := offer(ctx, c, 1)[0]

	sentAt := time.Now()
	_, err := c.Listings.Update(ctx, id, gen.UpdateListingRequest{Amount: "158", CurrencyCode: "USD"})
	if errors.Is(err, client.ErrOutcomeUnknown) {
		sent := gen.UpdateItem{ListingID: id, Amount: "158", CurrencyCode: "USD"}
		v, err := recovery.SettleOperation(ctx, c, gen.OperationTypeUpdate, sent, sentAt, recovery.Options{})
		if err != nil {
			log.Fatal(err)
		}
		if v.Kind == recovery.Landed {
			o, err := v.Operation.Wait(ctx)
			if err != nil {
				log.Fatal(err)
			}
			fmt.Println(o.Snapshot().OperationStatus)
		}
	}
	// Output: SUCCEEDED
}
