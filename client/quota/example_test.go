package quota_test

import (
	"context"
	"fmt"
	"log"

	"github.com/sellside-sdk/sellside-go/client/quota"
)

// A program that does not use package client acquires a place before each request, and releases it
// when the response begins.
func ExampleNewLimiter() {
	limiter := quota.NewLimiter(quota.Quota{RequestsPerDay: 25_000, ItemsPerDay: 50_000})
	ctx := context.Background()

	release, err := limiter.Acquire(ctx, 100) // a batch of 100 listings
	if err != nil {
		log.Fatal(err)
	}
	release(quota.Sent)

	states, err := limiter.Remaining(ctx)
	if err != nil {
		log.Fatal(err)
	}
	for _, state := range states {
		fmt.Println(state.Left(), "of", state.Limit, state.Window)
	}
	// Output:
	// 24999 of 25000 requests per day
	// 49900 of 50000 items per day
}
