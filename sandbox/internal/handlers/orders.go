package handlers

import (
	"context"
	"errors"

	"github.com/sellside-sdk/sellside-go/sandbox/internal/selling"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/state"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/store"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/wire"
)

// GetOrder adds the shipment to what lists show, and a payout that is still to
// come.
func (h *Handlers) GetOrder(ctx context.Context, r wire.GetOrderRequestObject) (wire.GetOrderResponseObject, error) {
	o, err := h.findOrder(ctx, r.OrderNumber)
	if err != nil {
		return nil, err
	}
	answer := h.order(o)
	answer.Shipment = shipment(ctx, o)
	if !selling.SaleFailed(o.Status) {
		answer.Payout, err = payout(o.Amount, o.Currency)
	}
	return wire.GetOrder200JSONResponse(answer), err
}

// findOrder reads an order of the account that asks.
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

// condition is what every item of the sandbox is in. The word is assumed.
const condition = "NEW"

// payoutKnown says whether lists show the payout of an order. Active orders of
// a live service often carry none; assumed is that lists leave it out until it
// is on its way, and that one that will never be paid has none anywhere.
func payoutKnown(status string) bool {
	switch status {
	case state.PayoutPending, state.PayoutFailed, state.PayoutCompleted, state.OrderCompleted:
		return true
	default:
		return false
	}
}

// order shows what lists and the single order have in common.
func (h *Handlers) order(o store.Order) wire.Order {
	w := wire.Order{
		OrderNumber: o.Number, Status: o.Status, ListingID: &o.ListingID, AskID: &o.AskID,
		Amount: money(o.Amount, o.Currency), CurrencyCode: new(wire.CurrencyCode(o.Currency)),
		InventoryType: new(wire.InventoryType(o.InventoryType)),
		CreatedAt:     wire.Time{Time: o.CreatedAt}, UpdatedAt: wire.Time{Time: o.UpdatedAt},
	}
	if v, ok := h.catalog.Variant(o.VariantID); ok {
		w.Product, w.Variant = productReference(v), variantReference(v)
	}
	if o.Authentication != "" {
		w.AuthenticationDetails = &wire.AuthenticationDetails{Status: &o.Authentication}
		if o.Authentication == selling.CheckFailed {
			w.AuthenticationDetails.FailureNotes = new("The item is not what the listing says.")
		}
	}
	w.InitiatedShipments = inbound(o.InboundID)
	return w
}

// inbound shows the shipment that an item is part of.
func inbound(displayID string) *wire.InitiatedShipments {
	if displayID == "" {
		return nil
	}
	return &wire.InitiatedShipments{Inbound: &wire.InboundShipment{DisplayID: &displayID}}
}

// shipmentIDs is the parameter that lists share.
const shipmentIDs = "initiatedShipmentDisplayIds"

// ListActiveOrders lists the newest orders first, or those to be shipped first.
func (h *Handlers) ListActiveOrders(ctx context.Context, r wire.ListActiveOrdersRequestObject) (wire.ListActiveOrdersResponseObject, error) {
	q := r.Params
	filter, err := orderFilter(state.Order.Names(false), (*string)(q.OrderStatus), q.ProductID, q.VariantID, q.InventoryTypes)
	if err != nil {
		return nil, err
	}
	if filter.ShipmentIDs, err = listOf(shipmentIDs, q.InitiatedShipmentDisplayIds); err != nil {
		return nil, err
	}
	filter.ByShipBy = q.SortOrder != nil && *q.SortOrder == wire.OrderSortSHIPBYDATE
	answer, err := h.orders(ctx, filter, pageOf(q.PageNumber, q.PageSize))
	return wire.ListActiveOrders200JSONResponse(answer), err
}

// ListOrderHistory lists the newest orders first.
func (h *Handlers) ListOrderHistory(ctx context.Context, r wire.ListOrderHistoryRequestObject) (wire.ListOrderHistoryResponseObject, error) {
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
	answer, err := h.orders(ctx, filter, pageOf(q.PageNumber, q.PageSize))
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

func (h *Handlers) orders(ctx context.Context, filter store.OrderFilter, p page) (wire.OrderPage, error) {
	filter.Account = accountOf(ctx)
	answer := wire.OrderPage{PageNumber: p.number, PageSize: p.size}
	err := h.store.View(ctx, func(tx *store.Tx) error {
		rows, count, err := tx.Orders(filter, p.size, p.offset())
		if err != nil {
			return err
		}
		answer.Count, answer.HasNextPage = count, p.hasNext(count)
		for _, o := range rows {
			shown := h.order(o)
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
