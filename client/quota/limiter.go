package quota

import (
	"context"
	"fmt"
	"time"
)

// Limiter limits requests and batch items to a quota. Several clients can share one.
// Implementations must be safe for concurrent use and pass the tests of package limitertest.
type Limiter interface {
	// Acquire waits for a place for one request that submits this many batch items, and acquires
	// it. The place is in use until the returned function is called, and counts in each window for
	// one window more. A place that is never released stays in use.
	//
	// Batches acquire their places in order of arrival, and so do requests without items. Neither
	// kind waits for a window that limits only the other.
	//
	// Acquire returns ctx's error when ctx ends. It returns an *[Error] at once if the wait would
	// outlast ctx's deadline or if the call is larger than a window. A call that fails takes
	// nothing from the quota. The limiter reports the start of a wait to the [ContextTrace] of ctx.
	Acquire(ctx context.Context, items int) (Release, error)
	// Remaining returns the state of each window that has a limit.
	Remaining(ctx context.Context) ([]WindowState, error)
	// CountsItems reports whether batch items are limited, so that every batch must declare its
	// size.
	CountsItems() bool
}

// Release releases a place and reports what became of its request. Call it once the request can no
// longer arrive. The first call releases the place. A second call has an effect only if it reports
// [Refused] after [Sent], because the status of a response is known later than its first byte: it
// returns the items, and leaves the time of the release as it is.
//
// Release is safe for concurrent use and does not wait for I/O: a limiter with remote state writes
// it in the background. A late call is safe, but the place is unavailable for longer.
type Release func(Outcome)

// Outcome is what became of a request that had a place.
type Outcome string

// The outcomes of a request. Any other value counts as Sent.
const (
	// Sent reports that the request may have arrived: the place is charged.
	Sent Outcome = "sent"
	// NotSent reports that the request was never sent: the place is free at once.
	NotSent Outcome = "not sent"
	// Refused reports that the response was a 429: the request is charged, its items are not.
	Refused Outcome = "refused"
)

// Window is a window of a [Quota], named after the field that sets its limit.
type Window string

// The windows of a quota.
const (
	RequestsPerSecond Window = "requests per second"
	RequestsPerDay    Window = "requests per day"
	ItemsPerWindow    Window = "items per window"
	ItemsPerDay       Window = "items per day"
)

// WindowState is how much of a window is used.
type WindowState struct {
	Window Window
	Limit  int
	Per    time.Duration // Length of the window.
	// Used is what places use that are in use, or were released within the last Per. Calls that
	// wait use nothing yet.
	Used int
	// NextFree is a lower bound of the time until some of Used is free again; zero if Used is zero.
	NextFree time.Duration
}

// Left returns how much of the window can be used now.
func (s WindowState) Left() int { return max(0, s.Limit-s.Used) }

// Error reports that a call would have to wait past its deadline, or forever. Its request was not
// sent. If the request was a retry, a client joins this error with the result of the attempt
// before.
type Error struct {
	Limit int           // The limit of the window that the call would wait for.
	Per   time.Duration // Length of that window.
	Unit  string        // What the window counts: "requests" or "items".
	// Wait is a lower bound of the wait, given that all calls queued before are sent; zero if the
	// call is larger than the window. It is a lower bound because it is unknown when requests under
	// way end.
	Wait time.Duration
}

func (e *Error) Error() string {
	if e.Wait == 0 {
		return fmt.Sprintf("quota (%d %s in %s): smaller than the call: split the call",
			e.Limit, e.Unit, e.Per)
	}
	return fmt.Sprintf("quota (%d %s in %s): used up for at least %s, past the deadline: call again later",
		e.Limit, e.Unit, e.Per, e.Wait)
}

// Trace is a set of functions that a limiter calls while a call waits. Any of them may be nil. As
// with [net/http/httptrace], a trace is part of a context, so that it passes through limiters that
// wrap others.
type Trace struct {
	// WaitStart is called when a call begins to wait, with the window that is expected to make it
	// wait longest. It is called once for each call that waits, from the goroutine of
	// [Limiter].Acquire.
	WaitStart func(Window)
}

type traceKey struct{}

// WithTrace returns a context with a trace, for one Acquire or for a call of a client. A trace that
// ctx has already is called after this one.
func WithTrace(ctx context.Context, trace *Trace) context.Context {
	if trace == nil || trace.WaitStart == nil {
		return ctx
	}
	if outer, ok := ctx.Value(traceKey{}).(*Trace); ok {
		inner := trace
		trace = &Trace{WaitStart: func(w Window) {
			inner.WaitStart(w)
			outer.WaitStart(w)
		}}
	}
	return context.WithValue(ctx, traceKey{}, trace)
}

// ContextTrace returns the trace of ctx, for implementations of [Limiter]. The trace and its
// functions are never nil.
func ContextTrace(ctx context.Context) *Trace {
	if trace, ok := ctx.Value(traceKey{}).(*Trace); ok {
		return trace
	}
	return &Trace{WaitStart: func(Window) {}}
}
