package clienttest

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/sellside-sdk/sellside-go/gen"
)

// Expectation is one line of the script: the requests it waits for, and the one answer they get. Its methods
// return it, so that a line reads as a sentence. It takes part once it has its answer; when requests may
// already be on their way, give the answer last.
type Expectation struct {
	server *Server
	op     gen.OperationID
	where  string // file:line of the Expect call

	// Under server.mu from here on.
	path     map[string]string
	checks   []check
	want     int // how many requests it answers
	got      int // how many it has answered
	answered bool
	answer   answer
	header   http.Header // added to the answer's own
	delay    time.Duration
}

// Expect adds a line to the script: one request of the operation, unless Times says otherwise. A request is
// answered by the first line of its operation that is not used up and whose Path values it has; so order
// holds within one operation (and one resource, where Path is given), and tests of concurrent calls do not
// depend on how the calls interleave. What is left over when the test ends fails it.
func (s *Server) Expect(op gen.OperationID) *Expectation {
	s.tb.Helper()
	e := &Expectation{
		server: s, op: op, where: callerLine(),
		path: make(map[string]string), header: make(http.Header), want: 1,
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.script = append(s.script, e)
	return e
}

// Times makes the line answer n requests, all with the same answer. n is at least 1.
func (e *Expectation) Times(n int) *Expectation {
	e.server.tb.Helper()
	if n < 1 {
		e.server.tb.Errorf("clienttest: %s: Times(%d): want at least 1", e.op, n)
	}
	return e.set(func() { e.want = n })
}

// Path keeps the line for requests whose path parameter has this value, such as
// Path("listingId", "98e2e748-8000-45bf-a624-5531d6a68318"). Other requests of the operation pass it by.
func (e *Expectation) Path(name, value string) *Expectation {
	e.server.tb.Helper()
	if op, ok := gen.LookupOperation(e.op); ok && !strings.Contains(op.Route, "{"+name+"}") {
		e.server.tb.Errorf("clienttest: %s: Path(%q): the route %s has no such parameter", e.op, name, op.Route)
	}
	return e.set(func() { e.path[name] = value })
}

// Query demands that the query parameter is there with this value. Other parameters are free.
func (e *Expectation) Query(name, value string) *Expectation {
	return e.check(func(r *http.Request, _ []byte) error {
		if got, ok := r.URL.Query()[name]; !ok || got[0] != value {
			return fmt.Errorf("query parameter %s: want %q, got %q", name, value, strings.Join(got, ","))
		}
		return nil
	})
}

// NoQuery demands that the request has no query at all.
func (e *Expectation) NoQuery() *Expectation {
	return e.check(func(r *http.Request, _ []byte) error {
		if r.URL.RawQuery != "" {
			return fmt.Errorf("query: want none, got %q", r.URL.RawQuery)
		}
		return nil
	})
}

// BodyJSON demands that the body is this value as JSON, whatever the order of members; numbers are compared
// by their text. Bytes and strings are taken as JSON, everything else is marshalled.
func (e *Expectation) BodyJSON(v any) *Expectation {
	e.server.tb.Helper()
	data, err := encode(v)
	if err == nil {
		data, err = canonical(data)
	}
	if err != nil {
		e.server.tb.Errorf("clienttest: %s: BodyJSON: %v", e.op, err)
		return e
	}
	return e.check(func(_ *http.Request, body []byte) error {
		if got, err := canonical(body); err != nil || string(got) != string(data) {
			return fmt.Errorf("body: want %s, got %s", data, body)
		}
		return nil
	})
}

// Check lets the test look at the request, whose path parameters r.PathValue returns; its body has been read
// and is the last argument. It runs while the request waits, not on the test's goroutine, so it reports with
// Error and not with Fatal.
func (e *Expectation) Check(check func(t testing.TB, r *http.Request, body []byte)) *Expectation {
	return e.check(func(r *http.Request, body []byte) error {
		check(e.server.tb, r, body)
		return nil
	})
}

// check is one demand on a request that an expectation answers.
type check func(r *http.Request, body []byte) error

func (e *Expectation) check(c check) *Expectation {
	return e.set(func() { e.checks = append(e.checks, c) })
}

func (e *Expectation) set(change func()) *Expectation {
	e.server.mu.Lock()
	defer e.server.mu.Unlock()
	change()
	return e
}
