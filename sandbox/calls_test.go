package sandbox_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestAMethodThatIsNotThereIsToldWhichAre(t *testing.T) {
	m := open(t)
	for _, row := range []struct{ method, path, allow, why string }{
		{http.MethodPut, "/selling/listings", "GET, POST", "a collection"},
		{http.MethodPost, "/selling/listings/98e2e748-8000-45bf-a624-5531d6a68318", "GET, PATCH, DELETE", "one of it"},
		{http.MethodHead, "/catalog/search", "GET", "a head is no operation of the document"},
	} {
		w := m.raw(row.method, row.path, nil)
		assert.Equal(t, http.StatusMethodNotAllowed, w.Code, row.why)
		assert.Equal(t, row.allow, w.Header().Get("Allow"), row.why)
	}
	assert.Empty(t, m.raw(http.MethodGet, "/selling/listings", nil).Header().Get("Allow"))
}
