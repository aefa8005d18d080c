package gateway

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
)

func observed(log *bytes.Buffer, next http.HandlerFunc) http.Handler {
	g := &Gateway{Config: Config{Logger: slog.New(slog.NewTextHandler(log, nil))}}
	return g.observed(func(w http.ResponseWriter, r *http.Request, _ *call) { next(w, r) })
}

func TestObserve_PanicIsA500AndLogged(t *testing.T) {
	var log bytes.Buffer
	h := observed(&log, func(http.ResponseWriter, *http.Request) { panic("boom") })
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/v2/x", nil))
	assert.Equal(t, http.StatusInternalServerError, w.Code)
	assert.JSONEq(t, `{"statusCode":500,"message":"the sandbox failed; its log says why"}`, w.Body.String())
	assert.Contains(t, log.String(), "cause=boom")
	assert.Contains(t, log.String(), "status=500")
}

func TestObserve_PanicInAResponseClosesTheConnection(t *testing.T) {
	var log bytes.Buffer
	h := observed(&log, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusOK)
		panic("boom")
	})
	assert.PanicsWithValue(t, http.ErrAbortHandler, func() {
		h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/v2/x", nil))
	}, "a client must not take half a response for a whole one")
	assert.Contains(t, log.String(), "cause=boom", "the client does not see why")
}
