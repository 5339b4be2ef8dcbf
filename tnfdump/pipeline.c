/*
 * pipeline.c - stream -> filters -> output.
 */
#include "analysis/json.h"
#include "tnfdump/hosts.h"
#include "tnfdump/pipeline.h"
#include "tnfdump/report/report.h"

struct filter *
pipeline_add_filter(struct dump *d, const struct filter *filter, size_t arg_size)
{
	struct filter *f = tnf_xcalloc(1, sizeof *f);

	*f = *filter;
	if (arg_size > 0)
		f->arg = tnf_xcalloc(1, arg_size);
	f->next = NULL;
	if (d->filters_end == NULL)
		d->filters_end = &d->filters;
	*d->filters_end = f;
	d->filters_end = &f->next;
	return f;
}

void *
pipeline_filter_arg(struct dump *d, const struct filter *filter, size_t arg_size)
{
	struct filter *f = d->filters;

	while (f != NULL && strcmp(f->option, filter->option) != 0)
		f = f->next;
	return (f != NULL ? f : pipeline_add_filter(d, filter, arg_size))->arg;
}

void
pipeline_free_filters(struct dump *d)
{
	struct filter *f;

	while ((f = d->filters) != NULL) {
		d->filters = f->next;
		if (f->free != NULL)
			f->free(f->arg);
		free(f);
	}
}

/* Before an event is filtered, sets the machine by which the system calls of its file are named:
   files of several machines can be read at once. */
static void
pipeline_machine(struct dump *d, const struct tnf_file *f)
{
	if (f == d->names_of)
		return;
	d->names_of = f;
	pretty_machine_set(origin_fact(d, f, "machine"));
}

/*
 * Asks the filters; true if the output gets the event.  Sets d->keep to the questions to which no
 * filter has said no.  After a first no, an output that wants all events has later filters asked whose
 * question is still open; the others only see() the event.
 */
static bool
pipeline_filter(struct dump *d, const struct tnf_event *ev)
{
	unsigned keep = KEEP_ALL;

	if (!hosts_placed(d, ev))
		return false;
	pipeline_machine(d, ev->file);
	/* The answer takes a comparison of names, and many events in a row are of one probe. */
	if (ev->probe != d->spanless) {
		if (current_is_told(ev))
			current_feed(d, ev);
		else if (!ev->kernel)
			d->spanless = ev->probe;
	}
	if (d->around != NULL)
		around_feed(d, ev);
	for (const struct filter *f = d->filters; f != NULL; f = f->next)
		if (keep == KEEP_ALL || (d->output->all && (keep & f->asks) != 0)) {
			if (!f->keep(f->arg, ev))
				keep &= ~f->asks;
		} else if (f->see != NULL)
			f->see(f->arg, ev);
	d->keep = keep;
	return keep == KEEP_ALL || d->output->all;
}

bool
pipeline_zero(const struct dump *d)
{
	return (d->keep | KEEP_WHAT) == KEEP_ALL;
}

static int
start_filters(struct dump *d)
{
	for (struct filter *f = d->filters; f != NULL; f = f->next)
		if (f->start != NULL && f->start(f->arg, d) != 0)
			return -1;
	return 0;
}

static void
end_filters(struct dump *d)
{
	for (struct filter *f = d->filters; f != NULL; f = f->next)
		if (f->end != NULL)
			f->end(f->arg, d);
}

static int
pipeline_put(struct dump *d, const struct tnf_event *ev)
{
	if (d->keep != KEEP_ALL)
		return d->output->event(d, ev);
	if (d->events == 0)
		d->previous = ev->time;
	if (d->hosts != NULL)
		hosts_see(d, ev);
	if (d->output->event(d, ev) != 0)
		return -1;
	d->previous = ev->time;
	d->events++;
	return d->out.error == 0 ? 0 : -1;
}

/*
 * The kept events of --reverse: events are read in order of time, so they are stored first.
 * Their values are read from the mapped files only when they are put out: these files are not
 * written any more, or were copied.
 */
struct reverse {
	struct tnf_event *v;
	size_t	 n;
};

int
reverse_set(struct dump *d, const char *arg)
{
	if (d->reverse == NULL)
		d->reverse = tnf_xcalloc(1, sizeof(*d->reverse));
	return 0;
}

/* Puts out the kept events, the last one first.  A delta is the same as in forward order. */
static void
put_reversed(struct dump *d)
{
	const struct tnf_event *v = d->reverse->v;

	for (size_t i = d->reverse->n; i-- > 0; d->events++) {
		d->previous = v[i > 0 ? i - 1 : 0].time;
		if (d->output->event(d, &v[i]) != 0 || d->out.error != 0)
			return;
	}
}

void
reverse_free(struct dump *d)
{
	if (d->reverse != NULL)
		free(d->reverse->v);
	free(d->reverse);
	d->reverse = NULL;
}

/* As tnf_stream_next(); waits when following. */
static int
next_event(struct dump *d, struct tnf_event *ev)
{
	int r = tnf_stream_next(d->stream, ev);

	while (r == 0 && d->follow != NULL && !d->enough && follow_wait(d)) {
		top_tick(d);
		r = tnf_stream_next(d->stream, ev);
	}
	return r;
}

/* True if no later event can be kept, and the output needs no other.  An output of all events
   with pairs needs more until each awaited pair has ended, except when following. */
static bool
pipeline_is_done(const struct dump *d)
{
	return d->beyond && (!d->output->all || d->pairs == NULL || d->follow != NULL ||
	    pairs_counts(d->pairs)->awaited == 0);
}

static void
sum_event(void *arg, const struct tnf_event *ev)
{
	struct dump *d = arg;

	d->output->event(d, ev);
}

/* Reads for an output that tells only sums: no filter is there, and the order is of no use. */
static void
pipeline_sum(struct dump *d)
{
	int err;

	d->keep = KEEP_ALL;
	d->output->begin(d);
	if ((err = tnf_stream_each(d->stream, sum_event, d)) != 0)
		dump_error(d, "%s", tnf_error_message(err));
	if (d->output->end(d) != 0)
		d->status = STATUS_ERROR;
}

void
pipeline_run(struct dump *d)
{
	if (d->output->sums && d->filters == NULL && d->hosts == NULL && d->follow == NULL) {
		pipeline_sum(d);
		return;
	}

	struct reverse *back = d->reverse;
	struct tnf_event ev;
	int r = next_event(d, &ev);

	bool any = r == 1;
	if (any)
		d->first = d->previous = ev.time;
	d->low = INT64_MIN;
	d->high = INT64_MAX;
	d->beyond = false;
	d->spanless = NULL;
	dump_expr_begin(d);
	if (start_filters(d) != 0)
		return;
	bool begun = d->output->begin == NULL || d->output->begin(d) == 0;
	if (begun)
		for (; r == 1 && !d->enough; r = next_event(d, &ev)) {
			if ((d->pretty || d->see_threads) && ev.kernel && d->reverse == NULL &&
			    tnf_file_ext(ev.file) != NULL)
				labels_see_thread(d, &ev);
			if (pipeline_filter(d, &ev)) {
				if (back != NULL) {
					back->v = tnf_xgrow(back->v, back->n, sizeof(back->v[0]));
					back->v[back->n++] = ev;
				} else if (pipeline_put(d, &ev) != 0)
					break;
			}
			d->enough |= pipeline_is_done(d);
		}
	if (begun && back != NULL)
		put_reversed(d);
	if (r < 0)
		dump_error(d, "%s", tnf_error_message(-r));
	if (any) {
		end_filters(d);
		if (!d->diff)
			hint_pairs(d);
	}
	if (!begun && d->status == STATUS_OK)
		d->status = STATUS_ERROR;
	if ((begun || d->state != NULL) && d->output->end != NULL &&
	    d->output->end(d) != 0)
		d->status = STATUS_ERROR;
	labels_free(d);
	json_names_free(&d->names);
	current_free(d);
	around_free(d);
}
