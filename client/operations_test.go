package client_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/clienttest"
	"github.com/sellside-sdk/sellside-go/gen"
)

func TestWaitFollowsAnOperationToItsEnd(t *testing.T) {
	failed := strings.Replace(operationAnswer("FAILED"), `"error":null`, `"error":"The price is out of range."`, 1)
	tests := map[string]struct {
		end  string
		fail string // The error; "" for an operation that succeeded.
	}{
		"succeeded":               {operationAnswer("SUCCEEDED"), ""},
		"failed with a reason":    {failed, "UPDATE of listing " + listingID + " failed: The price is out of range. (operation " + operationID + ")"},
		"failed without a reason": {operationAnswer("FAILED"), "UPDATE of listing " + listingID + " failed: the service gives no reason (operation " + operationID + ")"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := clienttest.New(t, clienttest.InProcess())
				srv.Expect(gen.OpUpdateListing).RespondExample()
				poll := func() *clienttest.Expectation {
					return srv.Expect(gen.OpGetListingOperation).Path("listingId", listingID).Path("operationId", operationID)
				}
				poll().Respond(200, operationAnswer("PENDING"))
				poll().Respond(200, test.end)

				o, err := srv.Client().Listings.Update(t.Context(), listingID, gen.UpdateListingRequest{Amount: "158.50"})
				require.NoError(t, err)
				same, err := o.Wait(t.Context())

				assert.Same(t, o, same)
				assert.True(t, o.Done())
				if test.fail == "" {
					require.NoError(t, err)
					return
				}
				var ended *client.OperationError
				require.ErrorAs(t, err, &ended)
				assert.Equal(t, o.Snapshot(), ended.Operation)
				assert.Equal(t, test.fail, err.Error())

				_, again := o.Wait(t.Context())
				assert.Equal(t, err, again, "waiting again asks for nothing and says the same")
			})
		})
	}
}

func TestAnOperationIsResumedByItsIDsWithoutIO(t *testing.T) {
	srv := clienttest.New(t)
	o := srv.Client().Listings.Operation(listingID, operationID)
	require.Zero(t, o.Snapshot(), "opening asks for nothing")
	require.False(t, o.Done())
	srv.Expect(gen.OpGetListingOperation).Path("listingId", listingID).Path("operationId", operationID).Respond(200, operationAnswer("SUCCEEDED"))

	_, err := o.Wait(t.Context())

	require.NoError(t, err)
	assert.Equal(t, gen.OperationStatusSucceeded, o.Snapshot().OperationStatus)
}

func TestAFailedPollLeavesTheSnapshotOfAnOperation(t *testing.T) {
	srv := clienttest.New(t)
	srv.Expect(gen.OpGetListingOperation).Respond(200, operationAnswer("PENDING"))
	srv.Expect(gen.OpGetListingOperation).RespondError(404, "there is no such operation")
	o := srv.Client().Listings.Operation(listingID, operationID)

	first, err := o.Poll(t.Context())
	require.NoError(t, err)
	second, err := o.Poll(t.Context())

	require.ErrorIs(t, err, client.ErrNotFound)
	assert.Equal(t, first, second)
	assert.Equal(t, gen.OperationStatusPending, second.OperationStatus)
}

func TestAWriteWhoseOperationCannotBeFollowedIsOfUnknownOutcome(t *testing.T) {
	tests := map[string]string{
		"the operation has no id": `{"listingId":"l1","operationStatus":"PENDING"}`,
		"the listing has no id":   `{"operationId":"o1","operationStatus":"PENDING"}`,
		"the answer is empty":     `{}`,
		"the answer is none":      `OK`,
	}
	for why, body := range tests {
		t.Run(why, func(t *testing.T) {
			srv := clienttest.New(t)
			srv.Expect(gen.OpCreateListing).Raw(201, nil, []byte(body), why)

			o, err := srv.Client().Listings.Create(t.Context(), gen.CreateListingRequest{VariantID: variantID, Amount: "162"})

			assert.Nil(t, o)
			unreadable := &client.DecodeError{}
			require.ErrorAs(t, err, &unreadable)
			require.ErrorIs(t, err, client.ErrOutcomeUnknown, "the listing may be there")
			assert.Equal(t, gen.OpCreateListing, unreadable.Operation)
			assert.Equal(t, 1, unreadable.Attempts, "it is not sent again")
		})
	}
}

func TestOperationsPageTakesTheCursorOfThePageBefore(t *testing.T) {
	srv := clienttest.New(t)
	srv.Expect(gen.OpListListingOperations).NoQuery().Respond(200, `{"nextCursor":"c/2=","operations":[`+operationAnswer("SUCCEEDED")+`]}`)
	srv.Expect(gen.OpListListingOperations).Query("cursor", "c/2=").Query("pageSize", "5").RespondExample()
	c := srv.Client()

	first, err := c.Listings.ListOperationsPage(t.Context(), listingID, "", 0)
	require.NoError(t, err)
	second, err := c.Listings.ListOperationsPage(t.Context(), listingID, first.NextCursor, 5)
	require.NoError(t, err)

	assert.Empty(t, second.NextCursor, "null is the end")
	assert.Len(t, first.Operations, 1)
}
