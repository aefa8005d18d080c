package sandbox

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"strings"
	"time"
)

// inject lets the faults happen that were asked for.
func (s *Sandbox) inject(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		this, world := callOf(r.Context()), s.worlds.Load()
		if f, ok := s.faults.take(this.operation); ok {
			this.held, this.world = true, world
			f.strike(w, r, next)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (f Fault) strike(w http.ResponseWriter, r *http.Request, next http.Handler) {
	own := &kept{header: http.Header{}}
	if f.Delay > 0 {
		r.Body = readAhead(r.Body)
	}
	if f.Applied {
		// A caller who has gone away by then does not undo what was asked for.
		next.ServeHTTP(own, r.WithContext(context.WithoutCancel(r.Context())))
	}
	f.wait(w, r)
	switch {
	case f.Kind == FaultLost:
		panic(http.ErrAbortHandler) // net/http cuts the connection
	case f.Kind == FaultDelay && !f.Applied:
		next.ServeHTTP(w, r)
	default:
		f.answer(w, own)
	}
}

// wait lets the delay go by, and cuts the connection of a caller who does not
// wait for it.
func (f Fault) wait(w http.ResponseWriter, r *http.Request) {
	if f.Delay == 0 {
		return
	}
	// The server's own patience begins after the delay. Where there is no
	// connection there is no deadline to move.
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(f.Delay + writeWait))
	timer := time.NewTimer(f.Delay)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-r.Context().Done():
		panic(http.ErrAbortHandler)
	}
}

// readAhead reads a limited body and returns it as it was: net/http looks for a
// caller who hangs up only once it has read all of a request.
func readAhead(body io.ReadCloser) io.ReadCloser {
	text, _ := io.ReadAll(body) // how it ends is told again to who reads on
	return struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(text), body), body}
}

// answer writes what the caller gets instead of the answer that is kept back.
func (f Fault) answer(w http.ResponseWriter, own *kept) {
	if f.RetryAfter > 0 {
		w.Header().Set("Retry-After", wholeSeconds(f.RetryAfter))
	}
	if f.Kind == FaultStatus && f.Body == "" {
		writeError(w, f.Status, http.StatusText(f.Status))
		return
	}
	status, contentType, body := f.Status, "application/json", own.body.Bytes()
	if status == 0 {
		status = max(own.status, http.StatusOK)
	}
	switch f.Kind {
	case FaultStatus:
		contentType, body = typeOf(f.Body), []byte(f.Body)
	case FaultDelay:
		maps.Copy(w.Header(), own.header)
		contentType = own.header.Get("Content-Type")
	case FaultCutJSON:
		if body = bytes.TrimSpace(body); len(body) < 2 {
			body = []byte(`{"listingId":"98e2e748`)
			break
		}
		body = body[:len(body)/2]
	case FaultHTML:
		contentType, body = "text/html; charset=utf-8", []byte("<!DOCTYPE html>\n<html><head><title>Please wait</title></head><body>We are checking your browser.</body></html>\n")
	default:
		body = []byte("\"not what was asked for\"\n")
	}
	w.Header().Set("Content-Type", contentType)
	w.WriteHeader(status)
	// The client may be gone; there is nobody else to tell.
	_, _ = w.Write(body)
}

// typeOf guesses the content type of a body that a test made up.
func typeOf(body string) string {
	switch {
	case json.Valid([]byte(body)):
		return "application/json"
	case strings.HasPrefix(strings.TrimSpace(body), "<"):
		return "text/html; charset=utf-8"
	default:
		return "text/plain; charset=utf-8"
	}
}

// kept is an answer that does not reach its caller.
type kept struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (k *kept) Header() http.Header { return k.header }

func (k *kept) WriteHeader(status int) {
	if k.status == 0 {
		k.status = status
	}
}

func (k *kept) Write(p []byte) (int, error) {
	k.WriteHeader(http.StatusOK)
	return k.body.Write(p)
}
