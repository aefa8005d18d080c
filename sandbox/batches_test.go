package sandbox_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// batch submits a batch and returns its path.
func (m *market) batch(kind string, items ...map[string]any) string {
	m.t.Helper()
	a := m.call(http.MethodPost, "/selling/batch/"+kind, map[string]any{"items": items})
	require.Equal(m.t, http.StatusOK, a.status, "%v", a.body)
	return "/selling/batch/" + kind + "/" + a.text("batchId")
}

func counts(queued, inProgress, completed, failed string) map[string]any {
	return map[string]any{
		"queued": json.Number(queued), "in_progress": json.Number(inProgress),
		"completed": json.Number(completed), "failed": json.Number(failed),
	}
}

func TestBatches_AreWorkedItemByItem(t *testing.T) {
	m := open(t) // with a delay of one second
	path := m.batch("create-listing", map[string]any{"variantId": chicago(t), "amount": "200", "quantity": 4})
	for _, row := range []struct {
		after     time.Duration
		status    string
		counts    map[string]any
		completed bool
	}{
		{0, "QUEUED", counts("4", "0", "0", "0"), false},
		{900 * time.Millisecond, "QUEUED", counts("4", "0", "0", "0"), false},
		{1300 * time.Millisecond, "IN_PROGRESS", counts("2", "2", "0", "0"), false},
		{2000 * time.Millisecond, "IN_PROGRESS", counts("0", "3", "1", "0"), false},
		{2800 * time.Millisecond, "COMPLETED", counts("0", "0", "4", "0"), true},
	} {
		m.pass(noon.Add(row.after).Sub(m.clock()))
		b := m.get("%s", path)
		assert.Equal(t, row.status, b.text("status"), row.after.String())
		assert.Equal(t, row.counts, b.at("itemStatuses"), row.after.String())
		assert.Equal(t, json.Number("4"), b.at("totalItems"), row.after.String())
		assert.Equal(t, row.completed, b.at("completedAt") != nil, row.after.String())
	}
}

func TestBatches_QuantityBecomesThatManyItems(t *testing.T) {
	m := open(t)
	path := m.batch("create-listing",
		map[string]any{"variantId": chicago(t), "amount": "200.00", "quantity": 2, "active": false},
		map[string]any{"variantId": chicago(t), "amount": "200.00", "quantity": 1, "active": false},
	)
	m.settle()
	items := m.get("%s/items", path)
	require.Equal(t, 3, items.len("items"), "equal items are allowed")
	seen := map[any]bool{}
	for i := range 3 {
		assert.Equal(t, "COMPLETED", items.text("items", i, "status"))
		assert.Equal(t, map[string]any{
			"variantId": chicago(t), "amount": "200.00", "currencyCode": "USD", "active": false,
			"expiresAt": nil,
		}, items.at("items", i, "listingInput"), "the input as it was sent")
		id := items.text("items", i, "result", "listingId")
		assert.False(t, seen[id], "each item makes another listing")
		seen[id] = true
		listing := m.get("/selling/listings/%s", id)
		assert.Equal(t, "INACTIVE", listing.text("status"))
		assert.Equal(t, items.text("items", i, "itemId"), listing.text("batch", "taskId"))
		assert.Nil(t, items.at("items", i, "result", "askId"), "it is not active")
	}
}

func TestBatches_ItemsFailOneByOne(t *testing.T) {
	m := open(t)
	v := chicago(t)
	path := m.batch("create-listing",
		map[string]any{"variantId": v, "amount": "200", "quantity": 1, "expiresAt": noon.Add(time.Hour)},
		map[string]any{"variantId": "no-such-variant", "amount": "200", "quantity": 1},
		map[string]any{"variantId": v, "amount": "100001", "quantity": 1},
		map[string]any{"variantId": v, "amount": "200", "quantity": 1, "expiresAt": noon.Add(-time.Hour)},
		map[string]any{"variantId": v, "amount": "200.50", "quantity": 1, "currencyCode": "JPY"},
	)
	m.settle()
	b := m.get("%s", path)
	assert.Equal(t, "COMPLETED", b.text("status"), "even if items failed")
	assert.NotNil(t, b.at("completedAt"))
	assert.Equal(t, counts("0", "0", "1", "4"), b.at("itemStatuses"))

	good := m.get("%s/items?status=COMPLETED", path)
	require.Equal(t, 1, good.len("items"))
	assert.Nil(t, good.at("items", 0, "error"))
	assert.Equal(t, "2026-11-02T13:00:00.000Z", good.text("items", 0, "listingInput", "expiresAt"))
	bad := m.get("%s/items?status=FAILED", path)
	for i, what := range []string{"variant", "amount", "expiresAt", "amount"} {
		assert.Regexp(t, "^"+what+" ", bad.text("items", i, "error"))
		assert.Nil(t, bad.at("items", i, "result"))
	}
	assert.Equal(t, 1, m.get("/selling/listings").len("listings"))
}

func TestBatches_UpdateListings(t *testing.T) {
	m := open(t)
	cheaper, off, sold := m.sell("200"), m.sell("200"), m.sell("200")
	_, err := m.Buy(t.Context(), sold)
	require.NoError(t, err)
	path := m.batch("update-listing",
		map[string]any{"listingId": cheaper, "amount": "150"},
		map[string]any{"listingId": off, "active": false},
		map[string]any{"listingId": sold, "amount": "150"},
		map[string]any{"listingId": "no-such-listing", "amount": "150"},
		map[string]any{"listingId": cheaper, "amount": "0.5"},
	)
	m.settle()
	items := m.get("%s/items", path)
	assert.Equal(t, []string{"COMPLETED", "COMPLETED", "FAILED", "FAILED", "FAILED"},
		items.each("items", "status"))
	assert.Equal(t, map[string]any{
		"listingId": cheaper, "amount": "150", "active": nil, "currencyCode": nil, "expiresAt": nil,
	}, items.at("items", 0, "listingInput"))
	assert.Equal(t, cheaper, items.text("items", 0, "result", "listingId"))
	for i, what := range []string{"listing " + sold, "listing ", "amount "} {
		assert.Regexp(t, "^"+what, items.text("items", 2+i, "error"))
	}
	assert.Equal(t, "150", m.get("/selling/listings/%s", cheaper).text("amount"))
	assert.Equal(t, "INACTIVE", m.get("/selling/listings/%s", off).text("status"))
}

func TestBatches_DeleteListings(t *testing.T) {
	m := open(t)
	id, sold := m.sell("200"), m.sell("200")
	ask := m.get("/selling/listings/%s", id).text("ask", "askId")
	_, err := m.Buy(t.Context(), sold)
	require.NoError(t, err)
	path := m.batch("delete-listing", map[string]any{"listingId": id}, map[string]any{"listingId": sold}, map[string]any{"listingId": id})
	m.settle()
	items := m.get("%s/items", path)
	assert.Equal(t, []string{"COMPLETED", "FAILED", "FAILED"}, items.each("items", "status"))
	assert.Equal(t, map[string]any{"id": id}, items.at("items", 0, "listingInput"))
	assert.Equal(t, map[string]any{"listingId": id, "askId": ask}, items.at("items", 0, "result"))
	assert.NotEmpty(t, items.text("items", 1, "error"), "it is sold")
	assert.NotEmpty(t, items.text("items", 2, "error"), "it is deleted already")
	assert.Equal(t, "DELETED", m.get("/selling/listings/%s", id).text("status"))
	assert.Equal(t, "MATCHED", m.get("/selling/listings/%s", sold).text("status"))
}

// The largest batch that the document and the limits allow must stay small in memory and on disk.
func TestBatches_OneRequestStaysSmall(t *testing.T) {
	file := tempFile(t)
	m := open(t, inFile(file))
	element := map[string]any{
		"variantId": strings.Repeat("x", 64), "amount": "200." + strings.Repeat("0", 36), "quantity": 10_000,
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	path := m.batch("create-listing", element)
	m.settle()
	w := httptest.NewRecorder()
	m.ServeHTTP(w, m.request(http.MethodGet, path+"/items", nil))
	runtime.ReadMemStats(&after)
	require.Equal(t, http.StatusOK, w.Code)
	assert.Equal(t, 10_000, strings.Count(w.Body.String(), `"status":"FAILED"`))
	assert.Less(t, w.Body.Len(), 8<<20, "bytes of the response")
	assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(200<<20), "bytes allocated in all")
	assert.Equal(t, 1, rows(t, file)["batch_inputs"], "the input of an element is stored once")

	for member, value := range map[string]string{
		"variantId": strings.Repeat("x", 500_000), "amount": "200." + strings.Repeat("0", 500_000),
	} {
		element := map[string]any{"variantId": chicago(t), "amount": "200", "quantity": 10_000, member: value}
		m.call(http.MethodPost, createBatch, map[string]any{"items": []any{element}}).
			refused(http.StatusBadRequest, "/items/0/"+member, "10,000 items would have it")
	}
}

func TestBatches_AreFoundUnderTheirKindOnly(t *testing.T) {
	m := open(t)
	m.batch("create-listing", map[string]any{"variantId": chicago(t), "amount": "200", "quantity": 1})
	path := m.batch("delete-listing", map[string]any{"listingId": "x"})
	other := "/selling/batch/create-listing/" + path[len("/selling/batch/delete-listing/"):]
	m.call(http.MethodGet, other, nil).
		refused(http.StatusNotFound, "create batch", "it is a delete batch")
	m.call(http.MethodGet, "/selling/batch/create-listing/my-batch", nil).
		refused(http.StatusNotFound, "create batch", "a name is the id of no batch")
}

func TestBatches_FilterItemsByAnyText(t *testing.T) {
	m := open(t)
	path := m.batch("create-listing",
		map[string]any{"variantId": chicago(t), "amount": "200", "quantity": 1},
		map[string]any{"variantId": unknownID, "amount": "200", "quantity": 1})
	m.settle()
	for _, row := range []struct {
		status string
		want   int
		why    string
	}{
		{"COMPLETED", 1, "a status"},
		{"completed", 1, "in the case of itemStatuses"},
		{"Failed", 1, "in any case"},
		{"QUEUED", 0, "of no item"},
		{"DONE", 0, "that does not exist"},
		{"COMPLETED,FAILED", 0, "no list"},
		{"", 2, "none"},
	} {
		assert.Equal(t, row.want, m.get("%s/items?status=%s", path, row.status).len("items"), row.why)
	}
}
