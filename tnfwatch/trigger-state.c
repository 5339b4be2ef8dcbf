/*
 * trigger-state.c - state(): a thread has been in a microstate for so long.
 *
 * Fires while the thread is in it, once for each time that it enters.  The condition
 * is asked then: who it is may be known only by then.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "tnfwatch/trigger-impl.h"

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

/* As an event of the thread's own. */
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
