package client_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/clienttest"
	"github.com/sellside-sdk/sellside-go/gen"
	"github.com/sellside-sdk/sellside-go/sandbox"
	"github.com/sellside-sdk/sellside-go/sandbox/sandboxtest"
)

func TestOrders_SendOnlySetFilters(t *testing.T) {
	active := func(filter client.ActiveOrderFilter) func(*client.Client) error {
		return func(c *client.Client) error { return failure(c.Orders.ListActivePage(t.Context(), filter)) }
	}
	history := func(filter client.OrderHistoryFilter) func(*client.Client) error {
		return func(c *client.Client) error { return failure(c.Orders.ListHistoryPage(t.Context(), filter)) }
	}
	types := []gen.InventoryType{gen.InventoryTypeStandard, gen.InventoryTypeDirect}
	tests := map[string]struct {
		op   gen.OperationID
		list func(*client.Client) error
		want string
	}{
		"an empty filter of active orders": {gen.OpListActiveOrders, active(client.ActiveOrderFilter{}), "pageSize=100"},
		"all of active orders": {
			gen.OpListActiveOrders, active(client.ActiveOrderFilter{
				Status: gen.OrderStatusShipped, ProductID: "p1", VariantID: "v1", Sort: gen.OrderSortShipByDate,
				InventoryTypes: types, ShipmentDisplayIDs: []string{"SHP-1", "SHP-2"}, PageNumber: 2, PageSize: 5,
			}),
			"pageNumber=2&pageSize=5&orderStatus=SHIPPED&productId=p1&variantId=v1&sortOrder=SHIPBYDATE&inventoryTypes=STANDARD,DIRECT&initiatedShipmentDisplayIds=SHP-1,SHP-2",
		},
		"an empty filter of history": {gen.OpListOrderHistory, history(client.OrderHistoryFilter{}), "pageSize=100"},
		"all of history": {
			gen.OpListOrderHistory, history(client.OrderHistoryFilter{
				Status: gen.OrderStatusReturned, From: evening, To: evening, ProductID: "p1", VariantID: "v1",
				InventoryTypes: types, ShipmentDisplayIDs: []string{"SHP-1"}, PageNumber: 2, PageSize: 5,
			}),
			"pageNumber=2&pageSize=5&orderStatus=RETURNED&fromDate=2026-11-02&toDate=2026-11-02&productId=p1&variantId=v1&inventoryTypes=STANDARD,DIRECT&initiatedShipmentDisplayIds=SHP-1",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			srv := clienttest.New(t)
			srv.Expect(test.op).RespondExample()

			require.NoError(t, test.list(srv.Client()))

			assert.Equal(t, query(t, test.want), srv.Requests(test.op)[0].Query)
		})
	}
}

func TestOrders_GetReadsExactFigures(t *testing.T) {
	srv := clienttest.New(t)
	srv.Expect(gen.OpGetOrder).Path("orderNumber", orderID).RespondExample()

	order, err := srv.Client().Orders.Get(t.Context(), orderID)

	require.NoError(t, err)
	assert.Equal(t, "142.56", order.Payout.TotalPayout.String())
	assert.Equal(t, "-14.58", order.Payout.Adjustments[0].Amount.String())
	assert.Equal(t, "1Z0A4V930333458892", order.Shipment.TrackingNumber)
}

func TestOrders_ShippingDocumentsMayBeNull(t *testing.T) {
	srv := clienttest.New(t)
	srv.Expect(gen.OpGetShippingDocuments).Respond(200, `{"shippingDocuments":null}`)
	srv.Expect(gen.OpGetShippingDocuments).Respond(200, `{"shippingDocuments":{
		"thermalLabelOnly":"https://documents.example.com/thermal.pdf","sellerShippingInstructions":null}}`)
	c := srv.Client()

	none, err := c.Orders.ListShippingDocuments(t.Context(), orderID)
	require.NoError(t, err)
	thermal, err := c.Orders.ListShippingDocuments(t.Context(), orderID)
	require.NoError(t, err)

	assert.Zero(t, none.ShippingDocuments)
	assert.Equal(t, "https://documents.example.com/thermal.pdf", thermal.ShippingDocuments.ThermalLabelOnly)
}

// closedBody reports whether it was closed.
type closedBody struct {
	io.Reader
	closed bool
}

// Close implements [io.Closer].
func (b *closedBody) Close() error {
	b.closed = true
	return nil
}

func shippedOrder(label, document string) *gen.Order {
	return &gen.Order{OrderNumber: orderID, Shipment: &gen.Shipment{ShippingLabelURL: label, ShippingDocumentURL: document}}
}

func TestDownloadLabels_OpensTheDocumentsOfTheShipment(t *testing.T) {
	srv := clienttest.New(t)
	path := srv.BaseURL() + "/selling/orders/" + orderID + "/shipping-document/"
	for _, id := range []string{"6JF8D2QX", "6JF8D2QX-P"} {
		srv.Expect(gen.OpGetShippingDocument).Path("orderNumber", orderID).Path("shippingId", id).
			Respond(200, []byte("%PDF-1.7 "+id))
	}

	labels, err := srv.Client().Orders.DownloadLabels(t.Context(), shippedOrder(path+"6JF8D2QX", path+"6JF8D2QX-P"))

	require.NoError(t, err)
	require.Len(t, labels, 2)
	for i, id := range []string{"6JF8D2QX", "6JF8D2QX-P"} {
		assert.Equal(t, id, labels[i].ShippingID)
		assert.Equal(t, path+id, labels[i].URL)
		content, err := io.ReadAll(labels[i].Document)
		require.NoError(t, err)
		assert.Equal(t, "%PDF-1.7 "+id, string(content))
		require.NoError(t, labels[i].Document.Close())
	}
}

func TestDownloadLabels_ReturnsOtherURLsWithoutRequestingThem(t *testing.T) {
	srv := clienttest.New(t) // expects no request
	base := srv.BaseURL()
	document := "/selling/orders/" + orderID + "/shipping-document/"
	for address, why := range map[string]string{
		"https://labels.example.com/v2" + document + "6JF8D2QX":                     "another host",
		strings.Replace(base, "http://", "https://", 1) + document + "6JF8D2QX":     "another scheme",
		strings.Replace(base, "http://", "http://user@", 1) + document + "6JF8D2QX": "credentials",
		base + "/labels/6JF8D2QX.pdf":                                               "another path",
		base + "/selling/orders/999-999/shipping-document/6JF8D2QX":                 "another order",
		base + document:                          "no id",
		base + document + "%2e%2e":               "an id that is another path",
		base + document + "a%2Fb":                "an id with a slash",
		base + document + "6JF8D2QX?signature=1": "a query",
		base + document + "6JF8D2QX#1":           "a fragment",
		document + "6JF8D2QX":                    "no host",
		"://":                                    "no URL",
	} {
		labels, err := srv.Client().Orders.DownloadLabels(t.Context(), shippedOrder(address, address))

		require.NoError(t, err, why)
		assert.Equal(t, []client.Label{{URL: address}}, labels, why)
	}
}

func TestDownloadLabels_RefusesOrderWithoutShipment(t *testing.T) {
	c := clienttest.New(t).Client()
	for _, order := range []*gen.Order{nil, {OrderNumber: orderID}} {
		_, err := c.Orders.DownloadLabels(t.Context(), order)
		assertRefused(t, err, gen.OpGetShippingDocument, "order")
	}
	labels, err := c.Orders.DownloadLabels(t.Context(), shippedOrder("", ""))
	require.NoError(t, err, "a shipment without documents yet")
	assert.Empty(t, labels)
}

func TestDownloadLabels_ClosesDocumentsOnError(t *testing.T) {
	first := &closedBody{Reader: strings.NewReader("%PDF-1.7")}
	c := newTransportClient(t, transportFunc(func(req *http.Request) (*http.Response, error) {
		if strings.HasSuffix(req.URL.Path, "/a") {
			return &http.Response{StatusCode: http.StatusOK, Body: first, Request: req}, nil
		}
		return &http.Response{StatusCode: http.StatusNotFound, Body: http.NoBody, Request: req}, nil
	}), client.WithBaseURL("https://sell.example.com/v2"))
	path := "https://SELL.example.com:443/v2/selling/orders/" + orderID + "/shipping-document/"

	labels, err := c.Orders.DownloadLabels(t.Context(), shippedOrder(path+"a", path+"b"))

	require.ErrorIs(t, err, client.ErrNotFound)
	assert.Nil(t, labels)
	assert.True(t, first.closed)
}

func TestDownloadLabels_ReadsShipmentsOfTheSandbox(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		market := sandboxtest.NewInProcess(t, func(o *sandbox.Options) { o.Delay = 0 }, quirks)
		c := newTransportClient(t, market.HTTPClient().Transport, client.WithBaseURL(market.URL),
			client.WithAPIKey(market.APIKey()), client.WithToken(market.Token()))
		made, err := c.Listings.Create(t.Context(), gen.CreateListingRequest{VariantID: sandboxVariant, Amount: "400"})
		require.NoError(t, err)
		_, err = made.Wait(t.Context())
		require.NoError(t, err)
		number, err := market.Buy(t.Context(), made.ListingID())
		require.NoError(t, err)
		require.NoError(t, market.MoveOrder(t.Context(), number, "SHIPPED"))
		order, err := c.Orders.Get(t.Context(), number)
		require.NoError(t, err)

		labels, err := c.Orders.DownloadLabels(t.Context(), order)

		require.NoError(t, err)
		require.NotEmpty(t, labels)
		for _, l := range labels {
			require.NotNil(t, l.Document, l.URL)
			content, err := io.ReadAll(l.Document)
			require.NoError(t, err)
			assert.True(t, strings.HasPrefix(string(content), "%PDF-"))
			require.NoError(t, l.Document.Close())
		}
	})
}

func TestDocument_AcceptsPDF(t *testing.T) {
	srv := clienttest.New(t)
	srv.Expect(gen.OpGetShippingDocument).RespondExample()

	document, err := srv.Client().Orders.DownloadShippingDocument(t.Context(), orderID, "label")

	require.NoError(t, err)
	require.NoError(t, document.Close())
	accept := srv.Requests(gen.OpGetShippingDocument)[0].Header.Get("Accept")
	assert.True(t, strings.HasPrefix(accept, "application/pdf,"), accept)
	assert.Contains(t, accept, "application/json;q=", "an error is JSON")
}

func TestDocument_Streams(t *testing.T) {
	rest := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/pdf")
		_, _ = io.WriteString(w, "%PDF")
		assert.NoError(t, http.NewResponseController(w).Flush())
		<-rest
		_, _ = io.WriteString(w, "-1.7")
	}))
	defer srv.Close()
	c := newServerClient(t, srv)

	document, err := c.Orders.DownloadShippingDocument(t.Context(), orderID, "label")
	require.NoError(t, err)
	start := make([]byte, 4)
	_, err = io.ReadFull(document, start)
	require.NoError(t, err, "the first bytes are read while the service still writes")
	close(rest)
	end, err := io.ReadAll(document)

	require.NoError(t, err)
	assert.Equal(t, "%PDF-1.7", string(start)+string(end))
	assert.Equal(t, "application/pdf", document.ContentType)
	assert.EqualValues(t, -1, document.Size, "the size is not known")
	require.NoError(t, document.Close())
}

func TestDocument_CutIsErrorOfRead(t *testing.T) {
	srv := clienttest.New(t)
	srv.Expect(gen.OpGetShippingDocument).Disconnect(clienttest.MidBody, "the document breaks off")

	document, err := srv.Client().Orders.DownloadShippingDocument(t.Context(), orderID, "label")
	require.NoError(t, err, "the headers came")
	defer document.Close()
	start, err := io.ReadAll(document)

	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	assert.Len(t, start, int(document.Size)/2, "the first half can be read")
}

// slowDocument sends headers at once, and takes a minute for the document.
func slowDocument(req *http.Request) (*http.Response, error) {
	body, document := io.Pipe()
	go func() {
		select {
		case <-time.After(29 * time.Second):
			_, _ = io.WriteString(document, "%PDF-1.7")
			<-time.After(29 * time.Second)
			_ = document.Close()
		case <-req.Context().Done():
			_ = document.CloseWithError(req.Context().Err())
		}
	}()
	return &http.Response{StatusCode: http.StatusOK, ContentLength: 8, Body: body, Request: req}, nil
}

func TestDocument_OutlastsAttemptTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newTransportClient(t, transportFunc(slowDocument),
			client.WithRetry(client.RetryPolicy{AttemptTimeout: time.Second}))

		document, err := c.Orders.DownloadShippingDocument(t.Context(), orderID, "label")
		require.NoError(t, err)
		defer document.Close()
		content, err := io.ReadAll(document)

		require.NoError(t, err)
		assert.Equal(t, "%PDF-1.7", string(content))
	})
}

func TestDocument_IdleTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newTransportClient(t, transportFunc(func(req *http.Request) (*http.Response, error) {
			body := io.MultiReader(strings.NewReader("%"), &slowBody{req.Context(), 31 * time.Second})
			return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(body), Request: req}, nil
		}))
		document, err := c.Orders.DownloadShippingDocument(t.Context(), orderID, "label")
		require.NoError(t, err)
		defer document.Close()

		_, err = document.Read(make([]byte, 1))
		require.NoError(t, err)

		<-time.After(time.Hour) // the time of a slow reader does not count
		start := time.Now()
		_, err = document.Read(make([]byte, 1))

		require.ErrorIs(t, err, client.ErrAttemptTimeout)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		var broken *client.DecodeError
		require.ErrorAs(t, err, &broken)
		assert.Equal(t, gen.OpGetShippingDocument, broken.Operation)
		assert.Equal(t, 30*time.Second, time.Since(start))
	})
}

func TestDocument_AttemptTimeoutCoversHeaders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := clienttest.New(t, clienttest.InProcess())
		srv.Expect(gen.OpGetShippingDocument).Delay(time.Minute).RespondExample()
		c := srv.Client(client.WithRetry(client.RetryPolicy{MaxAttempts: 1, AttemptTimeout: time.Second}))

		start := time.Now()
		_, err := c.Orders.DownloadShippingDocument(t.Context(), orderID, "label")

		var failed *client.TransportError
		require.ErrorAs(t, err, &failed)
		assert.Equal(t, time.Second, time.Since(start))
	})
}
