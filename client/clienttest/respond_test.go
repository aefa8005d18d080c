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

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/clienttest"
	"github.com/sellside-sdk/sellside-go/gen"
)

func TestRaw_IsNotChecked(t *testing.T) {
	for _, tc := range []struct {
		name   string
		status int
		header http.Header
		body   string
		media  string // The Content-Type that arrives.
	}{
		{"a page of a gateway", http.StatusBadGateway, http.Header{"Content-Type": {"text/html"}}, "<html>busy</html>", "text/html"},
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

func TestRaw_CanRedirect(t *testing.T) {
	for name, opts := range transports() {
		t.Run(name, func(t *testing.T) {
			srv := clienttest.New(t, opts...)
			srv.Expect(gen.OpGetListing).Raw(http.StatusFound, nil, nil, "the service does not redirect").
				Header("Location", srv.BaseURL()+"/selling/orders/1-1")
			srv.Expect(gen.OpGetOrder).RespondExample()
			got := call(t, srv, http.MethodGet, listing, "")
			assert.Equal(t, "/v2/selling/orders/1-1", got.path)
		})
	}
}

func TestRaw_CanBreakTheConnection(t *testing.T) {
	for name, opts := range transports() {
		t.Run(name, func(t *testing.T) {
			srv := clienttest.New(t, opts...)
			srv.Expect(gen.OpGetListing).Raw(http.StatusOK, http.Header{"Content-Length": {"10"}}, []byte("{}"), "truncated after two bytes")
			resp, err := srv.HTTPClient().Do(request(t, srv, http.MethodGet, listing, ""))
			require.NoError(t, err)
			defer resp.Body.Close()
			_, err = io.ReadAll(resp.Body)
			require.ErrorIs(t, err, io.ErrUnexpectedEOF)
		})
	}
}

func TestDisconnect_BeforeHeadersFailsTheCall(t *testing.T) {
	for name, opts := range transports() {
		t.Run(name, func(t *testing.T) {
			srv := clienttest.New(t, opts...)
			srv.Expect(gen.OpGetListing).RespondExample()
			srv.Expect(gen.OpGetListing).Disconnect(clienttest.BeforeHeaders, "a read on a reused connection")
			hc := srv.HTTPClient()
			resp, err := hc.Do(request(t, srv, http.MethodGet, listing, ""))
			require.NoError(t, err)
			_, err = io.Copy(io.Discard, resp.Body)
			require.NoError(t, err)
			require.NoError(t, resp.Body.Close())

			_, err = hc.Do(request(t, srv, http.MethodGet, listing, "")) //nolint:bodyclose // there is no response

			require.ErrorIs(t, err, io.ErrUnexpectedEOF)
			assert.Len(t, srv.Requests(gen.OpGetListing), 2, "net/http does not repeat it")
		})
	}
}

func TestDisconnect_MidBodyTruncatesTheBody(t *testing.T) {
	for name, opts := range transports() {
		t.Run(name, func(t *testing.T) {
			srv := clienttest.New(t, opts...)
			srv.Expect(gen.OpGetListing).Disconnect(clienttest.MidBody, "a part of the response arrives")
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

func TestDisconnect_LeavesTheOutcomeOfAWriteUnknown(t *testing.T) {
	for _, when := range []clienttest.Moment{clienttest.BeforeHeaders, clienttest.MidBody} {
		for name, opts := range transports() {
			t.Run(name, func(t *testing.T) {
				srv := clienttest.New(t, opts...)
				srv.Expect(gen.OpDeleteListing).Disconnect(when, "the request has arrived")
				_, err := srv.Client().Listings.Delete(t.Context(), "98e2e748")
				require.ErrorIs(t, err, client.ErrOutcomeUnknown)
			})
		}
	}
}

func TestDelay_TakesNoRealTimeInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := clienttest.New(t, clienttest.InProcess())
		srv.Expect(gen.OpGetListing).RespondExample().Delay(12 * time.Hour)
		start := time.Now()
		got := call(t, srv, http.MethodGet, listing, "")
		assert.Equal(t, http.StatusOK, got.status)
		assert.Equal(t, 12*time.Hour, time.Since(start))
	})
}

func TestDelay_EndsWithTheClient(t *testing.T) {
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

func TestDelay_EndsWithTheTest(t *testing.T) {
	for name, opts := range transports() {
		t.Run(name, func(t *testing.T) {
			tb := &fakeTB{TB: t}
			srv := clienttest.New(tb, opts...)
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
			assert.Empty(t, tb.end())
			caller.Wait()
		})
	}
}

func TestRespondExample_HasTheIDsOfThePath(t *testing.T) {
	srv := clienttest.New(t)
	srv.Expect(gen.OpGetListing).RespondExample()
	srv.Expect(gen.OpGetListingOperation).RespondExample()
	srv.Expect(gen.OpGetVariantMarketData).RespondExample()
	srv.Expect(gen.OpGetVariantByGTIN).RespondExample()
	c := srv.Client()

	l, err := c.Listings.Get(t.Context(), `another "listing"`)
	require.NoError(t, err)
	assert.Equal(t, `another "listing"`, l.ListingID)
	assert.Equal(t, gen.Amount("162"), l.Amount, "the rest is that of the example")
	o, err := c.Listings.GetOperation(t.Context(), "l1", "o1")
	require.NoError(t, err)
	assert.Equal(t, []string{"l1", "o1"}, []string{o.ListingID, o.OperationID})
	m, err := c.Catalog.GetMarketData(t.Context(), "p1", "v1", "")
	require.NoError(t, err)
	assert.Equal(t, []string{"p1", "v1"}, []string{m.ProductID, m.VariantID})
	v, err := c.Catalog.GetVariantByGTIN(t.Context(), "0195866137516")
	require.NoError(t, err)
	assert.NotEmpty(t, v.VariantID, "the path has no variantId")
}

func TestRespond_SendsShippingDocumentsAsPDF(t *testing.T) {
	for name, opts := range transports() {
		t.Run(name, func(t *testing.T) {
			srv := clienttest.New(t, opts...)
			srv.Expect(gen.OpGetShippingDocument).Respond(http.StatusOK, []byte("%PDF-1.4 label"))
			got := call(t, srv, http.MethodGet, "/selling/orders/1-1/shipping-document/6JF8D2QX", "")
			assert.Equal(t, "application/pdf", got.header.Get("Content-Type"))
			assert.Equal(t, "%PDF-1.4 label", got.body)
		})
	}
}

func TestRespond_AcceptsEveryInventoryType(t *testing.T) {
	at := gen.TimeOf(time.Date(2026, 11, 2, 9, 14, 5, 0, time.UTC))
	for _, kind := range []gen.InventoryType{
		gen.InventoryTypeStandard, gen.InventoryTypeDirect, gen.InventoryTypeFlex, gen.InventoryTypeDFS,
	} {
		srv := clienttest.New(t, clienttest.InProcess())
		srv.Expect(gen.OpGetListing).Respond(200, gen.Listing{
			ListingID: "l1", Status: gen.ListingStatusActive, InventoryType: kind, CreatedAt: at, UpdatedAt: at,
		})
		srv.Expect(gen.OpGetOrder).Respond(200, gen.Order{
			OrderNumber: "1-1", Status: gen.OrderStatusCreated, InventoryType: kind, CreatedAt: at, UpdatedAt: at,
		})
		c := srv.Client()

		l, err := c.Listings.Get(t.Context(), "l1")
		require.NoError(t, err)
		o, err := c.Orders.Get(t.Context(), "1-1")
		require.NoError(t, err)

		assert.Equal(t, kind, l.InventoryType)
		assert.Equal(t, kind, o.InventoryType)
	}
}
