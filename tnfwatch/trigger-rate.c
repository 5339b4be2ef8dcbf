/*
 * trigger-rate.c - rate() and silence(): too few, too many, none.
 *
 * The rate is that of a window that slides, a second if nothing else is said: rate(P) > 10 holds
 * while more than 10 events have come within the last second.  So the times of the last 11
 * events say exactly whether the condition holds, and for how long.  With "for 5s" the trigger
 * fires when the condition has held for 5 s without a break.  It fires again only after the
 * trigger has recovered: after a whole window in which the condition did not hold, as a rate
 * near the limit passes the limit many times, or, with "until", at the other limit.  silence()
 * fires each time anew.
 *
 * A count over several sources together comes from each source in turn, and is put in
 * order at each tick.
 */
#include <math.h>
#include <stdio.h>

#include "common/map.h"
#include "tnfwatch/trigger-impl.h"

/* The number of events within the window with which "> number" holds, or ">= number". */
static size_t
rate_number(double number, int64_t window, bool or_equal)
{
	double n = number * ((double)window / 1e9);

	/* n is as written, but for what a binary fraction cannot hold. */
	if (fabs(n - nearbyint(n)) < 1e-6)
		n = nearbyint(n);
	return or_equal ? (size_t)ceil(n) : (size_t)floor(n) + 1;
}

/* The number with which "<" does not hold any more, and ">" does.  With "for", a rate that is
   always a little lower than the limit must not come up to it in some windows: then as many
   times between events are wanted. */
static size_t
rate_wanted(const struct when *when)
{
	return rate_number(when->number, when->window, when->more == when->equal) +
	    (!when->more && when->hold > 0);
}

/* The number with which the trigger has recovered: fewer, with "<" as many. */
static size_t
rate_calm(const struct when *when)
{
	if (!when->until)
		return rate_wanted(when);
	return rate_number(when->until_number, when->window, when->more != when->until_equal);
}

static bool
rate_check(struct when *when, struct trigger_error *err)
{
	double most = when->until && when->until_number > when->number ? when->until_number :
	    when->number;

	if (when->window <= 0 || when->number < 0)
		return when_fail(err, when->offset, "this cannot be otherwise: %s() counts "
		    "what comes", when->kind->name);
	if (most * ((double)when->window / 1e9) >= RATE_EVENTS_MAX)
		return when_fail(err, when->offset, "more than %u events to be counted: "
		    "take a smaller rate, or a shorter time", RATE_EVENTS_MAX);
	if (rate_number(when->number, when->window, when->more == when->equal) == 0)
		return when_fail(err, when->offset, "this cannot be otherwise: %s() counts "
		    "what comes", when->kind->name);
	if (when->until && (when->more ? rate_calm(when) > rate_wanted(when) :
	    rate_calm(when) < rate_number(when->number, when->window, when->equal)))
		return when_fail(err, when->offset, "until: that holds before it has fired");
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
	w->calm = when->kind == &trigger_silence ? 1 : rate_calm(when);
	w->armed = when->more;
	w->changed = NEVER;
	w->few = INT64_MIN;
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
		watch_until(w, now);
}

/* True if a source of this process can be meant at all, by a condition that names no members. */
static bool
rate_is_about(struct watch *w, const char *probe, int64_t now)
{
	struct tnf_probe named = trigger_fact_probe;
	struct tnf_event fact;

	if (w->about == NULL)
		return true;
	named.name = probe;
	trigger_fact(w->source, now, &fact);
	fact.probe = &named;
	expr_forget(w->about);
	return expr_true(w->about, &fact);
}

static void
rate_expect(struct watch *w, const char *probe, int64_t now)
{
	if (w->section == NULL && probe_matches(&w->trigger->when, 0, probe) && rate_is_about(w, probe, now))
		rate_since(w->total != NULL ? w->total : w, now);
}

static size_t
rate_room(const struct watch *w)
{
	return w->wanted > w->calm ? w->wanted : w->calm;
}

/* Remembers a time; the ring grows to the number that is needed, then the oldest time gives
   way. */
static void
rate_remember(struct watch *w, int64_t time)
{
	size_t room, most = rate_room(w);

	if (w->n_times == w->room && w->room < most) {
		room = w->room == 0 ? 16 : 2 * w->room;
		w->room = room < most ? room : most;
		w->times = tnf_xreallocarray(w->times, w->room, sizeof(*w->times));
	}
	if (w->n_times < w->room) {
		w->times[w->n_times++] = time;
		return;
	}
	w->times[w->at] = time;
	w->at = w->at + 1 < w->room ? w->at + 1 : 0;
}

/* The time at which the window, with both its ends, will hold fewer than n events; NEVER: it
   has never held as many. */
static int64_t
rate_until(const struct watch *w, size_t n)
{
	size_t at;

	if (w->n_times < n)
		return NEVER;
	/* The n-th of the latest: w->at is the oldest of a full ring, and 0 before. */
	at = w->at + w->n_times - n;
	at -= at < w->n_times ? 0 : w->n_times;
	return time_add(time_add(w->times[at], w->trigger->when.window), 1);
}

/* Since when there have been too few: the window from the start on counts as whole. */
static int64_t
rate_few_since(const struct watch *w)
{
	int64_t first = time_add(time_add(w->since, w->trigger->when.window), 1);

	return w->few < first ? first : w->few;
}

/* The time at which the trigger fires if nothing more comes; NEVER: it does not. */
static int64_t
rate_due(const struct watch *w)
{
	const struct when *when = &w->trigger->when;
	int64_t until;

	if (!w->counts || !w->armed)
		return NEVER;
	if (!when->more)
		return w->source->ended ? NEVER : time_add(rate_few_since(w), when->hold);
	until = w->changed == NEVER ? NEVER : rate_until(w, w->wanted);
	return until != NEVER && time_add(w->changed, when->hold) < until ?
	    time_add(w->changed, when->hold) : NEVER;
}

/* Notes, before an event is counted, whether the trigger has recovered from too many. */
static void
rate_recover_many(struct watch *w, int64_t time)
{
	const struct when *when = &w->trigger->when;
	int64_t until = rate_until(w, w->calm);

	if (until == NEVER || time >= time_add(until, when->until ? 0 : when->window))
		w->armed = true;
}

/* Notes, when an event has been counted, whether it has recovered from too few. */
static void
rate_recover_few(struct watch *w, int64_t time)
{
	const struct when *when = &w->trigger->when;
	int64_t until = rate_until(w, w->calm);

	if (until == NEVER || time >= until)
		return;
	if (when->kind == &trigger_silence || when->until || when->hold > 0 ||
	    time >= time_add(w->changed, when->window))
		w->armed = true;
}

static void
rate_fire(struct watch *w, int64_t at, const struct tnf_event *ev)
{
	const struct when *when = &w->trigger->when;
	const char *name = ev != NULL ? ev->probe->name : when->args[0];
	char time[TIME_TEXT], hold[TIME_TEXT], lasts[TIME_TEXT + 8] = "", of[64] = "";
	size_t n = 0;

	for (size_t i = 0; i < w->n_times; i++)
		n += w->times[i] >= at - when->window && w->times[i] <= at;
	time_text(time, when->window);
	if (when->hold > 0)
		snprintf(lasts, sizeof(lasts), ", for %s", time_text(hold, when->hold));
	if (when->of != NULL)
		snprintf(of, sizeof(of), " of all %.48s", when->of);
	w->armed = false;
	if (when->kind == &trigger_silence)
		trigger_fire(w, at, NULL, "%.60s%s: none for %s", name, of, time);
	else
		trigger_fire(w, at, ev, "%.60s%s: %s%zu events in %s%s", name, of,
		    when->hold > 0 && n == rate_room(w) ? "at least " : "", n, time, lasts);
}

/* Counts from 'now' on, as if nothing had come. */
static void
rate_restart(struct watch *w, int64_t now)
{
	w->n_times = 0;
	w->at = 0;
	w->changed = NEVER;
	w->few = INT64_MIN;
	w->since = now;
}

static int64_t
rate_run(struct watch *w, int64_t now)
{
	int64_t at = rate_due(w);

	if (at > now)
		return at;
	/* No process of the section is left from which events could be missed. */
	if (w->trigger->when.more || watch_is_about(w, NULL)) {
		rate_fire(w, at, NULL);
		return NEVER;
	}
	rate_restart(w, now);
	w->counts = false;
	return NEVER;
}

/* Is the next event in time one of many that silence() sees while it has nothing to tell? */
static inline bool
rate_goes_on(const struct watch *w, int64_t time)
{
	const struct when *when = &w->trigger->when;

	return when->kind == &trigger_silence && w->armed && w->counts && w->n_times == 1 &&
	    w->changed != NEVER && time < INT64_MAX - when->window;
}

static void
rate_count_any(struct watch *w, int64_t time, const struct tnf_event *ev)
{
	const struct when *when = &w->trigger->when;
	int64_t before, until;

	before = rate_until(w, w->wanted);
	rate_since(w, time);
	if (when->more && !w->armed)
		rate_recover_many(w, time);
	rate_remember(w, time);
	until = rate_until(w, w->wanted);
	if (until == NEVER || time >= until)
		w->changed = NEVER;
	else if (w->changed == NEVER || before == NEVER || before <= time)
		w->changed = time;
	if (w->changed != NEVER)
		w->few = until;
	if (!when->more && !w->armed)
		rate_recover_few(w, time);
	if (when->more && rate_due(w) <= time)
		rate_fire(w, time, ev);
	else
		watch_until(w, rate_due(w));
}

/* Counts an event; ev may be NULL. */
static inline void
rate_count(struct watch *w, int64_t time, const struct tnf_event *ev)
{
	if (!rate_goes_on(w, time)) {
		rate_count_any(w, time, ev);
		return;
	}
	w->times[0] = time;
	/* It is due later now, and looked at when it was due. */
	w->few = time + w->trigger->when.window + 1;
}

static void
rate_event(struct watch *w, const struct feed *feed)
{
	struct watch *total = w->total;

	if (!watch_holds(w, feed->ev))
		return;
	if (total == NULL) {
		rate_count(w, feed->ev->time, feed->ev);
		return;
	}
	if (total->n_late == total->late_room) {
		total->late_room = total->late_room == 0 ? 256 : 2 * total->late_room;
		total->late = tnf_xreallocarray(total->late, total->late_room,
		    sizeof(*total->late));
	}
	total->late[total->n_late++] = feed->ev->time;
}

COMPARE_NUMBERS(time_compare, int64_t)

void
rate_settle(struct watch *w)
{
	if (w->n_late > 1)
		qsort(w->late, w->n_late, sizeof(*w->late), time_compare);
	for (size_t i = 0; i < w->n_late; i++) {
		if (w->late[i] >= w->source->deadline)
			source_run(w->source, w->late[i]);
		rate_count(w, w->late[i], NULL);
	}
	w->n_late = 0;
}

/* Counts anew after a loss: some of the lost events may have been of the probe. */
static void
rate_lost(struct watch *w, uint64_t n, int64_t now)
{
	struct watch *counts = w->total != NULL ? w->total : w;

	if (!counts->counts || w->trigger->when.more)
		return;
	rate_restart(counts, now);
	watch_until(counts, now);
}

const struct trigger_kind trigger_rate = {
	.name = "rate", .usage = "rate(PROBE) < NUMBER for TIME",
	.args_min = 1, .args_max = 1, .compare = COMPARE_ANY, .window = true, .sums = true,
	.members = true, .check = rate_check, .open = rate_open,
	.concerns = rate_concerns, .event = rate_event, .run = rate_run,
	.expect = rate_expect, .lost = rate_lost,
};

const struct trigger_kind trigger_silence = {
	.name = "silence", .usage = "silence(PROBE) > TIME",
	.args_min = 1, .args_max = 1, .compare = COMPARE_MORE, .time = true, .sums = true,
	.members = true, .check = silence_check, .open = rate_open,
	.concerns = rate_concerns, .event = rate_event, .run = rate_run,
	.expect = rate_expect, .lost = rate_lost,
};
