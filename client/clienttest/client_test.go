package clienttest_test

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/clienttest"
	"github.com/sellside-sdk/sellside-go/gen"
)

func TestClientReachesTheServer(t *testing.T) {
	for name, opts := range transports() {
		t.Run(name, func(t *testing.T) {
			srv := clienttest.New(t, opts...)
			srv.Expect(gen.OpGetListing).Path("listingId", "98e2e748").NoQuery().RespondExample()
			l, err := srv.Client().Listings.Get(t.Context(), "98e2e748")
			require.NoError(t, err)
			assert.Equal(t, gen.Amount("162"), l.Amount)

			came := srv.Requests(gen.OpGetListing)
			require.Len(t, came, 1)
			assert.Equal(t, "Bearer "+clienttest.Token, came[0].Header.Get("Authorization"))
			assert.Equal(t, clienttest.APIKey, came[0].Header.Get("X-Api-Key"))
		})
	}
}

func TestClientOptionsOfTheCallerWin(t *testing.T) {
	srv := clienttest.New(t)
	srv.Expect(gen.OpGetListing).RespondExample()
	_, err := srv.Client(client.WithToken("another")).Listings.Get(t.Context(), "98e2e748")
	require.NoError(t, err)
	assert.Equal(t, "Bearer another", srv.Requests(gen.OpGetListing)[0].Header.Get("Authorization"))
}

func TestClientRetriesInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := clienttest.New(t, clienttest.InProcess())
		srv.Expect(gen.OpGetListing).RespondError(http.StatusServiceUnavailable, "busy").Header("Retry-After", "7")
		srv.Expect(gen.OpGetListing).Disconnect(clienttest.BeforeHeaders, "a read is sent again")
		srv.Expect(gen.OpGetListing).Disconnect(clienttest.MidBody, "and again when its answer is cut")
		srv.Expect(gen.OpGetListing).RespondExample()
		start := time.Now()
		_, err := srv.Client().Listings.Get(t.Context(), "98e2e748")
		require.NoError(t, err)
		assert.GreaterOrEqual(t, time.Since(start), 7*time.Second)
	})
}

func TestBrokenConnectionsLeaveTheOutcomeOfAWriteUnknown(t *testing.T) {
	for _, when := range []clienttest.Moment{clienttest.BeforeHeaders, clienttest.MidBody} {
		for name, opts := range transports() {
			t.Run(name, func(t *testing.T) {
				srv := clienttest.New(t, opts...)
				srv.Expect(gen.OpDeleteListing).Disconnect(when, "the request was sent in full")
				_, err := srv.Client().Listings.Delete(t.Context(), "98e2e748")
				require.ErrorIs(t, err, client.ErrOutcomeUnknown)
			})
		}
	}
}
