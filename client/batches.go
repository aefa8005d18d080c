package client

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/sellside-sdk/sellside-go/gen"
)

// Batches creates, updates and deletes many listings at once, asynchronously. Submitting is not idempotent,
// and no operation lists batches: save [Batch.ID] before anything else.
type Batches struct{ c *Client }

// maxWriteItems is how many items an update or a delete batch may have.
const maxWriteItems = 100

// isBatchSubmission reports whether an operation's items count against the quota.
func isBatchSubmission(op gen.OperationID) bool {
	return op == gen.OpCreateListingsBatch || op == gen.OpUpdateListingsBatch || op == gen.OpDeleteListingsBatch
}

// Create submits listings to be created with POST /selling/batch/create-listing (public). An item of
// quantity n makes n listings, each with a result of its own, and counts n times against the quota. Equal
// items are allowed and interchangeable. It takes up to 100 items ([WithMaxBatchItems] changes that); more
// are [ErrTooManyItems]. If the response is broken but still shows the batchId, the handle is returned beside a
// [DecodeError] that Is [ErrOutcomeUnknown]: save its id, and wait for it. Errors: [ArgumentError], [ErrBadRequest],
// [ErrUnauthorized], [ErrOutcomeUnknown].
func (s *Batches) Create(ctx context.Context, items []gen.CreateItem) (*Batch[gen.CreateBatchItem], error) {
	listings, err := checkCreate(items, s.c.maxBatchItems)
	if err != nil {
		return nil, err
	}
	sent := &submission{items: listings}
	return submit(ctx, gen.OpCreateListingsBatch, sent, s.ResumeCreate, s.c.low.CreateListingsBatch, gen.CreateListingsBatchRequest{Items: items})
}

// CheckCreate returns the [ArgumentError] of the first item that [Batches.Create] refuses, or of a
// list without items, and nil if there is none. It does not check how many items a batch may have.
// It does no I/O.
func CheckCreate(items []gen.CreateItem) error {
	_, err := checkCreate(items, len(items))
	return err
}

// checkCreate checks the items of a create batch and counts the listings that they make.
func checkCreate(items []gen.CreateItem, most int) (listings int, err error) {
	const op = gen.OpCreateListingsBatch
	if err := checkCount(op, len(items), most); err != nil {
		return 0, err
	}
	for i, item := range items {
		if err := joinErrors(
			checkID(op, fmt.Sprintf("items[%d].variantId", i), item.VariantID),
			checkAmount(op, fmt.Sprintf("items[%d].amount", i), item.Amount, true),
		); err != nil {
			return 0, err
		}
		quantity := int(item.Quantity)
		if quantity < 1 || quantity > math.MaxInt32-listings {
			problem := fmt.Sprintf("%d is not 1 or more", quantity)
			if quantity > 0 {
				problem = fmt.Sprintf("%d makes more listings than can be counted", quantity)
			}
			return 0, &ArgumentError{Operation: op, Field: fmt.Sprintf("items[%d].quantity", i), Problem: problem}
		}
		listings += quantity
	}
	return listings, nil
}

// Update submits listings to be updated, 100 at most and each once, with POST /selling/batch/update-listing (public).
// The variant of a listing cannot be changed. Handle and errors: as [Batches.Create].
func (s *Batches) Update(ctx context.Context, items []gen.UpdateItem) (*Batch[gen.UpdateBatchItem], error) {
	const op = gen.OpUpdateListingsBatch
	if err := checkCount(op, len(items), maxWriteItems); err != nil {
		return nil, err
	}
	ids := make([]string, len(items))
	for i, item := range items {
		if ids[i] = item.ListingID; item == (gen.UpdateItem{ListingID: item.ListingID}) && ids[i] != "" {
			return nil, &ArgumentError{Operation: op, Field: fmt.Sprintf("items[%d]", i), Problem: "nothing changes: set amount, currencyCode, expiresAt or active"}
		}
		if err := checkAmount(op, fmt.Sprintf("items[%d].amount", i), item.Amount, false); err != nil {
			return nil, err
		}
	}
	if err := checkListings(op, "items[%d].listingId", ids); err != nil {
		return nil, err
	}
	sent := &submission{items: len(items), listingIDs: ids}
	return submit(ctx, op, sent, s.ResumeUpdate, s.c.low.UpdateListingsBatch, gen.UpdateListingsBatchRequest{Items: items})
}

// Delete submits listings to be deleted, 100 at most and each once, with POST /selling/batch/delete-listing (public).
// Sold listings fail, the others are deleted. Handle and errors: as [Batches.Create].
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
	sent := &submission{items: len(items), listingIDs: slices.Clone(listingIDs)}
	return submit(ctx, op, sent, s.ResumeDelete, s.c.low.DeleteListingsBatch, gen.DeleteListingsBatchRequest{Items: items})
}

// checkListings refuses ids that are none, and one listing twice: of two changes to it, which one wins is not known.
// The field has a verb for the index.
func checkListings(op gen.OperationID, field string, ids []string) error {
	at := map[string]int{}
	for i, id := range ids {
		if err := checkID(op, fmt.Sprintf(field, i), id); err != nil {
			return err
		}
		if first, twice := at[strings.ToLower(id)]; twice {
			return &ArgumentError{Operation: op, Field: fmt.Sprintf(field, i), Problem: fmt.Sprintf("the listing is the same as in "+field, first)}
		}
		at[strings.ToLower(id)] = i
	}
	return nil
}

func checkCount(op gen.OperationID, n, most int) error {
	if n == 0 {
		return &ArgumentError{Operation: op, Field: "items", Problem: "there are none"}
	}
	if n > most {
		return &ArgumentError{Operation: op, Field: "items", kind: ErrTooManyItems, Problem: fmt.Sprintf("%d are more than the %d that one batch takes: split them with slices.Chunk", n, most)}
	}
	return nil
}

// submit sends a batch and opens its handle, also if the response is broken but shows the batchId.
func submit[T, B any](ctx context.Context, op gen.OperationID, sent *submission, open func(string) *Batch[T], m method[B], body B) (*Batch[T], error) {
	b := open("")
	b.sent = sent
	call := newCall(op)
	call.items = sent.items
	snapshot, err := do[gen.Batch](ctx, b.c, call, func(ctx context.Context) (*http.Response, error) { return m(ctx, body) })
	sent.at = time.Now()
	if err != nil {
		if b.id = salvage(err, "batchId"); b.id == "" {
			return nil, err
		}
		return b, err
	}
	b.id = snapshot.BatchID
	b.keep(snapshot, poll{at: sent.at})
	return b, nil
}

// ResumeCreate returns the handle of a create batch by its id, for instance after a restart. It does no I/O.
func (s *Batches) ResumeCreate(batchID string) *Batch[gen.CreateBatchItem] {
	return newBatch(s.c, batchID, batchKind[gen.CreateBatchItem]{
		get: gen.OpGetCreateListingsBatch, read: s.c.low.GetCreateListingsBatch, list: gen.OpListCreateListingsBatchItems,
		items: func(ctx context.Context, id string, status *gen.BatchItemStatus, _ ...gen.RequestEditorFn) (*http.Response, error) {
			return s.c.low.ListCreateListingsBatchItems(ctx, id, &gen.ListCreateListingsBatchItemsParams{Status: status})
		},
		view: func(i *gen.CreateBatchItem) batchItem {
			return batchItem{i.ItemID, i.Status, i.Error, "", i.Result.ListingID}
		},
	})
}

// ResumeUpdate returns the handle of an update batch by its id. It does no I/O.
func (s *Batches) ResumeUpdate(batchID string) *Batch[gen.UpdateBatchItem] {
	return newBatch(s.c, batchID, batchKind[gen.UpdateBatchItem]{
		get: gen.OpGetUpdateListingsBatch, read: s.c.low.GetUpdateListingsBatch, list: gen.OpListUpdateListingsBatchItems,
		items: func(ctx context.Context, id string, status *gen.BatchItemStatus, _ ...gen.RequestEditorFn) (*http.Response, error) {
			return s.c.low.ListUpdateListingsBatchItems(ctx, id, &gen.ListUpdateListingsBatchItemsParams{Status: status})
		},
		view: func(i *gen.UpdateBatchItem) batchItem {
			return batchItem{i.ItemID, i.Status, i.Error, i.ListingInput.ListingID, i.Result.ListingID}
		},
	})
}

// ResumeDelete returns the handle of a delete batch by its id. It does no I/O.
func (s *Batches) ResumeDelete(batchID string) *Batch[gen.DeleteBatchItem] {
	return newBatch(s.c, batchID, batchKind[gen.DeleteBatchItem]{
		get: gen.OpGetDeleteListingsBatch, read: s.c.low.GetDeleteListingsBatch, list: gen.OpListDeleteListingsBatchItems,
		items: func(ctx context.Context, id string, status *gen.BatchItemStatus, _ ...gen.RequestEditorFn) (*http.Response, error) {
			return s.c.low.ListDeleteListingsBatchItems(ctx, id, &gen.ListDeleteListingsBatchItemsParams{Status: status})
		},
		view: func(i *gen.DeleteBatchItem) batchItem {
			return batchItem{i.ItemID, i.Status, i.Error, i.ListingInput.ID, i.Result.ListingID}
		},
	})
}
