package clienttest_test

import (
	"net/http"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/clienttest"
	"github.com/sellside-sdk/sellside-go/gen"
)

const listing = "/selling/listings/98e2e748-8000-45bf-a624-5531d6a68318"

func TestServer_RespondsInTheOrderOfTheScript(t *testing.T) {
	for name, opts := range transports() {
		t.Run(name, func(t *testing.T) {
			srv := clienttest.New(t, opts...)
			srv.Expect(gen.OpGetListing).RespondError(http.StatusServiceUnavailable, "busy").Header("Retry-After", "2")
			srv.Expect(gen.OpGetListing).RespondExample().Times(2)

			got := call(t, srv, http.MethodGet, listing, "")
			assert.Equal(t, http.StatusServiceUnavailable, got.status)
			assert.Equal(t, "2", got.header.Get("Retry-After"))
			assert.Equal(t, "application/json", got.header.Get("Content-Type"))
			assert.JSONEq(t, `{"statusCode":503,"message":"busy"}`, got.body)

			for range 2 {
				got = call(t, srv, http.MethodGet, listing, "")
				assert.Equal(t, http.StatusOK, got.status)
				assert.JSONEq(t, string(clienttest.ExampleOf(gen.OpGetListing)), got.body)
			}
		})
	}
}

func TestServer_HasNoOrderBetweenOperations(t *testing.T) {
	srv := clienttest.New(t)
	srv.Expect(gen.OpGetListing).RespondExample()
	srv.Expect(gen.OpListListings).RespondExample()

	call(t, srv, http.MethodGet, "/selling/listings", "")
	call(t, srv, http.MethodGet, listing, "")
}

func TestServer_HasNoOrderBetweenResources(t *testing.T) {
	srv := clienttest.New(t)
	srv.Expect(gen.OpGetOrder).Path("orderNumber", "1-1").RespondError(http.StatusNotFound, "first")
	srv.Expect(gen.OpGetOrder).Path("orderNumber", "2 2").RespondError(http.StatusNotFound, "second")

	got := call(t, srv, http.MethodGet, "/selling/orders/2%202", "")
	assert.Contains(t, got.body, "second")
	got = call(t, srv, http.MethodGet, "/selling/orders/1-1", "")
	assert.Contains(t, got.body, "first")
}

func TestServer_IsSafeForConcurrentUse(t *testing.T) {
	for name, opts := range transports() {
		t.Run(name, func(t *testing.T) {
			srv := clienttest.New(t, opts...)
			srv.Expect(gen.OpGetListing).RespondExample().Times(32)
			var calls sync.WaitGroup
			for range 32 {
				calls.Go(func() {
					resp, err := srv.HTTPClient().Do(request(t, srv, http.MethodGet, listing, ""))
					if assert.NoError(t, err) {
						assert.NoError(t, resp.Body.Close())
					}
				})
			}
			calls.Wait()
			assert.Len(t, srv.Requests(gen.OpGetListing), 32)
		})
	}
}

func TestServer_RequestsReturnsThoseOfTheOperation(t *testing.T) {
	srv := clienttest.New(t)
	srv.Expect(gen.OpSearchProducts).RespondExample()
	srv.Expect(gen.OpUpdateListing).RespondExample()

	call(t, srv, http.MethodGet, "/catalog/search?query=DZ5485-612", "")
	call(t, srv, http.MethodPatch, listing, `{"amount":"158.50"}`)

	search := srv.Requests(gen.OpSearchProducts)
	require.Len(t, search, 1)
	assert.Equal(t, http.MethodGet, search[0].Method)
	assert.Equal(t, "/catalog/search", search[0].Path)
	assert.Equal(t, "DZ5485-612", search[0].Query.Get("query"))
	assert.Equal(t, clienttest.APIKey, search[0].Header.Get("X-Api-Key"))
	assert.Empty(t, search[0].Body)

	update := srv.Requests(gen.OpUpdateListing)
	require.Len(t, update, 1)
	assert.Equal(t, listing, update[0].Path)
	assert.JSONEq(t, `{"amount":"158.50"}`, string(update[0].Body))

	assert.Empty(t, srv.Requests(gen.OpGetListing))
}

func TestServer_BaseURLEndsInTheVersion(t *testing.T) {
	for name, opts := range transports() {
		t.Run(name, func(t *testing.T) {
			assert.Regexp(t, `^https?://[^/]+/v2$`, clienttest.New(t, opts...).BaseURL())
		})
	}
}

func TestServer_InProcessRefusesConnections(t *testing.T) {
	t.Run("to another host", func(t *testing.T) {
		srv := clienttest.New(t, clienttest.InProcess())
		r := request(t, srv, http.MethodGet, listing, "")
		r.URL.Host = "elsewhere.invalid"
		_, err := srv.HTTPClient().Do(r) //nolint:bodyclose // there is no response
		require.ErrorIs(t, err, syscall.ECONNREFUSED)
	})
	t.Run("after the test", func(t *testing.T) {
		tb := &fakeTB{TB: t}
		srv := clienttest.New(tb, clienttest.InProcess())
		require.Empty(t, tb.end())
		_, err := srv.HTTPClient().Do(request(t, srv, http.MethodGet, listing, "")) //nolint:bodyclose // there is no response
		require.ErrorIs(t, err, syscall.ECONNREFUSED)
	})
}

func TestServer_ClientSendsCredentials(t *testing.T) {
	for name, opts := range transports() {
		t.Run(name, func(t *testing.T) {
			srv := clienttest.New(t, opts...)
			srv.Expect(gen.OpGetListing).Path("listingId", "98e2e748").NoQuery().RespondExample()
			l, err := srv.Client().Listings.Get(t.Context(), "98e2e748")
			require.NoError(t, err)
			assert.Equal(t, gen.Amount("162"), l.Amount)

			requests := srv.Requests(gen.OpGetListing)
			require.Len(t, requests, 1)
			assert.Equal(t, "Bearer "+clienttest.Token, requests[0].Header.Get("Authorization"))
			assert.Equal(t, clienttest.APIKey, requests[0].Header.Get("X-Api-Key"))
		})
	}
}

func TestServer_ClientOptionsOverride(t *testing.T) {
	srv := clienttest.New(t)
	srv.Expect(gen.OpGetListing).RespondExample()
	_, err := srv.Client(client.WithToken("another")).Listings.Get(t.Context(), "98e2e748")
	require.NoError(t, err)
	assert.Equal(t, "Bearer another", srv.Requests(gen.OpGetListing)[0].Header.Get("Authorization"))
}

func TestServer_ClientRetriesInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := clienttest.New(t, clienttest.InProcess())
		srv.Expect(gen.OpGetListing).RespondError(http.StatusServiceUnavailable, "busy").Header("Retry-After", "7")
		srv.Expect(gen.OpGetListing).Disconnect(clienttest.BeforeHeaders, "a read is retried")
		srv.Expect(gen.OpGetListing).Disconnect(clienttest.MidBody, "a read with a truncated response too")
		srv.Expect(gen.OpGetListing).RespondExample()
		start := time.Now()
		_, err := srv.Client().Listings.Get(t.Context(), "98e2e748")
		require.NoError(t, err)
		assert.GreaterOrEqual(t, time.Since(start), 7*time.Second)
	})
}
