package handlers

import (
	"context"
	"errors"

	"github.com/sellside-sdk/sellside-go/sandbox/internal/selling"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/state"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/store"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/wire"
)

// GetOrder adds the shipment to what lists have, and the payout even if it is still to come.
func (h *Handlers) GetOrder(
	ctx context.Context, r wire.GetOrderRequestObject,
) (wire.GetOrderResponseObject, error) {
	o, err := h.findOrder(ctx, r.OrderNumber)
	if err != nil {
		return nil, err
	}
	response := h.order(o)
	response.Shipment = shipment(ctx, o)
	if !selling.SaleFailed(o.Status) {
		response.Payout, err = payout(o.Amount, o.Currency)
	}
	return wire.GetOrder200JSONResponse(response), err
}

// findOrder reads an order of the account of the request.
func (h *Handlers) findOrder(ctx context.Context, number string) (o store.Order, err error) {
	err = h.store.View(ctx, func(tx *store.Tx) (err error) {
		o, err = tx.Order(accountOf(ctx), number)
		return err
	})
	if errors.Is(err, store.ErrNotFound) {
		return o, wire.NoSuch("order", number)
	}
	return o, err
}

// condition is that of every item. The word is assumed.
const condition = "NEW"

// listsPayout reports whether lists have the payout of an order in a status. Active orders of a
// live service often have none; assumed is that lists leave it out until it is started, and that an
// order that will never be paid has none anywhere.
func listsPayout(status string) bool {
	switch status {
	case state.PayoutPending, state.PayoutFailed, state.PayoutCompleted, state.OrderCompleted:
		return true
	default:
		return false
	}
}

// order returns the model of an order, without the members that only some responses have.
func (h *Handlers) order(o store.Order) wire.Order {
	w := wire.Order{
		OrderNumber: o.Number, Status: o.Status, ListingID: &o.ListingID, AskID: &o.AskID,
		Amount: money(o.Amount, o.Currency), CurrencyCode: new(wire.CurrencyCode(o.Currency)),
		InventoryType: new(o.InventoryType),
		CreatedAt:     wire.Time{Time: o.CreatedAt}, UpdatedAt: wire.Time{Time: o.UpdatedAt},
	}
	if v, ok := h.catalog.Variant(o.VariantID); ok {
		w.Product, w.Variant = productReference(v), variantReference(v)
	}
	if o.Authentication != "" {
		w.AuthenticationDetails = &wire.AuthenticationDetails{Status: &o.Authentication}
		if o.Authentication == selling.AuthenticationFailed {
			w.AuthenticationDetails.FailureNotes = new("The item is not what the listing says.")
		}
	}
	w.InitiatedShipments = inbound(o.InboundID)
	return w
}

// inbound returns the inbound shipment of an item, or nil.
func inbound(displayID string) *wire.InitiatedShipments {
	if displayID == "" {
		return nil
	}
	return &wire.InitiatedShipments{Inbound: &wire.InboundShipment{DisplayID: &displayID}}
}

// ListActiveOrders lists orders, newest first or most urgent first.
func (h *Handlers) ListActiveOrders(
	ctx context.Context, r wire.ListActiveOrdersRequestObject,
) (wire.ListActiveOrdersResponseObject, error) {
	q := r.Params
	filter, err := orderFilter(state.Order.Names(false), (*string)(q.OrderStatus),
		q.ProductID, q.VariantID, q.InventoryTypes)
	if err != nil {
		return nil, err
	}
	if filter.ShipmentIDs, err = listOf(shipmentIDs, q.InitiatedShipmentDisplayIds); err != nil {
		return nil, err
	}
	filter.ByShipBy = q.SortOrder != nil && *q.SortOrder == wire.OrderSortSHIPBYDATE
	response, err := h.orders(ctx, filter, pageOf(q.PageNumber, q.PageSize))
	return wire.ListActiveOrders200JSONResponse(response), err
}

// ListOrderHistory lists orders, newest first.
func (h *Handlers) ListOrderHistory(
	ctx context.Context, r wire.ListOrderHistoryRequestObject,
) (wire.ListOrderHistoryResponseObject, error) {
	q := r.Params
	filter, err := orderFilter(state.Order.Names(true), (*string)(q.OrderStatus),
		q.ProductID, q.VariantID, q.InventoryTypes)
	if err != nil {
		return nil, err
	}
	if filter.ShipmentIDs, err = listOf(shipmentIDs, q.InitiatedShipmentDisplayIds); err != nil {
		return nil, err
	}
	if filter.From, filter.Until, err = days(q.FromDate, q.ToDate); err != nil {
		return nil, err
	}
	response, err := h.orders(ctx, filter, pageOf(q.PageNumber, q.PageSize))
	return wire.ListOrderHistory200JSONResponse(response), err
}

func orderFilter(
	statuses []string, status, productID, variantID, types *string,
) (f store.OrderFilter, err error) {
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
	f.InventoryTypes, err = oneOf("inventoryTypes", types, inventoryTypes...)
	return f, err
}

func (h *Handlers) orders(
	ctx context.Context, filter store.OrderFilter, p page,
) (wire.OrderPage, error) {
	filter.Account = accountOf(ctx)
	response := wire.OrderPage{PageNumber: p.number, PageSize: p.size}
	err := h.store.View(ctx, func(tx *store.Tx) error {
		rows, count, err := tx.Orders(filter, p.size, p.offset())
		if err != nil {
			return err
		}
		response.Count, response.HasNextPage = count, p.hasNext(count)
		for _, o := range rows {
			shown := h.order(o)
			shown.Condition = new(condition)
			if listsPayout(o.Status) {
				if shown.Payout, err = payout(o.Amount, o.Currency); err != nil {
					return err
				}
			}
			response.Orders = append(response.Orders, shown)
		}
		return nil
	})
	return response, err
}
