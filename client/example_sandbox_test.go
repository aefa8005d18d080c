package client_test

import (
	"context"
	"log"
	"net/http"
	"net/http/httptest"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/quota"
	"github.com/sellside-sdk/sellside-go/gen"
	"github.com/sellside-sdk/sellside-go/sandbox"
)

// chicago is a variant of the sandbox's catalog: DZ5485-612 in 10.5.
var chicago = func() string {
	for _, v := range sandbox.Catalog()[0].Variants {
		if v.Size == "10.5" {
			return v.ID
		}
	}
	panic("the catalog has changed")
}()

// startSandbox serves a marketplace of the example's own, which does at once what it is asked for.
func startSandbox(wrap ...func(http.Handler) http.Handler) (baseURL, apiKey, token string, stop func()) {
	market, err := sandbox.New(sandbox.Options{Delay: -1})
	if err != nil {
		log.Fatal(err)
	}
	handler := http.Handler(market)
	for _, w := range wrap {
		handler = w(handler)
	}
	srv := httptest.NewServer(handler)
	return srv.URL + sandbox.BasePath, market.APIKey(), market.Token(), func() {
		srv.Close()
		if err := market.Close(); err != nil {
			log.Fatal(err)
		}
	}
}

// sandboxClient is a client of a marketplace of the example's own.
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

// sell lists the variant chicago at each of the amounts, by a batch whose id it returns once it is done.
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

// save stands for what a program does to keep an id through a restart.
func save(string) {}

// loseAnswersToWrites is a gateway that gives up on writes after the service has applied them.
func loseAnswersToWrites(service http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			service.ServeHTTP(w, r)
			return
		}
		service.ServeHTTP(httptest.NewRecorder(), r)
		w.WriteHeader(http.StatusGatewayTimeout)
	})
}
