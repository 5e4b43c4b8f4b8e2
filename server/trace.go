package server

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

const tracerName = "github.com/waymark-rag/waymark/server"

// StartTraces has spans sent by OTLP over HTTP to a collector, such as
// http://localhost:4318, until stop is called. Without it no spans are made, unless
// the program that mounts the server sets up OpenTelemetry itself. Spans carry no
// question and no text.
func StartTraces(ctx context.Context, endpoint, version string) (stop func(context.Context) error, err error) {
	u, err := url.Parse(endpoint)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil {
		return nil, fmt.Errorf("traces: want the collector's address as http://HOST:PORT or https://HOST, without user or password")
	}
	exporter, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(u.JoinPath("v1/traces").String()))
	if err != nil {
		return nil, fmt.Errorf("traces: %w", err)
	}
	provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithResource(resource.NewSchemaless(
		attribute.String("service.name", "waymark"), attribute.String("service.version", version))))
	otel.SetTracerProvider(provider)
	otel.SetTextMapPropagator(propagation.TraceContext{})
	return provider.Shutdown, nil
}

// requestSpan begins the span of a request, as part of the client's trace if it sends
// one.
func requestSpan(ctx context.Context, r *http.Request) (context.Context, func(route string, status int)) {
	ctx = otel.GetTextMapPropagator().Extract(ctx, propagation.HeaderCarrier(r.Header))
	ctx, sp := otel.Tracer(tracerName).Start(ctx, knownMethod(r.Method), trace.WithSpanKind(trace.SpanKindServer))
	return ctx, func(route string, status int) {
		sp.SetName(knownMethod(r.Method) + " " + route)
		sp.SetAttributes(attribute.String("http.request.method", knownMethod(r.Method)), attribute.String("http.route", route),
			attribute.Int("http.response.status_code", status), attribute.String("waymark.request_id", requestID(ctx)))
		if status >= http.StatusInternalServerError {
			sp.SetStatus(codes.Error, "")
		}
		sp.End()
	}
}

// span begins a span within that of the request.
func span(ctx context.Context, name string) (context.Context, func(error)) {
	ctx, sp := otel.Tracer(tracerName).Start(ctx, name)
	return ctx, func(err error) {
		if err != nil {
			sp.SetStatus(codes.Error, "")
		}
		sp.End()
	}
}
