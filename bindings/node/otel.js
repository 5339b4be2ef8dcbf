'use strict';
// A span processor of OpenTelemetry whose spans are records: probes span_start and span_end.
const { Probe } = require('./index.js');

const NO_SPAN = '';

class TnfSpanProcessor {
  #start = new Probe('span_start', { keys: 'otel', args: { name: 'string', trace: 'string', span: 'string', parent: 'string' } });
  #end = new Probe('span_end', { keys: 'otel', args: { span: 'string', error: 'string' } });

  onStart(span) {
    if (!this.#start.on) return;
    const { traceId, spanId } = span.spanContext();
    const parent = span.parentSpanContext ? span.parentSpanContext.spanId : span.parentSpanId;
    this.#start.hit(span.name, traceId, spanId, parent ?? NO_SPAN);
  }

  onEnd(span) {
    if (!this.#end.on) return;
    const failed = span.status && span.status.code === 2;
    this.#end.hit(span.spanContext().spanId, failed ? span.status.message || 'error' : '');
  }

  forceFlush() {
    return Promise.resolve();
  }

  shutdown() {
    return Promise.resolve();
  }
}

module.exports = { TnfSpanProcessor };
