package sandbox

import (
	"io"
	"net/http"

	"github.com/sellside-sdk/sellside-go/sandbox/internal/store"
)

// HealthPath answers anybody: 200 while the database can be read, and 503 when
// it cannot, as after Close.
const HealthPath = "/healthz"

func (s *Sandbox) health(w http.ResponseWriter, r *http.Request) {
	status, text := http.StatusOK, `{"status":"ok"}`+"\n"
	err := s.store.View(r.Context(), func(tx *store.Tx) error {
		_, err := tx.Accounts()
		return err
	})
	if err != nil {
		status, text = http.StatusServiceUnavailable, `{"status":"unavailable"}`+"\n"
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	// The caller may be gone; there is nobody else to tell.
	_, _ = io.WriteString(w, text)
}
