package handlers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/govalues/decimal"

	"github.com/sellside-sdk/sellside-go/sandbox/internal/market"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/selling"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/state"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/store"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/wire"
)

// CreateListingsBatch accepts listings to create.
func (h *Handlers) CreateListingsBatch(
	ctx context.Context, r wire.CreateListingsBatchRequestObject,
) (wire.CreateListingsBatchResponseObject, error) {
	items, err := createItems(r.Body.Items)
	if err != nil {
		return nil, err
	}
	b, err := h.submit(ctx, state.Create, items)
	return wire.CreateListingsBatch200JSONResponse{BatchJSONResponse: b}, err
}

// UpdateListingsBatch accepts listings to update.
func (h *Handlers) UpdateListingsBatch(
	ctx context.Context, r wire.UpdateListingsBatchRequestObject,
) (wire.UpdateListingsBatchResponseObject, error) {
	items, err := updateItems(r.Body.Items)
	if err != nil {
		return nil, err
	}
	b, err := h.submit(ctx, state.Update, items)
	return wire.UpdateListingsBatch200JSONResponse{BatchJSONResponse: b}, err
}

// DeleteListingsBatch accepts listings to delete.
func (h *Handlers) DeleteListingsBatch(
	ctx context.Context, r wire.DeleteListingsBatchRequestObject,
) (wire.DeleteListingsBatchResponseObject, error) {
	items, err := deleteItems(r.Body.Items)
	if err != nil {
		return nil, err
	}
	b, err := h.submit(ctx, state.Delete, items)
	return wire.DeleteListingsBatch200JSONResponse{BatchJSONResponse: b}, err
}

// GetCreateListingsBatch reads a create batch; it finds no others.
func (h *Handlers) GetCreateListingsBatch(
	ctx context.Context, r wire.GetCreateListingsBatchRequestObject,
) (wire.GetCreateListingsBatchResponseObject, error) {
	b, err := h.batch(ctx, state.Create, r.BatchID)
	return wire.GetCreateListingsBatch200JSONResponse{BatchJSONResponse: b}, err
}

// GetUpdateListingsBatch reads an update batch; it finds no others.
func (h *Handlers) GetUpdateListingsBatch(
	ctx context.Context, r wire.GetUpdateListingsBatchRequestObject,
) (wire.GetUpdateListingsBatchResponseObject, error) {
	b, err := h.batch(ctx, state.Update, r.BatchID)
	return wire.GetUpdateListingsBatch200JSONResponse{BatchJSONResponse: b}, err
}

// GetDeleteListingsBatch reads a delete batch; it finds no others.
func (h *Handlers) GetDeleteListingsBatch(
	ctx context.Context, r wire.GetDeleteListingsBatchRequestObject,
) (wire.GetDeleteListingsBatchResponseObject, error) {
	b, err := h.batch(ctx, state.Delete, r.BatchID)
	return wire.GetDeleteListingsBatch200JSONResponse{BatchJSONResponse: b}, err
}

// submit inserts a batch, if the quota of the account has room for its items.
func (h *Handlers) submit(
	ctx context.Context, kind string, items []store.Item,
) (wire.BatchJSONResponse, error) {
	if refused := h.items.Take(accountOf(ctx), len(items)); refused != nil {
		return wire.BatchJSONResponse{}, refused
	}
	b, err := h.selling.Submit(ctx, accountOf(ctx), kind, items)
	return batchModel(b), err
}

func (h *Handlers) batch(
	ctx context.Context, kind, id string,
) (response wire.BatchJSONResponse, err error) {
	err = h.viewBatch(ctx, kind, id, func(_ *store.Tx, b store.Batch) error {
		response = batchModel(b)
		return nil
	})
	return response, err
}

// viewBatch finds a batch of a kind and calls read in the same transaction.
func (h *Handlers) viewBatch(ctx context.Context, kind, id string, read func(*store.Tx, store.Batch) error) error {
	if err := pathID("batchId", id); err != nil {
		return err
	}
	return h.store.View(ctx, func(tx *store.Tx) error {
		b, err := tx.Batch(accountOf(ctx), kind, id)
		if errors.Is(err, store.ErrNotFound) {
			return wire.NoSuch(strings.ToLower(kind)+" batch", id)
		}
		if err != nil {
			return err
		}
		return read(tx, b)
	})
}

func batchModel(b store.Batch) wire.BatchJSONResponse {
	return wire.BatchJSONResponse{
		BatchID: b.ID, Status: b.Status, TotalItems: b.TotalItems,
		ItemStatuses: wire.Counts{
			strings.ToLower(state.Queued):     b.Items.Queued,
			strings.ToLower(state.InProgress): b.Items.InProgress,
			strings.ToLower(state.Completed):  b.Items.Completed,
			strings.ToLower(state.Failed):     b.Items.Failed,
		},
		CreatedAt: wire.Time{Time: b.CreatedAt}, UpdatedAt: wire.Time{Time: b.UpdatedAt},
		CompletedAt: timestamp(b.CompletedAt),
	}
}

// ListCreateListingsBatchItems lists the items of a batch, whether done or not.
func (h *Handlers) ListCreateListingsBatchItems(
	ctx context.Context, r wire.ListCreateListingsBatchItemsRequestObject,
) (wire.ListCreateListingsBatchItemsResponseObject, error) {
	var response wire.ListCreateListingsBatchItems200JSONResponse
	err := h.batchItems(ctx, state.Create, r.BatchID, r.Params.Status, func(i store.Item) {
		response.Items = append(response.Items, wire.CreateBatchItem{
			ItemID: &i.ID, Status: &i.Status, Result: itemResult(i), Error: optional(i.Error),
			ListingInput: wire.CreateBatchItemInput{
				VariantID: &i.VariantID, Amount: &i.Amount, CurrencyCode: &i.Currency,
				Active: i.Active, ExpiresAt: timeText(i.ExpiresAt),
			},
		})
	})
	return response, err
}

// ListUpdateListingsBatchItems lists the items of a batch, whether done or not.
func (h *Handlers) ListUpdateListingsBatchItems(
	ctx context.Context, r wire.ListUpdateListingsBatchItemsRequestObject,
) (wire.ListUpdateListingsBatchItemsResponseObject, error) {
	var response wire.ListUpdateListingsBatchItems200JSONResponse
	err := h.batchItems(ctx, state.Update, r.BatchID, r.Params.Status, func(i store.Item) {
		response.Items = append(response.Items, wire.UpdateBatchItem{
			ItemID: i.ID, Status: i.Status, Result: itemResult(i), Error: optional(i.Error),
			ListingInput: wire.UpdateBatchItemInput{
				ListingID: i.ListingID, Amount: optional(i.Amount), CurrencyCode: optional(i.Currency),
				Active: i.Active, ExpiresAt: timeText(i.ExpiresAt),
			},
		})
	})
	return response, err
}

// ListDeleteListingsBatchItems lists the items of a batch, whether done or not.
func (h *Handlers) ListDeleteListingsBatchItems(
	ctx context.Context, r wire.ListDeleteListingsBatchItemsRequestObject,
) (wire.ListDeleteListingsBatchItemsResponseObject, error) {
	var response wire.ListDeleteListingsBatchItems200JSONResponse
	err := h.batchItems(ctx, state.Delete, r.BatchID, r.Params.Status, func(i store.Item) {
		response.Items = append(response.Items, wire.DeleteBatchItem{
			ItemID: i.ID, Status: i.Status, Result: itemResult(i), Error: optional(i.Error),
			ListingInput: wire.DeleteBatchItemInput{ID: i.ListingID},
		})
	})
	return response, err
}

// batchItems calls show for the items of a batch, or those in a status.
func (h *Handlers) batchItems(ctx context.Context, kind, id string, status *string, show func(store.Item)) error {
	statuses, err := oneOf("status", status, state.Queued, state.InProgress, state.Completed, state.Failed)
	if err != nil {
		return err
	}
	if len(statuses) > 1 {
		return wire.Invalidf("query parameter %q: must be one status", "status")
	}
	return h.viewBatch(ctx, kind, id, func(tx *store.Tx, b store.Batch) error {
		items, err := tx.Items(b, append(statuses, "")[0])
		for _, item := range items {
			show(item)
		}
		return err
	})
}

// itemResult returns nil for an item that is not completed.
func itemResult(i store.Item) *wire.BatchItemResult {
	if i.Status != state.Completed {
		return nil
	}
	return &wire.BatchItemResult{ListingID: optional(i.Result.ListingID), AskID: optional(i.Result.AskID)}
}

// Sizes of batches. They are published for updates and deletions, and assumed for the rest.
const (
	maxElements = 100
	maxItems    = 10_000 // after each element became as many items as its quantity
)

// createItems refuses the whole batch if an element is wrong by itself. What is wrong only in the
// state of the marketplace, such as a variant that does not exist, becomes the error of an item
// later.

func createItems(elements []wire.CreateItem) ([]store.Item, error) {
	if err := checkElements(len(elements)); err != nil {
		return nil, err
	}
	var items []store.Item
	for i, e := range elements {
		if err := market.CheckNumeric(e.Amount); err != nil {
			return nil, wire.Invalidf("/items/%d/amount: %s", i, err.Error())
		}
		expires, err := expiry(fmt.Sprint("/items/", i), e.ExpiresAt)
		if err != nil {
			return nil, err
		}
		n, err := quantity(e.Quantity)
		if err != nil {
			return nil, wire.Invalidf("/items/%d/quantity: %s", i, err.Error())
		}
		if len(items)+n > maxItems {
			return nil, wire.Invalidf("/items/%d/quantity: must make %d listings in all at most", i, maxItems)
		}
		item := store.Item{
			VariantID: e.VariantID, Amount: e.Amount, Currency: market.USD, InventoryType: selling.Standard,
			ExpiresAt: expires, Active: new(e.Active == nil || *e.Active),
		}
		if e.CurrencyCode != nil {
			item.Currency = string(*e.CurrencyCode)
		}
		if e.InventoryType != nil {
			item.InventoryType = *e.InventoryType
		}
		for range n {
			items = append(items, item)
		}
	}
	return items, nil
}

// updateItems refuses like createItems.
func updateItems(elements []wire.UpdateItem) ([]store.Item, error) {
	if err := checkElements(len(elements)); err != nil {
		return nil, err
	}
	items := make([]store.Item, 0, len(elements))
	for i, e := range elements {
		expires, err := expiry(fmt.Sprint("/items/", i), e.ExpiresAt)
		if err != nil {
			return nil, err
		}
		item := store.Item{ListingID: e.ListingID, ExpiresAt: expires, Active: e.Active}
		if e.Amount != nil {
			if err := market.CheckNumeric(*e.Amount); err != nil {
				return nil, wire.Invalidf("/items/%d/amount: %s", i, err.Error())
			}
			item.Amount = *e.Amount
		}
		if e.CurrencyCode != nil {
			item.Currency = string(*e.CurrencyCode)
		}
		items = append(items, item)
	}
	return items, nil
}

// deleteItems refuses like createItems.
func deleteItems(elements []wire.DeleteItem) ([]store.Item, error) {
	if err := checkElements(len(elements)); err != nil {
		return nil, err
	}
	items := make([]store.Item, 0, len(elements))
	for _, e := range elements {
		items = append(items, store.Item{ListingID: e.ListingID})
	}
	return items, nil
}

func checkElements(n int) error {
	switch {
	case n == 0:
		return wire.Invalidf("/items: must have one element at least")
	case n > maxElements:
		return wire.Invalidf("/items: must have %d elements at most (%d)", maxElements, n)
	}
	return nil
}

// quantity reads a whole, positive number; 2.0 is whole.
func quantity(text json.Number) (int, error) {
	d, err := decimal.Parse(text.String())
	if err != nil || !d.IsInt() || d.Sign() < 1 {
		return 0, fmt.Errorf("must be a whole number of 1 or more (%.40s)", text)
	}
	whole, _, ok := d.Int64(0)
	if !ok || whole > maxItems {
		return maxItems + 1, nil
	}
	return int(whole), nil
}
