/*
 * otlp-logs.c - triggers of tnfwatch that fired, as records of OpenTelemetry's logs.
 *
 * The event "fired" is in the trace of tnfwatch itself.  The span that fired had ended before tnfwatch
 * heard of it, so the spans that ended last are remembered.
 */
#include "analysis/attrs.h"
#include "common/xalloc.h"
#include "tnfdump/to/otlp-spans.h"

enum {				/* LogRecord, AnyValue */
	LOG_TIME = 1, LOG_SEVERITY = 2, LOG_SEVERITY_TEXT = 3, LOG_BODY = 5, LOG_ATTR = 6,
	LOG_TRACE_ID = 9, LOG_SPAN_ID = 10, LOG_OBSERVED = 11, VALUE_STRING = 1, SEVERITY_WARN = 13,
};

#define ENDED_MAX	16384u
#define NEAR		100000000	/* ns; tnfwatch writes the event a little after it took its time */

/* A span that has ended. */
struct ended {
	struct tnf_event began;
	int64_t	 duration;
	struct span_ids id;
};

struct logs {
	struct ended *ended;	/* a ring of ENDED_MAX */
	uint64_t n;		/* all that were noted */
};

/* The members of the event "fired": self_fired() of tnfwatch. */
struct fired {
	struct tnf_value trigger, reason;
	int64_t	 ago, lasted;	/* ns */
	uint32_t thread;
};

struct logs *
logs_new(void)
{
	return tnf_xcalloc(1, sizeof(struct logs));
}

void
logs_free(struct logs *l)
{
	free(l->ended);
	free(l);
}

void
logs_ended(struct logs *l, const struct span *s, int64_t duration)
{
	if (l->ended == NULL)
		l->ended = tnf_xcalloc(ENDED_MAX, sizeof(*l->ended));
	l->ended[l->n++ % ENDED_MAX] = (struct ended){ s->began, duration, s->id };
}

static bool
read_fired(const struct tnf_event *ev, struct fired *f)
{
	struct tnf_value ago, lasted, thread;

	if (strcmp(ev->probe->name, "fired") != 0 || !member_value(ev, "trigger", &f->trigger) ||
	    !member_value(ev, "reason", &f->reason) || !member_value(ev, "ago", &ago) ||
	    !member_value(ev, "lasted", &lasted) || !member_value(ev, "thread", &thread) ||
	    f->trigger.kind != TNF_K_STRING || f->reason.kind != TNF_K_STRING)
		return false;
	f->ago = ago.u.i;
	f->lasted = lasted.u.i;
	f->thread = (uint32_t)thread.u.u;
	return true;
}

/* How far the span's beginning is from that of what fired; INT64_MAX: it is another span.  One
   that lasted exactly as long is nearer than any other. */
static int64_t
distance(const struct tnf_event *ev, const struct fired *f, const struct tnf_event *began,
    int64_t duration)
{
	int64_t off = ev->time - f->ago - f->lasted - began->time;

	if (began->lwpid != f->thread || tnf_file_host(began->file) != tnf_file_host(ev->file))
		return INT64_MAX;
	if (f->lasted == 0)	/* an event fired: the span that it is in */
		return off >= 0 && off <= duration ? off : INT64_MAX;
	if (off < 0)
		off = -off;
	if (off > NEAR || duration < f->lasted)
		return INT64_MAX;
	return duration == f->lasted ? off - NEAR - 1 : off;
}

/* The span of what fired: its beginning and its ids; false: it is not in the trace. */
static bool
find_span(const struct logs *l, const struct spans *all, const struct tnf_event *ev,
    const struct fired *f, struct tnf_event *began, struct span_ids *id)
{
	int64_t best = INT64_MAX, off;

	for (size_t i = 0; i < l->n && i < ENDED_MAX; i++)
		if ((off = distance(ev, f, &l->ended[i].began, l->ended[i].duration)) < best) {
			best = off;
			*began = l->ended[i].began;
			*id = l->ended[i].id;
		}
	for (const struct tree *t = all->trees; t != NULL; t = t->after)
		for (const struct span *s = t->first; s != NULL; s = s->next)
			if (s->open && (off = distance(ev, f, &s->began, INT64_MAX)) < best) {
				best = off;
				*began = s->began;
				*id = s->id;
			}
	return best != INT64_MAX;
}

static void
write_record(struct otlp *e, const struct fired *f, const struct span_ids *id, int64_t wall)
{
	size_t record = otlp_open(e, 2, NULL), m;

	otlp_fixed64(e, LOG_TIME, "timeUnixNano", (uint64_t)(wall - f->ago));
	otlp_fixed64(e, LOG_OBSERVED, "observedTimeUnixNano", (uint64_t)wall);
	otlp_enum(e, LOG_SEVERITY, "severityNumber", SEVERITY_WARN);
	otlp_string(e, LOG_SEVERITY_TEXT, "severityText", "WARN");
	m = otlp_open(e, LOG_BODY, "body");
	otlp_text(e, VALUE_STRING, "stringValue", f->reason.u.s.chars, f->reason.u.s.len);
	otlp_close(e, m);
	if (id != NULL) {
		otlp_id(e, LOG_TRACE_ID, "traceId", id->trace, sizeof(id->trace));
		otlp_id(e, LOG_SPAN_ID, "spanId", id->span, sizeof(id->span));
	}
	char *trigger = tnf_xstrndup(f->trigger.u.s.chars, f->trigger.u.s.len);
	otlp_list(e, "attributes");
	otlp_attr_string(e, LOG_ATTR, "tnf.trigger", trigger);
	if (f->thread != 0)
		otlp_attr_int(e, LOG_ATTR, "thread.id", f->thread);
	otlp_list_end(e);
	free(trigger);
	otlp_close(e, record);
}

bool
logs_fired(struct logs *l, struct spans *all, const struct tnf_event *ev, int64_t wall)
{
	struct tnf_event began = *ev;
	struct span_ids id;
	struct fired f;

	if (!read_fired(ev, &f))
		return false;
	if (!all->e.json && !all->logs)
		return true;	/* a request has spans or logs, not both */
	bool known = f.thread != 0 && find_span(l, all, ev, &f, &began, &id);
	struct encoded resource = spans_resource(all, &began);
	struct envelope at = spans_envelope(&all->e, &resource, "resourceLogs", "scopeLogs", "logRecords");
	write_record(&all->e, &f, known ? &id : NULL, wall);
	spans_envelope_end(&all->e, at);
	spans_write(all);
	free(resource.bytes);
	return true;
}
