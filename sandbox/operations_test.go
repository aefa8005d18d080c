package sandbox_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/sandbox"
)

func TestOperations_ArePagedByCursor(t *testing.T) {
	m := open(t)
	path := "/selling/listings/" + m.sell("200")
	for range 4 {
		m.call(http.MethodPatch, path, map[string]any{"amount": "190"})
		m.settle()
	}
	first := m.get("%s/operations?pageSize=2", path)
	assert.Equal(t, []string{"UPDATE", "UPDATE"}, first.each("operations", "operationType"))
	second := m.get("%s/operations?pageSize=2&cursor=%s", path, first.text("nextCursor"))
	assert.Equal(t, []string{"UPDATE", "UPDATE"}, second.each("operations", "operationType"))
	third := m.get("%s/operations?pageSize=2&cursor=%s", path, second.text("nextCursor"))
	assert.Equal(t, []string{"CREATE"}, third.each("operations", "operationType"),
		"the oldest comes last")
	assert.Nil(t, third.at("nextCursor"))
	assert.Equal(t, 5, m.get("%s/operations", path).len("operations"))
}

// What is accepted depends on the state in which pending operations will leave the listing.
func TestOperations_CountPendingOnesForState(t *testing.T) {
	type step struct {
		method, path string
		body         any
		status       int
	}
	update := map[string]any{"amount": "90", "currencyCode": "USD"}
	for _, row := range []struct {
		active bool
		steps  []step
		want   string
		why    string
	}{
		{true, []step{{"DELETE", "", nil, 200}, {"PATCH", "", update, 400}, {"DELETE", "", nil, 400}}, "DELETED", "it will be deleted"},
		{true, []step{{"PUT", "/deactivate", nil, 200}, {"PUT", "/deactivate", nil, 400}}, "INACTIVE", "it will be inactive"},
		{
			true,
			[]step{{"PUT", "/deactivate", nil, 200}, {"PUT", "/activate", update, 200}, {"PUT", "/activate", update, 400}},
			"ACTIVE", "it will be inactive and active again",
		},
		{false, []step{{"PUT", "/activate", update, 200}, {"PUT", "/deactivate", nil, 200}}, "INACTIVE", "it will be active"},
	} {
		m := open(t)
		id := m.createListing("100", map[string]any{"active": row.active}).text("listingId")
		m.settle()
		for i, s := range row.steps {
			r := m.call(s.method, "/selling/listings/"+id+s.path, s.body)
			require.Equal(t, s.status, r.status, "%s, step %d: %v", row.why, i, r.body)
		}
		m.settle()
		l := m.get("/selling/listings/%s", id)
		assert.Equal(t, row.want, l.text("status"), row.why)
		for _, status := range m.get("/selling/listings/%s/operations", id).each("operations", "operationStatus") {
			assert.Equal(t, "SUCCEEDED", status, row.why)
		}
	}
}

func TestOperations_CountThePendingCreation(t *testing.T) {
	m := open(t)
	id := m.createListing("100", nil).text("listingId")
	m.call(http.MethodPut, "/selling/listings/"+id+"/activate", map[string]any{}).
		refused(http.StatusBadRequest, "listing "+id, "it will be active")
	require.Equal(t, http.StatusOK, m.call(http.MethodPut, "/selling/listings/"+id+"/deactivate", nil).status)
	m.settle()
	assert.Equal(t, "INACTIVE", m.get("/selling/listings/%s", id).text("status"))
}

func TestWorker_KeepsTheOrderOfDueTimes(t *testing.T) {
	for _, row := range []struct {
		step time.Duration
		why  string
	}{
		{time.Second, "in time"},
		{time.Minute, "late"},
	} {
		m := open(t)
		id := m.sell("100")
		m.call(http.MethodPatch, "/selling/listings/"+id, map[string]any{"amount": "200"}) // after one second
		m.batch("update-listing", map[string]any{"listingId": id, "amount": "300"})        // after two
		other := m.createListing("100", nil).text("listingId")
		m.batch("update-listing", map[string]any{"listingId": other, "active": true, "amount": "150"}) // after it is live
		for range 3 {
			m.pass(row.step)
		}
		assert.Equal(t, "300", m.get("/selling/listings/%s", id).text("amount"), row.why)
		assert.Equal(t, "150", m.get("/selling/listings/%s", other).text("amount"), row.why)
		assert.Equal(t, []string{"SUCCEEDED", "SUCCEEDED"},
			m.get("/selling/listings/%s/operations", other).each("operations", "operationStatus"), row.why)
	}
}

func TestWorker_DoesOperationsBeforeItemsOfTheSameMoment(t *testing.T) {
	m := open(t, func(o *sandbox.Options) { o.Delay = -1 })
	id := m.sell("100")
	m.batch("update-listing", map[string]any{"listingId": id, "amount": "300"})
	m.call(http.MethodPatch, "/selling/listings/"+id, map[string]any{"amount": "200"})
	m.settle()
	assert.Equal(t, "300", m.get("/selling/listings/%s", id).text("amount"), "the item came last")
}

func TestWorker_KeepsTheOrderAcrossSteps(t *testing.T) {
	t.Run("more items", func(t *testing.T) {
		m := open(t)
		id := m.sell("100")
		m.batch("create-listing", map[string]any{"variantId": chicago(t), "amount": "5000", "quantity": 1200})
		changes := []map[string]any{}
		for range 9 {
			changes = append(changes, map[string]any{"listingId": "x"})
		}
		m.batch("update-listing", append(changes, map[string]any{"listingId": id, "amount": "200"})...)
		m.tick(2500 * time.Millisecond) // the last item would be due in 400 ms
		m.call(http.MethodPatch, "/selling/listings/"+id, map[string]any{"amount": "300"})
		m.pass(time.Minute)
		assert.Equal(t, "300", m.get("/selling/listings/%s", id).text("amount"))
	})
	t.Run("more operations", func(t *testing.T) {
		m := open(t)
		id := m.sell("100")
		for range 500 {
			m.createListing("5000", nil)
		}
		m.call(http.MethodPatch, "/selling/listings/"+id, map[string]any{"amount": "200"})
		m.batch("update-listing", map[string]any{"listingId": id, "amount": "300"})
		m.pass(time.Minute)
		assert.Equal(t, "300", m.get("/selling/listings/%s", id).text("amount"))
	})
}

func TestOperations_KeepTermsOfPendingOnes(t *testing.T) {
	published, kept := open(t), open(t, func(o *sandbox.Options) { o.KeepTerms = true })
	for _, row := range []struct {
		m                *market
		changes          []map[string]any
		amount, currency string
	}{
		{published, []map[string]any{{"amount": "200"}, {"currencyCode": "EUR"}}, "200", "EUR"},
		{kept, []map[string]any{{"amount": "200"}, {"currencyCode": "EUR"}}, "200", "EUR"},
		{published, []map[string]any{{"currencyCode": "JPY", "amount": "15000"}, {"amount": "15500"}}, "15500", "USD"},
		{kept, []map[string]any{{"currencyCode": "JPY", "amount": "15000"}, {"amount": "15500"}}, "15500", "JPY"},
	} {
		m := row.m
		id := m.sell("100")
		for _, change := range row.changes {
			require.Equal(t, http.StatusOK,
				m.call(http.MethodPatch, "/selling/listings/"+id, change).status)
		}
		m.settle()
		l := m.get("/selling/listings/%s", id)
		assert.Equal(t, row.amount, l.text("amount"))
		assert.Equal(t, row.currency, l.text("currencyCode"))
	}
}

func TestOperations_CostTheSameHoweverManyArePending(t *testing.T) {
	m := open(t, func(o *sandbox.Options) { o.Delay = time.Hour })
	id := m.createListing("200", nil).text("listingId")
	patch := func() {
		w := httptest.NewRecorder()
		m.ServeHTTP(w, m.request(http.MethodPatch, "/selling/listings/"+id, map[string]any{"amount": "201"}))
		assert.Equal(t, http.StatusOK, w.Code)
	}
	few := testing.AllocsPerRun(20, patch)
	for range 500 {
		patch()
	}
	many := testing.AllocsPerRun(20, patch)
	assert.Less(t, many, 1.5*few, "allocations of an update with 500 pending ones")
}

func TestOperations_FailIfASaleComesFirst(t *testing.T) {
	m := open(t)
	id := m.sell("200")
	late := m.call(http.MethodPut, "/selling/listings/"+id+"/deactivate", nil)
	_, err := m.Buy(t.Context(), id)
	require.NoError(t, err, "the ask is live while the operation is pending")
	m.settle()
	assert.Equal(t, "FAILED",
		m.get("/selling/listings/%s/operations/%s", id, late.text("operationId")).text("operationStatus"))
	assert.Equal(t, "MATCHED", m.get("/selling/listings/%s", id).text("status"))
}

func TestOperations_HaveTheirChanges(t *testing.T) {
	m := open(t)
	path := "/selling/listings/" + m.sell("200")
	op := m.call(http.MethodPatch, path, map[string]any{"amount": "23500.0000", "currencyCode": "JPY"})
	assert.Equal(t, map[string]any{"amount": "23500", "currency": "JPY", "expiresAt": "2029-07-28T12:00:04.000Z"},
		op.at("changes", "additions", "askData"))
	assert.Nil(t, op.at("changes", "additions", "active"))
	assert.Equal(t, map[string]any{}, op.at("changes", "removals"))
	assert.Equal(t, "USER", op.text("operationInitiatedBy"))
	assert.Equal(t, "PUBLIC-API", op.text("operationInitiatedVia"))
}
