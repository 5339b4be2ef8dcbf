/*
 * filter-time.c - filters by time: --from, --until, --last.
 *
 * Events come in order of time.  Therefore reading ends behind --until ('beyond'), and
 * blocks before --from are skipped (tnf_stream_skip()), unless another filter must see the
 * dropped events.
 */
#include "tnfdump/origin.h"
#include "tnfdump/pipeline.h"
#include "analysis/timespec.h"

struct window {
	struct dump	   *d;
	struct timespec_arg from, until;
	int64_t		    last;	/* duration; 0: not asked for */
};

static bool
filter_time_keep(void *arg, const struct tnf_event *ev)
{
	struct window *w = arg;

	if (ev->time > w->d->high) {
		w->d->beyond = true;	/* no later event is kept */
		return false;
	}
	return ev->time >= w->d->low;
}

/* Takes the wall clock of the first file that tells it. */
static void
filter_time_find_clock(struct dump *d, struct timespec_clock *c)
{
	c->first = d->first;
	c->wall = false;
	for (unsigned i = 0; i < d->n_inputs && !c->wall; i++)
		c->wall = origin_clock(d, d->inputs[i].file, &c->mono_to_wall);
}

static int64_t
last_time(struct dump *d)
{
	int64_t last = d->first, from, to;

	for (unsigned i = 0; i < d->n_inputs; i++)
		if (tnf_file_span(d->inputs[i].file, &from, &to) == 0 && to > last)
			last = to;
	return last;
}

static int
filter_time_resolve(struct dump *d, const char *option, const struct timespec_arg *arg,
    int64_t *time)
{
	struct timespec_clock clock;

	if (arg->kind == TIMESPEC_NONE)
		return 0;
	filter_time_find_clock(d, &clock);
	const char *wrong = timespec_resolve(arg, &clock, time);
	if (wrong == NULL)
		return 0;
	dump_error(d, "--%s: %s", option, wrong);
	return -1;
}

/* True if no other filter wants to see the events that this filter drops. */
static bool
filter_time_is_alone(const struct dump *d)
{
	for (const struct filter *f = d->filters; f != NULL; f = f->next)
		if (f->see != NULL)
			return false;
	return true;
}

static int
filter_time_start(void *arg, struct dump *d)
{
	struct window *w = arg;
	int64_t low;
	int err;

	w->d = d;
	if (filter_time_resolve(d, "from", &w->from, &d->low) != 0 ||
	    filter_time_resolve(d, "until", &w->until, &d->high) != 0)
		return -1;
	if (w->last > 0) {
		if (!__builtin_sub_overflow(last_time(d), w->last, &low) &&
		    low > d->low)
			d->low = low;
	}
	if (d->low != INT64_MIN && filter_time_is_alone(d) && !d->output->whole &&
	    (err = tnf_stream_skip(d->stream, d->low)) != 0) {
		dump_error(d, "%s", tnf_error_message(err));
		return -1;
	}
	return 0;
}

static bool
is_outside(const struct window *w, int64_t first, int64_t last)
{
	return (w->from.kind == TIMESPEC_MONO && last < w->from.ns) ||
	    (w->until.kind == TIMESPEC_MONO && first > w->until.ns);
}

bool
filter_time_leaves_out(const struct dump *d, const void *base, size_t size)
{
	const struct filter *f = d->filters;
	tnf_stream_t *stream;
	struct tnf_file *file;
	int64_t first, last;
	bool outside;

	while (f != NULL && strcmp(f->option, "from") != 0)
		f = f->next;
	if (f == NULL || !filter_time_is_alone(d) || (d->why == NULL && d->output != output_find("html")) ||
	    tnf_stream_new(&stream) != 0)
		return false;
	tnf_stream_lazily(stream, 1);
	outside = tnf_stream_add_mem(stream, base, size, "", &file) == 0 &&
	    tnf_file_span(file, &first, &last) == 0 && is_outside(f->arg, first, last);
	tnf_stream_close(stream);
	return outside;
}

/* All options about time share one filter. */
static struct window *
filter_time_of(struct dump *d)
{
	const struct filter f = { .option = "from", .keep = filter_time_keep,
		.start = filter_time_start, .free = free, .asks = KEEP_WHEN };

	return pipeline_filter_arg(d, &f, sizeof(struct window));
}

static int
filter_time_set(const char *option, const char *time, struct timespec_arg *arg)
{
	const char *wrong = timespec_parse(time, arg);

	return wrong == NULL ? 0 :
	    options_wrong(option, "\"%s\": %s", time, wrong);
}

int
from_set(struct dump *d, const char *time)
{
	return filter_time_set("from", time, &filter_time_of(d)->from);
}

int
until_set(struct dump *d, const char *time)
{
	return filter_time_set("until", time, &filter_time_of(d)->until);
}

int
last_set(struct dump *d, const char *duration)
{
	struct window *w = filter_time_of(d);

	if (!duration_parse(duration, &w->last) || w->last <= 0)
		return options_wrong("last", "duration expected, as 2s or "
		    "500ms: \"%s\"", duration);
	return 0;
}
