package sandbox_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/sandbox"
)

// direct sells a Direct listing.
func (m *market) direct() (number string) {
	m.t.Helper()
	a := m.createListing("200", map[string]any{"inventoryType": "DIRECT"})
	m.settle()
	number, err := m.Buy(m.t.Context(), a.text("listingId"))
	require.NoError(m.t, err)
	return number
}

// download reads a URL of a response.
func download(t *testing.T, srv *httptest.Server, address string, credentials http.Header) (int, http.Header, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	require.NoError(t, err)
	r.Header = credentials
	resp, err := srv.Client().Do(r)
	require.NoError(t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp.StatusCode, resp.Header, string(body)
}

func (m *market) credentials() http.Header {
	return m.request(http.MethodGet, "/", nil).Header
}

func TestShipping_DocumentsOfDirectOrders(t *testing.T) {
	m := open(t)
	number := m.direct()
	srv := httptest.NewServer(m)
	defer srv.Close()
	r := m.request(http.MethodGet, "/selling/orders/"+number+"/shipping-document", nil)
	r.Host = strings.TrimPrefix(srv.URL, "http://")
	a := m.send(r)
	require.Equal(t, http.StatusOK, a.status)
	assert.Equal(t, a.text("shippingDocuments", "sellerShippingInstructions", "thermalLabel", "en"),
		a.text("shippingDocuments", "thermalLabelOnly"))
	assert.Equal(t, false, a.at("shippingDocuments", "additionalDocumentsRequired"))
	for title, address := range map[string]string{
		"Packing slip":           a.text("shippingDocuments", "requiredDocuments", "packing-slip"),
		"Shipping label":         a.text("shippingDocuments", "sellerShippingInstructions", "normalLabel", "en"),
		"Thermal shipping label": a.text("shippingDocuments", "sellerShippingInstructions", "thermalLabel", "en"),
	} {
		require.True(t, strings.HasPrefix(address, srv.URL+sandbox.BasePath+"/selling/orders/"+number+"/shipping-document/"), address)
		status, header, body := download(t, srv, address, m.credentials())
		require.Equal(t, http.StatusOK, status, title)
		same := m.raw(http.MethodGet, strings.TrimPrefix(address, srv.URL+sandbox.BasePath), nil) // checked against the document
		assert.Equal(t, same.Body.String(), body)
		assert.Equal(t, "application/pdf", header.Get("Content-Type"))
		assert.True(t, strings.HasPrefix(body, "%PDF-1.4\n"), title)
		for _, line := range []string{
			title, "Order: " + number, "Variant: " + chicago(t),
			"Ship by: Wed, 04 Nov 2026 12:00:04 UTC",
		} {
			assert.Contains(t, body, "("+line+") Tj", title)
		}
		status, _, _ = download(t, srv, address+"X", m.credentials())
		assert.Equal(t, http.StatusBadRequest, status, "an unknown id")
	}
}

func TestShipping_URLsLeadToDocuments(t *testing.T) {
	m := open(t)
	_, number := m.order("200")
	srv := httptest.NewTLSServer(m)
	defer srv.Close()
	status, _, body := download(t, srv, srv.URL+sandbox.BasePath+"/selling/orders/"+number, m.credentials())
	require.Equal(t, http.StatusOK, status)
	assert.Contains(t, body, `"shippingLabelUrl":"`+srv.URL+"/v2/", "the scheme and the host of the request")
	order := m.get("/selling/orders/%s", number)
	for _, member := range []string{"shippingLabelUrl", "shippingDocumentUrl"} {
		address, err := url.Parse(order.text("shipment", member))
		require.NoError(t, err)
		status, header, _ := download(t, srv, srv.URL+address.Path, m.credentials())
		assert.Equal(t, http.StatusOK, status)
		assert.Equal(t, "application/pdf", header.Get("Content-Type"))
	}
	assert.Equal(t, map[string]any{"shippingDocuments": nil}, m.get("/selling/orders/%s/shipping-document", number).body,
		"standard orders require none")
}

func TestShipping_SuspendedOrdersHaveNoDocuments(t *testing.T) {
	m := open(t, still)
	number := m.direct()
	label, err := url.Parse(m.get("/selling/orders/%s", number).text("shipment", "shippingLabelUrl"))
	require.NoError(t, err)
	path := strings.TrimPrefix(label.Path, sandbox.BasePath)
	m.move(number, "SUSPENDED")
	a := m.get("/selling/orders/%s/shipping-document", number)
	assert.NotEmpty(t, a.text("shippingDocuments", "message"))
	assert.NotContains(t, a.at("shippingDocuments"), "requiredDocuments")
	m.call(http.MethodGet, path, nil).
		refused(400, "shipping document of order "+number, "it must not be shipped")
}

func TestShipping_DocumentsBelongToOneOrder(t *testing.T) {
	m := open(t)
	mine, other := m.direct(), m.direct()
	address, err := url.Parse(m.get("/selling/orders/%s", mine).text("shipment", "shippingLabelUrl"))
	require.NoError(t, err)
	path := strings.TrimPrefix(address.Path, sandbox.BasePath)
	m.call(http.MethodGet, strings.Replace(path, mine, other, 1), nil).
		refused(400, "shipping document of order "+other, "a document of another order")
	m.call(http.MethodGet, "/selling/orders/323314425-323214184/shipping-document", nil).
		refused(404, "order", "an unknown order")
	m.call(http.MethodGet, "/selling/orders/323314425-323214184/shipping-document/6JF8D2QX", nil).
		refused(404, "order", "an unknown order")

	stranger, err := m.AddAccount(t.Context(), "stranger")
	require.NoError(t, err)
	for _, path := range []string{path, "/selling/orders/" + mine, "/selling/orders/" + mine + "/shipping-document"} {
		r := m.request(http.MethodGet, path, nil)
		r.Header.Set("x-api-key", stranger.APIKey)
		r.Header.Set("Authorization", "Bearer "+stranger.Token)
		m.send(r).refused(404, "order", "the order of another account")
	}
}

func TestShipping_RefusesMalformedOrderNumbers(t *testing.T) {
	m := open(t)
	for number, status := range map[string]int{
		"323314425-323214184":  http.StatusNotFound, // the form of a standard order
		"02-L0QT6MRVSG":        http.StatusNotFound, // of a flex order
		"06-9XUDDWG8F1":        http.StatusNotFound, // of a direct order
		"323314425":            http.StatusBadRequest,
		"323314425-32321418":   http.StatusBadRequest,
		"06-9xuddwg8f1":        http.StatusBadRequest,
		"x323314425-323214184": http.StatusBadRequest,
	} {
		assert.Equal(t, status, m.call(http.MethodGet, "/selling/orders/"+number+"/shipping-document", nil).status, number)
	}
}
