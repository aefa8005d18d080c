package sandbox

import (
	"errors"
	"log/slog"
	"net/http"
	"runtime/debug"
	"time"
)

// logRequests writes a line per request. Headers and bodies are left out, for
// they hold credentials and prices.
func logRequests(log *slog.Logger, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := time.Now()
		rec := &recorder{ResponseWriter: w}
		defer func() {
			log.LogAttrs(r.Context(), slog.LevelInfo, "request",
				slog.String("method", r.Method), slog.String("path", r.URL.Path),
				slog.Int("status", rec.status), slog.Int("bytes", rec.bytes),
				slog.Duration("duration", time.Since(start)))
		}()
		next.ServeHTTP(rec, r)
	})
}

// recoverPanics answers 500 where a handler panicked, unless it had begun to
// answer already.
func recoverPanics(log *slog.Logger, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rec := &recorder{ResponseWriter: w}
		defer func() {
			cause := recover()
			if cause == nil {
				return
			}
			if isAbort(cause) || rec.status != 0 {
				panic(http.ErrAbortHandler)
			}
			log.ErrorContext(r.Context(), "request panicked", "method", r.Method, "path", r.URL.Path,
				"cause", cause, "stack", string(debug.Stack()))
			writeError(w, http.StatusInternalServerError, "the sandbox failed; its log says why")
		}()
		next.ServeHTTP(rec, r)
	})
}

// recorder notes what was answered.
type recorder struct {
	http.ResponseWriter
	status int
	bytes  int
}

func (r *recorder) WriteHeader(status int) {
	if r.status == 0 {
		r.status = status
	}
	r.ResponseWriter.WriteHeader(status)
}

func (r *recorder) Write(p []byte) (int, error) {
	if r.status == 0 {
		r.status = http.StatusOK
	}
	n, err := r.ResponseWriter.Write(p)
	r.bytes += n
	return n, err
}

// Unwrap lets [http.ResponseController] reach the connection.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// isAbort reports whether a handler panicked with net/http's own value to drop the connection.
func isAbort(cause any) bool {
	err, ok := cause.(error)
	return ok && errors.Is(err, http.ErrAbortHandler)
}
