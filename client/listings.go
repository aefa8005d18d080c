package client

import (
	"cmp"
	"context"
	"iter"
	"strings"
	"time"

	"github.com/sellside-sdk/sellside-go/gen"
)

// Listings reads and changes single listings. Every write is asynchronous: the service checks the
// input and responds with a pending operation; [Operation.Wait] returns its result.
type Listings struct{ c *Client }

// ListingFilter filters a list of listings. Zero fields filter nothing.
type ListingFilter struct {
	ProductIDs         []string
	VariantIDs         []string
	BatchIDs           []string // Of the batches that created the listings.
	Statuses           []gen.ListingStatus
	InventoryTypes     []gen.InventoryType
	From, To           time.Time // First and last day of creation, inclusive; only their UTC day counts.
	Expired            bool      // Include listings whose ask has expired, which are omitted otherwise.
	ShipmentDisplayIDs []string  // Of the inbound shipments that contain the items.
	PageNumber         int       // The page to start from, 1 or more; 1 by default.
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

// List yields the listings that match, with GET /selling/listings. It requests a page when the loop
// reaches it, and each range starts over. Pages are not a snapshot: a listing that moves to a later
// page during the loop, because others were created, is yielded once if it moves by less than 50,000
// listings, and a listing that moves to an earlier page is missed. The loop remembers no more ids
// than that needs, so its memory does not grow with the list. An error ends the sequence: one of
// [Listings.ListPage], or [ErrPagingStuck] if the list promises more pages but sends the same page
// again, three in a row without a new listing, or the first page once more after those 50,000.
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

// ListPage reads one page of listings with GET /selling/listings. HasNextPage, as on every page of
// this client, is false if the service reports it, if the count implies it, or if the page is empty
// and does not promise more. Errors: [ArgumentError], [ErrBadRequest], [ErrUnauthorized],
// [DecodeError] if the response is not a page.
func (s *Listings) ListPage(ctx context.Context, filter ListingFilter) (*gen.ListingPage, error) {
	params, err := filter.params()
	return s.c.calls(err).ListListings(ctx, params)
}

// Get reads one listing, with its payout and its last operation, with GET
// /selling/listings/{listingId}. Errors: [ErrNotFound], [ErrBadRequest] for an invalid id,
// [ErrUnauthorized], [DecodeError] if the response is not this listing.
func (s *Listings) Get(ctx context.Context, listingID string) (*gen.Listing, error) {
	return s.c.calls().GetListing(ctx, listingID)
}

// Create creates one listing with POST /selling/listings. After [ErrOutcomeUnknown], look for the
// listing before you create it again; package recovery can only do that for a Submission. If the
// response is broken but contains the listingId and the operationId, Create returns the handle
// beside a [DecodeError] that Is [ErrOutcomeUnknown]; wait on the handle to learn the outcome.
// Errors: [ArgumentError], [ErrBadRequest], [ErrUnauthorized], [ErrOutcomeUnknown].
func (s *Listings) Create(ctx context.Context, listing gen.CreateListingRequest) (*Operation, error) {
	const op = gen.OpCreateListing
	calls := s.c.calls(checkID(op, "variantId", listing.VariantID), checkAmount(op, "amount", listing.Amount))
	return s.handle("")(calls.CreateListing(ctx, listing))
}

// Update changes the price, currency or expiry of a listing with PATCH
// /selling/listings/{listingId}. Zero fields of changes are not sent. The service keeps what the
// listing has or, by its published text, sets the default: USD for the currency, and 999 days from
// today for the expiry. So an amount needs its currencyCode; send the expiry too if the listing is
// to keep it (AskExpiresAt of its Ask), and the currency with a new expiry. Changes without any
// field are refused. If the response is broken but contains the operationId, Update returns the
// handle beside a [DecodeError] that Is [ErrOutcomeUnknown]. Errors: [ArgumentError],
// [ErrBadRequest], [ErrUnauthorized], [ErrNotFound], [ErrOutcomeUnknown].
func (s *Listings) Update(
	ctx context.Context, listingID string, changes gen.UpdateListingRequest,
) (*Operation, error) {
	const op = gen.OpUpdateListing
	var unchanged error
	if changes == (gen.UpdateListingRequest{}) {
		unchanged = invalid(op, "changes", "no change: set amount, currencyCode or expiresAt")
	}
	calls := s.c.calls(unchanged, checkChange(op, "", changes.Amount, changes.CurrencyCode))
	return s.handle(listingID)(calls.UpdateListing(ctx, listingID, changes))
}

// Activate gives an inactive listing an ask, with PUT /selling/listings/{listingId}/activate. Zero
// fields of terms are not sent, and become the listing's last terms or the defaults, as in
// [Listings.Update]: an amount needs its currencyCode, and an expiry left out may become 999 days
// from today. A broken response: as [Listings.Update]. Errors: [ArgumentError], [ErrBadRequest],
// [ErrUnauthorized], [ErrNotFound], [ErrOutcomeUnknown].
func (s *Listings) Activate(
	ctx context.Context, listingID string, terms gen.ActivateListingRequest,
) (*Operation, error) {
	calls := s.c.calls(checkChange(gen.OpActivateListing, "", terms.Amount, terms.CurrencyCode))
	return s.handle(listingID)(calls.ActivateListing(ctx, listingID, terms))
}

// Deactivate removes a listing's ask from the market and keeps the listing, with PUT
// /selling/listings/{listingId}/deactivate. The service refuses an inactive listing. A broken
// response: as [Listings.Update]. Errors: [ErrBadRequest], [ErrUnauthorized], [ErrNotFound],
// [ErrOutcomeUnknown].
func (s *Listings) Deactivate(ctx context.Context, listingID string) (*Operation, error) {
	return s.handle(listingID)(s.c.calls().DeactivateListing(ctx, listingID))
}

// Delete deletes a listing with DELETE /selling/listings/{listingId}. A sold listing cannot be
// deleted. A broken response: as [Listings.Update]. Errors: [ErrBadRequest], [ErrUnauthorized],
// [ErrNotFound], [ErrOutcomeUnknown].
func (s *Listings) Delete(ctx context.Context, listingID string) (*Operation, error) {
	return s.handle(listingID)(s.c.calls().DeleteListing(ctx, listingID))
}

// handle returns a function that makes the handle of the operation that a write has started, also
// if the response is broken but contains the ids. listingID is "" for a listing that is being
// created.
func (s *Listings) handle(listingID string) func(*gen.ListingOperation, error) (*Operation, error) {
	return func(started *gen.ListingOperation, err error) (*Operation, error) {
		if err == nil {
			o := s.Operation(started.ListingID, started.OperationID)
			o.last = *started
			return o, nil
		}
		listing, operation := salvage(err, "listingId"), salvage(err, "operationId")
		if listingID != "" && listing != "" && !strings.EqualFold(listing, listingID) {
			return nil, err // the response is about another listing
		}
		if listing = cmp.Or(listingID, listing); listing == "" || operation == "" {
			return nil, err
		}
		return s.Operation(listing, operation), err
	}
}
