package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sellside-sdk/sellside-go/sandbox/internal/wire"
)

// Kinds of faults.
const (
	faultStatus    = "status"
	faultLost      = "lost"
	faultDelay     = "delay"
	faultCutJSON   = "cut-json"
	faultHTML      = "html"
	faultWrongType = "wrong-type"
)

var faultKinds = []string{faultStatus, faultLost, faultDelay, faultCutJSON, faultHTML, faultWrongType}

// FaultKinds returns the kinds of faults.
func FaultKinds() []string { return slices.Clone(faultKinds) }

// Fault is what sandbox.Fault describes, where its fields are explained. It is encoded as JSON in
// the control API, except for the durations, which it writes as text.
type Fault struct {
	Operation  string        `json:"operation,omitempty"`
	Times      int           `json:"times,omitempty"`
	Kind       string        `json:"kind"`
	Applied    bool          `json:"applied,omitempty"`
	Delay      time.Duration `json:"-"`
	Status     int           `json:"status,omitempty"`
	RetryAfter time.Duration `json:"-"`
	Body       string        `json:"body,omitempty"`
	ID         string        `json:"id,omitempty"`
	Contains   string        `json:"contains,omitempty"`
}

// isFor reports whether a call with a path and a body can take the fault.
func (f Fault) isFor(operation, path, body string) bool {
	return (f.Operation == "" || f.Operation == operation) &&
		(f.ID == "" || slices.Contains(strings.Split(path, "/"), f.ID)) &&
		(f.Contains == "" || strings.Contains(body, f.Contains))
}

// bodyOf returns the body of a request, which readBody has read into memory, and leaves it unread.
func bodyOf(r *http.Request) string {
	text, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(text))
	return string(text)
}

func (f Fault) check() error {
	switch {
	case f.Operation != "" && !slices.Contains(theContract().operations, f.Operation):
		return wire.Invalidf("operation (%.80q): not found", f.Operation)
	case !slices.Contains(faultKinds, f.Kind):
		return wire.Invalidf("kind (%.80q): must be one of %s", f.Kind, strings.Join(faultKinds, ", "))
	case f.Times < 0 || f.Delay < 0 || f.RetryAfter < 0:
		return wire.Invalidf("times, delay and retryAfter: must not be negative")
	case f.Kind == faultDelay && f.Delay == 0:
		return wire.Invalidf("delay: must be set for kind %s", f.Kind)
	case f.Kind == faultStatus && f.Status == 0:
		return wire.Invalidf("status: must be set for kind %s", f.Kind)
	case f.Status != 0 && (f.Status < 200 || f.Status > 599):
		return wire.Invalidf("status (%d): must be from 200 to 599", f.Status)
	case f.Body != "" && f.Kind != faultStatus:
		return wire.Invalidf("body: must be empty but for kind %s", faultStatus)
	}
	return nil
}

// Faults are those that have yet to happen. The zero value has none. It is safe for concurrent use.
type Faults struct {
	mu      sync.Mutex
	waiting []Fault
}

// Add appends a fault, or refuses one that makes no sense.
func (q *Faults) Add(f Fault) error {
	if err := f.check(); err != nil {
		return err
	}
	f.Times = max(f.Times, 1)
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = append(q.waiting, f)
	return nil
}

// List returns all faults in their order; Times is how often each will still happen.
func (q *Faults) List() []Fault {
	q.mu.Lock()
	defer q.mu.Unlock()
	return slices.Clone(q.waiting)
}

// Clear removes all faults.
func (q *Faults) Clear() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = nil
}

// take returns the fault of one call, and false if there is none for its operation.
func (q *Faults) take(operation string, r *http.Request) (Fault, bool) {
	if operation == "" {
		return Fault{}, false
	}
	var body string
	if slices.ContainsFunc(q.List(), func(f Fault) bool { return f.Contains != "" }) {
		body = bodyOf(r)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	i := slices.IndexFunc(q.waiting, func(f Fault) bool { return f.isFor(operation, r.URL.Path, body) })
	if i < 0 {
		return Fault{}, false
	}
	f := q.waiting[i]
	if q.waiting[i].Times--; q.waiting[i].Times == 0 {
		q.waiting = slices.Delete(q.waiting, i, i+1)
	}
	return f, true
}

// faulty returns a stage that lets the fault happen that waits for the call, if any, before or in
// place of the next stage.
func (g *Gateway) faulty(next stage) stage {
	return func(w http.ResponseWriter, r *http.Request, c *call) { g.inject(w, r, c, next) }
}

func (g *Gateway) inject(w http.ResponseWriter, r *http.Request, c *call, next stage) {
	generation := g.generation.Load() // before the fault is taken: a reset removes it
	f, ok := g.Faults.take(c.operation, r)
	if !ok {
		next(w, r, c)
		return
	}
	c.faulty, c.generation = true, generation
	original := &buffer{header: http.Header{}}
	if f.Applied {
		// A client that is gone does not undo what it asked for.
		next(original, r.WithContext(context.WithoutCancel(r.Context())), c)
	}
	f.wait(w, r)
	switch {
	case f.Kind == faultLost:
		panic(http.ErrAbortHandler) // net/http closes the connection
	case f.Kind == faultDelay && !f.Applied:
		next(w, r, c)
	default:
		f.respond(w, original)
	}
}

// wait returns after the delay, or when the server shuts down. It aborts the request if the client
// is gone before.
func (f Fault) wait(w http.ResponseWriter, r *http.Request) {
	if f.Delay == 0 {
		return
	}
	// The write timeout counts from the end of the delay. Without a connection there is no
	// deadline.
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(f.Delay + WriteTimeout))
	timer := time.NewTimer(f.Delay)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-stopping(r.Context()).Done():
	case <-r.Context().Done():
		panic(http.ErrAbortHandler)
	}
}

// respond writes what the client gets instead of the original response, which is empty if the fault
// is not applied.
func (f Fault) respond(w http.ResponseWriter, original *buffer) {
	if f.RetryAfter > 0 {
		w.Header().Set("Retry-After", wire.RetryAfter(f.RetryAfter))
	}
	if f.Kind == faultStatus && f.Body == "" {
		(&wire.Error{Status: f.Status, Message: http.StatusText(f.Status)}).Write(w)
		return
	}
	status, contentType, body := f.Status, "application/json", original.body.Bytes()
	if status == 0 {
		status = max(original.status, http.StatusOK)
	}
	switch f.Kind {
	case faultStatus:
		contentType, body = typeOf(f.Body), []byte(f.Body)
	case faultDelay:
		maps.Copy(w.Header(), original.header)
		contentType = original.header.Get("Content-Type")
	case faultCutJSON:
		if body = bytes.TrimSpace(body); len(body) < 2 {
			body = []byte(`{"listingId":"98e2e748`)
			break
		}
		body = body[:len(body)/2]
	case faultHTML:
		contentType, body = "text/html; charset=utf-8", []byte("<!DOCTYPE html>\n<html><head><title>Please wait</title></head>"+
			"<body>We are checking your browser.</body></html>\n")
	default:
		body = []byte("\"not what was asked for\"\n")
	}
	w.Header().Set("Content-Type", contentType)
	w.WriteHeader(status)
	_, _ = w.Write(body) // it fails only if the client is gone
}

// typeOf guesses the content type of a body.
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

// buffer is a response that does not reach the client.
type buffer struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (b *buffer) Header() http.Header { return b.header }

func (b *buffer) WriteHeader(status int) {
	if b.status == 0 {
		b.status = status
	}
}

func (b *buffer) Write(p []byte) (int, error) {
	b.WriteHeader(http.StatusOK)
	return b.body.Write(p)
}
