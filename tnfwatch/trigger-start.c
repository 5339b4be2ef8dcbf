/*
 * trigger-start.c - what began a span, kept until the span ends.
 *
 * The values are copied when the span begins, as its record may be overwritten before it ends:
 * numbers, and texts of up to TEXT_MAX bytes.  A value of any other kind is null.
 */
#include "common/xalloc.h"
#include "tnfwatch/trigger-impl.h"

#define MEMBERS_MAX	32u
#define TEXT_MAX	256u

static bool
is_plain(const struct tnf_value *v)
{
	return !v->null && v->kind != TNF_K_STRING && v->kind != TNF_K_STRUCT &&
	    v->kind != TNF_K_ARRAY;
}

/* Makes a value independent of the ring; a text goes to *text. */
static void
value_keep(struct tnf_value *v, char **text)
{
	if (is_plain(v))
		return;
	if (v->null || v->kind != TNF_K_STRING) {
		v->null = true;
		return;
	}
	memcpy(*text, v->u.s.chars, v->u.s.len);
	v->u.s.chars = *text;
	*text += v->u.s.len;
}

struct span_start *
span_start_new(const struct tnf_event *ev)
{
	struct tnf_value values[MEMBERS_MAX];
	struct span_start *s;
	size_t room = 0;
	unsigned n = 0;
	char *text;

	for (; n < MEMBERS_MAX && n < ev->probe->n_members &&
	    tnf_event_value(ev, n, &values[n]); n++) {
		struct tnf_value *v = &values[n];

		if (v->null || v->kind != TNF_K_STRING)
			continue;
		if (v->u.s.len > TEXT_MAX) {
			v->u.s.len = TEXT_MAX;
			v->cut = true;
		}
		room += v->u.s.len;
	}
	/* Each start takes and gives one of these: the C library keeps such memory at hand for
	   malloc() alone, and not for calloc(). */
	s = tnf_xreallocarray(NULL, 1, sizeof(*s) + n * sizeof(*values) + room);
	s->ev = *ev;
	s->due = NULL;
	s->n = n;
	text = (char *)(s->values + n);
	for (unsigned i = 0; i < n; i++) {
		value_keep(&values[i], &text);
		s->values[i] = values[i];
	}
	return s;
}

void
span_start_free(struct span_start *s)
{
	free(s);
}

void
span_start_drop(void **user)
{
	struct span_start *s = *user;

	if (s == NULL)
		return;
	due_drop(&s->due);
	span_start_free(s);
	*user = NULL;
}

/* The start's members come first, as names of system calls are found by them; a name that both
   have is the end's. */
static struct tnf_probe *
span_probe_new(struct trigger_source *s, const struct tnf_probe *start, const struct tnf_probe *end)
{
	unsigned n = start->n_members, n_end = end != NULL ? end->n_members : 0;
	struct span_probe *p = tnf_xcalloc(1, sizeof(*p));
	struct tnf_member *members = tnf_xcalloc(n + n_end + 1, sizeof(*members));

	for (unsigned i = 0; i < n; i++) {
		members[i] = start->members[i];
		if (end != NULL && perprobe_member(end, members[i].name) >= 0)
			members[i].name = "";
	}
	for (unsigned i = 0; i < n_end; i++)
		members[n + i] = end->members[i];
	p->start = start;
	p->end = end;
	p->both = end != NULL ? *end : *start;
	p->both.id = s->n_span_probes++;
	p->both.n_members = n + n_end;
	p->both.members = members;
	p->next = s->span_probes;
	s->span_probes = p;
	return &p->both;
}

static struct tnf_probe *
span_probe(struct trigger_source *s, const struct tnf_probe *start, const struct tnf_probe *end)
{
	for (struct span_probe *p = s->span_probes; p != NULL; p = p->next)
		if (p->start == start && p->end == end)
			return &p->both;
	return span_probe_new(s, start, end);
}

void
span_probes_free(struct trigger_source *s)
{
	struct span_probe *p;

	while ((p = s->span_probes) != NULL) {
		s->span_probes = p->next;
		free((void *)(uintptr_t)p->both.members);
		free(p);
	}
}

void
span_event_make(struct trigger_source *s, const struct span_start *start,
    const struct tnf_event *end, struct span_event *ret)
{
	ret->ev = start->ev;
	if (end != NULL)
		ret->ev.time = end->time;
	ret->ev.probe = span_probe(s, start->ev.probe, end != NULL ? end->probe : NULL);
	ret->end = end;
	ret->start = start;
}

bool
span_member(const struct tnf_event *ev, unsigned i, struct tnf_value *v)
{
	const struct span_event *span = (const struct span_event *)(const void *)ev;
	unsigned n = span->start->ev.probe->n_members;

	if (i >= n)
		return span->end != NULL && tnf_event_value(span->end, i - n, v);
	if (i >= span->start->n)
		return false;
	*v = span->start->values[i];
	return true;
}
