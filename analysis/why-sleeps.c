/*
 * why-sleeps.c - all sleeps of the trace: what for, who ended each, and how long the thread
 * waited for a CPU then.
 */
#include "analysis/why-impl.h"

/* The change with which the thread runs again, or the last one. */
static const struct change *
runs_again(const struct thread *t, uint32_t i)
{
	while (i + 1 < t->n && t->changes[i].state == S_WAIT_CPU)
		i++;
	return &t->changes[i];
}

static void
sleeps_of(struct why *w, uint32_t id, why_sleep_fn *fn, void *arg)
{
	const struct thread *t = &w->threads[id];

	for (uint32_t i = 0; i + 1 < t->n; i++) {
		const struct change *c = &t->changes[i], *wake = c + 1;
		struct place p;

		if (!c->asleep)
			continue;
		p = why_place(w, t, c);
		struct why_sleep s = { .thread = id, .cause = p.cause, .where = p.where,
		    .from = c->time, .woken = wake->time, .runs = runs_again(t, i + 1)->time,
		    .owner = w->sleeps[c->detail].owner };
		if (wake->state == S_WAIT_CPU) {
			s.by = wake->by;
			s.waker = wake->waker;
		}
		fn(arg, &s);
	}
}

void
why_sleeps(struct why *w, why_sleep_fn *fn, void *arg)
{
	for (uint32_t id = 1; id < w->n_threads; id++)
		sleeps_of(w, id, fn, arg);
}
