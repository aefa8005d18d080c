package sandbox_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/api"
	"github.com/sellside-sdk/sellside-go/sandbox"
	"github.com/sellside-sdk/sellside-go/sandbox/internal/specgen"
)

// plainRequests returns the plainest valid request for every operation. Products
// and variants exist, all else does not.
func (f *fuzzed) plainRequests() []specgen.Request {
	f.t.Helper()
	spec, err := specgen.Load(api.Spec)
	require.NoError(f.t, err)
	known := specgen.NewKnown(spec, sandbox.BasePath)
	product, variantID := variant(f.t, "DZ5485-612", "10.5")
	known.Learn(map[string]any{"productId": product.ID, "variantId": variantID})
	g := &specgen.Generator{Known: known, Choices: specgen.Plain{}, Base: sandbox.BasePath}
	requests := make([]specgen.Request, 0, len(spec.Operations()))
	for _, op := range spec.Operations() {
		requests = append(requests, g.Request(op))
	}
	return requests
}

func TestEveryOperationNeedsBothCredentials(t *testing.T) {
	m := &fuzzed{market: open(t)}
	for _, r := range m.plainRequests() {
		for _, header := range []string{"Authorization", "x-api-key"} {
			r.Omit = header
			m.send(m.http(r)).refused(http.StatusUnauthorized, header+" header is missing", r.Operation)
		}
	}
}

func TestThePlainestRequestsAreValid(t *testing.T) {
	m := &fuzzed{market: open(t)}
	for _, r := range m.plainRequests() {
		assert.NoError(t, m.refusal(r), "%s", r)
	}
}

// What needs no database is made to fail by a fault.
func TestEveryOperationCanFail(t *testing.T) {
	m := &fuzzed{market: open(t)}
	requests := m.plainRequests()
	require.NoError(t, m.Close())
	for _, r := range requests {
		if a := m.send(m.http(r)); a.status == http.StatusInternalServerError {
			a.refused(http.StatusInternalServerError, "failed", r.Operation)
			continue
		}
		require.NoError(t, m.Fail(sandbox.Fault{Operation: r.Operation, Kind: sandbox.FaultStatus, Status: 500}))
		assert.Equal(t, http.StatusInternalServerError, m.send(m.http(r)).status, r.Operation)
	}
}

// Nothing that a seller can send is answered 400 here: what is no order number is
// answered 404 as an order that has gone is.
func TestShippingDocumentsCanBeRefused(t *testing.T) {
	m := open(t)
	require.NoError(t, m.Fail(sandbox.Fault{Operation: "GetShippingDocuments", Kind: sandbox.FaultStatus, Status: 400}))
	number := m.direct()
	a := m.call(http.MethodGet, "/selling/orders/"+number+"/shipping-document", nil)
	assert.Equal(t, http.StatusBadRequest, a.status)
	assert.Equal(t, http.StatusOK, m.call(http.MethodGet, "/selling/orders/"+number+"/shipping-document", nil).status, "once")
}

func TestAShippingDocumentIsServedAsDeclared(t *testing.T) {
	m := open(t)
	_, number := m.order("200")
	address, err := url.Parse(m.get("/selling/orders/%s", number).text("shipment", "shippingLabelUrl"))
	require.NoError(t, err)
	w := m.raw(http.MethodGet, strings.TrimPrefix(address.Path, sandbox.BasePath), nil)
	assert.Equal(t, http.StatusOK, w.Code)
	assert.Equal(t, "application/pdf", w.Header().Get("Content-Type"))
}
