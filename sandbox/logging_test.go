package sandbox

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestAPanicIsAnswered500AndLogged(t *testing.T) {
	var log bytes.Buffer
	h := recoverPanics(slog.New(slog.NewTextHandler(&log, nil)), http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		panic("boom")
	}))
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/v2/x", nil))
	assert.Equal(t, http.StatusInternalServerError, w.Code)
	assert.JSONEq(t, `{"statusCode":500,"message":"the sandbox failed; its log says why"}`, w.Body.String())
	assert.Contains(t, log.String(), "cause=boom")
}

func TestAPanicInTheMiddleOfAnAnswerCutsTheConnection(t *testing.T) {
	var log bytes.Buffer
	h := recoverPanics(slog.New(slog.NewTextHandler(&log, nil)), http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusOK)
		panic("boom")
	}))
	assert.PanicsWithValue(t, http.ErrAbortHandler, func() {
		h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/v2/x", nil))
	}, "a client must not take half an answer for a whole one")
	assert.Contains(t, log.String(), "cause=boom", "and nobody else would say why")
}
