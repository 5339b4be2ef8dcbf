//! The layer of tracing-subscriber.

use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id};
use tracing::{Event, Subscriber};
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::LookupSpan;

use crate::{define, value, Short};

define!(START, "span_start", "otel tracing", name: Short, trace: Short, span: Short,
    parent: Short, target: Short, fields: String);
define!(END, "span_end", "otel tracing", span: Short);
define!(EVENT, "span_event", "otel tracing", span: Short, level: Short, target: Short,
    message: String);

/// Records every span and event of the crate `tracing`: probes `span_start`, `span_end` and
/// `span_event` of the key `otel`.
///
/// `tracing_subscriber::registry().with(tnf::Layer).init()` switches the layer on; the probes
/// decide whether anything is recorded.  Spans are paired by their ids, so that a span may move
/// from one thread to another.  A span that began while the probes were off is not recorded.
pub struct Layer;

/// The ids of a span as hexadecimal digits.
struct Ids {
    trace: String,
    span: String,
}

/// A number that no other span of this process has, and most likely no other process.
fn unique() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let mut seed = NEXT.load(Ordering::Relaxed);
    if seed == 0 {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |d| d.as_nanos() as u64);
        seed = now ^ u64::from(std::process::id()) << 40;
        let _ = NEXT.compare_exchange(0, seed | 1, Ordering::Relaxed, Ordering::Relaxed);
    }
    let mut x = NEXT.fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::Relaxed);
    x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ x >> 31
}

#[derive(Default)]
struct Text {
    message: String,
    fields: String,
}

impl Visit for Text {
    fn record_debug(&mut self, field: &Field, v: &dyn std::fmt::Debug) {
        // Writing to a String cannot fail.
        let _ = if field.name() == "message" {
            write!(self.message, "{v:?}")
        } else {
            let blank = if self.fields.is_empty() { "" } else { " " };
            write!(self.fields, "{blank}{}={v:?}", field.name())
        };
    }
}

impl<S> tracing_subscriber::Layer<S> for Layer
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, ctx: Context<'_, S>) {
        let span = match ctx.span(id) {
            Some(span) if START.is_on() => span,
            _ => return,
        };
        let mut ids = Ids { trace: String::new(), span: format!("{:016x}", unique()) };
        let mut parent = String::new();
        if let Some(above) = span.parent() {
            if let Some(of_parent) = above.extensions().get::<Ids>() {
                ids.trace.push_str(&of_parent.trace);
                parent.push_str(&of_parent.span);
            }
        }
        if parent.is_empty() {
            ids.trace = format!("{:016x}{:016x}", unique(), unique());
        }
        let mut text = Text::default();
        attributes.record(&mut text);
        START.hit(&[
            value(&Short(span.name())),
            value(&Short(&ids.trace)),
            value(&Short(&ids.span)),
            value(&Short(&parent)),
            value(&Short(attributes.metadata().target())),
            value(&text.fields),
        ]);
        span.extensions_mut().insert(ids);
    }

    fn on_close(&self, id: Id, ctx: Context<'_, S>) {
        if !END.is_on() {
            return;
        }
        if let Some(span) = ctx.span(&id) {
            if let Some(ids) = span.extensions().get::<Ids>() {
                END.hit(&[value(&Short(&ids.span))]);
            }
        }
    }

    fn on_event(&self, event: &Event<'_>, ctx: Context<'_, S>) {
        if !EVENT.is_on() {
            return;
        }
        let mut text = Text::default();
        event.record(&mut text);
        if !text.fields.is_empty() {
            let _ = write!(text.message, " {}", text.fields);
        }
        let span = ctx.event_span(event);
        let extensions = span.as_ref().map(|s| s.extensions());
        let ids = extensions.as_ref().and_then(|e| e.get::<Ids>());
        EVENT.hit(&[
            value(&Short(ids.map_or("", |i| &i.span))),
            value(&Short(event.metadata().level().as_str())),
            value(&Short(event.metadata().target())),
            value(&text.message),
        ]);
    }
}
