package client_test

import (
	"context"
	"fmt"
	"log"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/quota"
)

// A quota is an account's. Clients of one account share it by sharing a limiter; nothing is shared otherwise.
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

// Zero fields of WithQuota are those of the public quota. Start with Unlimited to limit only what you name.
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
