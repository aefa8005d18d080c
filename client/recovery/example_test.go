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

// sandboxClient is a client of a marketplace that completes batches at once, behind a gateway.
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

// database stands for what survives a crash.
type database struct {
	submission []byte   // Not settled yet.
	batches    []string // Of the account.
}

// createOnce creates listings once, whatever is lost on the way. After a crash it is called again.
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
				return nil, errors.New(v.Reason) // for a person to look at
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
		if errors.Is(err, client.ErrOutcomeUnknown) {
			recovering = true
			continue
		}
		db.submission = nil // settled; in one transaction with the id
		if err != nil {
			return nil, err
		}
		db.batches = append(db.batches, batch.ID())
		return batch, nil
	}
}

// loseTwice loses the first write on its way to the service, and of the second one the answer.
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
