// Example: an order with a cake in it, which another goroutine bakes and burns.  The sampler
// records all spans and sends none.
package main

import (
	"context"
	"fmt"
	"time"

	"go.opentelemetry.io/otel/codes"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"tnf/otel"
)

type recordOnly struct{}

func (recordOnly) ShouldSample(p sdk.SamplingParameters) sdk.SamplingResult {
	return sdk.SamplingResult{Decision: sdk.RecordOnly, Tracestate: trace.SpanContextFromContext(p.ParentContext).TraceState()}
}

func (recordOnly) Description() string { return "recordOnly" }

func main() {
	provider := sdk.NewTracerProvider(sdk.WithSampler(recordOnly{}), sdk.WithSpanProcessor(otel.NewSpanProcessor()))
	tracer := provider.Tracer("bakery")
	ctx, order := tracer.Start(context.Background(), "order")
	done := make(chan struct{})
	go func() {
		_, bake := tracer.Start(ctx, "bake")
		time.Sleep(2 * time.Millisecond)
		bake.SetStatus(codes.Error, "burnt")
		bake.End()
		fmt.Println(bake.SpanContext().TraceID(), bake.SpanContext().SpanID())
		close(done)
	}()
	<-done
	order.End()
	fmt.Println(order.SpanContext().TraceID(), order.SpanContext().SpanID())
}
