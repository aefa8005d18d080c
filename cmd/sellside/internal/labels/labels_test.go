package labels_test

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/client"
	"github.com/sellside-sdk/sellside-go/client/clienttest"
	"github.com/sellside-sdk/sellside-go/cmd/sellside/internal/labels"
	"github.com/sellside-sdk/sellside-go/gen"
	"github.com/sellside-sdk/sellside-go/sandbox"
	"github.com/sellside-sdk/sellside-go/sandbox/sandboxtest"
)

// desk is a directory for the labels of a market.
type desk struct {
	t      *testing.T
	market *sandboxtest.Market
	saver  labels.Saver
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	m := sandboxtest.New(t, func(o *sandbox.Options) { o.OrderStep = -1 })
	c := m.Client(client.WithRetry(client.RetryPolicy{MaxAttempts: 1}))
	return &desk{t, m, labels.Saver{Orders: c.Orders, Dir: t.TempDir()}}
}

func (d *desk) order(inventory, status string) gen.Order {
	d.t.Helper()
	number, err := d.market.AddOrder(d.t.Context(), sandbox.Listing{
		VariantID: sandbox.Catalog()[0].Variants[0].ID, Amount: "162", InventoryType: inventory,
	}, status)
	require.NoError(d.t, err)
	return gen.Order{OrderNumber: number}
}

func (d *desk) save(order gen.Order) labels.Result {
	d.t.Helper()
	result, err := d.saver.Save(d.t.Context(), order)
	require.NoError(d.t, err)
	return result
}

// files returns the names of all files in the directory, and checks that they are PDFs.
func (d *desk) files() []string {
	d.t.Helper()
	entries, err := os.ReadDir(d.saver.Dir)
	require.NoError(d.t, err)
	var names []string
	for _, entry := range entries {
		text, err := os.ReadFile(filepath.Join(d.saver.Dir, entry.Name()))
		require.NoError(d.t, err)
		assert.True(d.t, strings.HasPrefix(string(text), "%PDF-"), entry.Name())
		names = append(names, entry.Name())
	}
	return names
}

func TestSaver_SavesTheDocumentsOfAnOrderOnce(t *testing.T) {
	d := newDesk(t)
	order := d.order("STANDARD", "CREATED")
	first, second := order.OrderNumber+".pdf", order.OrderNumber+".2.pdf"
	got := d.save(order)
	assert.Equal(t, labels.Saved, got.Status)
	assert.Equal(t, []string{filepath.Join(d.saver.Dir, first), filepath.Join(d.saver.Dir, second)}, got.Files)
	assert.ElementsMatch(t, []string{first, second}, d.files())

	before := d.market.Counters()
	assert.Equal(t, labels.Present, d.save(order).Status)
	assert.Equal(t, before, d.market.Counters(), "no request")
}

func TestSaver_SavesAllDocumentsOfADirectOrder(t *testing.T) {
	d := newDesk(t)
	order := d.order("DIRECT", "CREATED")
	got := d.save(order)
	assert.Equal(t, labels.Saved, got.Status)
	assert.Len(t, got.Files, 3, "the label, the packing slip and the thermal label, each once")
	assert.Len(t, d.files(), 3)
}

func TestSaver_ReportsAnOrderWithoutDocuments(t *testing.T) {
	d := newDesk(t)
	for _, inventory := range []string{"STANDARD", "DIRECT"} {
		got := d.save(d.order(inventory, "DONOTSHIP"))
		assert.Equal(t, labels.None, got.Status, got.Error)
	}
	assert.Empty(t, d.files())
}

// TestSaver_ResumesAfterAFailure makes each request for a document fail in turn, and in each way.
func TestSaver_ResumesAfterAFailure(t *testing.T) {
	for _, fault := range []sandbox.Fault{
		{Kind: sandbox.FaultStatus, Status: http.StatusBadGateway},
		{Kind: sandbox.FaultHTML},
		{Kind: sandbox.FaultStatus, Status: http.StatusNotFound},
	} {
		for _, operation := range []gen.OperationID{gen.OpGetOrder, gen.OpGetShippingDocuments, gen.OpGetShippingDocument} {
			d := newDesk(t)
			order := d.order("DIRECT", "CREATED")
			fault.Operation = string(operation)
			require.NoError(t, d.market.Fail(fault))
			got := d.save(order)
			assert.Equal(t, labels.Failed, got.Status, "%s %s", operation, fault.Kind)
			assert.NotEmpty(t, got.Error)
			assert.Empty(t, d.files(), "nothing is left of what failed")

			assert.Equal(t, labels.Saved, d.save(order).Status, "the next run")
			assert.Len(t, d.files(), 3)
		}
	}
}

func TestSaver_OverwritesNoFile(t *testing.T) {
	d := newDesk(t)
	order := d.order("STANDARD", "CREATED")
	second := filepath.Join(d.saver.Dir, order.OrderNumber+".2.pdf")
	require.NoError(t, os.WriteFile(second, []byte("%PDF-of an earlier run that was killed"), 0o600))
	assert.Equal(t, labels.Saved, d.save(order).Status)
	text, err := os.ReadFile(second)
	require.NoError(t, err)
	assert.Equal(t, "%PDF-of an earlier run that was killed", string(text))
	assert.True(t, slices.Contains(d.files(), order.OrderNumber+".pdf"))
}

func TestSaver_RefusesAnOrderNumberThatIsAPath(t *testing.T) {
	d := newDesk(t)
	for _, number := range []string{"", "..", "../up", "a/b", `a\b`, "a.pdf", "nul\x00", "é", strings.Repeat("1", 200)} {
		assert.Equal(t, labels.Failed, d.save(gen.Order{OrderNumber: number}).Status, number)
	}
	assert.Empty(t, d.files())
	assert.Empty(t, d.market.Counters(), "no request")
}

func TestSaver_EndsIfNothingCanBeSaved(t *testing.T) {
	d := newDesk(t)
	order := d.order("STANDARD", "CREATED")
	ctx, stop := context.WithCancel(t.Context())
	stop()
	_, err := d.saver.Save(ctx, order)
	assert.ErrorIs(t, err, context.Canceled)

	d.saver.Dir = filepath.Join(d.saver.Dir, "missing")
	_, err = d.saver.Save(t.Context(), order)
	assert.ErrorIs(t, err, os.ErrNotExist)
}

func TestSaver_RequestsNothingFromAnotherHost(t *testing.T) {
	const elsewhere = "https://labels.example.com/323314425-323214184.pdf"
	srv := clienttest.New(t)
	srv.Expect(gen.OpGetOrder).Respond(http.StatusOK, gen.Order{
		OrderNumber: "323314425-323214184", Status: gen.OrderStatusCreated, InventoryType: gen.InventoryTypeStandard,
		Shipment:  &gen.Shipment{ShippingLabelURL: elsewhere},
		CreatedAt: gen.TimeOf(time.Now()), UpdatedAt: gen.TimeOf(time.Now()),
	})
	saver := labels.Saver{Orders: srv.Client().Orders, Dir: t.TempDir()}
	got, err := saver.Save(t.Context(), gen.Order{OrderNumber: "323314425-323214184"})
	require.NoError(t, err)
	assert.Equal(t, labels.Elsewhere, got.Status)
	assert.Equal(t, []string{elsewhere}, got.URLs, "the user has to open it")
}
