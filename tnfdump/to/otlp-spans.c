/*
 * otlp-spans.c - spans of --to otlp, in trees, until a whole tree can be written; log records, in which
 * a span is named that fired a trigger of tnfwatch.
 *
 * The event "fired" is in the trace of tnfwatch itself.  The span that fired had ended before tnfwatch
 * heard of it, so the spans that ended last are remembered.
 */
#include "tnfdump/hosts.h"
#include "tnfdump/origin.h"
#include "tnfdump/to/otlp-spans.h"

/* TracesData, ResourceSpans, Resource, ScopeSpans, Scope; those of logs have the same numbers */
enum {
	DATA_RESOURCE_SPANS = 1, SPANS_RESOURCE = 1, SPANS_SCOPE_SPANS = 2,
	RESOURCE_ATTR = 1, SCOPE_SPANS_SCOPE = 1, SCOPE_SPANS_SPAN = 2,
	SCOPE_NAME = 1, SCOPE_VERSION = 2,
};
enum { STATUS_MESSAGE = 2, STATUS_CODE = 3, STATUS_CODE_ERROR = 2, KIND_INTERNAL = 1 };

/* Takes over what was encoded in the buffer, behind what is there. */
void
spans_keep(struct spans *all, struct encoded *to)
{
	size_t n = out_size(&all->buffer);

	if (n == 0)
		return;
	if (all->e.json && to->n > 0 && all->buffer.base[0] == '{') {
		to->bytes = tnf_xreallocarray(to->bytes, to->n + 1, 1);
		to->bytes[to->n++] = ',';
	}
	to->bytes = tnf_xreallocarray(to->bytes, to->n + n, 1);
	memcpy(to->bytes + to->n, all->buffer.base, n);
	to->n += n;
	all->buffer.p = all->buffer.base;
}

static const char *
told(const char *s)
{
	return *s != '\0' ? s : NULL;
}

static void
container_attrs(struct otlp *e, const struct origin_container *c)
{
	if (c == NULL)
		return;
	otlp_attr_string(e, RESOURCE_ATTR, "container.id", told(c->group.id));
	otlp_attr_string(e, RESOURCE_ATTR, "k8s.container.name", told(c->names.name));
	otlp_attr_string(e, RESOURCE_ATTR, "k8s.namespace.name", told(c->names.pod_namespace));
	otlp_attr_string(e, RESOURCE_ATTR, "k8s.pod.name", told(c->names.pod));
	otlp_attr_string(e, RESOURCE_ATTR, "k8s.pod.uid", told(c->group.pod));
}

const char *
spans_environment(struct spans *all, const struct tnf_event *ev, const char *what)
{
	char word[32];

	snprintf(word, sizeof(word), "%s/%d", what, ev->pid);
	return ev->kernel ? NULL : origin_fact(all->d, ev->file, word);
}

static struct encoded
spans_resource(struct spans *all, const struct tnf_event *ev)
{
	struct encoded ret = { NULL, 0 };
	struct otlp *e = &all->e;
	const char *host = all->d->hosts != NULL ? host_name(all->d, ev) : NULL;
	const char *service = spans_environment(all, ev, "service");
	struct tnf_event who = *ev;

	origin_host(all->d, ev, &who.pid, &who.lwpid);
	otlp_attr_string(e, RESOURCE_ATTR, "service.name",
	    service != NULL ? service : origin_process_last(all->d, ev));
	otlp_attr_string(e, RESOURCE_ATTR, "host.name",
	    host != NULL ? host : origin_fact(all->d, ev->file, "host"));
	otlp_attr_int(e, RESOURCE_ATTR, "process.pid", who.pid);
	otlp_attr_string(e, RESOURCE_ATTR, "process.executable.path", origin_program(all->d, ev));
	container_attrs(e, origin_container(all->d, ev));
	spans_keep(all, &ret);
	return ret;
}

struct tree *
tree_new(struct spans *all, const struct tnf_event *ev)
{
	struct tree *t = tnf_xcalloc(1, sizeof(*t));

	t->last = &t->first;
	t->after = all->trees;
	if (all->trees != NULL)
		all->trees->before = t;
	all->trees = t;
	t->resource = spans_resource(all, ev);
	return t;
}

struct span *
tree_add(struct tree *t)
{
	struct span *s;

	if (t->n == SPANS_MAX) {
		t->left_out++;
		return NULL;
	}
	s = tnf_xcalloc(1, sizeof(*s));
	s->tree = t;
	s->open = true;
	*t->last = s;
	t->last = &s->next;
	t->n++;
	t->n_open++;
	return s;
}

static void
tree_free(struct spans *all, struct tree *t)
{
	struct span *next;

	for (struct span *s = t->first; s != NULL; s = next) {
		next = s->next;
		free(s->attrs.bytes);
		free(s->events.bytes);
		free(s->links.bytes);
		free(s->error);
		free(s->name);
		free(s);
	}
	if (t->before != NULL)
		t->before->after = t->after;
	else
		all->trees = t->after;
	if (t->after != NULL)
		t->after->before = t->before;
	free(t->resource.bytes);
	free(t);
}

static void
write_status(struct otlp *e, const struct span *s)
{
	size_t status;

	if (!s->failed)
		return;
	status = otlp_open(e, SPAN_STATUS, "status");
	if (s->error != NULL)
		otlp_string(e, STATUS_MESSAGE, "message", s->error);
	otlp_enum(e, STATUS_CODE, "code", STATUS_CODE_ERROR);
	otlp_close(e, status);
}

/* Writes the parent's id: the nearest one that is kept, or that the program named, also as the
   parent of a span that is not kept. */
static void
write_parent(struct otlp *e, const struct span *s)
{
	static const uint8_t none[sizeof(s->outside)];
	const uint8_t *outside = s->outside;
	const struct span *parent = s->parent;

	while (memcmp(outside, none, sizeof(none)) == 0 && parent != NULL && !parent->kept) {
		outside = parent->outside;
		parent = parent->parent;
	}
	if (memcmp(outside, none, sizeof(none)) != 0)
		otlp_id(e, SPAN_PARENT, "parentSpanId", outside, sizeof(s->outside));
	else if (parent != NULL)
		otlp_id(e, SPAN_PARENT, "parentSpanId", parent->id.span, sizeof(parent->id.span));
}

static void
write_span(struct spans *all, const struct span *s, uint64_t left_out)
{
	struct otlp *e = &all->e;
	size_t span = otlp_open(e, SCOPE_SPANS_SPAN, NULL);

	otlp_id(e, SPAN_TRACE_ID, "traceId", s->id.trace, sizeof(s->id.trace));
	otlp_id(e, SPAN_ID, "spanId", s->id.span, sizeof(s->id.span));
	write_parent(e, s);
	otlp_string(e, SPAN_NAME, "name", s->name);
	otlp_enum(e, SPAN_KIND, "kind", KIND_INTERNAL);
	otlp_fixed64(e, SPAN_START, "startTimeUnixNano", (uint64_t)s->start);
	otlp_fixed64(e, SPAN_END, "endTimeUnixNano", (uint64_t)s->end);
	otlp_list(e, "attributes");
	otlp_append(e, s->attrs.bytes, s->attrs.n);
	if (s->open)
		otlp_attr_true(e, SPAN_ATTR, "tnf.open");
	if (left_out > 0)
		otlp_attr_int(e, SPAN_ATTR, "tnf.spans_left_out", (int64_t)left_out);
	otlp_list_end(e);
	otlp_list(e, "events");
	otlp_append(e, s->events.bytes, s->events.n);
	otlp_list_end(e);
	otlp_list(e, "links");
	otlp_append(e, s->links.bytes, s->links.n);
	otlp_list_end(e);
	write_status(e, s);
	otlp_close(e, span);
}

static struct envelope
spans_envelope(struct otlp *e, const struct encoded *resource, const char *outer,
    const char *scope, const char *list)
{
	struct envelope at;
	size_t m;

	if (e->json)
		out_char(e->o, '{');
	otlp_list(e, outer);
	at.outer = otlp_open(e, DATA_RESOURCE_SPANS, NULL);
	m = otlp_open(e, SPANS_RESOURCE, "resource");
	otlp_list(e, "attributes");
	otlp_append(e, resource->bytes, resource->n);
	otlp_list_end(e);
	otlp_close(e, m);
	otlp_list(e, scope);
	at.scope = otlp_open(e, SPANS_SCOPE_SPANS, NULL);
	m = otlp_open(e, SCOPE_SPANS_SCOPE, "scope");
	otlp_string(e, SCOPE_NAME, "name", "tnf");
	otlp_string(e, SCOPE_VERSION, "version", TNF_VERSION);
	otlp_close(e, m);
	otlp_list(e, list);
	return at;
}

static void
spans_envelope_end(struct otlp *e, struct envelope at)
{
	otlp_list_end(e);
	otlp_close(e, at.scope);
	otlp_list_end(e);
	otlp_close(e, at.outer);
	otlp_list_end(e);
	if (e->json)
		out_lit(e->o, "}\n");
}

/* Encodes the attributes of the event's process. */
static void
spans_write(struct spans *all)
{
	tnf_out_bytes(&all->d->out, all->buffer.base, out_size(&all->buffer));
	all->buffer.p = all->buffer.base;
}

static void
write_spans(struct spans *all, struct tree *t)
{
	struct envelope at = spans_envelope(&all->e, &t->resource, "resourceSpans", "scopeSpans", "spans");
	uint64_t left_out = t->left_out;

	for (const struct span *s = t->first; s != NULL; s = s->next)
		if (s->kept) {
			write_span(all, s, left_out);
			left_out = 0;
		}
	spans_envelope_end(&all->e, at);
	spans_write(all);
}

void
tree_finish(struct spans *all, struct tree *t)
{
	bool any = false;

	for (const struct span *s = t->first; s != NULL; s = s->next)
		any |= s->kept;
	if (any && !all->logs) {
		all->left_out += t->left_out;
		write_spans(all, t);
	}
	tree_free(all, t);
}

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
