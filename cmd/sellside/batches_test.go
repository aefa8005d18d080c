package main

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/gen"
	"github.com/sellside-sdk/sellside-go/sandbox"
)

func TestBatches_ReadAtAPrompt(t *testing.T) {
	s := newShop(t)
	created, err := s.c.Batches.Create(t.Context(), []gen.CreateItem{
		{VariantID: variant(0), Amount: "162", CurrencyCode: "USD", Quantity: 1},
		{VariantID: variant(0), Amount: "100001", CurrencyCode: "USD", Quantity: 1},
	})
	require.NoError(t, err)
	_, _ = created.Wait(t.Context()) // one item fails
	ids := s.offer(2, sandbox.Listing{Amount: "162"})
	updated, err := s.c.Batches.Update(t.Context(), []gen.UpdateItem{{ListingID: ids[0], Amount: "150", CurrencyCode: "USD"}})
	require.NoError(t, err)
	_, err = updated.Wait(t.Context())
	require.NoError(t, err)
	deleted, err := s.c.Batches.Delete(t.Context(), ids[1:])
	require.NoError(t, err)
	_, err = deleted.Wait(t.Context())
	require.NoError(t, err)

	s.run("batches", "get", created.ID())
	s.run("batches", "get", created.ID(), "--status", "failed")
	s.run("batches", "get", updated.ID(), "--items")
	s.run("batches", "wait", created.ID(), "--kind", "create")
	s.run("batches", "wait", deleted.ID(), "--csv")
	s.run("batches", "get", created.ID(), "--kind", "sale")
	s.golden("batches")

	got := s.run("batches", "get", updated.ID(), "--items", "--json")
	var item gen.UpdateBatchItem
	require.NoError(t, json.Unmarshal([]byte(got.out), &item))
	assert.Equal(t, ids[0], item.ListingInput.ListingID, "JSON has the item as the service sent it")
	assert.Equal(t, exitFailed, s.run("batches", "get", "98e2e748-8000-45bf-a624-5531d6a68318").code, "unknown")
	before := s.market.Counters().Of(string(gen.OpGetCreateListingsBatch))
	s.run("batches", "get", updated.ID(), "--kind", "update")
	assert.Equal(t, before, s.market.Counters().Of(string(gen.OpGetCreateListingsBatch)), "other kinds are not asked")
}
