package client

import (
	"cmp"
	"context"
	"iter"
	"strings"
	"time"

	"github.com/sellside-sdk/sellside-go/gen"
)

// Listings reads and changes single listings. Every write is asynchronous: the service checks the input at
// once and answers with a pending operation, which [Operation.Wait] follows to its end.
type Listings struct{ c *Client }

// ListingFilter filters a list of listings. Zero fields filter nothing.
type ListingFilter struct {
	ProductIDs         []string
	VariantIDs         []string
	BatchIDs           []string // Of the batches that made the listings.
	Statuses           []gen.ListingStatus
	InventoryTypes     []gen.InventoryType
	From, To           time.Time // First and last day of creation, both included; only their UTC day counts.
	Expired            bool      // Show listings whose ask has expired, which are hidden otherwise.
	ShipmentDisplayIDs []string  // Of the inbound shipments the items are part of.
	PageNumber         int       // From 1; List starts there. 1 by default.
	PageSize           int       // 1 to 100; 100 by default.
}

func (p ListingFilter) params() (*gen.ListListingsParams, error) {
	const op = gen.OpListListings
	out := &gen.ListListingsParams{
		PageNumber: set(p.PageNumber), PageSize: new(cmp.Or(p.PageSize, 100)),
		FromDate: day(p.From), ToDate: day(p.To), IsExpired: set(p.Expired),
	}
	return out, joinErrors(
		checkPage(op, p.PageNumber, p.PageSize, 100),
		join(op, "ProductIDs", p.ProductIDs, &out.ProductIDs),
		join(op, "VariantIDs", p.VariantIDs, &out.VariantIDs),
		join(op, "BatchIDs", p.BatchIDs, &out.BatchIDs),
		join(op, "Statuses", p.Statuses, &out.ListingStatuses),
		join(op, "InventoryTypes", p.InventoryTypes, &out.InventoryTypes),
		join(op, "ShipmentDisplayIDs", p.ShipmentDisplayIDs, &out.InitiatedShipmentDisplayIDs),
	)
}

// List yields the listings that match, page after page, with GET /selling/listings (documented). A page is
// asked for when the loop reaches it, and each range starts anew. Pages are no snapshot: a listing is
// yielded once, but one that moves to an earlier page meanwhile is missed. An error is the last thing
// yielded: those of [Listings.ListPage], and [ErrPagingStuck] for the same page again, or three in a row without
// anything new, if the list promises more.
func (s *Listings) List(ctx context.Context, filter ListingFilter) iter.Seq2[gen.Listing, error] {
	return numbered(gen.OpListListings, filter.PageNumber, func(l *gen.Listing) string { return l.ListingID },
		func(number int) (page[gen.Listing], error) {
			filter.PageNumber = number
			p, err := s.ListPage(ctx, filter)
			if err != nil {
				return page[gen.Listing]{}, err
			}
			return page[gen.Listing]{entries: p.Listings, more: p.HasNextPage}, nil
		})
}

// ListPage reads one page of listings with GET /selling/listings (documented). HasNextPage, as on every page of this
// client, is false if the service reports it, if the count implies it, or if the page is empty and does not promise
// more. Errors: [ArgumentError], [ErrBadRequest], [ErrUnauthorized], [DecodeError] for what is not a page.
func (s *Listings) ListPage(ctx context.Context, filter ListingFilter) (*gen.ListingPage, error) {
	params, err := filter.params()
	return do1[gen.ListingPage](ctx, s.c, gen.OpListListings, s.c.low.ListListings, params, err)
}

// Get reads one listing, with its payout and its last operation, with GET /selling/listings/{listingId}
// (documented). Errors: [ErrNotFound], [ErrBadRequest] for what is no id, [ErrUnauthorized], [DecodeError] for what is
// not this listing.
func (s *Listings) Get(ctx context.Context, listingID string) (*gen.Listing, error) {
	return do1[gen.Listing](ctx, s.c, gen.OpGetListing, s.c.low.GetListing, listingID)
}

// Create makes one listing with POST /selling/listings (public). It is never repeated once it may have
// arrived: on [ErrOutcomeUnknown], look for the listing before you create it again. If the response is broken but
// still shows the listingId and the operationId, the handle is returned beside a [DecodeError] that Is
// [ErrOutcomeUnknown], and tells how the write ends. Errors: [ArgumentError], [ErrBadRequest], [ErrUnauthorized].
func (s *Listings) Create(ctx context.Context, listing gen.CreateListingRequest) (*Operation, error) {
	const op = gen.OpCreateListing
	return s.follow("")(do1[gen.ListingOperation](ctx, s.c, op, s.c.low.CreateListing, listing,
		checkID(op, "variantId", listing.VariantID), checkAmount(op, "amount", listing.Amount, true)))
}

// Update changes the price, currency or expiry of a listing with PATCH /selling/listings/{listingId}
// (public); what changes leaves zero stays as it is, and changes that are all zero are refused. If the response is
// broken but still shows the operationId, the handle is returned beside a [DecodeError] that Is [ErrOutcomeUnknown].
// Errors: [ArgumentError], [ErrBadRequest], [ErrUnauthorized], [ErrNotFound], [ErrOutcomeUnknown].
func (s *Listings) Update(ctx context.Context, listingID string, changes gen.UpdateListingRequest) (*Operation, error) {
	const op = gen.OpUpdateListing
	var unchanged error
	if changes == (gen.UpdateListingRequest{}) {
		unchanged = &ArgumentError{Operation: op, Field: "changes", Problem: "nothing changes: set amount, currencyCode or expiresAt"}
	}
	return s.follow(listingID)(do2[gen.ListingOperation](ctx, s.c, op, s.c.low.UpdateListing, listingID, changes,
		unchanged, checkAmount(op, "amount", changes.Amount, false)))
}

// Activate gives an inactive listing an ask again with PUT /selling/listings/{listingId}/activate (public);
// terms left zero are those it had. A broken response: as [Listings.Update]. Errors: [ArgumentError],
// [ErrBadRequest], [ErrUnauthorized], [ErrNotFound], [ErrOutcomeUnknown].
func (s *Listings) Activate(ctx context.Context, listingID string, terms gen.ActivateListingRequest) (*Operation, error) {
	const op = gen.OpActivateListing
	return s.follow(listingID)(do2[gen.ListingOperation](ctx, s.c, op, s.c.low.ActivateListing, listingID, terms, checkAmount(op, "amount", terms.Amount, false)))
}

// Deactivate takes a listing's ask off the market and keeps the listing, with
// PUT /selling/listings/{listingId}/deactivate (documented). An inactive listing is refused. A broken response: as
// [Listings.Update]. Errors: [ErrBadRequest], [ErrUnauthorized], [ErrNotFound], [ErrOutcomeUnknown].
func (s *Listings) Deactivate(ctx context.Context, listingID string) (*Operation, error) {
	return s.follow(listingID)(do1[gen.ListingOperation](ctx, s.c, gen.OpDeactivateListing, s.c.low.DeactivateListing, listingID))
}

// Delete deletes a listing with DELETE /selling/listings/{listingId} (documented). A sold one cannot be
// deleted. A broken response: as [Listings.Update]. Errors: [ErrBadRequest], [ErrUnauthorized], [ErrNotFound],
// [ErrOutcomeUnknown].
func (s *Listings) Delete(ctx context.Context, listingID string) (*Operation, error) {
	return s.follow(listingID)(do1[gen.ListingOperation](ctx, s.c, gen.OpDeleteListing, s.c.low.DeleteListing, listingID))
}

// follow makes what opens the handle of an operation that a write to a listing has started, also if the response is
// broken but shows the ids. The listing is "" if it is only made.
func (s *Listings) follow(listingID string) func(*gen.ListingOperation, error) (*Operation, error) {
	return func(started *gen.ListingOperation, err error) (*Operation, error) {
		if err == nil {
			o := s.Operation(started.ListingID, started.OperationID)
			o.last = *started
			return o, nil
		}
		listing, operation := salvage(err, "listingId"), salvage(err, "operationId")
		if listingID != "" && listing != "" && !strings.EqualFold(listing, listingID) {
			return nil, err // It is about another listing.
		}
		if listing = cmp.Or(listingID, listing); listing == "" || operation == "" {
			return nil, err
		}
		return s.Operation(listing, operation), err
	}
}
