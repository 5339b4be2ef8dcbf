/*
 * trigger-span.c - duration() and open(): what begins and ends.
 *
 * duration(SPAN) is asked when a pair ends, and the condition is about its end.
 * open(SPAN) is about the start: the condition is asked when it comes, while its
 * values are there, and it waits for its time if that holds.  SPAN is a name of
 * pairs (analysis/pairs.h), or START, END and members that tell pairs apart.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"
#include "tnfwatch/trigger-impl.h"

static bool
has_own_pairs(const struct when *when)
{
	return when->n_args > 1;
}

static void
span_dropped(void *arg, void **user)
{
	due_drop(user);
}

static void
span_open(struct watch *w)
{
	const struct when *when = &w->trigger->when;
	const char *error;
	char *rule = NULL;

	if (!has_own_pairs(when))
		return;
	w->pairs = pairs_new();
	for (unsigned i = 0; i < when->n_args; i++) {
		char *longer;

		if (asprintf(&longer, "%s%s%s", i > 0 ? rule : "", i > 0 ? "," : "",
		    when->args[i]) < 0)
			longer = tnf_xstrdup("");
		free(rule);
		rule = longer;
	}
	pairs_add(w->pairs, rule, &error);
	free(rule);
	pairs_endless(w->pairs, w->source->kernel ? OPEN_MAX_KERNEL : OPEN_MAX,
	    span_dropped, NULL);
}

/* A comma would be one of the rule's. */
static bool
span_check(struct when *when, struct trigger_error *err)
{
	for (unsigned i = 0; has_own_pairs(when) && i < when->n_args; i++)
		for (const char *p = when->args[i]; *p != '\0'; p++)
			if (*p == ',')
				return when_fail(err, when->arg_offset[i],
				    "a name with a comma: it cannot be told from two");
	return true;
}

static bool
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

/* What the source's pairs have found, or those of the watch itself, which fill 'own'. */
static const struct pair_slice *
span_slice(struct watch *w, const struct hit *hit, struct pair_slice *own, enum pair_role *role)
{
	if (w->pairs != NULL) {
		*role = pairs_feed(w->pairs, hit->ev, KEEP_ALL, own);
		return own;
	}
	*role = hit->role;
	return &hit->slice;
}

static void
duration_event(struct watch *w, const struct hit *hit)
{
	const struct when *when = &w->trigger->when;
	char time[TIME_TEXT], who[WHO_TEXT];
	struct pair_slice own;
	enum pair_role role;
	const struct pair_slice *s = span_slice(w, hit, &own, &role);

	if (role != PAIR_END || s->rule == NULL || s->duration < due_when(when, 0) ||
	    !watch_holds(w, hit->ev))
		return;
	trigger_fire(w, hit->ev->time, hit->ev, "%.60s took %s%s", s->name,
	    time_text(time, s->duration), who_text(who, w, hit->ev));
}

static void
open_event(struct watch *w, const struct hit *hit)
{
	const struct when *when = &w->trigger->when;
	struct pair_slice own;
	enum pair_role role;
	const struct pair_slice *s = span_slice(w, hit, &own, &role);

	/* The source does so with what is chained to its own pairs. */
	if (role == PAIR_END && w->pairs != NULL && s->user != NULL)
		due_drop(s->user);
	if (role != PAIR_START || !watch_holds(w, hit->ev))
		return;
	due_add(&w->due, hit->ev->time, hit->ev, s->user);
	watch_until(w, due_when(when, hit->ev->time));
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
		trigger_fire(w, time_add(d->since, when->time), &d->ev, "%.60s is open for %s%s",
		    has_own_pairs(when) ? when->args[0] :
		    pairs_span(w->source->pairs, d->ev.probe),
		    time_text(time, now - d->since), who_text(who, w, &d->ev));
	}
	return NEVER;
}

static void
span_forget(struct watch *w)
{
	if (w->pairs != NULL)
		pairs_forget(w->pairs);
}

const struct trigger_kind trigger_duration = {
	.name = "duration", .usage = "duration(SPAN) > TIME",
	.args_min = 1, .args_max = WHEN_ARGS_MAX,
	.compare = COMPARE_MORE, .time = true, .pairs = true, .members = true,
	.check = span_check, .open = span_open, .concerns = span_concerns,
	.event = duration_event, .forget = span_forget,
};

const struct trigger_kind trigger_open = {
	.name = "open", .usage = "open(SPAN) > TIME",
	.args_min = 1, .args_max = WHEN_ARGS_MAX,
	.compare = COMPARE_MORE, .time = true, .pairs = true, .members = true,
	.check = span_check, .open = span_open, .concerns = span_concerns,
	.event = open_event, .run = open_run, .forget = span_forget,
};
