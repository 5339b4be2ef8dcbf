/*
 * otlp.c - OpenTelemetry's traces: spans from pairs, for Jaeger, Tempo and collectors.
 *
 * A pair that begins while nothing is open in its thread is the root of a tree; whatever
 * begins and ends in the thread meanwhile belongs to that tree, and other events of the
 * thread become events of the innermost open span.  A tree is written when all of its spans
 * have ended: in JSON a line (TracesData), in protobuf a field of one large request, since
 * messages that follow each other are one message.
 *
 * Ids are those of the program, if a span's probe has the members "trace" and "span" (and
 * "parent"); otherwise they are computed from boot, thread and start, so that a second run
 * and a second snapshot give the same ids.  The trace and the parent are the span of
 * OpenTelemetry in which the thread is (origin.h), or those of the program's TRACEPARENT.
 */
#include "tnfdump/report/report.h"
#include "tnfdump/to/formats.h"
#include "tnfdump/to/otlp-spans.h"

struct thread {
	struct span	*innermost;	/* NULL: nothing is open */
};

struct otlp_run {
	struct spans	 spans;
	struct logs	*logs;
	struct map	 threads;	/* struct thread by struct thread_key */
	struct map	 sent;		/* struct span_ids by the key of a message */
	struct perprobe	 message_roles;
	struct out	 key;
	bool		 kernel;	/* the kernel's pairs were asked for */
	bool		 no_clock;	/* a file that does not tell the wall clock was told of */
	int64_t		 last;		/* time of the last event */
	uint64_t	 outside, of_kernel;
};

struct thread_key {
	uint32_t host, lwpid;
	int64_t	 pid;
};

static uint64_t
mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * UINT64_C(0x9e3779b97f4a7c15);
	h = (h ^ h >> 32) * UINT64_C(0xd6e8feb86659fd93);
	return h ^ h >> 29;
}

static uint64_t
mix_text(uint64_t h, const char *s)
{
	for (; s != NULL && *s != '\0'; s++)
		h = mix(h, (unsigned char)*s);
	return mix(h, 0);
}

static void
id_bytes(uint8_t *id, uint64_t v)
{
	for (int i = 7; i >= 0; i--, v >>= 8)
		id[i] = (uint8_t)v;
}

static int64_t
wall_time(struct otlp_run *r, const struct tnf_file *f, int64_t time)
{
	int64_t wall;

	if (origin_clock(r->spans.d, f, &wall))
		return wall + time;
	if (!r->no_clock)
		dump_note(r->spans.d, "--to %s: %s: does not tell the wall clock: its times count from 1970",
		    r->spans.d->output->name, tnf_file_name(f));
	r->no_clock = true;
	return time;
}

static struct thread *
thread_of(struct otlp_run *r, const struct tnf_event *ev)
{
	struct tnf_event who = formats_writer(r->spans.d, ev);
	struct thread_key key = { tnf_file_host(ev->file), who.lwpid, who.pid };

	return tnf_xmap_put(&r->threads, &key, sizeof(key), NULL);
}

/* Reads an id of n bytes in hexadecimal digits; zeros are no id. */
static bool
hex_id(const char *text, uint8_t *id, size_t n)
{
	uint8_t any = 0;

	for (size_t k = 0; k < 2 * n; k++) {
		const char *digits = "0123456789abcdef";
		const char *at = memchr(digits, text[k], 16);

		if (at == NULL)
			return false;
		id[k / 2] = (uint8_t)(id[k / 2] << 4 | (at - digits));
		any |= id[k / 2];
	}
	return any != 0;
}

/* The id in the event's member, which has as many digits as the id. */
static bool
program_id(const struct tnf_event *ev, const char *member, uint8_t *id, size_t n)
{
	struct tnf_value v;

	return member_value(ev, member, &v) && v.kind == TNF_K_STRING && v.u.s.len == 2 * n &&
	    hex_id(v.u.s.chars, id, n);
}

/* If the thread is in a span of OpenTelemetry that the span's parent was not in, makes that one
   the parent. */
static bool
span_is_within(struct otlp_run *r, struct span *s, const struct tnf_event *ev)
{
	const struct current_span *now = current_of(r->spans.d, ev);

	s->within = now != NULL ? now->span : 0;
	if (now == NULL || (s->parent != NULL && s->parent->within == s->within))
		return false;
	id_bytes(s->id.trace, now->trace[0]);
	id_bytes(s->id.trace + 8, now->trace[1]);
	id_bytes(s->outside, now->span);
	return true;
}

/* The environment of the process may have named the span that started the program. */
static bool
span_is_started(struct otlp_run *r, struct span *s, const struct tnf_event *ev)
{
	const char *text = spans_environment(&r->spans, ev, "traceparent");

	if (text == NULL || strlen(text) != 55 ||
	    !hex_id(text + 3, s->id.trace, sizeof(s->id.trace)))
		return false;
	if (!hex_id(text + 36, s->outside, sizeof(s->outside)))
		memset(s->outside, 0, sizeof(s->outside));
	return true;
}

/* Sets the span's ids and name: the program's own, if the event has "trace" and "span". */
static void
span_identify(struct otlp_run *r, struct span *s, const struct pair_slice *p,
    const struct tnf_event *ev)
{
	bool own = program_id(ev, "trace", s->id.trace, sizeof(s->id.trace)) &&
	    program_id(ev, "span", s->id.span, sizeof(s->id.span));
	struct tnf_value v;
	uint64_t h;

	if (own && member_value(ev, "name", &v) && v.kind == TNF_K_STRING)
		s->name = tnf_xstrndup(v.u.s.chars, v.u.s.len);
	else
		s->name = tnf_xstrdup(pretty_slice_name(p));
	if (own) {
		if (!program_id(ev, "parent", s->outside, sizeof(s->outside)))
			memset(s->outside, 0, sizeof(s->outside));
		return;
	}
	h = mix(mix_text(0, origin_fact(r->spans.d, ev->file, "boot")), (uint64_t)ev->time);
	h = mix(h, (uint64_t)(uint32_t)ev->pid << 32 | ev->lwpid);
	h = mix(mix_text(h, s->name), s->tree->n);
	id_bytes(s->id.span, h);
	if (span_is_within(r, s, ev))
		return;
	if (s->parent != NULL) {
		memcpy(s->id.trace, s->parent->id.trace, sizeof(s->id.trace));
		return;
	}
	if (span_is_started(r, s, ev))
		return;
	id_bytes(s->id.trace, mix(h, 1));
	id_bytes(s->id.trace + 8, mix(h, 2));
}

/* Encodes the members, those of 'but' left out. */
static void
encode_members(struct otlp_run *r, unsigned field, const struct tnf_event *ev,
    const struct tnf_probe *but)
{
	struct tnf_value v;

	for (unsigned i = 0; i < ev->probe->n_members; i++) {
		const char *name = ev->probe->members[i].name;

		if (!tnf_event_value(ev, i, &v))
			break;
		if (but == NULL || perprobe_member(but, name) < 0)
			otlp_attr_value(&r->spans.e, field, name, r->spans.d, ev, &v, name);
	}
}

/* The span that the event begins; NULL: the tree has too many. */
static struct span *
span_begin(struct otlp_run *r, const struct pair_slice *p, const struct tnf_event *ev)
{
	struct thread *th = thread_of(r, ev);
	struct tree *t = th->innermost != NULL ? th->innermost->tree : tree_new(&r->spans, ev);
	struct span *s = tree_add(t);

	if (s == NULL)
		return NULL;
	s->thread = th;
	s->began = *ev;
	s->parent = th->innermost;
	s->start = s->end = wall_time(r, ev->file, ev->time);
	span_identify(r, s, p, ev);
	otlp_attr_int(&r->spans.e, SPAN_ATTR, "thread.id", formats_writer(r->spans.d, ev).lwpid);
	otlp_attr_string(&r->spans.e, SPAN_ATTR, "thread.name", origin_comm(r->spans.d, ev));
	spans_keep(&r->spans, &s->attrs);
	if (!p->rule->async) {
		s->below = th->innermost;
		th->innermost = s;
	}
	*p->user = s;
	return s;
}

/* An end whose member "errno" or "error" is neither 0 nor empty makes the span a failed one. */
static void
span_judge(struct otlp_run *r, struct span *s, const struct tnf_event *ev)
{
	static const char *const members[] = { "errno", "error" };
	struct tnf_value v;

	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
		if (!member_value(ev, members[i], &v) || (v.kind == TNF_K_STRING ? v.u.s.len == 0 :
		    v.kind == TNF_K_STRUCT || v.kind == TNF_K_ARRAY || v.u.i == 0))
			continue;
		r->spans.text.p = r->spans.text.base;
		if (v.kind == TNF_K_STRING)
			tnf_out_bytes(&r->spans.text, v.u.s.chars, v.u.s.len);
		else
			pretty_value(r->spans.d, &r->spans.text, ev, &v, members[i]);
		s->failed = true;
		s->error = tnf_xasprintf("%.*s", (int)out_size(&r->spans.text), r->spans.text.base);
		return;
	}
}

/* Takes the span out of its thread's open ones, with those that began in it and did not end. */
static void
span_leave(struct span *s)
{
	struct span *at = s->thread->innermost;

	while (at != NULL && at != s)
		at = at->below;
	if (at != NULL)
		s->thread->innermost = s->below;
}

static void
span_end(struct otlp_run *r, struct span *s, const struct pair_slice *p,
    const struct tnf_event *ev)
{
	s->kept = p->kept;
	s->open = false;
	s->end = s->start + p->duration;
	logs_ended(r->logs, s, p->duration);
	encode_members(r, SPAN_ATTR, p->start, ev->probe);
	spans_keep(&r->spans, &s->attrs);
	encode_members(r, SPAN_ATTR, ev, NULL);
	spans_keep(&r->spans, &s->attrs);
	span_judge(r, s, ev);
	if (!p->rule->async)
		span_leave(s);
	if (--s->tree->n_open == 0)
		tree_finish(&r->spans, s->tree);
}

/* Links the span that receives a message with the span that sent the message.  's' is the
   span of the event, or NULL. */
static void
link_message(struct otlp_run *r, const struct tnf_event *ev, struct span *s)
{
	struct otlp *e = &r->spans.e;
	struct span_ids *ids;
	bool sent;
	size_t link;

	if (s == NULL || !hosts_message_key(r->spans.d, &r->message_roles, ev, &r->key, &sent))
		return;
	if (sent) {
		ids = tnf_xmap_put(&r->sent, r->key.base, out_size(&r->key), NULL);
		*ids = s->id;
		return;
	}
	ids = tnf_map_get(&r->sent, r->key.base, out_size(&r->key));
	if (ids == NULL)
		return;
	link = otlp_open(e, SPAN_LINK, NULL);
	otlp_id(e, LINK_TRACE_ID, "traceId", ids->trace, sizeof(ids->trace));
	otlp_id(e, LINK_SPAN_ID, "spanId", ids->span, sizeof(ids->span));
	otlp_close(e, link);
	spans_keep(&r->spans, &s->links);
}

/* An event that begins and ends nothing goes to the innermost span of its thread. */
static void
span_event(struct otlp_run *r, const struct tnf_event *ev)
{
	struct span *s = thread_of(r, ev)->innermost;
	char text[MARK_TEXT_MAX];
	size_t event;

	if (s == NULL) {
		r->outside++;
		return;
	}
	event = otlp_open(&r->spans.e, SPAN_EVENT, NULL);
	otlp_fixed64(&r->spans.e, EVENT_TIME, "timeUnixNano",
	    (uint64_t)wall_time(r, ev->file, ev->time));
	otlp_string(&r->spans.e, EVENT_NAME, "name", mark_text(ev, text) ? text : ev->probe->name);
	otlp_list(&r->spans.e, "attributes");
	encode_members(r, EVENT_ATTR, ev, NULL);
	otlp_list_end(&r->spans.e);
	otlp_close(&r->spans.e, event);
	spans_keep(&r->spans, &s->events);
}

static int
run_begin(struct dump *d, bool json)
{
	struct otlp_run *r = tnf_xcalloc(1, sizeof(*r));

	r->spans.d = d;
	r->spans.e = (struct otlp){ .o = &r->spans.buffer, .text = &r->spans.text, .json = json };
	tnf_out_memory(&r->spans.buffer);
	tnf_out_memory(&r->spans.text);
	tnf_out_memory(&r->key);
	tnf_map_init(&r->threads, sizeof(struct thread));
	tnf_map_init(&r->sent, sizeof(struct span_ids));
	for (const struct filter *f = d->filters; f != NULL; f = f->next)
		r->kernel |= (f->asks & KEEP_WHAT) != 0;
	reports_pairs(d);
	r->logs = logs_new();
	d->state = r;
	return 0;
}

int
otlp_begin(struct dump *d)
{
	return run_begin(d, true);
}

int
otlp_pb_begin(struct dump *d)
{
	return run_begin(d, false);
}

int
otlp_logs_pb_begin(struct dump *d)
{
	struct otlp_run *r;

	run_begin(d, false);
	r = d->state;
	r->spans.logs = true;
	return 0;
}

int
otlp_event(struct dump *d, const struct tnf_event *ev)
{
	struct otlp_run *r = d->state;
	struct pair_slice p;
	enum pair_role role;

	if (ev->kernel && !r->kernel) {
		r->of_kernel++;
		return 0;
	}
	if (current_is_told(ev) || (d->keep == KEEP_ALL &&
	    logs_fired(r->logs, &r->spans, ev, wall_time(r, ev->file, ev->time))))
		return 0;
	role = pairs_feed(d->pairs, ev, d->keep, &p);
	r->last = wall_time(r, ev->file, ev->time);
	if (role == PAIR_START)
		link_message(r, ev, span_begin(r, &p, ev));
	else if (role == PAIR_END && p.rule != NULL && *p.user != NULL) {
		link_message(r, ev, *p.user);
		span_end(r, *p.user, &p, ev);
	} else if (role == PAIR_NONE) {
		link_message(r, ev, thread_of(r, ev)->innermost);
		if (d->keep == KEEP_ALL)
			span_event(r, ev);
	}
	return d->out.error != 0 ? -1 : 0;
}

/* Takes a pair that never ended: its span lasts until the last event. */
static void
unfinished(void *arg, const struct pair_slice *p)
{
	struct otlp_run *r = arg;
	struct span *s = *p->user;

	if (s == NULL)
		return;
	s->kept = true;
	s->end = r->last;
	encode_members(r, SPAN_ATTR, p->start, NULL);
	spans_keep(&r->spans, &s->attrs);
}

static void
tell_left_out(struct otlp_run *r)
{
	const char *name = r->spans.d->output->name;

	if (r->spans.left_out > 0)
		dump_note(r->spans.d, "--to %s: %ju spans are left out, of trees with more than %d: "
		    "choose some with --where or --probe", name, (uintmax_t)r->spans.left_out, SPANS_MAX);
	if (r->outside > 0)
		dump_note(r->spans.d, "--to %s: %ju events are left out: no span was open in their "
		    "threads", name, (uintmax_t)r->outside);
	if (r->of_kernel > 0)
		dump_note(r->spans.d, "--to %s: %ju events of the kernel are left out: choose some with "
		    "--where, --probe or --key", name, (uintmax_t)r->of_kernel);
}

int
otlp_end(struct dump *d)
{
	struct otlp_run *r = d->state;

	pairs_each_open(d->pairs, unfinished, r);
	while (r->spans.trees != NULL)
		tree_finish(&r->spans, r->spans.trees);
	if (!r->spans.logs)
		tell_left_out(r);
	logs_free(r->logs);
	tnf_map_free(&r->threads);
	tnf_map_free(&r->sent);
	free(r->message_roles.base);
	tnf_out_close(&r->key);
	tnf_out_close(&r->spans.buffer);
	tnf_out_close(&r->spans.text);
	free(r);
	return 0;
}
