package sandbox_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sellside-sdk/sellside-go/quota"
	"github.com/sellside-sdk/sellside-go/sandbox"
)

func TestHealthIsThatOfTheDatabase(t *testing.T) {
	for name, file := range map[string]string{"in memory": "", "in a file": tempFile(t)} {
		m := open(t, inFile(file), held(quota.Quota{RequestsPerDay: 1}))
		require.NoError(t, m.Fail(sandbox.Fault{Kind: sandbox.FaultLost}))
		health := func() *httptest.ResponseRecorder {
			w := httptest.NewRecorder()
			m.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, sandbox.HealthPath, nil))
			return w
		}
		for range 3 {
			assert.Equal(t, http.StatusOK, health().Code, "%s: without credentials, quota and faults", name)
		}
		assert.JSONEq(t, `{"status":"ok"}`, health().Body.String(), name)
		require.NoError(t, m.Close())
		assert.Equal(t, http.StatusServiceUnavailable, health().Code, name)
		assert.JSONEq(t, `{"status":"unavailable"}`, health().Body.String(), name)
		assert.Empty(t, m.Counters(), name)
	}
}
