package sandbox_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
)

// What is checked and what is served is one decision: a path that is escaped more than it has to be
// is the same path.
func TestRouting_DecodesPathsOnce(t *testing.T) {
	m := open(t)
	for _, row := range []struct {
		path      string
		status    int
		operation string
		why       string
	}{
		{"/selling/orders/active?pageSize=0", 400, "ListActiveOrders", "the parameter is checked"},
		{"/selling/orders/%61ctive?pageSize=0", 400, "ListActiveOrders", "under another spelling, too"},
		{"/selling/orders/%61ctive?pageSize=1", 200, "ListActiveOrders", "and the list is served"},
		{"/selling/%6Cistings?pageSize=0", 400, "ListListings", "a segment that every path has"},
		{"/selling/listings/a%2Fb", 400, "GetListing", "an escaped slash is part of its segment"},
		{"/selling%2Flistings", 404, "", "which is not two segments"},
		{"/selling/listings/%2e%2e/listings", 404, "", "dots are not resolved"},
		{"/selling/listings/", 404, "", "an empty segment is no id"},
		{"/selling//listings", 404, "", "slashes are not merged"},
	} {
		w := httptest.NewRecorder()
		m.ServeHTTP(w, m.request(http.MethodGet, row.path, nil))
		assert.Equal(t, row.status, w.Code, "%s: %s", row.path, row.why)
		if row.operation != "" {
			assert.Equal(t, 1, m.Counters()[row.operation][row.status], "%s: %s", row.path, row.why)
		}
		assert.NoError(t, m.Reset(t.Context()))
	}
}
