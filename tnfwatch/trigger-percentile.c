/*
 * trigger-percentile.c - p99(SPAN) > 50ms: how long most spans take.
 *
 * p99(order, 10s) > 50ms holds while more than one of a hundred of the orders that ended in the
 * last 10 s took more than 50 ms.  So two numbers decide exactly: how many ended, and how many
 * of them took longer than the limit.  They are counted in STEPS parts of the window.
 *
 * "usual" is the same percentile over the last hour, up to the last full five minutes; there is
 * none before five minutes are full.  For it, durations are counted by their size, in sixteen
 * sizes from each power of two to the next.
 */
#include <math.h>
#include <stdio.h>

#include "tnfwatch/trigger-impl.h"

#define STEPS		20
#define PARTS		12
#define PART_NS		(INT64_C(300) * 1000000000)
#define FINE		16		/* sizes from a power of two to the next */
#define SIZES		(60 * FINE)
#define WINDOW_MAX	(INT64_C(3600) * 1000000000)

struct step {
	int64_t	 number;	/* of the step since the start of time */
	uint64_t n, over, restless;	/* all; over the limit; not within that of "until" */
};

struct percentile {
	struct step step[STEPS];
	int64_t	 limit;		/* ns; NEVER: not known yet */
	int64_t	 holds;		/* since when the condition holds; NEVER: it does not */
	int64_t	 calm;		/* since when it has not held; NEVER: it holds */
	struct hour {
		uint32_t part[PARTS][SIZES];
		uint32_t now[SIZES];
		int64_t	 number;	/* of the five minutes that "now" counts */
		unsigned n_parts;	/* that are full */
	} *hour;		/* with "usual" */
};

bool
trigger_percentile_name(const char *name, size_t len, double *ret)
{
	double n = 0, scale = 1;

	if (len < 3 || len > 6 || name[0] != 'p' || strspn(name + 1, "0123456789") < len - 1)
		return false;
	for (size_t i = 1; i < len; i++) {
		n = 10 * n + (name[i] - '0');
		scale *= 10;
	}
	*ret = n / scale;
	return *ret > 0;
}

void
percentile_free(struct percentile *p)
{
	if (p != NULL)
		free(p->hour);
	free(p);
}

static bool
percentile_check(struct when *when, struct trigger_error *err)
{
	if (when->window < STEPS || when->window > WINDOW_MAX)
		return when_fail(err, when->offset, "a window has up to 1h");
	if (when->until && (when->usual || when->until_time > when->time))
		return when_fail(err, when->offset, when->usual ?
		    "until: a usual time has no second limit" :
		    "until: that holds before it has fired");
	return span_check(when, err);
}

static void
percentile_open(struct watch *w)
{
	const struct when *when = &w->trigger->when;
	struct percentile *p = tnf_xcalloc(1, sizeof(*p));

	p->limit = when->usual ? NEVER : due_when(when, 0);
	p->holds = NEVER;
	p->calm = INT64_MIN;
	p->hour = when->usual ? tnf_xcalloc(1, sizeof(*p->hour)) : NULL;
	w->percentile = p;
	w->armed = true;
	span_open(w);
}

static unsigned
size_of(int64_t ns)
{
	uint64_t n = ns > 0 ? (uint64_t)ns : 0;
	unsigned power;

	if (n < FINE)
		return (unsigned)n;
	power = 63 - (unsigned)__builtin_clzll(n);
	return (power - 3) * FINE + (unsigned)(n >> (power - 4) & (FINE - 1));
}

/* The largest duration of a size. */
static int64_t
size_most(unsigned size)
{
	unsigned power = size / FINE + 3;

	if (size < FINE)
		return size;
	return (int64_t)(((uint64_t)(FINE + size % FINE) + 1) << (power - 4)) - 1;
}

/* How many of n durations are within the percentile. */
static uint64_t
rank(const struct when *when, uint64_t n)
{
	double r = when->quantile * (double)n;

	return (uint64_t)ceil(r - 1e-9 * (double)n);
}

static int64_t
hour_usual(const struct hour *h, const struct when *when)
{
	uint64_t n = 0, below = 0;
	unsigned size;

	for (unsigned i = 0; i < PARTS; i++)
		for (size = 0; size < SIZES; size++)
			n += h->part[i][size];
	if (n == 0)
		return NEVER;
	for (size = 0; size < SIZES; size++) {
		for (unsigned i = 0; i < PARTS; i++)
			below += h->part[i][size];
		if (below >= rank(when, n))
			break;
	}
	return size_most(size);
}

/* Begins the next five minutes, and sets the limit by those that are full. */
static void
hour_turn(struct percentile *p, const struct when *when, int64_t now)
{
	struct hour *h = p->hour;
	int64_t number = now / PART_NS, usual;

	if (h->number == 0)
		h->number = number;
	if (number <= h->number)
		return;
	for (int i = 0; h->number < number && i < PARTS; i++, h->number++) {
		memcpy(h->part[h->number % PARTS], h->now, sizeof(h->now));
		memset(h->now, 0, sizeof(h->now));
	}
	h->number = number;
	usual = hour_usual(h, when);
	p->limit = usual == NEVER ? NEVER : (int64_t)((double)usual * when->number) + !when->equal;
}

static void
percentile_add(struct percentile *p, const struct when *when, int64_t time, int64_t duration)
{
	int64_t number = time / (when->window / STEPS);
	struct step *s = &p->step[number % STEPS];

	if (p->hour != NULL) {
		hour_turn(p, when, time);
		p->hour->now[size_of(duration)]++;
	}
	if (s->number > number)
		return;
	if (s->number < number)
		*s = (struct step){ .number = number };
	s->n++;
	s->over += duration >= p->limit;
	s->restless += when->until && duration >= when->until_time + when->until_equal;
}

static struct step
percentile_sum(const struct percentile *p, const struct when *when, int64_t now)
{
	struct step sum = { .number = now / (when->window / STEPS) };

	for (unsigned i = 0; i < STEPS; i++)
		if (p->step[i].number > sum.number - STEPS) {
			sum.n += p->step[i].n;
			sum.over += p->step[i].over;
			sum.restless += p->step[i].restless;
		}
	return sum;
}

static void
percentile_fire(struct watch *w, const struct step *sum, int64_t now)
{
	const struct when *when = &w->trigger->when;
	struct percentile *p = w->percentile;
	char limit[TIME_TEXT], window[TIME_TEXT], hold[TIME_TEXT], lasts[TIME_TEXT + 8] = "", of[64] = "";

	if (when->hold > 0)
		snprintf(lasts, sizeof(lasts), ", for %s", time_text(hold, when->hold));
	if (when->of != NULL)
		snprintf(of, sizeof(of), " of all %.48s", when->of);
	w->armed = false;
	trigger_fire(w, now, NULL, "%.60s%s: %llu of %llu in %s took more than %s%s%s", when->args[0],
	    of, (unsigned long long)sum->over, (unsigned long long)sum->n,
	    time_text(window, when->window), time_text(limit, p->limit - !when->equal),
	    when->usual ? ", by what is usual" : "", lasts);
}

/* Looks whether the condition holds now; returns the time at which it is to be looked again. */
static int64_t
percentile_run(struct watch *w, int64_t now)
{
	const struct when *when = &w->trigger->when;
	struct percentile *p = w->percentile;
	int64_t step = when->window / STEPS;
	struct step sum;

	if (p->hour != NULL)
		hour_turn(p, when, now);
	sum = percentile_sum(p, when, now);
	if (sum.n - sum.over < rank(when, sum.n)) {
		if (p->holds == NEVER)
			p->holds = now;
		p->calm = NEVER;
	} else {
		p->holds = NEVER;
		if (p->calm == NEVER)
			p->calm = now;
		if (when->until ? sum.n - sum.restless >= rank(when, sum.n) :
		    now >= time_add(p->calm, when->window))
			w->armed = true;
	}
	if (w->armed && p->holds != NEVER && now >= time_add(p->holds, when->hold))
		percentile_fire(w, &sum, now);
	return sum.n > 0 || !w->armed ? time_add(now - now % step, step) : NEVER;
}

static void
percentile_event(struct watch *w, const struct feed *feed)
{
	const struct when *when = &w->trigger->when;
	struct watch *counts = w->total != NULL ? w->total : w;
	int64_t time = feed->ev->time;
	struct pair_slice own;
	enum pair_role role;
	const struct pair_slice *s = span_slice(w, feed, &own, &role);

	if (role != PAIR_END || s->rule == NULL || s->user == NULL)
		return;
	if (span_holds(w, s, feed->ev)) {
		percentile_add(counts->percentile, when, time, s->duration);
		if (counts == w)
			watch_until(w, percentile_run(w, time));
		else
			watch_until(counts, time);
	}
	if (w->pairs != NULL)
		span_start_drop(s->user);
}

const struct trigger_kind trigger_percentile = {
	.name = "p99", .usage = "p99(SPAN, 10s) > TIME for TIME",
	.args_min = 1, .args_max = WHEN_ARGS_MAX,
	.compare = COMPARE_MORE, .time = true, .usual = true, .window = true, .sums = true,
	.pairs = true, .only = PAIR_END, .members = true,
	.check = percentile_check, .open = percentile_open, .concerns = span_concerns,
	.event = percentile_event, .run = percentile_run, .forget = span_forget,
};
