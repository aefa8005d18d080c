package bulk_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"

	"github.com/sellside-sdk/sellside-go/bulk"
	"github.com/sellside-sdk/sellside-go/bulk/stock"
	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/quota"
	"github.com/sellside-sdk/sellside-go/sandbox"
)

// A program plans an inventory, applies the plan, and has nothing to do when it plans again.
func Example() {
	market, err := sandbox.New(sandbox.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer market.Close()
	server := httptest.NewServer(market)
	defer server.Close()
	dir, err := os.MkdirTemp("", "bulk")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }() // the system cleans its directory

	ctx := context.Background()
	b, err := bulk.Open(ctx, bulk.Config{
		Ledger: filepath.Join(dir, "ledger.db"), Quota: quota.Unlimited,
		Connect: func(l quota.Limiter) (*client.Client, error) {
			return client.New(client.WithBaseURL(server.URL+sandbox.BasePath),
				client.WithAPIKey(market.APIKey()), client.WithToken(market.Token()), client.WithLimiter(l))
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer b.Close()

	const inventory = "sku,style_id,size,price,currency,quantity\nA-1,DZ5485-612,10.5,389,USD,3\n"
	for range 2 {
		rows := stock.NewReader(strings.NewReader(inventory), stock.Options{}).Rows()
		plan, err := b.Plan(ctx, rows, bulk.PlanOptions{Source: "inventory"})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("create %d, update %d, delete %d\n", plan.Creates, plan.Updates, plan.Deletes)
		run, err := b.Apply(ctx, plan, "apply")
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%s: %d done, %d failed\n", run.State, run.Done, run.Failed)
	}
	// Output:
	// create 3, update 0, delete 0
	// done: 3 done, 0 failed
	// create 0, update 0, delete 0
	// done: 0 done, 0 failed
}
