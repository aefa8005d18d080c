package client_test

import (
	"context"
	"maps"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/gen"
	"github.com/sellside-sdk/sellside-go/sandbox"
)

// stock fills the sandbox with all that calls can act on, and says how to call every operation there.
func (m *wireMarket) stock(t *testing.T) map[gen.OperationID]func() wireCall {
	t.Helper()
	each := 1 // Calls of an operation that writes; the first is past the proxy.
	for _, row := range wireRows() {
		each++
		if row.write.retried {
			each++
		}
	}
	product := sandbox.Catalog()[0]
	variant := product.Variants[0].ID
	_, active := m.sell(t, gen.CreateItem{VariantID: variant, Amount: "100", Quantity: gen.Int(5 * each)}) // 5 operations
	_, inactive := m.sell(t, gen.CreateItem{VariantID: variant, Amount: "100", Quantity: gen.Int(each), Active: new(false)})
	calls := m.reads(t, product)
	maps.Copy(calls, m.writes(t, product.Variants[1].ID, active, inactive))
	return calls
}

// sell makes listings, and returns the id of the batch that they are of.
func (m *wireMarket) sell(t *testing.T, item gen.CreateItem) (batchID string, made *shelf) {
	t.Helper()
	batch, err := m.direct.Batches.Create(t.Context(), []gen.CreateItem{item})
	require.NoError(t, err)
	require.NoError(t, m.Work(t.Context()))
	results, err := batch.Results(t.Context())
	require.NoError(t, err)
	made = &shelf{}
	for _, r := range results {
		made.ids = append(made.ids, r.Result.ListingID)
	}
	return batch.ID(), made
}

// shelf hands out listings, each of them once.
type shelf struct {
	ids   []string
	taken atomic.Int32
}

func (s *shelf) take() string { return s.ids[s.taken.Add(1)-1] }

// writes act on a listing of their own, or make one at a price of its own.
func (m *wireMarket) writes(t *testing.T, variantID string, active, inactive *shelf) map[gen.OperationID]func() wireCall {
	t.Helper()
	change := func(from *shelf, kind gen.OperationType, do func(context.Context, *client.Client, string) error) func() wireCall {
		return func() wireCall {
			id := from.take()
			return wireCall{
				do:      func(ctx context.Context, c *client.Client) error { return do(ctx, c, id) },
				applied: func(t *testing.T) int { return m.operations(t, id)[kind] },
			}
		}
	}
	var prices atomic.Int32
	made := sync.OnceValue(func() map[string]int { return m.listings(t, variantID) })
	create := func(do func(context.Context, *client.Client, gen.Amount) error) func() wireCall {
		return func() wireCall {
			price := strconv.Itoa(1000 + int(prices.Add(1)))
			return wireCall{
				do:      func(ctx context.Context, c *client.Client) error { return do(ctx, c, gen.Amount(price)) },
				applied: func(*testing.T) int { return made()[price] },
			}
		}
	}
	return map[gen.OperationID]func() wireCall{
		gen.OpCreateListing: create(func(ctx context.Context, c *client.Client, price gen.Amount) error {
			return failure(c.Listings.Create(ctx, gen.CreateListingRequest{VariantID: variantID, Amount: price}))
		}),
		gen.OpCreateListingsBatch: create(func(ctx context.Context, c *client.Client, price gen.Amount) error {
			return failure(c.Batches.Create(ctx, []gen.CreateItem{{VariantID: variantID, Amount: price, Quantity: 1}}))
		}),
		gen.OpUpdateListing: change(active, gen.OperationTypeUpdate, func(ctx context.Context, c *client.Client, id string) error {
			return failure(c.Listings.Update(ctx, id, gen.UpdateListingRequest{Amount: "150"}))
		}),
		gen.OpUpdateListingsBatch: change(active, gen.OperationTypeUpdate, func(ctx context.Context, c *client.Client, id string) error {
			return failure(c.Batches.Update(ctx, []gen.UpdateItem{{ListingID: id, Amount: "150"}}))
		}),
		gen.OpDeactivateListing: change(active, gen.OperationTypeDeactivate, func(ctx context.Context, c *client.Client, id string) error {
			return failure(c.Listings.Deactivate(ctx, id))
		}),
		gen.OpActivateListing: change(inactive, gen.OperationTypeActivate, func(ctx context.Context, c *client.Client, id string) error {
			return failure(c.Listings.Activate(ctx, id, gen.ActivateListingRequest{}))
		}),
		gen.OpDeleteListing: change(active, gen.OperationTypeDelete, func(ctx context.Context, c *client.Client, id string) error {
			return failure(c.Listings.Delete(ctx, id))
		}),
		gen.OpDeleteListingsBatch: change(active, gen.OperationTypeDelete, func(ctx context.Context, c *client.Client, id string) error {
			return failure(c.Batches.Delete(ctx, []string{id}))
		}),
		gen.OpIngestProducts: func() wireCall { // no operation tells what was ingested by a call without an answer
			return wireCall{do: typedCalls(t)[gen.OpIngestProducts]}
		},
	}
}

// operations counts what was done to a listing, by type.
func (m *wireMarket) operations(t *testing.T, listingID string) map[gen.OperationType]int {
	t.Helper()
	count := map[gen.OperationType]int{}
	for o, err := range m.direct.Listings.Operations(t.Context(), listingID) {
		require.NoError(t, err)
		count[o.OperationType]++
	}
	return count
}

// listings counts those of a variant, by price.
func (m *wireMarket) listings(t *testing.T, variantID string) map[string]int {
	t.Helper()
	count := map[string]int{}
	for l, err := range m.direct.Listings.List(t.Context(), client.ListListings{VariantIDs: []string{variantID}}) {
		require.NoError(t, err)
		price, err := l.Amount.Decimal()
		require.NoError(t, err)
		count[price.Trim(0).String()]++
	}
	return count
}
