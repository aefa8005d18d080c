package gen_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/gen"
)

func TestTerminal_IsTrueOfFinalStatuses(t *testing.T) {
	for _, tc := range []struct {
		status interface{ Terminal() bool }
		want   bool
		why    string
	}{
		{gen.BatchStatusQueued, false, "no item has been processed"},
		{gen.BatchStatusInProgress, false, "some items have not been processed"},
		{gen.BatchStatusCompleted, true, "every item has its result, even if all of them failed"},
		{gen.BatchStatus("FAILED"), false, "a batch does not fail, its items do: the value is unknown"},

		{gen.BatchItemStatusQueued, false, "not processed"},
		{gen.BatchItemStatusInProgress, false, "under way"},
		{gen.BatchItemStatusCompleted, true, "the result is there"},
		{gen.BatchItemStatusFailed, true, "the reason is there, and the service does not try again"},
		{gen.BatchItemStatus("completed"), false, "the case matters: the value is unknown"},

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
		{gen.OrderStatusUnknown, false, "the service itself does not know"},

		{gen.IngestionStatusInReview, false, "no decision yet"},
		{gen.IngestionStatusCompleted, true, "the product is in the catalog"},
		{gen.IngestionStatusRejected, true, "the decision is made"},
	} {
		assert.Equal(t, tc.want, tc.status.Terminal(), "%T %s: %s", tc.status, tc.status, tc.why)
	}
}

func TestTerminal_IsFalseOfUnknownStatuses(t *testing.T) {
	for _, unknown := range []string{"", "HALTED"} {
		for _, status := range []interface{ Terminal() bool }{
			gen.BatchStatus(unknown), gen.BatchItemStatus(unknown), gen.OperationStatus(unknown),
			gen.ListingStatus(unknown), gen.OrderStatus(unknown), gen.IngestionStatus(unknown),
		} {
			assert.False(t, status.Terminal(), "%T %q", status, unknown)
		}
	}
}

func TestSold_IsTrueOfMatchedAndCompletedListings(t *testing.T) {
	for status, want := range map[gen.ListingStatus]bool{
		gen.ListingStatusMatched:   true, // a buyer took it, the order is under way
		gen.ListingStatusCompleted: true, // the order is done
		gen.ListingStatusActive:    false,
		gen.ListingStatusInactive:  false,
		gen.ListingStatusDeleted:   false, // it had no buyer
		gen.ListingStatusCanceled:  false,
		"RESERVED":                 false, // unknown
	} {
		assert.Equal(t, want, status.Sold(), fmt.Sprint(status))
	}
}

func TestReason_ReadsTheFormsOfTheService(t *testing.T) {
	for _, tc := range []struct {
		in   string
		want gen.Reason
		why  string
	}{
		{`"The listing was sold."`, "The listing was sold.", "the documented form"},
		{`"L'annonce a été vendue ☂"`, "L'annonce a été vendue ☂", "the text is localised"},
		{`null`, "", "there was no error"},
		{`""`, "", "an empty text"},
		{`{"message":"sold","code":7}`, "sold", "an object decodes to its message"},
		{`{"message":null}`, "", "an object whose message is null"},
		{`{}`, "", "an object without a message"},
	} {
		operation := gen.ListingOperation{Error: "stale"}
		require.NoError(t, json.Unmarshal([]byte(`{"error":`+tc.in+`}`), &operation), tc.why)
		assert.Equal(t, tc.want, operation.Error, tc.why)
	}
}

func TestReason_RefusesOtherForms(t *testing.T) {
	for _, in := range []string{`7`, `true`, `["sold"]`, `{"message":7}`} {
		var reason gen.Reason
		require.Error(t, json.Unmarshal([]byte(in), &reason), in)
		assert.Empty(t, reason, in)
	}
}

func TestReason_MarshalsAsAString(t *testing.T) {
	assert.Equal(t, "sold", members(t, gen.DeleteBatchItem{Error: "sold"})["error"])
	assert.NotContains(t, members(t, gen.DeleteBatchItem{}), "error", "an empty reason is omitted")
}

func FuzzReason(f *testing.F) {
	for _, seed := range []string{`"sold"`, `null`, `{"message":"sold"}`, `{"message":{"message":"sold"}}`, `[]`, `7`, ``, `"\ud800"`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var reason gen.Reason
		if err := reason.UnmarshalJSON(data); err != nil {
			assert.Empty(t, reason, "invalid input leaves no reason")
			return
		}
		text, err := json.Marshal(reason)
		require.NoError(t, err)
		var again gen.Reason
		require.NoError(t, json.Unmarshal(text, &again))
		assert.Equal(t, reason, again, "a reason survives encoding and decoding")
	})
}
