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

// EventKind is the kind of an [Event].
type EventKind string

// The kinds of events.
const (
	EventDone          EventKind = "done"           // A call ended.
	EventRetry         EventKind = "retry"          // An attempt failed and is repeated after Delay.
	EventWait          EventKind = "wait"           // A call waits, for Reason.
	EventDecodeWarning EventKind = "decode-warning" // A member of the wrong kind was left zero; Err names it.
)

// Values of [Event].Reason in an [EventWait].
const (
	ReasonQuota     = "quota"     // The quota has no free place.
	ReasonThrottled = "throttled" // The service responded 429 to this or another call of the client.
)

// Event is an event of a call. It contains no credentials, no bodies and no ids.
type Event struct {
	Kind       EventKind
	Operation  gen.OperationID
	Method     string
	Route      string
	Attempt    int           // Requests sent so far.
	StatusCode int           // Of the last response; zero if there was none.
	Duration   time.Duration // Of the whole call, in EventDone.
	Reason     string        // In EventWait.
	Window     quota.Window  // In EventWait for the quota: the full window, if the limiter reports it.
	// Delay is the length of the pause in EventRetry. In EventWait it is how long the call has
	// waited since its last report, so that the reports add up: a wait for the quota is reported
	// when it begins, with a Delay of zero, every minute, and when it ends.
	Delay time.Duration
	// Err is the failure. After a response of any status it is nil, or the reason why the call was
	// not retried.
	Err error
}

// observer reports events to the log and to the caller's hook, for all stages.
type observer struct {
	logger *slog.Logger
	hook   func(context.Context, Event) // May be nil.
}

func newObserver(logger *slog.Logger, hook func(context.Context, Event)) *observer {
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	return &observer{logger, hook}
}

// watch is the stage that reports the end of each call, once, however often it was retried.
func (o *observer) watch(next Doer) Doer {
	return DoerFunc(func(req *http.Request) (*http.Response, error) {
		start := time.Now()
		resp, err := next.Do(req)
		o.report(req.Context(), slog.LevelDebug, callOf(req), Event{
			Kind:       EventDone,
			StatusCode: statusOf(resp),
			Duration:   time.Since(start),
			Err:        cmp.Or(err, callOf(req).refused),
		})
		return resp, err
	})
}

// listens reports whether anything receives the events of a level.
func (o *observer) listens(ctx context.Context, level slog.Level) bool {
	return o.hook != nil || o.logger.Enabled(ctx, level)
}

// report adds the call to an event and reports it. The log line omits zero fields.
func (o *observer) report(ctx context.Context, level slog.Level, c *call, e Event) {
	e.Operation, e.Method, e.Route, e.Attempt = c.op.ID, c.op.Method, c.op.Route, c.attempts
	if o.hook != nil {
		o.hook(ctx, e)
	}
	if !o.logger.Enabled(ctx, level) {
		return
	}
	attrs := []slog.Attr{
		slog.String("event", string(e.Kind)),
		slog.String("operation", string(e.Operation)),
		slog.String("route", e.Method+" "+e.Route),
	}
	for _, attr := range []slog.Attr{
		slog.Int("attempt", e.Attempt),
		slog.Int("status", e.StatusCode),
		slog.Duration("duration", e.Duration),
		slog.Duration("delay", e.Delay),
		slog.String("reason", e.Reason),
		slog.String("window", string(e.Window)),
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
