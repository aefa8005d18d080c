package sandbox

import (
	"fmt"
	"time"

	"github.com/sellside-sdk/sellside-go/sandbox/internal/gateway"
)

// FaultKind says what goes wrong with a call.
type FaultKind string

// The kinds of faults. Those of a network, such as a reset or a body that breaks
// off, are not among them: a proxy makes these.
const (
	// FaultStatus answers with Fault.Status, as a gateway does.
	FaultStatus FaultKind = "status"
	// FaultLost cuts the connection without an answer. A request without a body
	// that loses a connection which has served others before is sent again by
	// net/http itself, unseen by its client: to be sure that a GET fails, let it
	// happen twice, or use a transport with DisableKeepAlives.
	FaultLost FaultKind = "lost"
	// FaultDelay answers as ever, but only after Fault.Delay.
	FaultDelay FaultKind = "delay"
	// FaultCutJSON answers with the first half of a body, as if that were all.
	FaultCutJSON FaultKind = "cut-json"
	// FaultHTML answers with a page for people.
	FaultHTML FaultKind = "html"
	// FaultWrongType answers with valid JSON that is a string.
	FaultWrongType FaultKind = "wrong-type"
)

// Fault is something that goes wrong with the next calls of an operation,
// whatever their credentials. It spares the quota unless it is Applied.
type Fault struct {
	// Operation is the id of an operation, such as CreateListing, or "token" for
	// the token endpoint. Empty means any of them.
	Operation string
	// Times is how many calls it happens to; 1 if 0.
	Times int
	// Kind says what happens; it is required.
	Kind FaultKind
	// Applied means that the sandbox does what the call asks for, and then the
	// fault keeps its answer back. Otherwise the call is never seen by anybody,
	// but for a FaultDelay, which then comes before the work instead of after it,
	// and only if the caller is still there.
	Applied bool
	// Delay is how long a call waits before it is answered or cut, by the clock of
	// the machine. FaultDelay requires it; all others may have it.
	Delay time.Duration
	// Status is what is answered; FaultStatus requires it. The malformed kinds
	// take it instead of the status of the answer that is kept back, or 200 if
	// there is none.
	Status int
	// RetryAfter is said in a header if it is positive, in seconds, rounded up.
	RetryAfter time.Duration
	// Body is what a FaultStatus answers; the error body of the document if empty.
	Body string
}

// Fail makes the next calls of an operation go wrong. Faults wait in the order
// they were asked for: a call takes the first one that fits, and no other. They
// are forgotten by Reset and Close. Calls that belong to no operation, and those
// of the control API, never fail.
func (s *Sandbox) Fail(f Fault) error {
	err := s.gateway.Faults.Add(gateway.Fault{
		Operation: f.Operation, Times: f.Times, Kind: string(f.Kind), Applied: f.Applied,
		Delay: f.Delay, Status: f.Status, RetryAfter: f.RetryAfter, Body: f.Body,
	})
	if err != nil {
		return fmt.Errorf("sandbox: fail: %w", err)
	}
	return nil
}

// Faults returns what has yet to go wrong, in its order; Times is how often it
// still does.
func (s *Sandbox) Faults() []Fault {
	var waiting []Fault
	for _, f := range s.gateway.Faults.List() {
		waiting = append(waiting, Fault{
			Operation: f.Operation, Times: f.Times, Kind: FaultKind(f.Kind), Applied: f.Applied,
			Delay: f.Delay, Status: f.Status, RetryAfter: f.RetryAfter, Body: f.Body,
		})
	}
	return waiting
}

// ClearFaults forgets all faults that have yet to happen.
func (s *Sandbox) ClearFaults() { s.gateway.Faults.Clear() }
