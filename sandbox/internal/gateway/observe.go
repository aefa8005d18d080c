package gateway

import (
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sellside-sdk/sellside-go/sandbox/internal/wire"
)

// observed returns a handler that counts and logs every request. Headers, queries and bodies are
// not logged, because they hold credentials and prices. A request without a response has the status
// 0. If next panics, the response is a 500; if it has begun to respond already, the connection is
// closed.
func (g *Gateway) observed(next stage) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start, c := time.Now(), &call{}
		// Count before responding: clients read the counters next.
		rec := &recorder{ResponseWriter: w, begin: func(status int) { g.Counters.add(c.operation, status) }}
		defer func() {
			if rec.status == 0 {
				g.Counters.add(c.operation, 0)
			}
			level := slog.LevelInfo
			if c.operation == healthOperation {
				level = slog.LevelDebug // probes come every few seconds
			}
			g.Recent.add(Request{
				At: start, Duration: time.Since(start), Method: r.Method, Path: r.URL.Path,
				Operation: c.operation, Account: c.account, Status: rec.status,
			})
			g.Logger.LogAttrs(r.Context(), level, "request",
				slog.String("method", r.Method), slog.String("path", r.URL.Path),
				slog.Int("status", rec.status), slog.Int("bytes", rec.bytes),
				slog.String("operation", c.operation), slog.String("account", c.account),
				slog.Duration("duration", time.Since(start)))
		}()
		defer g.recoverPanic(rec, r)
		next(rec, r, c)
	})
}

// recoverPanic is deferred. It passes on the panic with which a handler closes its connection.
func (g *Gateway) recoverPanic(rec *recorder, r *http.Request) {
	cause := recover()
	if cause == nil {
		return
	}
	if err, ok := cause.(error); ok && errors.Is(err, http.ErrAbortHandler) {
		panic(http.ErrAbortHandler)
	}
	g.Logger.ErrorContext(r.Context(), "request panicked", "method", r.Method, "path", r.URL.Path,
		"cause", cause, "stack", string(debug.Stack()))
	if rec.status != 0 {
		panic(http.ErrAbortHandler)
	}
	wire.InternalError().Write(rec)
}

// recorder notes the status and the length of a response.
type recorder struct {
	http.ResponseWriter
	begin  func(status int) // called once, before anything is sent
	status int
	bytes  int
}

func (r *recorder) WriteHeader(status int) {
	if r.status == 0 {
		r.status = status
		r.begin(status)
	}
	r.ResponseWriter.WriteHeader(status)
}

func (r *recorder) Write(p []byte) (int, error) {
	if r.status == 0 {
		r.status = http.StatusOK
		r.begin(http.StatusOK)
	}
	n, err := r.ResponseWriter.Write(p)
	r.bytes += n
	return n, err
}

// Unwrap lets [http.ResponseController] reach the connection.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// isOwn reports whether an endpoint is for those who run the sandbox, and not for sellers.
func isOwn(operation string) bool {
	return operation == controlOperation || operation == healthOperation || operation == consoleOperation
}

// Counters counts requests by operation and status. The zero value is ready to use. It is safe for
// concurrent use.
type Counters struct {
	mu  sync.Mutex
	all map[string]map[int]int
}

func (c *Counters) add(operation string, status int) {
	if operation == "" || isOwn(operation) {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.all == nil {
		c.all = map[string]map[int]int{}
	}
	if c.all[operation] == nil {
		c.all[operation] = map[int]int{}
	}
	c.all[operation][status]++
}

// Snapshot returns a copy of the counters.
func (c *Counters) Snapshot() map[string]map[int]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := make(map[string]map[int]int, len(c.all))
	for operation, statuses := range c.all {
		all[operation] = maps.Clone(statuses)
	}
	return all
}

func (c *Counters) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all = nil
}

// Request is a request and the status of its response.
type Request struct {
	At        time.Time // by the clock of the machine, when it came
	Duration  time.Duration
	Method    string
	Path      string // the first bytes of it
	Operation string // empty if it is for none
	Account   string // name; empty if the credentials were not valid
	Status    int    // 0 without a response
}

const (
	maxRecent = 50  // requests
	maxPath   = 200 // bytes
)

// Recent has the last requests, except for those of the console, the control API and health checks.
// The zero value is ready to use. It is safe for concurrent use.
type Recent struct {
	mu   sync.Mutex
	last []Request // oldest first
}

func (r *Recent) add(one Request) {
	if isOwn(one.Operation) {
		return
	}
	one.Path = strings.ToValidUTF8(one.Path[:min(len(one.Path), maxPath)], "\uFFFD")
	one.Method = one.Method[:min(len(one.Method), 10)]
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.last) >= maxRecent {
		r.last = slices.Delete(r.last, 0, 1+len(r.last)-maxRecent)
	}
	r.last = append(r.last, one)
}

// List returns the last requests, the newest first.
func (r *Recent) List() []Request {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := slices.Clone(r.last)
	slices.Reverse(list)
	// They are added in the order in which they end.
	slices.SortStableFunc(list, func(a, b Request) int { return b.At.Compare(a.At) })
	return list
}

func (r *Recent) clear() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last = nil
}
