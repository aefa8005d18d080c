package sandbox

import (
	"context"
	"errors"

	"github.com/sellside-sdk/sellside-go/sandbox/internal/state"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/store"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/wire"
)

// ListListings lists the newest listings first; the order is assumed.
func (s *server) ListListings(ctx context.Context, r wire.ListListingsRequestObject) (wire.ListListingsResponseObject, error) {
	filter, err := s.listingFilter(r.Params)
	if err != nil {
		return nil, err
	}
	filter.Account = accountOf(ctx)
	p := pageOf(r.Params.PageNumber, r.Params.PageSize)
	answer := wire.ListListings200JSONResponse{PageNumber: p.number, PageSize: p.size}
	err = s.store.View(ctx, func(tx *store.Tx) error {
		rows, count, err := tx.Listings(filter, p.size, p.offset())
		if err != nil {
			return err
		}
		answer.Count, answer.HasNextPage = count, p.hasNext(count)
		for _, l := range rows {
			answer.Listings = append(answer.Listings, s.listing(l))
		}
		return nil
	})
	return answer, err
}

func (s *server) listingFilter(q wire.ListListingsParams) (f store.ListingFilter, err error) {
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
	if f.InventoryTypes, err = oneOf("inventoryTypes", q.InventoryTypes, "STANDARD", "DIRECT", "FLEX", "DFS"); err != nil {
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

// GetListing shows more of a listing than a list does.
func (s *server) GetListing(ctx context.Context, r wire.GetListingRequestObject) (wire.GetListingResponseObject, error) {
	if err := pathID("listingId", r.ListingID); err != nil {
		return nil, err
	}
	var answer wire.Listing
	err := s.store.View(ctx, func(tx *store.Tx) error {
		l, err := tx.Listing(accountOf(ctx), r.ListingID)
		if errors.Is(err, store.ErrNotFound) {
			return notFound("listing", r.ListingID)
		}
		if err != nil {
			return err
		}
		last, err := tx.LastOperation(l.ID)
		if err != nil {
			return err
		}
		answer = s.listing(l)
		answer.LastOperation = lastOperation(last)
		answer.Payout, err = payout(l.Amount, l.Currency)
		return err
	})
	return wire.GetListing200JSONResponse(answer), err
}

// listing shows a listing as lists do.
func (s *server) listing(l store.Listing) wire.Listing {
	w := wire.Listing{
		ListingID: l.ID, Status: l.Status, Amount: money(l.Amount, l.Currency),
		CurrencyCode: new(wire.CurrencyCode(l.Currency)), InventoryType: new(wire.InventoryType(l.InventoryType)),
		CreatedAt: wire.Time{Time: l.CreatedAt}, UpdatedAt: wire.Time{Time: l.UpdatedAt},
	}
	if v, ok := s.catalog.Variant(l.VariantID); ok {
		w.Product, w.Variant = productReference(v), variantReference(v)
	}
	if l.BatchID != "" {
		w.Batch = &wire.ListingBatch{BatchID: &l.BatchID, TaskID: &l.ItemID}
	}
	if l.Ask.ID != "" {
		w.Ask = &wire.ListingAsk{
			AskID: &l.Ask.ID, AskCreatedAt: timestamp(l.Ask.CreatedAt), AskUpdatedAt: timestamp(l.Ask.UpdatedAt),
			AskExpiresAt: timestamp(l.ExpiresAt),
		}
	}
	if l.Order.Number != "" {
		w.Order = &wire.ListingOrder{
			OrderNumber: &l.Order.Number, OrderStatus: &l.Order.Status, OrderCreatedAt: timestamp(l.Order.CreatedAt),
		}
	}
	w.InitiatedShipments = inbound(l.Order.InboundID)
	return w
}
