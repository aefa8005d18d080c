// Package values lists the values of the open types of package gen, for completions and for the
// help, and reads them from the command line.
package values

import (
	"slices"
	"strings"

	"github.com/sellside-sdk/sellside-go/gen"
)

// ListingStatuses returns the statuses of listings.
func ListingStatuses() []gen.ListingStatus {
	return []gen.ListingStatus{
		gen.ListingStatusActive, gen.ListingStatusInactive, gen.ListingStatusMatched, gen.ListingStatusCompleted,
		gen.ListingStatusCanceled, gen.ListingStatusDeleted,
	}
}

// OrderStatuses returns the statuses of orders, active ones first.
func OrderStatuses() []gen.OrderStatus {
	return []gen.OrderStatus{
		gen.OrderStatusCreated, gen.OrderStatusCCAuthorizationFailed, gen.OrderStatusShipped, gen.OrderStatusReceived,
		gen.OrderStatusAuthenticating, gen.OrderStatusAuthenticated, gen.OrderStatusPayoutPending,
		gen.OrderStatusPayoutCompleted, gen.OrderStatusSystemFulfilled, gen.OrderStatusPayoutFailed,
		gen.OrderStatusSuspended, gen.OrderStatusPending, gen.OrderStatusDoNotShip, gen.OrderStatusUnknown,
		gen.OrderStatusAuthFailed, gen.OrderStatusDidNotShip, gen.OrderStatusCanceled, gen.OrderStatusCompleted,
		gen.OrderStatusReturned,
	}
}

// HistoricalOrderStatuses returns the statuses of ended orders, which the history has.
func HistoricalOrderStatuses() []gen.OrderStatus {
	return slices.DeleteFunc(OrderStatuses(), func(s gen.OrderStatus) bool { return !s.Terminal() })
}

// OrderSorts returns the sort orders of active orders.
func OrderSorts() []gen.OrderSort {
	return []gen.OrderSort{gen.OrderSortCreatedAt, gen.OrderSortShipByDate}
}

// InventoryTypes returns the types of inventory.
func InventoryTypes() []gen.InventoryType {
	return []gen.InventoryType{
		gen.InventoryTypeStandard, gen.InventoryTypeDirect, gen.InventoryTypeFlex, gen.InventoryTypeDFS,
	}
}

// Currencies returns the currencies that listings can be priced in.
func Currencies() []gen.CurrencyCode {
	return []gen.CurrencyCode{
		gen.CurrencyCodeAUD, gen.CurrencyCodeCAD, gen.CurrencyCodeCHF, gen.CurrencyCodeEUR, gen.CurrencyCodeGBP,
		gen.CurrencyCodeHKD, gen.CurrencyCodeJPY, gen.CurrencyCodeKRW, gen.CurrencyCodeMXN, gen.CurrencyCodeNZD,
		gen.CurrencyCodeSGD, gen.CurrencyCodeUSD,
	}
}

// BatchItemStatuses returns the statuses of items of batches.
func BatchItemStatuses() []gen.BatchItemStatus {
	return []gen.BatchItemStatus{
		gen.BatchItemStatusQueued, gen.BatchItemStatusInProgress, gen.BatchItemStatusCompleted, gen.BatchItemStatusFailed,
	}
}

// IngestionStatuses returns the statuses of proposed products.
func IngestionStatuses() []gen.IngestionStatus {
	return []gen.IngestionStatus{gen.IngestionStatusInReview, gen.IngestionStatusCompleted, gen.IngestionStatusRejected}
}

// Find returns the value that the text is, ignoring case, and true; or the text as it is and false
// for a value that this version does not know, which the service may.
func Find[T ~string](known []T, text string) (T, bool) {
	text = strings.TrimSpace(text)
	i := slices.IndexFunc(known, func(v T) bool { return strings.EqualFold(string(v), text) })
	if i < 0 {
		return T(text), false
	}
	return known[i], true
}

// Texts returns values as texts.
func Texts[T ~string](values []T) []string {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = string(v)
	}
	return texts
}
