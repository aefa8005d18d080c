// Package telemetry is an example of how the calls of a client become spans of OpenTelemetry and
// metrics of Prometheus. Copy it and change it: neither is a dependency of the SDK.
package telemetry

import (
	"context"
	"net/http"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/sellside-sdk/sellside-go/client"
)

// Telemetry makes spans and metrics of the calls of clients. It is safe for concurrent use.
type Telemetry struct {
	tracer  trace.Tracer
	calls   *prometheus.HistogramVec
	retries *prometheus.CounterVec
	waits   *prometheus.CounterVec
}

// New returns telemetry whose metrics are registered with a registry, unless that is nil.
func New(spans trace.TracerProvider, metrics prometheus.Registerer) *Telemetry {
	t := &Telemetry{
		tracer: spans.Tracer("sellside"),
		calls: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "sellside_call_duration_seconds", Help: "Duration of calls with their retries and waits.",
		}, []string{"operation", "status"}),
		retries: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "sellside_retries_total", Help: "Attempts that failed and were repeated.",
		}, []string{"operation"}),
		waits: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "sellside_wait_seconds_total", Help: "Time that calls waited for the quota or a cooldown.",
		}, []string{"reason"}),
	}
	if metrics != nil {
		metrics.MustRegister(t.calls, t.retries, t.waits)
	}
	return t
}

// Options returns the options of a client.
func (t *Telemetry) Options() []client.Option {
	return []client.Option{client.WithMiddleware(t.span), client.WithObserver(t.observe)}
}

// span makes a span of each call, a child of the span of the caller's context.
func (t *Telemetry) span(next client.Doer) client.Doer {
	return client.DoerFunc(func(req *http.Request) (*http.Response, error) {
		op, _ := client.OperationFromContext(req.Context())
		ctx, span := t.tracer.Start(req.Context(), string(op.ID), trace.WithSpanKind(trace.SpanKindClient),
			trace.WithAttributes(
				attribute.String("http.request.method", op.Method), attribute.String("url.template", op.Route),
			))
		defer span.End()
		resp, err := next.Do(req.WithContext(ctx))
		if err != nil {
			span.RecordError(err) // it has no credentials
			span.SetStatus(codes.Error, "no response")
			return nil, err
		}
		span.SetAttributes(attribute.Int("http.response.status_code", resp.StatusCode))
		if resp.StatusCode >= 400 {
			span.SetStatus(codes.Error, http.StatusText(resp.StatusCode))
		}
		return resp, nil
	})
}

// observe counts the events of calls, and adds retries and waits to the span of their call.
func (t *Telemetry) observe(ctx context.Context, e client.Event) {
	span := trace.SpanFromContext(ctx)
	switch e.Kind {
	case client.EventDone:
		t.calls.WithLabelValues(string(e.Operation), strconv.Itoa(e.StatusCode)).Observe(e.Duration.Seconds())
	case client.EventRetry:
		t.retries.WithLabelValues(string(e.Operation)).Inc()
		span.AddEvent("retry", trace.WithAttributes(attribute.Int("attempt", e.Attempt), attribute.Int("status", e.StatusCode)))
	case client.EventWait:
		t.waits.WithLabelValues(e.Reason).Add(e.Delay.Seconds())
		span.AddEvent("wait", trace.WithAttributes(attribute.String("reason", e.Reason)))
	case client.EventDecodeWarning:
	}
}
