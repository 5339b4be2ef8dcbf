// Package otel records the spans of OpenTelemetry as records of TNF.
//
//	provider := trace.NewTracerProvider(trace.WithSpanProcessor(otel.NewSpanProcessor()))
//
// Each span that the SDK records is there while the probes span_start and span_end (key "otel")
// are on, also one that the sampler does not send on.  Spans are paired by their ids, whatever
// goroutine or thread ends them; tnfdump --to otlp gives them to a collector.
package otel

import (
	"context"

	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/trace"

	"tnf"
)

var (
	start = tnf.NewProbe("span_start", "otel", tnf.String("name"), tnf.String("trace"), tnf.String("span"),
		tnf.String("parent"))
	end = tnf.NewProbe("span_end", "otel", tnf.String("span"), tnf.String("error"))
)

type processor struct{}

// NewSpanProcessor returns a processor for trace.WithSpanProcessor.
func NewSpanProcessor() trace.SpanProcessor { return processor{} }

func (processor) OnStart(_ context.Context, s trace.ReadWriteSpan) {
	if !start.On() {
		return
	}
	own, parent := s.SpanContext(), ""
	if p := s.Parent(); p.HasSpanID() {
		parent = p.SpanID().String()
	}
	start.Hit(tnf.S(s.Name()), tnf.S(own.TraceID().String()), tnf.S(own.SpanID().String()), tnf.S(parent))
}

func (processor) OnEnd(s trace.ReadOnlySpan) {
	if !end.On() {
		return
	}
	text := ""
	if status := s.Status(); status.Code == codes.Error {
		if text = status.Description; text == "" {
			text = "error"
		}
	}
	end.Hit(tnf.S(s.SpanContext().SpanID().String()), tnf.S(text))
}

// Nothing is held back, so there is nothing to do.
func (processor) Shutdown(context.Context) error   { return nil }
func (processor) ForceFlush(context.Context) error { return nil }
