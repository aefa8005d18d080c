package sandbox

import (
	"context"
	"time"

	"github.com/sellside-sdk/sellside-go/sandbox/internal/selling"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/wire"
)

// CreateListing answers with the pending operation that makes the listing live.
func (s *server) CreateListing(ctx context.Context, r wire.CreateListingRequestObject) (wire.CreateListingResponseObject, error) {
	t, err := terms(&r.Body.Amount, r.Body.CurrencyCode, r.Body.ExpiresAt)
	if err != nil {
		return nil, err
	}
	listing := selling.NewListing{VariantID: r.Body.VariantID, Terms: t}
	listing.Active = r.Body.Active
	if r.Body.InventoryType != nil {
		listing.InventoryType = string(*r.Body.InventoryType)
	}
	op, err := s.selling.Create(ctx, accountOf(ctx), listing)
	return wire.CreateListing201JSONResponse(started(op)), err
}

// UpdateListing answers with the pending operation.
func (s *server) UpdateListing(ctx context.Context, r wire.UpdateListingRequestObject) (wire.UpdateListingResponseObject, error) {
	if err := pathID("listingId", r.ListingID); err != nil {
		return nil, err
	}
	t, err := terms(r.Body.Amount, r.Body.CurrencyCode, r.Body.ExpiresAt)
	if err != nil {
		return nil, err
	}
	op, err := s.selling.Update(ctx, accountOf(ctx), r.ListingID, t)
	return wire.UpdateListing200JSONResponse(started(op)), err
}

// ActivateListing answers with the pending operation.
func (s *server) ActivateListing(ctx context.Context, r wire.ActivateListingRequestObject) (wire.ActivateListingResponseObject, error) {
	if err := pathID("listingId", r.ListingID); err != nil {
		return nil, err
	}
	t, err := terms(r.Body.Amount, r.Body.CurrencyCode, r.Body.ExpiresAt)
	if err != nil {
		return nil, err
	}
	op, err := s.selling.Activate(ctx, accountOf(ctx), r.ListingID, t)
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

// terms reads what a body says about the terms of a listing. It refuses what
// would be taken for nothing said.
func terms(amount *string, currency *wire.CurrencyCode, expires *wire.Time) (t selling.Terms, err error) {
	if amount != nil {
		if t.Amount = *amount; t.Amount == "" {
			return t, badRequest("/amount: it is empty")
		}
	}
	if currency != nil {
		t.Currency = string(*currency)
	}
	t.ExpiresAt, err = expiry("", expires)
	return t, err
}

// expiry reads an optional time that an ask expires at. pointer leads to the
// object it is in.
func expiry(pointer string, t *wire.Time) (time.Time, error) {
	if t == nil {
		return time.Time{}, nil
	}
	if !isDated(t.Time) {
		return time.Time{}, badRequest("%s/expiresAt: %s is not in the years 1970 to 9999 of UTC", pointer, t.Format(time.RFC3339))
	}
	return t.Truncate(time.Millisecond), nil
}
