package sandbox

import (
	"context"

	"github.com/sellside-sdk/sellside-go/sandbox/internal/state"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/store"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/wire"
)

// shipmentIDs is the parameter that lists share.
const shipmentIDs = "initiatedShipmentDisplayIds"

// ListActiveOrders lists the newest orders first, or those to be shipped first.
func (s *server) ListActiveOrders(ctx context.Context, r wire.ListActiveOrdersRequestObject) (wire.ListActiveOrdersResponseObject, error) {
	q := r.Params
	filter, err := orderFilter(state.Order.Names(false), (*string)(q.OrderStatus), q.ProductID, q.VariantID, q.InventoryTypes)
	if err != nil {
		return nil, err
	}
	if filter.ShipmentIDs, err = listOf(shipmentIDs, q.InitiatedShipmentDisplayIds); err != nil {
		return nil, err
	}
	filter.ByShipBy = q.SortOrder != nil && *q.SortOrder == wire.OrderSortSHIPBYDATE
	answer, err := s.orders(ctx, filter, pageOf(q.PageNumber, q.PageSize))
	return wire.ListActiveOrders200JSONResponse(answer), err
}

// ListOrderHistory lists the newest orders first.
func (s *server) ListOrderHistory(ctx context.Context, r wire.ListOrderHistoryRequestObject) (wire.ListOrderHistoryResponseObject, error) {
	q := r.Params
	filter, err := orderFilter(state.Order.Names(true), (*string)(q.OrderStatus), q.ProductID, q.VariantID, q.InventoryTypes)
	if err != nil {
		return nil, err
	}
	if filter.ShipmentIDs, err = listOf(shipmentIDs, q.InitiatedShipmentDisplayIds); err != nil {
		return nil, err
	}
	if filter.From, filter.Until, err = days(q.FromDate, q.ToDate); err != nil {
		return nil, err
	}
	answer, err := s.orders(ctx, filter, pageOf(q.PageNumber, q.PageSize))
	return wire.ListOrderHistory200JSONResponse(answer), err
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
			shown := s.order(o)
			shown.Condition = new(condition)
			if payoutKnown(o.Status) {
				if shown.Payout, err = payout(o.Amount, o.Currency); err != nil {
					return err
				}
			}
			answer.Orders = append(answer.Orders, shown)
		}
		return nil
	})
	return answer, err
}
