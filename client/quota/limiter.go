package quota

import (
	"context"
	"fmt"
	"time"
)

// Limiter hands out places in a quota. Give one to several clients, and they share it. An implementation must be
// safe for concurrent use and pass the tests of package limitertest.
type Limiter interface {
	// Acquire waits for a place for one request that submits so many batch items. The place is held until the
	// returned function releases it, and counts in every window until one window has passed since then. A place
	// that is never released stays held.
	//
	// Batches get their places in the order they came, and so do requests without items; neither waits for what
	// only the other has to wait for. Acquire returns ctx's error when ctx ends, and an *[Error] at once if the wait
	// would outlast ctx's deadline or the call is larger than a window; either takes nothing from the quota. When a
	// call begins to wait, the limiter reports it to [ContextTrace].
	Acquire(ctx context.Context, items int) (Release, error)
	// Remaining returns the state of each window that is limited.
	Remaining(ctx context.Context) ([]WindowState, error)
	// CountsItems reports whether batch items are limited, so that every batch must declare its size.
	CountsItems() bool
}

// Release ends the hold on a place and reports what became of the request. Call it once the request cannot arrive
// any more. The place is released at the first call. A second one may report [Refused] after [Sent], because the
// status of a response comes after its first byte: that returns the items and leaves the time of the release.
// Any other call has no effect.
//
// It is safe for concurrent use, and does not wait for I/O: a limiter whose state is elsewhere writes it in the
// background. Late is safe, the place is only held for longer.
type Release func(Outcome)

// Outcome is what became of a request that held a place.
type Outcome string

// The outcomes of a request. A value that is none of these counts as Sent.
const (
	Sent    Outcome = "sent"     // It may have arrived: it is charged.
	NotSent Outcome = "not sent" // It never left: the place is free as if it had never been taken.
	Refused Outcome = "refused"  // The response was a 429: it is charged as a request, and not for its items.
)

// Window names a window of a [Quota], after the field that sets its limit.
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
	Window   Window
	Limit    int
	Per      time.Duration // The length of the window.
	Used     int           // What is held, or was released within the last Per. Calls that wait use nothing yet.
	NextFree time.Duration // At least how long until a part of Used is free again; zero if nothing is used.
}

// Left is how much of the window can be used now.
func (s WindowState) Left() int { return max(0, s.Limit-s.Used) }

// Error reports that a call would have to wait longer than its deadline, or for ever. It was not sent; if it was a
// repeated one, a client joins this with the result of the attempt before.
type Error struct {
	Limit int           // The limit that is reached.
	Per   time.Duration // The length of its window.
	Unit  string        // What it counts: requests or items.
	// Wait is at least how long the call would have to wait if everything before it is sent; zero if no wait would
	// help. When requests under way end is not known, so the actual wait may be longer.
	Wait time.Duration
}

func (e *Error) Error() string {
	if e.Wait == 0 {
		return fmt.Sprintf("the quota of %d %s in %s is smaller than this call: split it", e.Limit, e.Unit, e.Per)
	}
	return fmt.Sprintf("the quota of %d %s in %s is used up for at least %s, which is after the deadline", e.Limit, e.Unit, e.Per, e.Wait)
}
