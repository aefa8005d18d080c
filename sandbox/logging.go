package sandbox

import (
	"errors"
	"log/slog"
	"net/http"
	"runtime/debug"
	"time"
)

// observe counts every request and writes a line for it. Headers, queries and
// bodies are left out, for they hold credentials and prices. A request that was
// not answered has the status 0.
func observe(log *slog.Logger, counters *tally, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start, this := time.Now(), &call{}
		// Who has an answer finds it counted, so it is counted first.
		rec := &recorder{ResponseWriter: w, first: func(status int) { counters.add(this.operation, status) }}
		defer func() {
			if rec.status == 0 {
				counters.add(this.operation, 0)
			}
			level := slog.LevelInfo
			if this.operation == healthOperation {
				level = slog.LevelDebug // somebody asks every few seconds
			}
			log.LogAttrs(r.Context(), level, "request",
				slog.String("method", r.Method), slog.String("path", r.URL.Path),
				slog.Int("status", rec.status), slog.Int("bytes", rec.bytes),
				slog.String("operation", this.operation), slog.String("account", this.account),
				slog.Duration("duration", time.Since(start)))
		}()
		next.ServeHTTP(rec, r.WithContext(withCall(r.Context(), this)))
	})
}

// recoverPanics logs that a handler panicked and answers 500, unless it had begun
// to answer already: then the connection is cut.
func recoverPanics(log *slog.Logger, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rec := &recorder{ResponseWriter: w}
		defer func() {
			cause := recover()
			if cause == nil {
				return
			}
			if isAbort(cause) {
				panic(http.ErrAbortHandler)
			}
			log.ErrorContext(r.Context(), "request panicked", "method", r.Method, "path", r.URL.Path,
				"cause", cause, "stack", string(debug.Stack()))
			if rec.status != 0 {
				panic(http.ErrAbortHandler)
			}
			writeError(w, http.StatusInternalServerError, "the sandbox failed; its log says why")
		}()
		next.ServeHTTP(rec, r)
	})
}

// recorder notes what was answered.
type recorder struct {
	http.ResponseWriter
	first  func(status int) // called once, before anything is sent; may be nil
	status int
	bytes  int
}

func (r *recorder) WriteHeader(status int) {
	r.begin(status)
	r.ResponseWriter.WriteHeader(status)
}

func (r *recorder) Write(p []byte) (int, error) {
	r.begin(http.StatusOK)
	n, err := r.ResponseWriter.Write(p)
	r.bytes += n
	return n, err
}

func (r *recorder) begin(status int) {
	if r.status != 0 {
		return
	}
	r.status = status
	if r.first != nil {
		r.first(status)
	}
}

// Unwrap lets [http.ResponseController] reach the connection.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// isAbort reports whether a handler panicked with net/http's own value to drop the connection.
func isAbort(cause any) bool {
	err, ok := cause.(error)
	return ok && errors.Is(err, http.ErrAbortHandler)
}
