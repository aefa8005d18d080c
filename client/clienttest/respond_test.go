package clienttest_test

import (
	"context"
	"io"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client/clienttest"
	"github.com/sellside-sdk/sellside-go/gen"
)

func TestRawAnswersAreNotChecked(t *testing.T) {
	for _, tc := range []struct {
		name   string
		status int
		header http.Header
		body   string
		media  string // what arrives as Content-Type
	}{
		{"a gateway's page", http.StatusBadGateway, http.Header{"Content-Type": {"text/html"}}, "<html>busy</html>", "text/html"},
		{"a page without a type", http.StatusOK, nil, "<html>busy</html>", "text/html; charset=utf-8"},
		{"an undeclared success", http.StatusAccepted, http.Header{"Content-Type": {"application/json"}}, "{}", "application/json"},
		{"no body", http.StatusNoContent, nil, "", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for name, opts := range transports() {
				t.Run(name, func(t *testing.T) {
					srv := clienttest.New(t, opts...)
					srv.Expect(gen.OpGetListing).Raw(tc.status, tc.header, []byte(tc.body), tc.name)
					got := call(t, srv, http.MethodGet, listing, "")
					assert.Equal(t, tc.status, got.status)
					assert.Equal(t, tc.body, got.body)
					assert.Equal(t, tc.media, got.header.Get("Content-Type"))
				})
			}
		})
	}
}

func TestRawRedirectsReachTheCaller(t *testing.T) {
	for name, opts := range transports() {
		t.Run(name, func(t *testing.T) {
			srv := clienttest.New(t, opts...)
			srv.Expect(gen.OpGetListing).Raw(http.StatusFound, nil, nil, "the service redirects nowhere").
				Header("Location", srv.BaseURL()+"/selling/orders/1-1")
			srv.Expect(gen.OpGetOrder).RespondExample()
			got := call(t, srv, http.MethodGet, listing, "")
			assert.Equal(t, "/v2/selling/orders/1-1", got.path)
		})
	}
}

func TestAnUnfinishedBodyIsABrokenConnection(t *testing.T) {
	for name, opts := range transports() {
		t.Run(name, func(t *testing.T) {
			srv := clienttest.New(t, opts...)
			srv.Expect(gen.OpGetListing).Raw(http.StatusOK, http.Header{"Content-Length": {"10"}}, []byte("{}"), "cut after two bytes")
			resp, err := srv.HTTPClient().Do(request(t, srv, http.MethodGet, listing, ""))
			require.NoError(t, err)
			defer resp.Body.Close()
			_, err = io.ReadAll(resp.Body)
			require.ErrorIs(t, err, io.ErrUnexpectedEOF)
		})
	}
}

func TestDisconnectBeforeHeadersFailsTheCall(t *testing.T) {
	for name, opts := range transports() {
		t.Run(name, func(t *testing.T) {
			srv := clienttest.New(t, opts...)
			srv.Expect(gen.OpGetListing).RespondExample()
			srv.Expect(gen.OpGetListing).Disconnect(clienttest.BeforeHeaders, "a read on a connection in use")
			hc := srv.HTTPClient()
			resp, err := hc.Do(request(t, srv, http.MethodGet, listing, ""))
			require.NoError(t, err)
			_, err = io.Copy(io.Discard, resp.Body)
			require.NoError(t, err)
			require.NoError(t, resp.Body.Close())

			_, err = hc.Do(request(t, srv, http.MethodGet, listing, "")) //nolint:bodyclose // there is no response

			require.ErrorIs(t, err, io.ErrUnexpectedEOF)
			assert.Len(t, srv.Requests(gen.OpGetListing), 2, "net/http does not send it once more by itself")
		})
	}
}

func TestDisconnectMidBodyCutsTheBody(t *testing.T) {
	for name, opts := range transports() {
		t.Run(name, func(t *testing.T) {
			srv := clienttest.New(t, opts...)
			srv.Expect(gen.OpGetListing).Disconnect(clienttest.MidBody, "the answer arrives in part")
			resp, err := srv.HTTPClient().Do(request(t, srv, http.MethodGet, listing, ""))
			require.NoError(t, err)
			defer resp.Body.Close()

			assert.Equal(t, http.StatusOK, resp.StatusCode)
			body, err := io.ReadAll(resp.Body)

			require.ErrorIs(t, err, io.ErrUnexpectedEOF)
			example := clienttest.ExampleOf(gen.OpGetListing)
			assert.Equal(t, string(example[:len(example)/2]), string(body))
			assert.EqualValues(t, len(example), resp.ContentLength)
		})
	}
}

func TestDelayTakesFakeTimeInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := clienttest.New(t, clienttest.InProcess())
		srv.Expect(gen.OpGetListing).RespondExample().Delay(12 * time.Hour)
		start := time.Now()
		got := call(t, srv, http.MethodGet, listing, "")
		assert.Equal(t, http.StatusOK, got.status)
		assert.Equal(t, 12*time.Hour, time.Since(start))
	})
}

func TestDelayEndsWhenTheCallerGoesAway(t *testing.T) {
	t.Run("in process", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			srv := clienttest.New(t, clienttest.InProcess())
			srv.Expect(gen.OpGetListing).RespondExample().Delay(12 * time.Hour)
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			start := time.Now()
			_, err := srv.HTTPClient().Do(request(t, srv, http.MethodGet, listing, "").WithContext(ctx)) //nolint:bodyclose // there is no response
			require.ErrorIs(t, err, context.DeadlineExceeded)
			assert.Equal(t, time.Second, time.Since(start))
		})
	})
	t.Run("socket", func(t *testing.T) {
		srv := clienttest.New(t)
		ctx, cancel := context.WithCancel(t.Context())
		srv.Expect(gen.OpGetListing).RespondExample().Delay(12 * time.Hour).
			Check(func(testing.TB, *http.Request, []byte) { cancel() })
		_, err := srv.HTTPClient().Do(request(t, srv, http.MethodGet, listing, "").WithContext(ctx)) //nolint:bodyclose // there is no response
		require.ErrorIs(t, err, context.Canceled)
	})
}

func TestDelayEndsWhenTheTestEnds(t *testing.T) {
	for name, opts := range transports() {
		t.Run(name, func(t *testing.T) {
			v := &verdict{TB: t}
			srv := clienttest.New(v, opts...)
			arrived := make(chan struct{})
			srv.Expect(gen.OpGetListing).RespondExample().Delay(12 * time.Hour).
				Check(func(testing.TB, *http.Request, []byte) { close(arrived) })
			r := request(t, srv, http.MethodGet, listing, "")
			var caller sync.WaitGroup
			caller.Go(func() {
				_, err := srv.HTTPClient().Do(r) //nolint:bodyclose // there is no response
				assert.Error(t, err)
			})
			<-arrived
			assert.Empty(t, v.end())
			caller.Wait()
		})
	}
}

func TestRespondExample_IsAboutTheObjectOfThePath(t *testing.T) {
	srv := clienttest.New(t)
	srv.Expect(gen.OpGetListing).RespondExample()
	srv.Expect(gen.OpGetListingOperation).RespondExample()
	srv.Expect(gen.OpGetVariantMarketData).RespondExample()
	srv.Expect(gen.OpGetVariantByGTIN).RespondExample()
	c := srv.Client()

	l, err := c.Listings.Get(t.Context(), `another "listing"`)
	require.NoError(t, err)
	assert.Equal(t, `another "listing"`, l.ListingID)
	assert.Equal(t, gen.Amount("162"), l.Amount, "the rest is the example's")
	o, err := c.Listings.GetOperation(t.Context(), "l1", "o1")
	require.NoError(t, err)
	assert.Equal(t, []string{"l1", "o1"}, []string{o.ListingID, o.OperationID})
	m, err := c.Catalog.GetMarketData(t.Context(), "p1", "v1", "")
	require.NoError(t, err)
	assert.Equal(t, []string{"p1", "v1"}, []string{m.ProductID, m.VariantID})
	v, err := c.Catalog.GetVariantByGTIN(t.Context(), "0195866137516")
	require.NoError(t, err)
	assert.NotEmpty(t, v.VariantID, "what the path does not name stays")
}
