package client

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/sellside-sdk/sellside-go/gen"
)

// Batches creates, updates and deletes many listings at once, asynchronously. Submitting a batch is
// not idempotent, and no operation lists batches: save [Batch.ID] before anything else.
type Batches struct{ c *Client }

// maxWriteItems is how many items an update or a delete batch may have.
const maxWriteItems = 100

// isBatchSubmission reports whether an operation's items count against the quota.
func isBatchSubmission(op gen.OperationID) bool {
	return op == gen.OpCreateListingsBatch || op == gen.OpUpdateListingsBatch || op == gen.OpDeleteListingsBatch
}

// Create submits a batch that creates listings, with POST /selling/batch/create-listing. An item of
// quantity n creates n listings, each with its own result, and counts n times against the quota.
// Equal items are allowed and interchangeable. A batch has up to 100 items ([WithMaxBatchItems]
// changes that); more are [ErrTooManyItems]. If the response is broken but contains the batchId,
// Create returns the handle beside a [DecodeError] that Is [ErrOutcomeUnknown]: save its id, and
// wait for it. Errors: [ArgumentError], [ErrBadRequest], [ErrUnauthorized], [ErrOutcomeUnknown].
func (s *Batches) Create(ctx context.Context, items []gen.CreateItem) (*Batch[gen.CreateBatchItem], error) {
	listings, err := checkCreate(items, s.c.maxBatchItems)
	if err != nil {
		return nil, err
	}
	sent := &submittedBatch{items: listings}
	return submit(ctx, s.ResumeCreate(""), sent,
		gen.Calls.CreateListingsBatch, gen.CreateListingsBatchRequest{Items: items})
}

// CheckCreate returns the [ArgumentError] with which [Batches.Create] would refuse the items, or
// nil. It does not check the number of items, except that there must be one. It does no I/O.
func CheckCreate(items []gen.CreateItem) error {
	_, err := checkCreate(items, len(items))
	return err
}

// checkCreate checks the items of a create batch and counts the listings that they create.
func checkCreate(items []gen.CreateItem, limit int) (listings int, err error) {
	const op = gen.OpCreateListingsBatch
	if err := checkCount(op, len(items), limit); err != nil {
		return 0, err
	}
	for i, item := range items {
		if err := joinErrors(
			checkID(op, fmt.Sprintf("items[%d].variantId", i), item.VariantID),
			checkAmount(op, fmt.Sprintf("items[%d].amount", i), item.Amount),
		); err != nil {
			return 0, err
		}
		quantity := int(item.Quantity)
		if quantity < 1 {
			return 0, invalid(op, fmt.Sprintf("items[%d].quantity", i), "%d is not 1 or more", quantity)
		}
		if quantity > math.MaxInt32-listings {
			return 0, invalid(op, fmt.Sprintf("items[%d].quantity", i), "%d makes too many listings", quantity)
		}
		listings += quantity
	}
	return listings, nil
}

// Update submits a batch that updates listings, 100 at most and each once, with POST
// /selling/batch/update-listing. The variant of a listing cannot change. An amount needs its
// currencyCode, and an expiry left out may become 999 days from today: see [Listings.Update].
// Handle and errors: as [Batches.Create].
func (s *Batches) Update(ctx context.Context, items []gen.UpdateItem) (*Batch[gen.UpdateBatchItem], error) {
	const op = gen.OpUpdateListingsBatch
	if err := checkCount(op, len(items), maxWriteItems); err != nil {
		return nil, err
	}
	ids := make([]string, len(items))
	for i, item := range items {
		if ids[i] = item.ListingID; item == (gen.UpdateItem{ListingID: item.ListingID}) && ids[i] != "" {
			return nil, invalid(op, fmt.Sprintf("items[%d]", i),
				"no change: set amount, currencyCode, expiresAt or active")
		}
		if err := checkChange(op, fmt.Sprintf("items[%d].", i), item.Amount, item.CurrencyCode); err != nil {
			return nil, err
		}
	}
	if err := checkListings(op, "items[%d].listingId", ids); err != nil {
		return nil, err
	}
	sent := &submittedBatch{items: len(items), listingIDs: ids}
	return submit(ctx, s.ResumeUpdate(""), sent,
		gen.Calls.UpdateListingsBatch, gen.UpdateListingsBatchRequest{Items: items})
}

// Delete submits a batch that deletes listings, 100 at most and each once, with POST
// /selling/batch/delete-listing. Items of sold listings fail. Handle and errors: as
// [Batches.Create].
func (s *Batches) Delete(ctx context.Context, listingIDs []string) (*Batch[gen.DeleteBatchItem], error) {
	const op = gen.OpDeleteListingsBatch
	if err := checkCount(op, len(listingIDs), maxWriteItems); err != nil {
		return nil, err
	}
	if err := checkListings(op, "listingIDs[%d]", listingIDs); err != nil {
		return nil, err
	}
	items := make([]gen.DeleteItem, len(listingIDs))
	for i, id := range listingIDs {
		items[i].ListingID = id
	}
	sent := &submittedBatch{items: len(items), listingIDs: slices.Clone(listingIDs)}
	return submit(ctx, s.ResumeDelete(""), sent,
		gen.Calls.DeleteListingsBatch, gen.DeleteListingsBatchRequest{Items: items})
}

// checkListings refuses invalid ids, and a listing that occurs twice: the service does not define
// which of two changes applies. The field has a verb for the index.
func checkListings(op gen.OperationID, field string, ids []string) error {
	at := map[string]int{}
	for i, id := range ids {
		if err := checkID(op, fmt.Sprintf(field, i), id); err != nil {
			return err
		}
		if first, twice := at[strings.ToLower(id)]; twice {
			return invalid(op, fmt.Sprintf(field, i), "same listing as "+field, first)
		}
		at[strings.ToLower(id)] = i
	}
	return nil
}

func checkCount(op gen.OperationID, n, limit int) error {
	if n == 0 {
		return invalid(op, "items", "must not be empty")
	}
	if n > limit {
		return &ArgumentError{
			Operation: op, Field: "items", kind: ErrTooManyItems,
			Problem: fmt.Sprintf("%d exceed the limit of %d items per batch: split them with slices.Chunk", n, limit),
		}
	}
	return nil
}

// submit sends a batch and returns its handle b, also if the response is broken but contains the
// batchId.
func submit[T, B any](
	ctx context.Context, b *Batch[T], sent *submittedBatch,
	send func(gen.Calls, context.Context, B) (*gen.Batch, error), body B,
) (*Batch[T], error) {
	b.submitted = sent
	call := b.c.newCall()
	call.items = sent.items
	snapshot, err := send(gen.Calls{Invoker: call}, ctx, body)
	sent.at = time.Now()
	if err != nil {
		if b.id = salvage(err, "batchId"); b.id == "" {
			return nil, err
		}
		return b, err
	}
	b.id = snapshot.BatchID
	b.store(snapshot, poll{at: sent.at})
	return b, nil
}

// ResumeCreate returns the handle of a create batch by its id, for example after a restart. It does
// no I/O.
func (s *Batches) ResumeCreate(batchID string) *Batch[gen.CreateBatchItem] {
	return newBatch(s.c, batchID, batchKind[gen.CreateBatchItem]{
		get: gen.Calls.GetCreateListingsBatch,
		items: func(ctx context.Context, id string, status *gen.BatchItemStatus) ([]gen.CreateBatchItem, error) {
			params := &gen.ListCreateListingsBatchItemsParams{Status: status}
			list, err := s.c.calls().ListCreateListingsBatchItems(ctx, id, params)
			if err != nil {
				return nil, err
			}
			return list.Items, nil
		},
		view: func(i *gen.CreateBatchItem) batchItem {
			return batchItem{i.ItemID, i.Status, i.Error, "", i.Result.ListingID}
		},
	})
}

// ResumeUpdate returns the handle of an update batch by its id. It does no I/O.
func (s *Batches) ResumeUpdate(batchID string) *Batch[gen.UpdateBatchItem] {
	return newBatch(s.c, batchID, batchKind[gen.UpdateBatchItem]{
		get: gen.Calls.GetUpdateListingsBatch,
		items: func(ctx context.Context, id string, status *gen.BatchItemStatus) ([]gen.UpdateBatchItem, error) {
			params := &gen.ListUpdateListingsBatchItemsParams{Status: status}
			list, err := s.c.calls().ListUpdateListingsBatchItems(ctx, id, params)
			if err != nil {
				return nil, err
			}
			return list.Items, nil
		},
		view: func(i *gen.UpdateBatchItem) batchItem {
			return batchItem{i.ItemID, i.Status, i.Error, i.ListingInput.ListingID, i.Result.ListingID}
		},
	})
}

// ResumeDelete returns the handle of a delete batch by its id. It does no I/O.
func (s *Batches) ResumeDelete(batchID string) *Batch[gen.DeleteBatchItem] {
	return newBatch(s.c, batchID, batchKind[gen.DeleteBatchItem]{
		get: gen.Calls.GetDeleteListingsBatch,
		items: func(ctx context.Context, id string, status *gen.BatchItemStatus) ([]gen.DeleteBatchItem, error) {
			params := &gen.ListDeleteListingsBatchItemsParams{Status: status}
			list, err := s.c.calls().ListDeleteListingsBatchItems(ctx, id, params)
			if err != nil {
				return nil, err
			}
			return list.Items, nil
		},
		view: func(i *gen.DeleteBatchItem) batchItem {
			return batchItem{i.ItemID, i.Status, i.Error, i.ListingInput.ID, i.Result.ListingID}
		},
	})
}
