package client

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/sellside-sdk/sellside-go/client/quota"
	"github.com/sellside-sdk/sellside-go/gen"
)

// EventKind says what an [Event] is about.
type EventKind string

// The kinds of events.
const (
	EventDone          EventKind = "done"   // A call ended.
	EventRetry         EventKind = "retry"  // An attempt failed and will be repeated after Delay.
	EventWait          EventKind = "wait"   // A call waits for the Reason given.
	EventDecodeWarning EventKind = "oddity" // A member of an answer was of the wrong kind and left zero; Err names it.
)

// What a call waits for: the Reason of an [EventWait].
const (
	ReasonQuota     = "quota"     // The quota has no room for it yet.
	ReasonThrottled = "throttled" // The service answered 429, to this call or to another one of the client.
)

// Event is something that happened to a call. It holds no credentials, no bodies and no ids.
type Event struct {
	Kind       EventKind
	Operation  gen.OperationID
	Method     string
	Route      string
	Attempt    int           // Requests sent so far.
	StatusCode int           // Of the last answer; zero if there was none.
	Duration   time.Duration // Of the whole call, in EventDone.
	Reason     string        // In EventWait.
	Window     quota.Window  // In EventWait for the quota: which of its windows is full, if the limiter reports it.
	// Delay is how long the pause will be in EventRetry. In EventWait it is how long the call has waited since the last
	// report, so that all of them add up: a wait for the quota is reported when it begins, with a Delay of zero, every
	// minute, and when it ends.
	Delay time.Duration
	Err   error // Why; of an answer, of whatever status, only why it was not sent again, and nil else.
}

// observer is the stage, and the mouth of all others, that tells the log and the caller's hook.
type observer struct {
	logger *slog.Logger
	hook   func(Event)
}

func newObserver(logger *slog.Logger, hook func(Event)) *observer {
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	if hook == nil {
		hook = func(Event) {}
	}
	return &observer{logger, hook}
}

// watch tells how each call ended, once, however often it was retried.
func (o *observer) watch(next Doer) Doer {
	return DoerFunc(func(req *http.Request) (*http.Response, error) {
		start := time.Now()
		resp, err := next.Do(req)
		o.report(req.Context(), slog.LevelDebug, callOf(req), Event{Kind: EventDone, StatusCode: statusOf(resp), Duration: time.Since(start), Err: cmp.Or(err, callOf(req).refused)})
		return resp, err
	})
}

// report fills in which call the event is about and passes it on. A log line leaves out what is zero.
func (o *observer) report(ctx context.Context, level slog.Level, c *call, e Event) {
	e.Operation, e.Method, e.Route, e.Attempt = c.op.ID, c.op.Method, c.op.Route, c.attempts
	o.hook(e)
	attrs := []slog.Attr{
		slog.String("event", string(e.Kind)), slog.String("operation", string(e.Operation)), slog.String("route", e.Method+" "+e.Route),
	}
	for _, attr := range []slog.Attr{
		slog.Int("attempt", e.Attempt), slog.Int("status", e.StatusCode), slog.Duration("duration", e.Duration),
		slog.Duration("delay", e.Delay), slog.String("reason", e.Reason), slog.String("window", string(e.Window)),
	} {
		switch attr.Value.Any() {
		case "", int64(0), time.Duration(0):
		default:
			attrs = append(attrs, attr)
		}
	}
	if e.Err != nil {
		attrs = append(attrs, slog.Any("error", e.Err))
	}
	o.logger.LogAttrs(ctx, level, "marketplace call", attrs...)
}
