/*
 * trigger-span.c - duration(), open() and state(): spans that last too long.
 *
 * duration(SPAN) is checked when a pair ends, and its condition may name the members of both
 * ends.  The condition of open(SPAN) is about the start, and checked when all events of a tick have
 * been fed.  If the span is open by then, and it holds, the span waits for its time.  Thread,
 * process and name are those of the thread that began the span: an interrupt that ends it may come
 * in any other.  SPAN is a name of pairs (analysis/pairs.h), or START, END and members that tell
 * pairs apart.
 * state() fires while a thread is in a microstate, once for each time that the thread enters
 * it.  The condition is checked when it fires: the thread's name may be known only by then.
 *
 * What began a span is kept until the span ends.  The values are copied if the span is open when all
 * events of a tick have been fed, as its record may be overwritten before it ends: numbers, and texts
 * of up to TEXT_MAX bytes.  A value of any other kind is null.  Most spans have ended by then, and
 * cost no copy.
 */
#include <ctype.h>
#include <stdio.h>
#include <strings.h>

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

static struct span_start *
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
	/* A ring that is written this fast has another event in that place by now. */
	if (n > 0 && !tnf_event_there(ev))
		s->n = 0;
	return s;
}

/* The start of an open span, which is kept from the first call on. */
struct span_start *
span_start_of(const struct pair_slice *s)
{
	if (*s->user == NULL)
		*s->user = span_start_new(s->start);
	return *s->user;
}

void
span_start_drop(void **user)
{
	struct span_start *s = *user;

	if (s == NULL)
		return;
	due_drop(&s->due);
	free(s);
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

/* The span as one event; end NULL: it is open. */
static void
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

/*
 * Spans that have begun, and that will have lasted too long at a known time.  Beginnings come in
 * order of time, or nearly so; each list belongs to one trigger in one source, and so has one
 * limit.  A span that ends before its time is taken out.
 */

/* A span whose start comes late is put at most so many places back. */
#define BACK_MAX 64

static void
due_unlink(struct due_list *l, struct due *d)
{
	*(d->before != NULL ? &d->before->next : &l->head) = d->next;
	*(d->next != NULL ? &d->next->before : &l->tail) = d->before;
	l->n--;
}

static void
due_insert(struct due_list *l, struct due *d)
{
	struct due *after = l->tail;

	for (int i = 0; i < BACK_MAX && after != NULL && after->since > d->since; i++)
		after = after->before;
	d->before = after;
	d->next = after != NULL ? after->next : l->head;
	*(d->before != NULL ? &d->before->next : &l->head) = d;
	*(d->next != NULL ? &d->next->before : &l->tail) = d;
	l->n++;
}

static struct due *
due_add(struct due_list *l, int64_t since, const struct tnf_event *ev, void **chain)
{
	struct due *d = l->spare;

	if (d != NULL)
		l->spare = d->next;
	else
		d = tnf_xcalloc(1, sizeof(*d));
	d->list = l;
	d->since = since;
	d->ev = *ev;
	d->sibling = *chain;
	*chain = d;
	due_insert(l, d);
	return d;
}

/* A span that has fired stays in its chain, which another owner holds, until the chain is
   dropped: only then may it be used again. */
static void
due_take(struct due_list *l, struct due *d)
{
	due_unlink(l, d);
	d->next = d;
}

void
due_drop(void **chain)
{
	struct due *d, *sibling;

	for (d = *chain; d != NULL; d = sibling) {
		sibling = d->sibling;
		if (d->next != d)
			due_unlink(d->list, d);
		d->next = d->list->spare;
		d->list->spare = d;
		d->list = NULL;
	}
	*chain = NULL;
}

void
due_free(struct due_list *l)
{
	struct due *d;

	while ((d = l->spare) != NULL) {
		l->spare = d->next;
		free(d);
	}
}

static bool
has_own_pairs(const struct when *when)
{
	return when->n_args > 1;
}

static void
span_dropped(void *arg, void **user)
{
	span_start_drop(user);
}

void
span_open(struct watch *w)
{
	const struct when *when = &w->trigger->when;
	const char *error;

	if (!has_own_pairs(when))
		return;
	w->pairs = pairs_new();
	autofree char *rule = tnf_xstrdup(when->args[0]);
	for (unsigned i = 1; i < when->n_args; i++) {
		autofree char *shorter = rule;
		rule = tnf_xasprintf("%s,%s", shorter, when->args[i]);
	}
	pairs_add(w->pairs, rule, &error);
	pairs_endless(w->pairs, w->source->kernel ? OPEN_MAX_KERNEL : OPEN_MAX,
	    span_dropped, NULL);
}

/* Rejects names with a comma, which would be taken for one of the rule's commas. */
bool
span_check(struct when *when, struct trigger_error *err)
{
	for (unsigned i = 0; has_own_pairs(when) && i < when->n_args; i++)
		for (const char *p = when->args[i]; *p != '\0'; p++)
			if (*p == ',')
				return when_fail(err, when->arg_offset[i],
				    "a name with a comma: it cannot be told from two");
	return true;
}

bool
span_concerns(struct watch *w, const struct tnf_probe *p)
{
	const struct when *when = &w->trigger->when;
	const char *span;

	if (has_own_pairs(when))
		return strcmp(p->name, when->args[0]) == 0 ||
		    strcmp(p->name, when->args[1]) == 0;
	span = pairs_span(w->source->pairs, p);
	return span != NULL && probe_matches(when, 0, span);
}

/* The pair that the source has found at this event, or that the watch finds itself and puts
   into 'own'. */
const struct pair_slice *
span_slice(struct watch *w, const struct feed *feed, struct pair_slice *own, enum pair_role *role)
{
	if (w->pairs != NULL) {
		*role = pairs_feed(w->pairs, feed->ev, KEEP_ALL, own);
		return own;
	}
	*role = feed->role;
	return &feed->slice;
}

bool
span_holds(struct watch *w, const struct pair_slice *s, const struct tnf_event *end)
{
	struct span_event span;

	if (w->condition == NULL)
		return watch_is_about(w, s->start);
	span_event_make(w->source, span_start_of(s), end, &span);
	return watch_holds(w, &span.ev);
}

static void
duration_fire(struct watch *w, const struct pair_slice *s, const struct tnf_event *end)
{
	const struct span_start *start = span_start_of(s);
	char time[TIME_TEXT], who[WHO_TEXT];

	trigger_fire_span(w, end->time, end, start, "%.60s took %s%s", s->name,
	    time_text(time, s->duration), who_text(who, w, &start->ev));
}

static void
duration_event(struct watch *w, const struct feed *feed)
{
	struct pair_slice own;
	enum pair_role role;
	const struct pair_slice *s = span_slice(w, feed, &own, &role);

	if (role != PAIR_END || s->rule == NULL || s->user == NULL)
		return;
	if (s->duration >= due_when(&w->trigger->when, 0) && span_holds(w, s, feed->ev))
		duration_fire(w, s, feed->ev);
	/* The source drops those of its own pairs itself. */
	if (w->pairs != NULL)
		span_start_drop(s->user);
}

static void
open_event(struct watch *w, const struct feed *feed)
{
	struct pair_slice own;
	enum pair_role role;
	const struct pair_slice *s = span_slice(w, feed, &own, &role);

	if (role == PAIR_END && w->pairs != NULL && s->user != NULL)
		span_start_drop(s->user);
	/* The span does not wait for its time before it has been open at the end of a tick, or until
	   its time has come. */
	if (role == PAIR_START)
		watch_until(w, due_when(&w->trigger->when, feed->ev->time));
}

static void
open_begun(struct watch *w, const struct pair_slice *s)
{
	struct span_start *start = span_start_of(s);
	struct due *d;

	if (!span_holds(w, s, NULL))
		return;
	d = due_add(&w->due, start->ev.time, &start->ev, &start->due);
	d->start = start;
}

static int64_t
open_run(struct watch *w, int64_t now)
{
	const struct when *when = &w->trigger->when;
	char time[TIME_TEXT], who[WHO_TEXT];
	struct due *d;

	while ((d = w->due.head) != NULL) {
		if (due_when(when, d->since) > now)
			return due_when(when, d->since);
		due_take(&w->due, d);
		trigger_fire_span(w, time_add(d->since, when->time), &d->start->ev, d->start, "%.60s is open for %s%s",
		    has_own_pairs(when) ? when->args[0] :
		    pairs_span(w->source->pairs, d->ev.probe),
		    time_text(time, now - d->since), who_text(who, w, &d->ev));
	}
	return NEVER;
}

void
span_forget(struct watch *w)
{
	if (w->pairs != NULL)
		pairs_forget(w->pairs);
}

const struct trigger_kind trigger_duration = {
	.name = "duration", .usage = "duration(SPAN) > TIME",
	.args_min = 1, .args_max = WHEN_ARGS_MAX,
	.compare = COMPARE_MORE, .time = true, .pairs = true, .only = PAIR_END, .limit = true, .members = true, .past = true,
	.check = span_check, .open = span_open, .concerns = span_concerns,
	.event = duration_event, .forget = span_forget,
};

const struct trigger_kind trigger_open = {
	.name = "open", .usage = "open(SPAN) > TIME",
	.args_min = 1, .args_max = WHEN_ARGS_MAX,
	.compare = COMPARE_MORE, .time = true, .pairs = true, .only = PAIR_START, .limit = true, .members = true, .past = true,
	.check = span_check, .open = span_open, .concerns = span_concerns,
	.event = open_event, .begun = open_begun, .run = open_run, .forget = span_forget,
};

static bool
state_check(struct when *when, struct trigger_error *err)
{
	char list[128] = "";

	for (unsigned i = 0; i < STATES_COUNT; i++) {
		if (strcasecmp(when->args[0], state_name(i)) == 0) {
			when->state = i;
			return true;
		}
		snprintf(list + strlen(list), sizeof(list) - strlen(list), " %s",
		    state_name(i));
	}
	return when_fail(err, when->arg_offset[0], "no state '%.20s': there are%s",
	    when->args[0], list);
}

static void
state_state(struct watch *w, const struct state_span *span, bool left, void **user)
{
	const struct when *when = &w->trigger->when;
	struct due *d;

	if (left || span->state != when->state || w->source->now == NULL)
		return;
	d = due_add(&w->due, span->start, w->source->now, user);
	d->tid = span->tid;
	d->thread = span->id;
	watch_until(w, due_when(when, span->start));
}

/* Makes up an event of the thread, to check the condition on. */
static void
state_fact(struct watch *w, const struct due *d, int64_t now, struct tnf_event *ret)
{
	struct state_span span = { 0 };

	trigger_fact(w->source, now, ret);
	states_now(w->source->states, d->tid, &span);
	ret->pid = span.pid;
	ret->lwpid = span.lwpid;
	ret->tid = d->tid;
	/* A name is looked up by the file that the thread is in. */
	ret->file = d->ev.file;
}

static int64_t
state_run(struct watch *w, int64_t now)
{
	const struct when *when = &w->trigger->when;
	char time[TIME_TEXT], who[WHO_TEXT];
	struct tnf_event fact;
	struct due *d;

	while ((d = w->due.head) != NULL) {
		if (due_when(when, d->since) > now)
			return due_when(when, d->since);
		due_take(&w->due, d);
		state_fact(w, d, time_add(d->since, when->time), &fact);
		if (watch_holds(w, &fact))
			trigger_fire(w, fact.time, &d->ev, "%s for %s%s",
			    state_name(when->state), time_text(time, now - d->since),
			    who_text(who, w, &fact));
	}
	return NEVER;
}

const struct trigger_kind trigger_state = {
	.name = "state", .usage = "state(STATE) > TIME",
	.args_min = 1, .args_max = 1,
	.compare = COMPARE_MORE, .time = true, .states = true,
	.check = state_check, .state = state_state, .run = state_run,
};
