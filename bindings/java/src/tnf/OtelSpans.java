package tnf;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;

/**
 * A span processor of OpenTelemetry whose spans are records of TNF.
 *
 * <pre>{@code
 * SdkTracerProvider.builder()
 *     .addSpanProcessor(OtelSpans.processor(io.opentelemetry.sdk.trace.SpanProcessor.class))
 * }</pre>
 *
 * <p>Each span that the SDK records is there while the probes {@code span_start} and
 * {@code span_end} (key {@code otel}) are on, also one that a sampler does not send on.  Spans are
 * paired by their ids, whatever thread ends them; {@code tnfdump --to otlp} gives them to a
 * collector.  This package does not depend on OpenTelemetry's: it calls the SDK's interfaces by
 * reflection.
 */
public final class OtelSpans implements InvocationHandler {
    private static final Probe START = Probe.define("span_start", "otel", "name:string",
        "trace:string", "span:string", "parent:string");
    private static final Probe END = Probe.define("span_end", "otel", "span:string", "error:string");
    private static final String NO_SPAN = "0000000000000000";

    private final Method getName, getSpanContext, getParentSpanContext, toSpanData;
    private final Method getTraceId, getSpanId, getStatus, getStatusCode, getDescription;

    private OtelSpans(Class<?> processor) throws ReflectiveOperationException {
        Class<?> readable = null;
        for (Method m : processor.getMethods())
            if (m.getName().equals("onEnd") && m.getParameterCount() == 1)
                readable = m.getParameterTypes()[0];
        if (readable == null)
            throw new NoSuchMethodException("onEnd");
        getName = readable.getMethod("getName");
        getSpanContext = readable.getMethod("getSpanContext");
        getParentSpanContext = readable.getMethod("getParentSpanContext");
        toSpanData = readable.getMethod("toSpanData");
        getTraceId = getSpanContext.getReturnType().getMethod("getTraceId");
        getSpanId = getSpanContext.getReturnType().getMethod("getSpanId");
        getStatus = toSpanData.getReturnType().getMethod("getStatus");
        getStatusCode = getStatus.getReturnType().getMethod("getStatusCode");
        getDescription = getStatus.getReturnType().getMethod("getDescription");
    }

    /**
     * Makes a processor.
     *
     * @param <T> the SDK's interface
     * @param spanProcessor {@code io.opentelemetry.sdk.trace.SpanProcessor.class}
     * @return the processor
     * @throws IllegalArgumentException if the class is no such interface
     */
    public static <T> T processor(Class<T> spanProcessor) {
        try {
            return spanProcessor.cast(Proxy.newProxyInstance(spanProcessor.getClassLoader(),
                new Class<?>[] { spanProcessor }, new OtelSpans(spanProcessor)));
        } catch (ReflectiveOperationException e) {
            throw new IllegalArgumentException(spanProcessor.getName() +
                ": not the SpanProcessor of OpenTelemetry's SDK: " + e.getMessage(), e);
        }
    }

    /**
     * Called for each method of the processor.
     *
     * @param proxy the processor
     * @param method the SDK's
     * @param args of the call
     * @return what the method returns
     * @throws Throwable what a default method of the SDK throws
     */
    @Override
    public Object invoke(Object proxy, Method method, Object[] args) throws Throwable {
        switch (method.getName()) {
        case "isStartRequired":
        case "isEndRequired":
            return true;
        case "onStart":
            if (START.isOn())
                started(args[1]);
            return null;
        case "onEnd":
            if (END.isOn())
                ended(args[0]);
            return null;
        case "toString":
            return "tnf.OtelSpans";
        case "hashCode":
            return System.identityHashCode(proxy);
        case "equals":
            return proxy == args[0];
        default:    // nothing is held back: what the SDK does by default is right
            return InvocationHandler.invokeDefault(proxy, method, args);
        }
    }

    private void started(Object span) throws ReflectiveOperationException {
        Object context = getSpanContext.invoke(span);
        Object parent = getSpanId.invoke(getParentSpanContext.invoke(span));
        START.hit(getName.invoke(span), getTraceId.invoke(context), getSpanId.invoke(context),
            NO_SPAN.equals(parent) ? "" : parent);
    }

    private void ended(Object span) throws ReflectiveOperationException {
        Object status = getStatus.invoke(toSpanData.invoke(span));
        String error = "";
        if (getStatusCode.invoke(status).toString().equals("ERROR")) {
            error = String.valueOf(getDescription.invoke(status));
            error = error.isEmpty() ? "error" : error;
        }
        END.hit(getSpanId.invoke(getSpanContext.invoke(span)), error);
    }
}
