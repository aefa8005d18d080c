package sandbox

import (
	"context"

	"github.com/sellside-sdk/sellside-go/sandbox/internal/state"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/store"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/wire"
)

// ListCreateListingsBatchItems may be called at any time to see how far a batch
// is.
func (s *server) ListCreateListingsBatchItems(ctx context.Context, r wire.ListCreateListingsBatchItemsRequestObject) (wire.ListCreateListingsBatchItemsResponseObject, error) {
	var answer wire.ListCreateListingsBatchItems200JSONResponse
	err := s.batchItems(ctx, state.Create, r.BatchID, r.Params.Status, func(i store.Item) {
		answer.Items = append(answer.Items, wire.CreateBatchItem{
			ItemID: &i.ID, Status: &i.Status, Result: itemResult(i), Error: optional(i.Error),
			ListingInput: wire.CreateBatchItemInput{
				VariantID: &i.VariantID, Amount: &i.Amount, CurrencyCode: &i.Currency, Active: i.Active, ExpiresAt: timeText(i.ExpiresAt),
			},
		})
	})
	return answer, err
}

// ListUpdateListingsBatchItems may be called at any time to see how far a batch
// is.
func (s *server) ListUpdateListingsBatchItems(ctx context.Context, r wire.ListUpdateListingsBatchItemsRequestObject) (wire.ListUpdateListingsBatchItemsResponseObject, error) {
	var answer wire.ListUpdateListingsBatchItems200JSONResponse
	err := s.batchItems(ctx, state.Update, r.BatchID, r.Params.Status, func(i store.Item) {
		answer.Items = append(answer.Items, wire.UpdateBatchItem{
			ItemID: i.ID, Status: i.Status, Result: itemResult(i), Error: optional(i.Error),
			ListingInput: wire.UpdateBatchItemInput{
				ListingID: i.ListingID, Amount: optional(i.Amount), CurrencyCode: optional(i.Currency),
				Active: i.Active, ExpiresAt: timeText(i.ExpiresAt),
			},
		})
	})
	return answer, err
}

// ListDeleteListingsBatchItems may be called at any time to see how far a batch
// is.
func (s *server) ListDeleteListingsBatchItems(ctx context.Context, r wire.ListDeleteListingsBatchItemsRequestObject) (wire.ListDeleteListingsBatchItemsResponseObject, error) {
	var answer wire.ListDeleteListingsBatchItems200JSONResponse
	err := s.batchItems(ctx, state.Delete, r.BatchID, r.Params.Status, func(i store.Item) {
		answer.Items = append(answer.Items, wire.DeleteBatchItem{
			ItemID: i.ID, Status: i.Status, Result: itemResult(i), Error: optional(i.Error),
			ListingInput: wire.DeleteBatchItemInput{ID: i.ListingID},
		})
	})
	return answer, err
}

// batchItems shows the items of a batch one by one, or those in a status.
func (s *server) batchItems(ctx context.Context, kind, id string, status *string, show func(store.Item)) error {
	statuses, err := oneOf("status", status, state.Queued, state.InProgress, state.Completed, state.Failed)
	if err != nil {
		return err
	}
	if len(statuses) > 1 {
		return badRequest("query parameter \"status\": items can be filtered by one status only")
	}
	return s.viewBatch(ctx, kind, id, func(tx *store.Tx, b store.Batch) error {
		items, err := tx.Items(b, append(statuses, "")[0])
		for _, item := range items {
			show(item)
		}
		return err
	})
}

// itemResult is there only when an item was processed successfully.
func itemResult(i store.Item) *wire.BatchItemResult {
	if i.Status != state.Completed {
		return nil
	}
	return &wire.BatchItemResult{ListingID: optional(i.Result.ListingID), AskID: optional(i.Result.AskID)}
}
