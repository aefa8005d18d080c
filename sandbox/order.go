package sandbox

import (
	"context"
	"errors"
	"fmt"

	"github.com/sellside-sdk/sellside-go/sandbox/internal/selling"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/state"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/store"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/wire"
)

// GetOrder adds the shipment to what lists show, and a payout that is still to
// come.
func (s *server) GetOrder(ctx context.Context, r wire.GetOrderRequestObject) (wire.GetOrderResponseObject, error) {
	o, err := s.findOrder(ctx, r.OrderNumber)
	if err != nil {
		return nil, err
	}
	answer := s.order(o)
	answer.Shipment = shipment(ctx, o)
	if !selling.SaleFailed(o.Status) {
		answer.Payout, err = payout(o.Amount, o.Currency)
	}
	return wire.GetOrder200JSONResponse(answer), err
}

// findOrder reads an order of the account that asks.
func (s *server) findOrder(ctx context.Context, number string) (o store.Order, err error) {
	err = s.store.View(ctx, func(tx *store.Tx) (err error) {
		o, err = tx.Order(accountOf(ctx), number)
		return err
	})
	if errors.Is(err, store.ErrNotFound) {
		return o, notFound("order", number)
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
func (s *server) order(o store.Order) wire.Order {
	w := wire.Order{
		OrderNumber: o.Number, Status: o.Status, ListingID: &o.ListingID, AskID: &o.AskID,
		Amount: money(o.Amount, o.Currency), CurrencyCode: new(wire.CurrencyCode(o.Currency)),
		InventoryType: new(wire.InventoryType(o.InventoryType)),
		CreatedAt:     wire.Time{Time: o.CreatedAt}, UpdatedAt: wire.Time{Time: o.UpdatedAt},
	}
	if v, ok := s.catalog.Variant(o.VariantID); ok {
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

// MoveOrder moves an order on to a status, as the marketplace or one of its
// partners would: SHIPPED, DIDNOTSHIP, AUTHFAILED and so on. Only the steps of
// docs/states.md are possible; the error of any other one lists those that are.
// It fails if there is no such order.
func (s *Sandbox) MoveOrder(ctx context.Context, orderNumber, status string) error {
	if err := s.selling.MoveOrder(ctx, orderNumber, status); err != nil {
		return fmt.Errorf("sandbox: move order: %w", err)
	}
	return nil
}
