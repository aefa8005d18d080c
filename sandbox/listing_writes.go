package sandbox

import (
	"context"
	"time"

	"github.com/sellside-sdk/sellside-go/sandbox/internal/selling"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/wire"
)

// CreateListing answers with the pending operation that makes the listing live.
func (s *server) CreateListing(ctx context.Context, r wire.CreateListingRequestObject) (wire.CreateListingResponseObject, error) {
	listing := selling.NewListing{VariantID: r.Body.VariantID, Terms: terms(&r.Body.Amount, r.Body.CurrencyCode, r.Body.ExpiresAt)}
	listing.Active = r.Body.Active
	if r.Body.InventoryType != nil {
		listing.InventoryType = string(*r.Body.InventoryType)
	}
	if listing.Amount == "" {
		return nil, badRequest("/amount: it is empty")
	}
	op, err := s.selling.Create(ctx, accountOf(ctx), listing)
	return wire.CreateListing201JSONResponse(started(op)), err
}

// UpdateListing answers with the pending operation.
func (s *server) UpdateListing(ctx context.Context, r wire.UpdateListingRequestObject) (wire.UpdateListingResponseObject, error) {
	if err := pathID("listingId", r.ListingID); err != nil {
		return nil, err
	}
	op, err := s.selling.Update(ctx, accountOf(ctx), r.ListingID, terms(r.Body.Amount, r.Body.CurrencyCode, r.Body.ExpiresAt))
	return wire.UpdateListing200JSONResponse(started(op)), err
}

// ActivateListing answers with the pending operation.
func (s *server) ActivateListing(ctx context.Context, r wire.ActivateListingRequestObject) (wire.ActivateListingResponseObject, error) {
	if err := pathID("listingId", r.ListingID); err != nil {
		return nil, err
	}
	op, err := s.selling.Activate(ctx, accountOf(ctx), r.ListingID, terms(r.Body.Amount, r.Body.CurrencyCode, r.Body.ExpiresAt))
	return wire.ActivateListing200JSONResponse(started(op)), err
}

// DeactivateListing answers with the pending operation.
func (s *server) DeactivateListing(ctx context.Context, r wire.DeactivateListingRequestObject) (wire.DeactivateListingResponseObject, error) {
	if err := pathID("listingId", r.ListingID); err != nil {
		return nil, err
	}
	op, err := s.selling.Deactivate(ctx, accountOf(ctx), r.ListingID)
	return wire.DeactivateListing200JSONResponse(started(op)), err
}

// DeleteListing answers with the pending operation.
func (s *server) DeleteListing(ctx context.Context, r wire.DeleteListingRequestObject) (wire.DeleteListingResponseObject, error) {
	if err := pathID("listingId", r.ListingID); err != nil {
		return nil, err
	}
	op, err := s.selling.Delete(ctx, accountOf(ctx), r.ListingID)
	return wire.DeleteListing200JSONResponse(started(op)), err
}

// terms reads what a body says about the terms of a listing.
func terms(amount *string, currency *wire.CurrencyCode, expires *wire.Time) selling.Terms {
	var t selling.Terms
	if amount != nil {
		t.Amount = *amount
	}
	if currency != nil {
		t.Currency = string(*currency)
	}
	if expires != nil {
		t.ExpiresAt = expires.Truncate(time.Millisecond)
	}
	return t
}
