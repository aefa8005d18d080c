package clienttest

import (
	"fmt"
	"maps"
	"net/http"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sellside-sdk/sellside-go/gen"
)

// Expectation is one line of the script: the requests that it expects, and the response to them.
// Its methods return the Expectation, so that calls can be chained. It matches requests once it has
// a response: if requests may be under way already, set the response last. It is safe for
// concurrent use.
type Expectation struct {
	server *Server
	op     gen.OperationID
	line   string // file:line of the Expect call.

	// The mutex of the server guards the rest.
	path        map[string]string
	checks      []check
	want        int // How many requests it expects.
	got         int // How many it has responded to.
	hasResponse bool
	response    response
	header      http.Header // Added to that of the response.
	delay       time.Duration
}

// check returns an error if a request does not meet the expectation that matches it.
type check func(r *http.Request, body []byte) error

// Expect adds an expectation to the script: one request of the operation, unless Times says
// otherwise. A request is matched by the first expectation of its operation that has its Path
// values and is not met yet. So there is an order within one operation (or one resource, with
// Path), and tests of concurrent calls do not depend on how the calls interleave. An expectation
// that is not met when the test ends fails the test.
func (s *Server) Expect(op gen.OperationID) *Expectation {
	s.tb.Helper()
	_, file, line, _ := runtime.Caller(1)
	e := &Expectation{
		server: s, op: op, line: fmt.Sprintf("%s:%d", filepath.Base(file), line),
		path: make(map[string]string), header: make(http.Header), want: 1,
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.script = append(s.script, e)
	return e
}

// Times sets how many requests are expected; all get the same response. n is at least 1.
func (e *Expectation) Times(n int) *Expectation {
	e.server.tb.Helper()
	if n < 1 {
		e.fail("Times(%d): want at least 1", n)
	}
	return e.set(func() { e.want = n })
}

// Path restricts the expectation to requests whose path parameter has this value, such as
// Path("listingId", "98e2e748-8000-45bf-a624-5531d6a68318").
func (e *Expectation) Path(name, value string) *Expectation {
	e.server.tb.Helper()
	if op, ok := gen.LookupOperation(e.op); ok && !strings.Contains(op.Route, "{"+name+"}") {
		e.fail("Path(%q): no such parameter (%s)", name, op.Route)
	}
	return e.set(func() { e.path[name] = value })
}

// Query requires the query parameter with this value. Other parameters are allowed.
func (e *Expectation) Query(name, value string) *Expectation {
	return e.addCheck(func(r *http.Request, _ []byte) error {
		if got, ok := r.URL.Query()[name]; !ok || got[0] != value {
			return fmt.Errorf("query parameter %s: want %q, got %q", name, value, strings.Join(got, ","))
		}
		return nil
	})
}

// NoQuery requires that the request has no query.
func (e *Expectation) NoQuery() *Expectation {
	return e.addCheck(func(r *http.Request, _ []byte) error {
		if r.URL.RawQuery != "" {
			return fmt.Errorf("query: want none, got %q", r.URL.RawQuery)
		}
		return nil
	})
}

// BodyJSON requires that the body is equal to v as JSON. The order of members does not matter;
// numbers are compared as text. A []byte, json.RawMessage or string is JSON already; any other
// value is marshalled.
func (e *Expectation) BodyJSON(v any) *Expectation {
	e.server.tb.Helper()
	data, err := encode(v)
	if err == nil {
		data, err = canonical(data)
	}
	if err != nil {
		e.fail("BodyJSON: %v", err)
		return e
	}
	return e.addCheck(func(_ *http.Request, body []byte) error {
		if got, err := canonical(body); err != nil || string(got) != string(data) {
			return fmt.Errorf("body: want %s, got %s", data, body)
		}
		return nil
	})
}

// Check calls a function with each request that the expectation matches. r.PathValue returns its
// path parameters. Its body has been read, and is the last argument. The function is called before
// the response, on a goroutine other than the test's: report failures with Error, not with Fatal.
func (e *Expectation) Check(check func(t testing.TB, r *http.Request, body []byte)) *Expectation {
	return e.addCheck(func(r *http.Request, body []byte) error {
		check(e.server.tb, r, body)
		return nil
	})
}

// Moment is a point of a response at which the connection breaks.
type Moment int

// The moments at which [Expectation.Disconnect] breaks the connection. At both the request has
// arrived, so the client cannot know whether the service has applied it.
const (
	// BeforeHeaders breaks the connection within the headers: the call fails with
	// io.ErrUnexpectedEOF.
	BeforeHeaders Moment = iota + 1
	// MidBody breaks the connection after the headers and half of the body: reading the body fails
	// with io.ErrUnexpectedEOF.
	MidBody
)

// response is the response of an expectation.
type response struct {
	status     int
	header     http.Header
	body       []byte
	disconnect Moment // Zero for a whole response.
	isExample  bool   // The ids in the body are those of the spec's example.
}

// Respond sets the response. It is checked against the spec at once: the operation must declare the
// status (its default error covers every status from 400 on), and the body must match the schema. A
// []byte, json.RawMessage or string is sent unchanged; any other value is marshalled to JSON.
func (e *Expectation) Respond(status int, body any) *Expectation {
	e.server.tb.Helper()
	resp, err := e.server.contract.checkResponse(e.op, status, body)
	if err != nil {
		e.fail("response %d breaks the spec: %v", status, err)
	}
	return e.setResponse(resp)
}

// RespondExample sets the operation's success status and the body of [ExampleOf] as the response.
// The ids at the top of the body are those of the request's path, because a client refuses an
// object with another id.
func (e *Expectation) RespondExample() *Expectation {
	e.server.tb.Helper()
	resp, err := e.server.contract.exampleResponse(e.op)
	if err != nil {
		e.fail("example response breaks the spec: %v", err)
	}
	return e.setResponse(resp)
}

// RespondError sets an error status, 400 or above, and the service's error body as the response.
func (e *Expectation) RespondError(status int, message string) *Expectation {
	e.server.tb.Helper()
	return e.Respond(status, gen.PublicAPIError{StatusCode: status, Message: message})
}

// Raw sets a response that is not checked, for tests with responses that the service should never
// send. The reason documents for readers of the test how the response breaks the spec; it must not
// be empty.
func (e *Expectation) Raw(status int, header http.Header, body []byte, reason string) *Expectation {
	e.server.tb.Helper()
	if reason == "" {
		e.fail("Raw: the reason is empty: say how the response breaks the spec")
	}
	if status < http.StatusOK || status > 999 {
		e.fail("Raw: status %d: want 200 to 999", status)
		status = http.StatusNotImplemented
	}
	if header = header.Clone(); header == nil {
		header = make(http.Header)
	}
	return e.setResponse(response{status: status, header: header, body: slices.Clone(body)})
}

// Disconnect breaks the connection during the response, which is that of
// [Expectation.RespondExample]. The reason documents for readers of the test why the connection
// breaks; it must not be empty.
func (e *Expectation) Disconnect(when Moment, reason string) *Expectation {
	e.server.tb.Helper()
	if reason == "" {
		e.fail("Disconnect: the reason is empty: say why the connection breaks")
	}
	if when != BeforeHeaders && when != MidBody {
		e.fail("Disconnect: moment %d: want BeforeHeaders or MidBody", when)
		when = BeforeHeaders
	}
	resp, err := e.server.contract.exampleResponse(e.op)
	if err != nil {
		e.fail("Disconnect: %v", err)
	}
	resp.disconnect = when
	return e.setResponse(resp)
}

// Header adds a header to the response, such as Header("Retry-After", "2").
func (e *Expectation) Header(name, value string) *Expectation {
	return e.set(func() { e.header.Add(name, value) })
}

// Delay delays the response by d, on a timer that takes no real time in a bubble of
// testing/synctest. The delay ends early if the client is gone or the test ends.
func (e *Expectation) Delay(d time.Duration) *Expectation {
	return e.set(func() { e.delay = d })
}

func (e *Expectation) setResponse(resp response) *Expectation {
	e.server.tb.Helper()
	again := false
	e.set(func() {
		again = e.hasResponse
		e.response, e.hasResponse = resp, true
	})
	if again {
		e.fail("second response: an expectation has exactly one")
	}
	return e
}

func (e *Expectation) addCheck(c check) *Expectation {
	return e.set(func() { e.checks = append(e.checks, c) })
}

func (e *Expectation) set(change func()) *Expectation {
	e.server.mu.Lock()
	defer e.server.mu.Unlock()
	change()
	return e
}

// fail fails the test for an error of the script.
func (e *Expectation) fail(format string, args ...any) {
	e.server.tb.Helper()
	e.server.tb.Errorf("clienttest: %s: "+format, append([]any{e.op}, args...)...)
}

// matches reports whether the expectation is not met yet and has the path values of a request.
func (e *Expectation) matches(op gen.OperationID, path map[string]string) bool {
	if e.op != op || !e.hasResponse || e.got >= e.want {
		return false
	}
	for name, value := range e.path {
		if path[name] != value {
			return false
		}
	}
	return true
}

// describe names the expectation and its line, for errors.
func (e *Expectation) describe() string {
	var b strings.Builder
	b.WriteString(string(e.op))
	for _, name := range slices.Sorted(maps.Keys(e.path)) {
		fmt.Fprintf(&b, " %s=%s", name, e.path[name])
	}
	if e.want > 1 {
		fmt.Fprintf(&b, " (received %d of %d)", e.got, e.want)
	}
	if !e.hasResponse {
		b.WriteString(" (without a response)")
	}
	return b.String() + " at " + e.line
}
