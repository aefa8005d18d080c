package handlers

import (
	"context"
	"encoding/base64"
	"errors"
	"strconv"

	"github.com/sellside-sdk/sellside-go/sandbox/internal/store"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/wire"
)

// ListListingOperations lists operations, newest first, which is assumed.
func (h *Handlers) ListListingOperations(
	ctx context.Context, r wire.ListListingOperationsRequestObject,
) (wire.ListListingOperationsResponseObject, error) {
	if err := pathID("listingId", r.ListingID); err != nil {
		return nil, err
	}
	before, err := parseCursor(r.Params.Cursor)
	if err != nil {
		return nil, err
	}
	size := pageOf[int](nil, r.Params.PageSize).size
	var response wire.ListListingOperations200JSONResponse
	err = h.store.View(ctx, func(tx *store.Tx) error {
		if _, err := tx.Listing(accountOf(ctx), r.ListingID); errors.Is(err, store.ErrNotFound) {
			return wire.NoSuch("listing", r.ListingID)
		} else if err != nil {
			return err
		}
		rows, err := tx.Operations(r.ListingID, before, size+1) // one more if another page follows
		if err != nil {
			return err
		}
		if len(rows) > size {
			rows = rows[:size]
			response.NextCursor = new(formatCursor(rows[size-1].Seq))
		}
		for _, op := range rows {
			response.Operations = append(response.Operations, operation(op))
		}
		return nil
	})
	return response, err
}

// GetListingOperation reads an operation of that listing only.
func (h *Handlers) GetListingOperation(
	ctx context.Context, r wire.GetListingOperationRequestObject,
) (wire.GetListingOperationResponseObject, error) {
	if err := errors.Join(pathID("listingId", r.ListingID), pathID("operationId", r.OperationID)); err != nil {
		return nil, err
	}
	var op store.Operation
	err := h.store.View(ctx, func(tx *store.Tx) (err error) {
		if _, err := tx.Listing(accountOf(ctx), r.ListingID); err != nil {
			return err
		}
		op, err = tx.Operation(r.ListingID, r.OperationID)
		return err
	})
	if errors.Is(err, store.ErrNotFound) {
		return nil, wire.NoSuch("operation", r.OperationID)
	}
	return wire.GetListingOperation200JSONResponse(operation(op)), err
}

// A cursor is the number of the last operation of a page, encoded to be opaque.

func formatCursor(seq int64) string {
	return base64.RawURLEncoding.EncodeToString(strconv.AppendInt([]byte("before:"), seq, 10))
}

func parseCursor(cursor *string) (int64, error) {
	if cursor == nil || *cursor == "" {
		return 0, nil
	}
	text, err := base64.RawURLEncoding.DecodeString(*cursor)
	if err == nil && len(text) > len("before:") && string(text[:len("before:")]) == "before:" {
		if seq, err := strconv.ParseInt(string(text[len("before:"):]), 10, 64); err == nil && seq > 0 {
			return seq, nil
		}
	}
	return 0, wire.Invalidf("query parameter %q: must be a nextCursor of this list (%.40q)", "cursor", *cursor)
}

// operation returns the model of an operation.
func operation(o store.Operation) wire.ListingOperation {
	return wire.ListingOperation{
		ListingID: o.ListingID, OperationID: o.ID, OperationType: o.Type, OperationStatus: o.Status,
		OperationInitiatedBy: &o.InitiatedBy, OperationInitiatedVia: &o.InitiatedVia,
		CreatedAt: wire.Time{Time: o.CreatedAt}, UpdatedAt: wire.Time{Time: o.UpdatedAt},
		Changes: changes(o), Error: optional(o.Error),
	}
}

// started returns the response to the write that started an operation, with the URL of that
// operation.
func (h *Handlers) started(o store.Operation) wire.ListingOperation {
	w := operation(o)
	w.OperationURL = new(h.basePath + "/selling/listings/" + o.ListingID + "/operations/" + o.ID)
	return w
}

// lastOperation returns the model of an operation in its listing. It has the documented members of
// an operation, and the two times under the names that live services give them, too.
func lastOperation(o store.Operation) *wire.LastOperation {
	return &wire.LastOperation{
		OperationID: &o.ID, OperationType: &o.Type, OperationStatus: &o.Status,
		OperationInitiatedBy: &o.InitiatedBy, OperationInitiatedVia: &o.InitiatedVia,
		OperationCreatedAt: timestamp(o.CreatedAt), OperationUpdatedAt: timestamp(o.UpdatedAt),
		ListingID: &o.ListingID, CreatedAt: timestamp(o.CreatedAt), UpdatedAt: timestamp(o.UpdatedAt),
		Changes: changes(o), Error: optional(o.Error),
	}
}

func changes(o store.Operation) *wire.OperationChanges {
	additions := &wire.OperationAdditions{Active: o.Change.Active}
	if o.Change.Amount != 0 || !o.Change.ExpiresAt.IsZero() {
		additions.AskData = &wire.AskData{
			Amount: money(o.Change.Amount, o.Change.Currency), Currency: optional(o.Change.Currency),
			ExpiresAt: timestamp(o.Change.ExpiresAt),
		}
	}
	return &wire.OperationChanges{
		Additions: additions,
		Updates:   &wire.OperationUpdates{UpdatedAt: timestamp(o.UpdatedAt)},
		Removals:  &map[string]any{},
	}
}
