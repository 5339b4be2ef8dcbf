/**
 * A span processor for OpenTelemetry's tracer provider: every span is recorded while the probes
 * `span_start` and `span_end` (key `otel`) are on, also spans that a sampler does not send on
 * but records.  Spans are paired by their ids, so that asynchronous ones may overlap.
 */
export class TnfSpanProcessor {
  onStart(span: object): void;
  onEnd(span: object): void;
  forceFlush(): Promise<void>;
  shutdown(): Promise<void>;
}
