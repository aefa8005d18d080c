package sandbox

import (
	"context"
	"errors"

	"github.com/sellside-sdk/sellside-go/sandbox/internal/store"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/wire"
)

// An order is active until its payout, and then in history.
var (
	activeStatuses = []string{
		"CREATED", "CCAUTHORIZATIONFAILED", "SHIPPED", "RECEIVED", "AUTHENTICATING", "AUTHENTICATED", "PAYOUTPENDING",
		"PAYOUTCOMPLETED", "SYSTEMFULFILLED", "PAYOUTFAILED", "SUSPENDED", "PENDING", "DONOTSHIP",
	}
	historicalStatuses = []string{"AUTHFAILED", "DIDNOTSHIP", "CANCELED", "COMPLETED", "RETURNED"}
)

// ListActiveOrders lists the newest orders first, or those to be shipped first.
func (s *server) ListActiveOrders(ctx context.Context, r wire.ListActiveOrdersRequestObject) (wire.ListActiveOrdersResponseObject, error) {
	q := r.Params
	filter, err := orderFilter(activeStatuses, (*string)(q.OrderStatus), q.ProductID, q.VariantID, q.InventoryTypes)
	if err != nil {
		return nil, err
	}
	filter.ShipmentIDs = listOf(q.InitiatedShipmentDisplayIds)
	filter.ByShipBy = q.SortOrder != nil && *q.SortOrder == wire.OrderSortSHIPBYDATE
	answer, err := s.orders(ctx, filter, pageOf(q.PageNumber, q.PageSize))
	return wire.ListActiveOrders200JSONResponse(answer), err
}

// ListOrderHistory lists the newest orders first.
func (s *server) ListOrderHistory(ctx context.Context, r wire.ListOrderHistoryRequestObject) (wire.ListOrderHistoryResponseObject, error) {
	q := r.Params
	filter, err := orderFilter(historicalStatuses, (*string)(q.OrderStatus), q.ProductID, q.VariantID, q.InventoryTypes)
	if err != nil {
		return nil, err
	}
	filter.ShipmentIDs = listOf(q.InitiatedShipmentDisplayIds)
	if filter.From, filter.Until, err = days(q.FromDate, q.ToDate); err != nil {
		return nil, err
	}
	answer, err := s.orders(ctx, filter, pageOf(q.PageNumber, q.PageSize))
	return wire.ListOrderHistory200JSONResponse(answer), err
}

// GetOrder adds the shipment to what lists show.
func (s *server) GetOrder(ctx context.Context, r wire.GetOrderRequestObject) (wire.GetOrderResponseObject, error) {
	var o store.Order
	err := s.store.View(ctx, func(tx *store.Tx) (err error) {
		o, err = tx.Order(accountOf(ctx), r.OrderNumber)
		return err
	})
	if errors.Is(err, store.ErrNotFound) {
		return nil, notFound("order", r.OrderNumber)
	}
	if err != nil {
		return nil, err
	}
	answer, err := s.order(o)
	answer.Shipment = &wire.Shipment{
		ShipByDate: timeText(o.ShipBy), CarrierCode: &o.Carrier, TrackingNumber: &o.TrackingNumber,
	}
	return wire.GetOrder200JSONResponse(answer), err
}

func orderFilter(statuses []string, status, productID, variantID, inventoryTypes *string) (f store.OrderFilter, err error) {
	f.Statuses = statuses
	if status != nil {
		f.Statuses = []string{*status}
	}
	if productID != nil {
		if f.ProductID, err = *productID, queryID("productId", *productID); err != nil {
			return f, err
		}
	}
	if variantID != nil {
		if f.VariantID, err = *variantID, queryID("variantId", *variantID); err != nil {
			return f, err
		}
	}
	f.InventoryTypes, err = oneOf("inventoryTypes", inventoryTypes, "STANDARD", "DIRECT", "FLEX", "DFS")
	return f, err
}

func (s *server) orders(ctx context.Context, filter store.OrderFilter, p page) (wire.OrderPage, error) {
	filter.Account = accountOf(ctx)
	answer := wire.OrderPage{PageNumber: p.number, PageSize: p.size}
	err := s.store.View(ctx, func(tx *store.Tx) error {
		rows, count, err := tx.Orders(filter, p.size, p.offset())
		if err != nil {
			return err
		}
		answer.Count, answer.HasNextPage = count, p.hasNext(count)
		for _, o := range rows {
			shown, err := s.order(o)
			if err != nil {
				return err
			}
			answer.Orders = append(answer.Orders, shown)
		}
		return nil
	})
	return answer, err
}

// order shows an order as lists do.
func (s *server) order(o store.Order) (wire.Order, error) {
	w := wire.Order{
		OrderNumber: o.Number, Status: o.Status, ListingID: &o.ListingID, AskID: &o.AskID,
		Amount: money(o.Amount, o.Currency), CurrencyCode: new(wire.CurrencyCode(o.Currency)),
		InventoryType: new(wire.InventoryType(o.InventoryType)),
		CreatedAt:     wire.Time{Time: o.CreatedAt}, UpdatedAt: wire.Time{Time: o.UpdatedAt},
	}
	if v, ok := s.catalog.Variant(o.VariantID); ok {
		w.Product, w.Variant = productReference(v), variantReference(v)
	}
	var err error
	w.Payout, err = payout(o.Amount, o.Currency)
	return w, err
}
