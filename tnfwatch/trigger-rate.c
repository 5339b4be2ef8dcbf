/*
 * trigger-rate.c - rate() and silence(): too few, too many, none.
 *
 * The rate is that of a window that slides: rate(P) < 10 for 5s holds while fewer
 * than 50 events have come within the last 5 seconds.  So the times of the last 50
 * events say exactly whether the condition holds, and for how long it will not.  The trigger
 * fires when the condition becomes true, and again only after the condition has been false
 * for a whole window, as a rate near the limit passes the limit many times.  silence() fires
 * each time anew.
 */
#include <math.h>
#include <stdlib.h>

#include "common/xalloc.h"
#include "tnfwatch/trigger-impl.h"

/* The number of events within the window with which "<" does not hold any more, and ">" does. */
static size_t
rate_wanted(const struct when *when)
{
	double n = when->number * ((double)when->window / 1e9);

	/* n is as written, but for what a binary fraction cannot hold. */
	if (fabs(n - nearbyint(n)) < 1e-6)
		n = nearbyint(n);
	/* Fewer than n / at most n; more than n / at least n. */
	if (when->more == when->equal)
		return (size_t)ceil(n);
	return (size_t)floor(n) + 1;
}

static bool
rate_check(struct when *when, struct trigger_error *err)
{
	if (when->number * ((double)when->window / 1e9) >= RATE_EVENTS_MAX)
		return when_fail(err, when->offset, "more than %u events to be counted: "
		    "take a smaller rate, or a shorter time", RATE_EVENTS_MAX);
	if (when->window <= 0 || rate_wanted(when) == 0)
		return when_fail(err, when->offset, "this cannot be otherwise: %s() counts "
		    "what comes", when->kind->name);
	return true;
}

static bool
silence_check(struct when *when, struct trigger_error *err)
{
	when->window = when->time;
	when->more = false;
	when->equal = false;
	when->number = 0;
	if (when->window <= 0)
		return when_fail(err, when->offset, "there is always silence for 0 s");
	return true;
}

static void
rate_open(struct watch *w)
{
	const struct when *when = &w->trigger->when;

	w->wanted = when->kind == &trigger_silence ? 1 : rate_wanted(when);
	w->armed = when->more;
}

static bool
rate_concerns(struct watch *w, const struct tnf_probe *p)
{
	return probe_matches(&w->trigger->when, 0, p->name);
}

static void
rate_since(struct watch *w, int64_t now)
{
	if (w->counts)
		return;
	w->counts = true;
	w->since = now;
	w->armed = true;
	if (!w->trigger->when.more)
		watch_until(w, time_add(now, w->trigger->when.window));
}

static void
rate_expect(struct watch *w, const char *probe, int64_t now)
{
	if (probe_matches(&w->trigger->when, 0, probe))
		rate_since(w, now);
}

/* Remembers a time; the ring grows to the wanted number, then the oldest time gives way. */
static void
rate_remember(struct watch *w, int64_t time)
{
	size_t room;

	if (w->n_times == w->room && w->room < w->wanted) {
		room = w->room == 0 ? 16 : 2 * w->room;
		w->room = room < w->wanted ? room : w->wanted;
		w->times = tnf_xreallocarray(w->times, w->room, sizeof(*w->times));
	}
	if (w->n_times < w->room) {
		w->times[w->n_times++] = time;
		return;
	}
	w->times[w->at] = time;
	w->at = w->at + 1 < w->room ? w->at + 1 : 0;
}

/* The time at which the window, with both its ends, will hold fewer events than are wanted;
   NEVER: it has never held as many. */
static int64_t
rate_enough_until(const struct watch *w)
{
	if (w->n_times < w->wanted)
		return NEVER;
	return time_add(time_add(w->times[w->at], w->trigger->when.window), 1);
}

static void
rate_too_many(struct watch *w, const struct tnf_event *ev)
{
	const struct when *when = &w->trigger->when;
	char time[TIME_TEXT];
	bool many = w->n_times == w->wanted && ev->time < rate_enough_until(w);

	if (!many) {
		w->armed = w->armed || ev->time > time_add(w->changed, when->window);
		return;
	}
	w->changed = ev->time;
	if (w->armed)
		trigger_fire(w, ev->time, ev, "%.60s: %zu events in %s", ev->probe->name,
		    w->wanted, time_text(time, when->window));
	w->armed = false;
}

/* Notes, at an event, that there are enough again, and since when without a break. */
static void
rate_enough(struct watch *w, int64_t time, int64_t before_until)
{
	const struct when *when = &w->trigger->when;

	if (before_until == NEVER || before_until <= time)
		w->changed = time;
	if (when->kind == &trigger_silence || time >= time_add(w->changed, when->window))
		w->armed = true;
	if (w->armed)
		watch_until(w, rate_enough_until(w));
}

static void
rate_event(struct watch *w, const struct feed *feed)
{
	int64_t until = rate_enough_until(w);

	if (!watch_holds(w, feed->ev))
		return;
	rate_since(w, feed->ev->time);
	rate_remember(w, feed->ev->time);
	if (w->trigger->when.more) {
		rate_too_many(w, feed->ev);
	} else if (w->n_times == w->wanted && feed->ev->time < rate_enough_until(w)) {
		rate_enough(w, feed->ev->time, until);
	}
}

/* The time at which there are too few events: the window from the start on counts as whole. */
static int64_t
rate_few_at(const struct watch *w)
{
	int64_t first = time_add(time_add(w->since, w->trigger->when.window), 1);
	int64_t until = rate_enough_until(w);

	return until == NEVER || until < first ? first : until;
}

static void
rate_too_few(struct watch *w, int64_t at)
{
	const struct when *when = &w->trigger->when;
	char time[TIME_TEXT];
	size_t n = 0;

	for (size_t i = 0; i < w->n_times; i++)
		n += w->times[i] >= at - when->window;
	if (when->kind == &trigger_silence)
		trigger_fire(w, at, NULL, "%.60s: none for %s", when->args[0],
		    time_text(time, when->window));
	else
		trigger_fire(w, at, NULL, "%.60s: %zu events in %s", when->args[0], n,
		    time_text(time, when->window));
}

static int64_t
rate_run(struct watch *w, int64_t now)
{
	int64_t at;

	if (w->trigger->when.more || !w->counts || !w->armed)
		return NEVER;
	if ((at = rate_few_at(w)) > now)
		return at;
	w->armed = false;
	rate_too_few(w, at);
	return NEVER;
}

/* Counts anew after a loss: some of the lost events may have been of the probe. */
static void
rate_lost(struct watch *w, uint64_t n, int64_t now)
{
	if (!w->counts || w->trigger->when.more)
		return;
	w->n_times = 0;
	w->at = 0;
	w->since = now;
	watch_until(w, time_add(now, w->trigger->when.window));
}

const struct trigger_kind trigger_rate = {
	.name = "rate", .usage = "rate(PROBE) < NUMBER for TIME",
	.args_min = 1, .args_max = 1, .compare = COMPARE_ANY, .window = true,
	.members = true, .check = rate_check, .open = rate_open,
	.concerns = rate_concerns, .event = rate_event, .run = rate_run,
	.expect = rate_expect, .lost = rate_lost,
};

const struct trigger_kind trigger_silence = {
	.name = "silence", .usage = "silence(PROBE) > TIME",
	.args_min = 1, .args_max = 1, .compare = COMPARE_MORE, .time = true,
	.members = true, .check = silence_check, .open = rate_open,
	.concerns = rate_concerns, .event = rate_event, .run = rate_run,
	.expect = rate_expect, .lost = rate_lost,
};
