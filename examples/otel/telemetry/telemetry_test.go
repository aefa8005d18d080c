package telemetry_test

import (
	"net/http"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/sellside-sdk/sellside-go/client/clienttest"
	"github.com/sellside-sdk/sellside-go/examples/otel/telemetry"
	"github.com/sellside-sdk/sellside-go/gen"
)

func TestTelemetry_MakesChildSpanWithRetry(t *testing.T) {
	recorder := tracetest.NewSpanRecorder()
	provider := sdk.NewTracerProvider(sdk.WithSpanProcessor(recorder))
	registry := prometheus.NewRegistry()
	srv := clienttest.New(t)
	srv.Expect(gen.OpGetListing).RespondError(http.StatusServiceUnavailable, "busy")
	srv.Expect(gen.OpGetListing).RespondExample()
	c := srv.Client(telemetry.New(provider, registry).Options()...)

	ctx, parent := provider.Tracer("test").Start(t.Context(), "parent")
	if _, err := c.Listings.Get(ctx, "98e2e748"); err != nil {
		t.Fatal(err)
	}
	parent.End()

	spans := recorder.Ended()
	if len(spans) != 2 || spans[0].Name() != "GetListing" {
		t.Fatalf("got %d spans: %v", len(spans), spans)
	}
	if spans[0].Parent().SpanID() != parent.SpanContext().SpanID() {
		t.Error("the span of the call is no child of the caller's")
	}
	if events := spans[0].Events(); len(events) != 1 || events[0].Name != "retry" {
		t.Errorf("got events %v; want a retry", events)
	}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]float64{}
	for _, family := range families {
		for _, m := range family.GetMetric() {
			values[family.GetName()] += m.GetCounter().GetValue() + float64(m.GetHistogram().GetSampleCount())
		}
	}
	if values["sellside_call_duration_seconds"] != 1 || values["sellside_retries_total"] != 1 {
		t.Errorf("got %v; want one call and one retry", values)
	}
}
