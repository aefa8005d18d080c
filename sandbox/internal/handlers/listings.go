package handlers

import (
	"context"
	"errors"
	"time"

	"github.com/sellside-sdk/sellside-go/sandbox/internal/selling"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/state"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/store"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/wire"
)

// ListListings lists listings, newest first, which is assumed.
func (h *Handlers) ListListings(
	ctx context.Context, r wire.ListListingsRequestObject,
) (wire.ListListingsResponseObject, error) {
	filter, err := h.listingFilter(r.Params)
	if err != nil {
		return nil, err
	}
	filter.Account = accountOf(ctx)
	p := pageOf(r.Params.PageNumber, r.Params.PageSize)
	response := wire.ListListings200JSONResponse{PageNumber: p.number, PageSize: p.size}
	err = h.store.View(ctx, func(tx *store.Tx) error {
		rows, count, err := tx.Listings(filter, p.size, p.offset())
		if err != nil {
			return err
		}
		response.Count, response.HasNextPage = count, p.hasNext(count)
		for _, l := range rows {
			response.Listings = append(response.Listings, h.listing(l))
		}
		return nil
	})
	return response, err
}

func (h *Handlers) listingFilter(q wire.ListListingsParams) (f store.ListingFilter, err error) {
	if f.ProductIDs, err = idsOf("productIds", q.ProductIds); err != nil {
		return f, err
	}
	if f.VariantIDs, err = idsOf("variantIds", q.VariantIds); err != nil {
		return f, err
	}
	if f.BatchIDs, err = idsOf("batchIds", q.BatchIds); err != nil {
		return f, err
	}
	f.Statuses, err = oneOf("listingStatuses", q.ListingStatuses,
		state.Inactive, state.Active, state.Deleted, state.Canceled, state.Matched, state.Completed)
	if err != nil {
		return f, err
	}
	if f.InventoryTypes, err = oneOf("inventoryTypes", q.InventoryTypes, inventoryTypes...); err != nil {
		return f, err
	}
	if f.ShipmentIDs, err = listOf(shipmentIDs, q.InitiatedShipmentDisplayIds); err != nil {
		return f, err
	}
	if f.From, f.Until, err = days(q.FromDate, q.ToDate); err != nil {
		return f, err
	}
	f.WithExpired = q.IsExpired != nil && *q.IsExpired
	return f, nil
}

// GetListing adds the last operation and the payout to what lists have.
func (h *Handlers) GetListing(
	ctx context.Context, r wire.GetListingRequestObject,
) (wire.GetListingResponseObject, error) {
	if err := pathID("listingId", r.ListingID); err != nil {
		return nil, err
	}
	var response wire.Listing
	err := h.store.View(ctx, func(tx *store.Tx) error {
		l, err := tx.Listing(accountOf(ctx), r.ListingID)
		if errors.Is(err, store.ErrNotFound) {
			return wire.NoSuch("listing", r.ListingID)
		}
		if err != nil {
			return err
		}
		last, err := tx.LastOperation(l.ID)
		if err != nil {
			return err
		}
		response = h.listing(l)
		response.LastOperation = lastOperation(last)
		response.Payout, err = payout(l.Amount, l.Currency)
		return err
	})
	return wire.GetListing200JSONResponse(response), err
}

// listing returns the model of a listing in lists.
func (h *Handlers) listing(l store.Listing) wire.Listing {
	w := wire.Listing{
		ListingID: l.ID, Status: l.Status, Amount: money(l.Amount, l.Currency),
		CurrencyCode:  new(wire.CurrencyCode(l.Currency)),
		InventoryType: new(l.InventoryType),
		CreatedAt:     wire.Time{Time: l.CreatedAt}, UpdatedAt: wire.Time{Time: l.UpdatedAt},
	}
	if v, ok := h.catalog.Variant(l.VariantID); ok {
		w.Product, w.Variant = productReference(v), variantReference(v)
	}
	if l.BatchID != "" {
		w.Batch = &wire.ListingBatch{BatchID: &l.BatchID, TaskID: &l.ItemID}
	}
	if l.Ask.ID != "" {
		w.Ask = &wire.ListingAsk{
			AskID: &l.Ask.ID, AskCreatedAt: timestamp(l.Ask.CreatedAt),
			AskUpdatedAt: timestamp(l.Ask.UpdatedAt), AskExpiresAt: timestamp(l.ExpiresAt),
		}
	}
	if l.Order.Number != "" {
		w.Order = &wire.ListingOrder{
			OrderNumber: &l.Order.Number, OrderStatus: &l.Order.Status,
			OrderCreatedAt: timestamp(l.Order.CreatedAt),
		}
	}
	w.InitiatedShipments = inbound(l.Order.InboundID)
	return w
}

// CreateListing responds with the pending operation that makes the listing live.
func (h *Handlers) CreateListing(
	ctx context.Context, r wire.CreateListingRequestObject,
) (wire.CreateListingResponseObject, error) {
	t, err := terms(&r.Body.Amount, r.Body.CurrencyCode, r.Body.ExpiresAt)
	if err != nil {
		return nil, err
	}
	listing := selling.NewListing{VariantID: r.Body.VariantID, Terms: t}
	listing.Active = r.Body.Active
	if r.Body.InventoryType != nil {
		listing.InventoryType = *r.Body.InventoryType
	}
	op, err := h.selling.Create(ctx, accountOf(ctx), listing)
	return wire.CreateListing201JSONResponse(h.started(op)), err
}

// UpdateListing responds with the pending operation.
func (h *Handlers) UpdateListing(
	ctx context.Context, r wire.UpdateListingRequestObject,
) (wire.UpdateListingResponseObject, error) {
	if err := pathID("listingId", r.ListingID); err != nil {
		return nil, err
	}
	t, err := terms(r.Body.Amount, r.Body.CurrencyCode, r.Body.ExpiresAt)
	if err != nil {
		return nil, err
	}
	op, err := h.selling.Update(ctx, accountOf(ctx), r.ListingID, t)
	return wire.UpdateListing200JSONResponse(h.started(op)), err
}

// ActivateListing responds with the pending operation.
func (h *Handlers) ActivateListing(
	ctx context.Context, r wire.ActivateListingRequestObject,
) (wire.ActivateListingResponseObject, error) {
	if err := pathID("listingId", r.ListingID); err != nil {
		return nil, err
	}
	t, err := terms(r.Body.Amount, r.Body.CurrencyCode, r.Body.ExpiresAt)
	if err != nil {
		return nil, err
	}
	op, err := h.selling.Activate(ctx, accountOf(ctx), r.ListingID, t)
	return wire.ActivateListing200JSONResponse(h.started(op)), err
}

// DeactivateListing responds with the pending operation.
func (h *Handlers) DeactivateListing(
	ctx context.Context, r wire.DeactivateListingRequestObject,
) (wire.DeactivateListingResponseObject, error) {
	if err := pathID("listingId", r.ListingID); err != nil {
		return nil, err
	}
	op, err := h.selling.Deactivate(ctx, accountOf(ctx), r.ListingID)
	return wire.DeactivateListing200JSONResponse(h.started(op)), err
}

// DeleteListing responds with the pending operation.
func (h *Handlers) DeleteListing(
	ctx context.Context, r wire.DeleteListingRequestObject,
) (wire.DeleteListingResponseObject, error) {
	if err := pathID("listingId", r.ListingID); err != nil {
		return nil, err
	}
	op, err := h.selling.Delete(ctx, accountOf(ctx), r.ListingID)
	return wire.DeleteListing200JSONResponse(h.started(op)), err
}

// terms reads the terms in a body. It refuses an empty amount, which package selling takes for
// none.
func terms(amount *string, currency *wire.CurrencyCode, expires *wire.Time) (t selling.Terms, err error) {
	if amount != nil {
		if t.Amount = *amount; t.Amount == "" {
			return t, wire.Invalidf("/amount: must not be empty")
		}
	}
	if currency != nil {
		t.Currency = string(*currency)
	}
	t.ExpiresAt, err = expiry("", expires)
	return t, err
}

// expiry reads an optional expiry. pointer is the JSON pointer of its object.
func expiry(pointer string, t *wire.Time) (time.Time, error) {
	if t == nil {
		return time.Time{}, nil
	}
	if !inRange(t.Time) {
		return time.Time{}, wire.Invalidf("%s/expiresAt: must be from 1970 to 9999 in UTC (%s)",
			pointer, t.Format(time.RFC3339))
	}
	return t.Truncate(time.Millisecond), nil
}
