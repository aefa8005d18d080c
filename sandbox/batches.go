package sandbox

import (
	"context"
	"errors"
	"strings"

	"github.com/sellside-sdk/sellside-go/sandbox/internal/state"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/store"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/wire"
)

// CreateListingsBatch takes listings to be created.
func (s *server) CreateListingsBatch(ctx context.Context, r wire.CreateListingsBatchRequestObject) (wire.CreateListingsBatchResponseObject, error) {
	items, err := createItems(r.Body.Items)
	if err != nil {
		return nil, err
	}
	b, err := s.submit(ctx, state.Create, items)
	return wire.CreateListingsBatch200JSONResponse{BatchJSONResponse: b}, err
}

// UpdateListingsBatch takes listings to be updated.
func (s *server) UpdateListingsBatch(ctx context.Context, r wire.UpdateListingsBatchRequestObject) (wire.UpdateListingsBatchResponseObject, error) {
	items, err := updateItems(r.Body.Items)
	if err != nil {
		return nil, err
	}
	b, err := s.submit(ctx, state.Update, items)
	return wire.UpdateListingsBatch200JSONResponse{BatchJSONResponse: b}, err
}

// DeleteListingsBatch takes listings to be deleted.
func (s *server) DeleteListingsBatch(ctx context.Context, r wire.DeleteListingsBatchRequestObject) (wire.DeleteListingsBatchResponseObject, error) {
	items, err := deleteItems(r.Body.Items)
	if err != nil {
		return nil, err
	}
	b, err := s.submit(ctx, state.Delete, items)
	return wire.DeleteListingsBatch200JSONResponse{BatchJSONResponse: b}, err
}

// GetCreateListingsBatch reads a create batch; others are not found.
func (s *server) GetCreateListingsBatch(ctx context.Context, r wire.GetCreateListingsBatchRequestObject) (wire.GetCreateListingsBatchResponseObject, error) {
	b, err := s.batch(ctx, state.Create, r.BatchID)
	return wire.GetCreateListingsBatch200JSONResponse{BatchJSONResponse: b}, err
}

// GetUpdateListingsBatch reads an update batch; others are not found.
func (s *server) GetUpdateListingsBatch(ctx context.Context, r wire.GetUpdateListingsBatchRequestObject) (wire.GetUpdateListingsBatchResponseObject, error) {
	b, err := s.batch(ctx, state.Update, r.BatchID)
	return wire.GetUpdateListingsBatch200JSONResponse{BatchJSONResponse: b}, err
}

// GetDeleteListingsBatch reads a delete batch; others are not found.
func (s *server) GetDeleteListingsBatch(ctx context.Context, r wire.GetDeleteListingsBatchRequestObject) (wire.GetDeleteListingsBatchResponseObject, error) {
	b, err := s.batch(ctx, state.Delete, r.BatchID)
	return wire.GetDeleteListingsBatch200JSONResponse{BatchJSONResponse: b}, err
}

// submit writes a batch down and shows it with all its items queued.
func (s *server) submit(ctx context.Context, kind string, items []store.Item) (wire.BatchJSONResponse, error) {
	if err := s.quotas.submit(ctx, len(items)); err != nil {
		return wire.BatchJSONResponse{}, err
	}
	b, err := s.selling.Submit(ctx, accountOf(ctx), kind, items)
	return showBatch(b), err
}

func (s *server) batch(ctx context.Context, kind, id string) (answer wire.BatchJSONResponse, err error) {
	err = s.viewBatch(ctx, kind, id, func(_ *store.Tx, b store.Batch) error {
		answer = showBatch(b)
		return nil
	})
	return answer, err
}

// viewBatch finds a batch of a kind and reads on in the same transaction.
func (s *server) viewBatch(ctx context.Context, kind, id string, read func(*store.Tx, store.Batch) error) error {
	if err := pathID("batchId", id); err != nil {
		return err
	}
	return s.store.View(ctx, func(tx *store.Tx) error {
		b, err := tx.Batch(accountOf(ctx), kind, id)
		if errors.Is(err, store.ErrNotFound) {
			return notFound(strings.ToLower(kind)+" batch", id)
		}
		if err != nil {
			return err
		}
		return read(tx, b)
	})
}

func showBatch(b store.Batch) wire.BatchJSONResponse {
	return wire.BatchJSONResponse{
		BatchID: b.ID, Status: b.Status, TotalItems: b.TotalItems,
		ItemStatuses: wire.Counts{
			strings.ToLower(state.Queued):     b.Items.Queued,
			strings.ToLower(state.InProgress): b.Items.InProgress,
			strings.ToLower(state.Completed):  b.Items.Completed,
			strings.ToLower(state.Failed):     b.Items.Failed,
		},
		CreatedAt: wire.Time{Time: b.CreatedAt}, UpdatedAt: wire.Time{Time: b.UpdatedAt}, CompletedAt: timestamp(b.CompletedAt),
	}
}
