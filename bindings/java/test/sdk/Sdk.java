package sdk;

import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.SpanProcessor;
import io.opentelemetry.sdk.trace.data.LinkData;
import io.opentelemetry.sdk.trace.samplers.Sampler;
import io.opentelemetry.sdk.trace.samplers.SamplingResult;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import tnf.OtelSpans;

/**
 * OpenTelemetry's own SDK with the processor of tnf.OtelSpans: a sampled span, one that is recorded
 * and not sampled, which another thread ends, and one that is dropped.
 */
public final class Sdk {
    private static final Sampler BY_NAME = new Sampler() {
        @Override
        public SamplingResult shouldSample(Context parent, String trace, String name, SpanKind kind,
            Attributes attributes, List<LinkData> links) {
            return name.equals("order") ? SamplingResult.recordAndSample() :
                name.equals("bake") ? SamplingResult.recordOnly() : SamplingResult.drop();
        }

        @Override
        public String getDescription() {
            return "by name";
        }
    };

    public static void main(String[] args) throws Exception {
        SdkTracerProvider provider = SdkTracerProvider.builder().setSampler(BY_NAME)
            .addSpanProcessor(OtelSpans.processor(SpanProcessor.class)).build();
        Tracer tracer = provider.get("test");
        Span order = tracer.spanBuilder("order").startSpan();
        Context within = Context.root().with(order);
        Span bake = tracer.spanBuilder("bake").setParent(within).startSpan();

        if (!order.getSpanContext().isSampled() || bake.getSpanContext().isSampled())
            throw new AssertionError("order is to be sampled, and bake not");
        tracer.spanBuilder("dropped").setParent(within).startSpan().end();
        Thread.sleep(2);
        CompletableFuture.runAsync(() -> bake.setStatus(StatusCode.ERROR, "burnt").end()).get();
        order.end();
        for (Span s : new Span[] { order, bake })
            System.out.println(s.getSpanContext().getTraceId() + " " + s.getSpanContext().getSpanId());
        if (!provider.forceFlush().join(10, TimeUnit.SECONDS).isSuccess() ||
            !provider.shutdown().join(10, TimeUnit.SECONDS).isSuccess())
            throw new AssertionError("forceFlush or shutdown failed");
    }
}
