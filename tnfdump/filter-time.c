/*
 * filter-time.c - filters by time: --from, --until, --last.
 */
#include "tnfdump/filter.h"
#include "tnfdump/input.h"
#include "tnfdump/options.h"
#include "tnfdump/origin.h"
#include "tnfdump/pipeline.h"
#include "tnfdump/timespec.h"
#include "tnfdump/units.h"

static struct {
	struct dump	   *dump;
	struct timespec_arg from, until;
	int64_t		    last;	/* duration; 0: not asked for */
	int64_t		    low, high;
} window;

static bool
keep(void *arg, const struct tnf_event *ev)
{
	if (ev->time > window.high) {
		window.dump->enough = true;	/* they come in order */
		return false;
	}
	return ev->time >= window.low;
}

/* From the first file that tells its clock. */
static void
find_clock(struct dump *d, struct timespec_clock *c)
{
	unsigned i;

	c->first = d->first;
	c->wall = false;
	for (i = 0; i < d->n_inputs && !c->wall; i++)
		c->wall = origin_clock(d, d->inputs[i].file, &c->mono_to_wall);
}

static int64_t
last_time(struct dump *d)
{
	struct tnf_summary sum;
	int64_t last = d->first;
	unsigned i;

	for (i = 0; i < d->n_inputs; i++) {
		tnf_file_summary(d->inputs[i].file, &sum);
		if (sum.events > 0 && sum.last > last)
			last = sum.last;
	}
	return last;
}

static int
resolve(struct dump *d, const char *option, const struct timespec_arg *arg,
    int64_t *time)
{
	struct timespec_clock clock;
	const char *wrong;

	if (arg->kind == TIMESPEC_NONE)
		return 0;
	find_clock(d, &clock);
	wrong = timespec_resolve(arg, &clock, time);
	if (wrong == NULL)
		return 0;
	dump_error(d, "--%s: %s", option, wrong);
	return -1;
}

static int
start(void *arg, struct dump *d)
{
	int64_t low;

	window.dump = d;
	window.low = INT64_MIN;
	window.high = INT64_MAX;
	if (resolve(d, "from", &window.from, &window.low) != 0 ||
	    resolve(d, "until", &window.until, &window.high) != 0)
		return -1;
	if (window.last > 0) {
		if (!__builtin_sub_overflow(last_time(d), window.last, &low) &&
		    low > window.low)
			window.low = low;
	}
	return 0;
}

static void
add(struct dump *d)
{
	struct filter f = { .keep = keep, .start = start };

	if (window.dump == NULL)
		pipeline_add_filter(d, &f);
	window.dump = d;
}

static int
set(struct dump *d, const char *option, const char *time,
    struct timespec_arg *arg)
{
	const char *wrong = timespec_parse(time, arg);

	if (wrong != NULL)
		return options_wrong(option, "\"%s\": %s", time, wrong);
	add(d);
	return 0;
}

int
from_set(struct dump *d, const char *time)
{
	return set(d, "from", time, &window.from);
}

int
until_set(struct dump *d, const char *time)
{
	return set(d, "until", time, &window.until);
}

int
last_set(struct dump *d, const char *duration)
{
	if (!duration_parse(duration, &window.last) || window.last <= 0)
		return options_wrong("last", "duration expected, as 2s or "
		    "500ms: \"%s\"", duration);
	add(d);
	return 0;
}
