package sandbox_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestOperationsArePagedByCursor(t *testing.T) {
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
	assert.Equal(t, []string{"CREATE"}, third.each("operations", "operationType"), "the oldest comes last")
	assert.Nil(t, third.at("nextCursor"))
	assert.Equal(t, 5, m.get("%s/operations", path).len("operations"))
}

func TestAnOperationFailsWhenItHasBecomeImpossible(t *testing.T) {
	m := open(t)
	path := "/selling/listings/" + m.sell("200")
	m.call(http.MethodDelete, path, nil)
	late := m.call(http.MethodPatch, path, map[string]any{"amount": "190"})
	require.Equal(t, http.StatusOK, late.status, "the listing is not deleted yet")
	m.settle()

	op := m.get("%s/operations/%s", path, late.text("operationId"))
	assert.Equal(t, "FAILED", op.text("operationStatus"))
	assert.Contains(t, op.text("error"), "it is deleted")
	assert.Equal(t, "200", m.get("%s", path).text("amount"))
}

func TestASaleOvertakesAPendingOperation(t *testing.T) {
	m := open(t)
	id := m.sell("200")
	late := m.call(http.MethodPut, "/selling/listings/"+id+"/deactivate", nil)
	_, err := m.Buy(t.Context(), id)
	require.NoError(t, err, "the ask is live until the operation is done")
	m.settle()
	assert.Equal(t, "FAILED", m.get("/selling/listings/%s/operations/%s", id, late.text("operationId")).text("operationStatus"))
	assert.Equal(t, "MATCHED", m.get("/selling/listings/%s", id).text("status"))
}

func TestAnOperationSaysWhatItChanges(t *testing.T) {
	m := open(t)
	path := "/selling/listings/" + m.sell("200")
	op := m.call(http.MethodPatch, path, map[string]any{"amount": "23500.0000", "currencyCode": "JPY"})
	assert.Equal(t, map[string]any{"amount": "23500", "currency": "JPY", "expiresAt": nil}, op.at("changes", "additions", "askData"))
	assert.Nil(t, op.at("changes", "additions", "active"))
	assert.Equal(t, map[string]any{}, op.at("changes", "removals"))
	assert.Equal(t, "USER", op.text("operationInitiatedBy"))
	assert.Equal(t, "PUBLIC-API", op.text("operationInitiatedVia"))
}
