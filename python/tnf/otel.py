"""A span processor of OpenTelemetry whose spans are records of TNF.

    provider.add_span_processor(tnf.otel.SpanProcessor())

Every span is recorded while the probes span_start and span_end (key "otel") are on, also spans
that a sampler records but does not send on.  Spans are paired by their ids, so that a span may
end in another thread; `tnfdump --to otlp` gives them to a collector.
"""
import tnf as _tnf

__all__ = ["SpanProcessor"]

_ERROR = 2		# opentelemetry.trace.StatusCode.ERROR


def _hexadecimal(context):
    return f"{context.trace_id:032x}", f"{context.span_id:016x}"


class SpanProcessor:
    """For TracerProvider.add_span_processor(); the package opentelemetry is not imported."""

    def __init__(self):
        self._start = _tnf.probe("span_start", keys="otel", args={
            "name": "string", "trace": "string", "span": "string", "parent": "string"})
        self._end = _tnf.probe("span_end", keys="otel", args={"span": "string", "error": "string"})

    def on_start(self, span, parent_context=None):
        if self._start:
            trace, own = _hexadecimal(span.get_span_context())
            above = getattr(span, "parent", None)
            self._start(span.name, trace, own, "" if above is None else _hexadecimal(above)[1])

    def on_end(self, span):
        if self._end:
            status = getattr(span, "status", None)
            failed = status is not None and status.status_code.value == _ERROR
            self._end(_hexadecimal(span.get_span_context())[1],
                      (status.description or "error") if failed else "")

    def _on_ending(self, span):
        """Called by newer versions of OpenTelemetry just before on_end()."""

    def shutdown(self):
        """Nothing is held back, so there is nothing to do."""

    def force_flush(self, timeout_millis=30000):
        """Nothing is held back: always True."""
        return True
