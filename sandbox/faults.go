package sandbox

import (
	"time"

	"github.com/sellside-sdk/sellside-go/sandbox/internal/gateway"
)

// FaultKind is what goes wrong with a call.
type FaultKind string

// The kinds of faults. Faults of a network, such as a reset or a body that breaks off, are not
// among them: they need a proxy.
const (
	// FaultStatus responds with Fault.Status, as a gateway does.
	FaultStatus FaultKind = "status"
	// FaultLost closes the connection without a response. If that happens to a request without a
	// body on a connection that was used before, net/http sends the request again: to make a GET
	// fail, set Times to 2, or use a transport with DisableKeepAlives.
	FaultLost FaultKind = "lost"
	// FaultDelay responds as without a fault, but after Fault.Delay.
	FaultDelay FaultKind = "delay"
	// FaultCutJSON responds with the first half of the body, as if it were the whole.
	FaultCutJSON FaultKind = "cut-json"
	// FaultHTML responds with an HTML page.
	FaultHTML FaultKind = "html"
	// FaultWrongType responds with valid JSON that is a string.
	FaultWrongType FaultKind = "wrong-type"
)

// Fault makes the next calls of an operation go wrong, whatever their credentials. They take no
// quota unless the fault is Applied.
type Fault struct {
	// Operation is the id of an operation, such as CreateListing, or "token" for the token
	// endpoint. If empty, it is any of them.
	Operation string
	// Times is the number of calls that go wrong; 1 if 0.
	Times int
	// Kind is required.
	Kind FaultKind
	// Applied makes the sandbox handle the call and the fault replace its response. Otherwise the
	// call is not handled. The exception is FaultDelay, which then waits first, and handles the
	// call only if the client is still connected.
	Applied bool
	// Delay is how long a call waits for its response, by the clock of the machine. FaultDelay
	// requires it; all other kinds may have it.
	Delay time.Duration
	// Status is the status of the response. FaultStatus requires it; for the malformed kinds it is
	// that of the original response by default, or 200 if the fault is not Applied.
	Status int
	// RetryAfter is sent in a header if it is positive, in seconds, rounded up.
	RetryAfter time.Duration
	// Body is the body of a FaultStatus; the error body of the document if empty.
	Body string
	// ID is the id that must be in the path of the call, such as that of a listing. If empty, any
	// path will do.
	ID string
	// Contains is a text that must be in the body of the call, such as an id or an amount. If
	// empty, any body will do.
	Contains string
}

// Fail makes the next calls of an operation go wrong. Faults wait in the order of their calls of
// Fail: a call takes the first one for its operation. Reset and Close remove them. Calls of no
// operation, and those of the control API, never go wrong. Fail refuses a fault that makes no
// sense.
func (s *Sandbox) Fail(f Fault) error {
	err := s.gateway.Faults.Add(gateway.Fault{
		Operation: f.Operation, Times: f.Times, Kind: string(f.Kind), Applied: f.Applied,
		Delay: f.Delay, Status: f.Status, RetryAfter: f.RetryAfter, Body: f.Body,
		ID: f.ID, Contains: f.Contains,
	})
	return wrap("fail", err)
}

// Faults returns the faults that wait, in their order. Times is how often each still happens.
func (s *Sandbox) Faults() []Fault {
	var waiting []Fault
	for _, f := range s.gateway.Faults.List() {
		waiting = append(waiting, Fault{
			Operation: f.Operation, Times: f.Times, Kind: FaultKind(f.Kind), Applied: f.Applied,
			Delay: f.Delay, Status: f.Status, RetryAfter: f.RetryAfter, Body: f.Body,
			ID: f.ID, Contains: f.Contains,
		})
	}
	return waiting
}

// ClearFaults removes all faults that wait.
func (s *Sandbox) ClearFaults() { s.gateway.Faults.Clear() }
