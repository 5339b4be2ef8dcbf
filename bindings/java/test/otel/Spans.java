package otel;

import tnf.OtelSpans;

/**
 * The interfaces of OpenTelemetry's SDK that tnf.OtelSpans calls, with their names and types but
 * none of their code (Debian has no package of the SDK: sdk.Sdk runs where tools/judges has
 * installed one), and an order whose cake another thread bakes and burns.
 */
public final class Spans {
    public interface SpanContext { String getTraceId(); String getSpanId(); }
    public enum StatusCode { UNSET, OK, ERROR }
    public interface StatusData { StatusCode getStatusCode(); String getDescription(); }
    public interface SpanData { StatusData getStatus(); }
    public interface ReadableSpan {
        String getName();
        SpanContext getSpanContext();
        SpanContext getParentSpanContext();
        SpanData toSpanData();
    }
    public interface ReadWriteSpan extends ReadableSpan { }
    public interface SpanProcessor {
        void onStart(Object context, ReadWriteSpan span);
        boolean isStartRequired();
        void onEnd(ReadableSpan span);
        boolean isEndRequired();
        default String forceFlush() { return "flushed"; }
    }

    private record Context(String getTraceId, String getSpanId) implements SpanContext { }
    private record Status(StatusCode getStatusCode, String getDescription) implements StatusData { }
    private record Span(String getName, SpanContext getSpanContext, SpanContext getParentSpanContext,
        StatusData status) implements ReadWriteSpan {
        public SpanData toSpanData() {
            return this::status;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        SpanProcessor p = OtelSpans.processor(SpanProcessor.class);
        String trace = "0123456789abcdef0123456789abcdef";
        Context none = new Context("00000000000000000000000000000000", "0000000000000000");
        Span order = new Span("order", new Context(trace, "1111111111111111"), none,
            new Status(StatusCode.UNSET, ""));
        Span bake = new Span("bake", new Context(trace, "2222222222222222"), order.getSpanContext(),
            new Status(StatusCode.ERROR, "burnt"));
        if (!p.isStartRequired() || !p.isEndRequired() || !p.forceFlush().equals("flushed") || !p.equals(p))
            throw new AssertionError(p.toString());
        p.onStart(null, order);
        p.onStart(null, bake);
        Thread.sleep(2);
        Thread oven = new Thread(() -> p.onEnd(bake));
        oven.start();
        oven.join();
        p.onEnd(order);
        for (Span s : new Span[] { order, bake })
            System.out.println(trace + " " + s.getSpanContext().getSpanId());
        try {
            OtelSpans.processor(Runnable.class);
            throw new AssertionError("Runnable is taken for a processor");
        } catch (IllegalArgumentException e) {
            // it says what it wants
        }
    }
}
