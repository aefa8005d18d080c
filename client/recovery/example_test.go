package recovery_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/quota"
	"github.com/sellside-sdk/sellside-go/client/recovery"
	"github.com/sellside-sdk/sellside-go/gen"
	"github.com/sellside-sdk/sellside-go/sandbox"
)

// chicago is a variant of the sandbox's catalog.
var chicago = sandbox.Catalog()[0].Variants[0].ID

// sandboxClient returns a client of a sandbox behind a gateway.
func sandboxClient(gateway func(http.Handler) http.Handler) (c *client.Client, stop func()) {
	market, err := sandbox.New(sandbox.Options{Delay: -1})
	if err != nil {
		log.Fatal(err)
	}
	srv := httptest.NewServer(gateway(market))
	c, err = client.New(
		client.WithBaseURL(srv.URL+sandbox.BasePath), client.WithAPIKey(market.APIKey()), client.WithToken(market.Token()),
		client.WithQuota(quota.Unlimited),
	)
	if err != nil {
		log.Fatal(err)
	}
	return c, func() {
		srv.Close()
		if err := market.Close(); err != nil {
			log.Fatal(err)
		}
	}
}

// database is what survives a crash.
type database struct {
	submission []byte   // Not settled yet.
	batches    []string // Of the account.
}

// createOnce creates listings once, whatever is lost. It is called again after a crash.
func createOnce(ctx context.Context, c *client.Client, db *database, items []gen.CreateItem) (*client.Batch[gen.CreateBatchItem], error) {
	recovering := db.submission != nil
	for {
		var submission recovery.Submission
		var batch *client.Batch[gen.CreateBatchItem]
		var err error
		if recovering {
			if err := json.Unmarshal(db.submission, &submission); err != nil {
				return nil, err
			}
			// The sandbox shows listings at once. Leave Settle out for a real service.
			v, err := recovery.Recover(ctx, c, submission, recovery.Options{Known: db.batches, Settle: 100 * time.Millisecond})
			if err != nil {
				return nil, err
			}
			fmt.Println(v.Kind)
			if v.Kind == recovery.CannotTell {
				return nil, errors.New(v.Reason) // a person has to look
			}
			batch = v.Batch
		}
		if batch == nil { // nothing was submitted yet, or it was not seen
			if submission, err = recovery.New(items); err != nil {
				return nil, err
			}
			if db.submission, err = json.Marshal(submission); err != nil { // replaces the last one, before this one is sent
				return nil, err
			}
			batch, err = recovery.Submit(ctx, c, submission)
		}
		if batch == nil && errors.Is(err, client.ErrOutcomeUnknown) {
			recovering = true
			continue
		}
		db.submission = nil // settled; in one transaction with the id
		if batch == nil {
			return nil, err
		}
		db.batches = append(db.batches, batch.ID())
		return batch, nil
	}
}

// loseTwice loses the first write, and the response to the second one.
func loseTwice(service http.Handler) http.Handler {
	writes := 0
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			service.ServeHTTP(w, r)
			return
		}
		if writes++; writes == 2 {
			service.ServeHTTP(httptest.NewRecorder(), r)
		}
		w.WriteHeader(http.StatusBadGateway)
	})
}

func ExampleRecover() {
	ctx := context.Background()
	c, stop := sandboxClient(loseTwice)
	defer stop()

	batch, err := createOnce(ctx, c, &database{}, []gen.CreateItem{{VariantID: chicago, Amount: "162", Quantity: 2}})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := batch.Wait(ctx); err != nil {
		log.Fatal(err)
	}
	page, err := c.Listings.ListPage(ctx, client.ListingFilter{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(page.Count, "listings")
	// Output:
	// not seen
	// landed
	// 2 listings
}

// loseResponses is a gateway that times out after the service has applied some writes.
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

	items := []gen.UpdateItem{
		{ListingID: ids[0], Amount: "158", CurrencyCode: "USD"},
		{ListingID: ids[1], Amount: "171.50", CurrencyCode: "USD"},
	}
	sentAt := time.Now()
	_, err := c.Batches.Update(ctx, items)
	if errors.Is(err, client.ErrOutcomeUnknown) {
		verdicts, err := recovery.SettleUpdate(ctx, c, items, sentAt, recovery.Options{})
		if err != nil {
			log.Fatal(err)
		}
		for i, v := range verdicts { // those that were not seen may be sent again
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
