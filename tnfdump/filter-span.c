/*
 * filter-span.c - the spans that events of --where end, and those that they are in.
 *
 * A span belongs to the thread that began it.  A rule of --pair with members has a request
 * instead, which belongs to whoever wrote the last event with its values: all that this thread
 * does meanwhile is in the span, in the kernel's trace as well.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/attrs.h"
#include "analysis/value.h"
#include "common/xalloc.h"
#include "tnfdump/origin.h"
#include "tnfdump/pipeline.h"
#include "tnfdump/to/formats.h"

struct worker {
	unsigned host;
	uint32_t lwpid;		/* of the machine */
};

struct open_span {
	struct open_span *next;
	struct worker	 by;
	const struct pair_rule *rule;	/* with members; NULL: the thread's own */
	char		*values;	/* of its members, or NULL */
};

/* One within() of an expression. */
struct within {
	struct open_span *open;
	bool	 now;		/* the present event is in one of them */
};

struct spans {
	struct expr	*e;
	struct pairs	*pairs;
	struct within	*within;
	unsigned	 n;
	bool		 ends;		/* the event ends what took this long */
	int64_t		 took;
};

struct spans *
spans_new(struct dump *d, struct expr *e)
{
	struct spans *s;
	unsigned n = 0;

	while (expr_within(e, n) != NULL)
		n++;
	if (n == 0 && !expr_asks_duration(e))
		return NULL;
	s = tnf_xcalloc(1, sizeof(*s));
	s->e = e;
	s->n = n;
	s->within = tnf_xcalloc(n + 1, sizeof(*s->within));
	return s;
}

static void
free_span(struct open_span **at)
{
	struct open_span *o = *at;

	*at = o->next;
	free(o->values);
	free(o);
}

static void
forget(struct spans *s)
{
	for (unsigned i = 0; i < s->n; i++)
		while (s->within[i].open != NULL)
			free_span(&s->within[i].open);
	pairs_free(s->pairs);
	s->pairs = NULL;
}

void
spans_free(struct spans *s)
{
	if (s == NULL)
		return;
	forget(s);
	free(s->within);
	free(s);
}

void
spans_begin(struct spans *s, struct dump *d)
{
	if (s == NULL)
		return;
	forget(s);
	s->pairs = pairs_copy_rules(d->pairs);
	pairs_of(s->pairs, d->stream);
}

static struct worker
worker_of(struct dump *d, const struct tnf_event *ev)
{
	struct worker w = { tnf_file_host(ev->file), ev->lwpid };
	int32_t pid;

	origin_host(d, ev, &pid, &w.lwpid);
	return w;
}

/* The values of the rule's members, to be freed; NULL: the event has not all of them. */
static char *
values_of(const struct pair_rule *r, const struct tnf_event *ev)
{
	char buf[VAL_TEXT_SIZE];
	struct tnf_value v;
	const char *text;
	struct out o;
	char *values;

	tnf_out_memory(&o);
	for (unsigned k = 0; k < PAIR_KEYS_MAX && r->keys[k] != NULL; k++) {
		int m = perprobe_member(ev->probe, r->keys[k]);
		if (m < 0 || !tnf_event_value(ev, (unsigned)m, &v)) {
			tnf_out_close(&o);
			return NULL;
		}
		struct val val = val_of_member(&v, NULL);
		size_t len = val_text(&val, buf, &text);
		tnf_out_format(&o, "%zu:", len);
		tnf_out_bytes(&o, text, len);
	}
	values = tnf_xstrndup(o.base, (size_t)(o.p - o.base));
	tnf_out_close(&o);
	return values;
}

static bool
names_pair(const char *wanted, const char *name)
{
	size_t n = strlen(wanted);

	return strncmp(name, wanted, n) == 0 && (name[n] == '\0' ||
	    strcmp(name + n, "_start") == 0 || strcmp(name + n, "_begin") == 0);
}

static void
span_opens(struct spans *s, struct dump *d, unsigned i, const struct pair_slice *slice,
    const struct tnf_event *ev)
{
	struct open_span *o = tnf_xcalloc(1, sizeof(*o));

	o->by = worker_of(d, ev);
	if (slice->rule->text != NULL && slice->rule->keys[0] != NULL) {
		o->rule = slice->rule;
		o->values = values_of(o->rule, ev);
	}
	o->next = s->within[i].open;
	s->within[i].open = o;
	*slice->user = (void *)((uintptr_t)*slice->user | 1u << i % 32);
}

/* The span that the event ends is the newest of the same thread or values. */
static void
span_closes(struct within *w, const struct pair_slice *slice, struct worker by,
    const struct tnf_event *ev)
{
	char *values = slice->rule->text != NULL && slice->rule->keys[0] != NULL ?
	    values_of(slice->rule, ev) : NULL;

	for (struct open_span **at = &w->open; *at != NULL; at = &(*at)->next)
		if (values != NULL ? (*at)->values != NULL && strcmp((*at)->values, values) == 0 :
		    (*at)->rule == NULL && memcmp(&(*at)->by, &by, sizeof(by)) == 0) {
			free_span(at);
			break;
		}
	free(values);
}

/* True if the event is in an open span; an event with a request's values makes its writer the
   one that works for the request. */
static bool
is_within(struct within *w, struct worker by, const struct tnf_event *ev)
{
	bool in = false;

	for (struct open_span *o = w->open; o != NULL; o = o->next) {
		char *values = o->values != NULL ? values_of(o->rule, ev) : NULL;
		if (values != NULL && strcmp(values, o->values) == 0)
			o->by = by;
		free(values);
		in |= memcmp(&o->by, &by, sizeof(by)) == 0;
	}
	return in;
}

void
spans_feed(struct spans *s, struct dump *d, const struct tnf_event *ev)
{
	struct worker by = s->n > 0 ? worker_of(d, ev) : (struct worker){ 0, 0 };
	struct pair_slice slice;
	enum pair_role role = pairs_feed(s->pairs, ev, KEEP_ALL, &slice);

	s->ends = role == PAIR_END && slice.rule != NULL;
	s->took = s->ends ? slice.duration : 0;
	for (unsigned i = 0; i < s->n; i++) {
		if (role == PAIR_START && names_pair(expr_within(s->e, i), slice.name) &&
		    expr_within_holds(s->e, i, ev))
			span_opens(s, d, i, &slice, ev);
		s->within[i].now = s->within[i].open != NULL && is_within(&s->within[i], by, ev);
		if (s->ends && ((uintptr_t)*slice.user >> i % 32 & 1) != 0 &&
		    names_pair(expr_within(s->e, i), slice.name))
			span_closes(&s->within[i], &slice, by, ev);
	}
}

bool
spans_duration(const struct spans *s, int64_t *ns)
{
	if (s == NULL || !s->ends)
		return false;
	*ns = s->took;
	return true;
}

bool
spans_within(const struct spans *s, unsigned i)
{
	return s != NULL && i < s->n && s->within[i].now;
}
