package clienttest

import (
	"net/http"
	"slices"
	"time"

	"github.com/sellside-sdk/sellside-go/gen"
)

// Moment is the point of an answer at which the connection breaks.
type Moment int

// The moments at which [Expectation.Disconnect] breaks the connection. The request has arrived in full either
// way, so a client cannot know whether it took effect.
const (
	BeforeHeaders Moment = iota + 1 // No whole headers arrive: the call fails with io.ErrUnexpectedEOF.
	MidBody                         // Status and headers arrive, and half of the body: reading it fails with io.ErrUnexpectedEOF.
)

// answer is what a request gets.
type answer struct {
	status     int
	header     http.Header
	body       []byte
	disconnect Moment // zero keeps the connection
	isExample  bool   // The body is about the object of the spec's example, and not about the one that is asked for.
}

// Respond gives the line its answer, checked against the spec at once: the operation must declare the status
// (any status from 400 on is covered by its default error), and the body must fit the schema. A []byte,
// json.RawMessage or string is sent as it is; everything else is marshalled to JSON.
func (e *Expectation) Respond(status int, body any) *Expectation {
	e.server.tb.Helper()
	a, err := e.server.contract.checkAnswer(e.op, status, body)
	if err != nil {
		e.server.tb.Errorf("clienttest: %s: answer %d breaks the contract: %v", e.op, status, err)
	}
	return e.give(a)
}

// RespondExample answers with the operation's success status and the body of [ExampleOf]. The ids at the top of that are
// those of the request's path, because a client refuses an object that it did not ask for.
func (e *Expectation) RespondExample() *Expectation {
	e.server.tb.Helper()
	a, err := e.server.contract.exampleAnswer(e.op)
	if err != nil {
		e.server.tb.Errorf("clienttest: %s: the example breaks the contract: %v", e.op, err)
	}
	return e.give(a)
}

// RespondError answers with an error status, 400 or above, and the service's error body.
func (e *Expectation) RespondError(status int, message string) *Expectation {
	e.server.tb.Helper()
	return e.Respond(status, gen.PublicAPIError{StatusCode: status, Message: message})
}

// Raw gives the line an answer that is not checked, for tests of how a program takes what the service should
// never send. The reason says what is wrong with the answer, for readers of the test; it must not be empty.
func (e *Expectation) Raw(status int, header http.Header, body []byte, reason string) *Expectation {
	e.server.tb.Helper()
	if reason == "" {
		e.server.tb.Errorf("clienttest: %s: Raw: say in the reason why the answer is not checked", e.op)
	}
	if status < http.StatusOK || status > 999 {
		e.server.tb.Errorf("clienttest: %s: Raw: status %d: want 200 to 999", e.op, status)
		status = http.StatusNotImplemented
	}
	if header = header.Clone(); header == nil {
		header = make(http.Header)
	}
	return e.give(answer{status: status, header: header, body: slices.Clone(body)})
}

// Disconnect makes the connection break instead of a whole answer; what arrives of it before is the answer of
// [Expectation.RespondExample]. The reason says what the test is after; it must not be empty.
func (e *Expectation) Disconnect(when Moment, reason string) *Expectation {
	e.server.tb.Helper()
	if reason == "" {
		e.server.tb.Errorf("clienttest: %s: Disconnect: say in the reason what the broken connection is for", e.op)
	}
	if when != BeforeHeaders && when != MidBody {
		e.server.tb.Errorf("clienttest: %s: Disconnect: want BeforeHeaders or MidBody", e.op)
		when = BeforeHeaders
	}
	a, err := e.server.contract.exampleAnswer(e.op)
	if err != nil {
		e.server.tb.Errorf("clienttest: %s: Disconnect: %v", e.op, err)
	}
	a.disconnect = when
	return e.give(a)
}

// Header adds a header to the answer, such as Header("Retry-After", "2").
func (e *Expectation) Header(name, value string) *Expectation {
	return e.set(func() { e.header.Add(name, value) })
}

// Delay holds the answer back for d, on a timer, so that in a synctest bubble no time is spent. It ends early
// when the caller goes away.
func (e *Expectation) Delay(d time.Duration) *Expectation {
	return e.set(func() { e.delay = d })
}

func (e *Expectation) give(a answer) *Expectation {
	e.server.tb.Helper()
	again := false
	e.set(func() {
		again = e.answered
		e.answer, e.answered = a, true
	})
	if again {
		e.server.tb.Errorf("clienttest: %s: a second answer; an expectation has exactly one", e.op)
	}
	return e
}
