package gen_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sellside-sdk/sellside-go/gen"
)

func TestTerminalStatusesAreThoseAfterWhichNothingHappens(t *testing.T) {
	for _, tc := range []struct {
		status interface{ Terminal() bool }
		want   bool
		why    string
	}{
		{gen.BatchStatusQueued, false, "no item was looked at"},
		{gen.BatchStatusInProgress, false, "items are still to come"},
		{gen.BatchStatusCompleted, true, "every item has its result, even if all of them failed"},
		{gen.BatchStatus("FAILED"), false, "a batch does not fail, its items do: the value is unknown"},

		{gen.BatchItemStatusQueued, false, "not looked at"},
		{gen.BatchItemStatusInProgress, false, "under way"},
		{gen.BatchItemStatusCompleted, true, "the result is there"},
		{gen.BatchItemStatusFailed, true, "the reason is there, and the service does not try again"},
		{gen.BatchItemStatus("completed"), false, "values are compared as they are: this one was never seen in a status"},

		{gen.OperationStatusPending, false, "writes to listings are asynchronous"},
		{gen.OperationStatusSucceeded, true, "it took effect"},
		{gen.OperationStatusFailed, true, "it will not take effect"},

		{gen.ListingStatusInactive, false, "it can be activated"},
		{gen.ListingStatusActive, false, "it can be sold"},
		{gen.ListingStatusMatched, false, "the sale can still complete or be canceled"},
		{gen.ListingStatusDeleted, true, "a deleted listing does not come back"},
		{gen.ListingStatusCanceled, true, "a canceled listing does not come back"},
		{gen.ListingStatusCompleted, true, "the sale is done"},

		{gen.OrderStatusCreated, false, "still to be shipped"},
		{gen.OrderStatusCCAuthorizationFailed, false, "listed among the active orders"},
		{gen.OrderStatusShipped, false, "under way"},
		{gen.OrderStatusReceived, false, "under way"},
		{gen.OrderStatusAuthenticating, false, "under way"},
		{gen.OrderStatusAuthenticated, false, "the payout is still to come"},
		{gen.OrderStatusPayoutPending, false, "the payout is still to come"},
		{gen.OrderStatusPayoutCompleted, false, "listed among the active orders: COMPLETED follows"},
		{gen.OrderStatusSystemFulfilled, false, "listed among the active orders"},
		{gen.OrderStatusPayoutFailed, false, "the payout can be repeated"},
		{gen.OrderStatusSuspended, false, "it can be resumed"},
		{gen.OrderStatusPending, false, "listed among the active orders"},
		{gen.OrderStatusDoNotShip, false, "DIDNOTSHIP or CANCELED follows"},
		{gen.OrderStatusAuthFailed, true, "listed in the history"},
		{gen.OrderStatusDidNotShip, true, "listed in the history"},
		{gen.OrderStatusCanceled, true, "listed in the history"},
		{gen.OrderStatusCompleted, true, "the seller was paid"},
		{gen.OrderStatusReturned, true, "listed in the history"},
		{gen.OrderStatusUnknown, false, "the service itself cannot tell"},

		{gen.IngestionStatusInReview, false, "nobody has decided"},
		{gen.IngestionStatusCompleted, true, "the product is in the catalog"},
		{gen.IngestionStatusRejected, true, "the decision is made"},
	} {
		assert.Equal(t, tc.want, tc.status.Terminal(), "%T %s: %s", tc.status, tc.status, tc.why)
	}
}

func TestUnknownStatusIsNeverTerminal(t *testing.T) {
	for _, unknown := range []string{"", "HALTED"} {
		for _, status := range []interface{ Terminal() bool }{
			gen.BatchStatus(unknown), gen.BatchItemStatus(unknown), gen.OperationStatus(unknown),
			gen.ListingStatus(unknown), gen.OrderStatus(unknown), gen.IngestionStatus(unknown),
		} {
			assert.False(t, status.Terminal(), "%T %q", status, unknown)
		}
	}
}

func TestSoldListingsAreMatchedOrCompleted(t *testing.T) {
	for status, want := range map[gen.ListingStatus]bool{
		gen.ListingStatusMatched:   true, // a buyer took it, the order is under way
		gen.ListingStatusCompleted: true, // and is done
		gen.ListingStatusActive:    false,
		gen.ListingStatusInactive:  false,
		gen.ListingStatusDeleted:   false, // gone without a buyer
		gen.ListingStatusCanceled:  false,
		"RESERVED":                 false, // unknown values promise nothing
	} {
		assert.Equal(t, want, status.Sold(), fmt.Sprint(status))
	}
}
