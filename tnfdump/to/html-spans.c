/*
 * html-spans.c - slices and states of an HTML report, sorted by thread and time, so that the
 * page finds any stretch of a lane by binary search in the columns themselves.
 */
#include "tnfdump/text/pretty.h"
#include "tnfdump/to/html.h"

#define DEPTH_MAX	64u	/* slices below are drawn on the last row */

struct slice {
	int64_t	 start, duration;
	uint32_t thread, name;
	uint32_t begin, end;	/* numbers of events */
	uint32_t nth;
	uint8_t	 async, depth;
};

struct state {
	int64_t	 start, duration;
	uint32_t thread;
	uint8_t	 state;
};

enum { C_START, C_START_LATE, C_DURATION, C_DURATION_LATE, C_THREAD, C_NAME, C_BEGIN, C_END, C_ASYNC,
    C_DEPTH, C_STATE_START, C_STATE_START_LATE, C_STATE_DURATION, C_STATE_DURATION_LATE,
    C_STATE_THREAD, C_STATE, C_COUNT };

static const struct html_kind kinds[] = {
	[C_START] = { "start", "u32", 4 },		/* from that of the slice before */
	[C_START_LATE] = { "start_late", "f64", 8 },
	[C_DURATION] = { "duration", "u32", 4 },
	[C_DURATION_LATE] = { "duration_late", "f64", 8 },
	[C_THREAD] = { "thread", "u32", 4 },
	[C_NAME] = { "name", "u32", 4 },
	[C_BEGIN] = { "begin", "u32", 4 },
	[C_END] = { "end", "i32", 4 },			/* from 'begin' */
	[C_ASYNC] = { "async", "u8", 1 },
	[C_DEPTH] = { "depth", "u8", 1 },
	[C_STATE_START] = { "state_start", "u32", 4 },	/* from the end of the state before */
	[C_STATE_START_LATE] = { "state_start_late", "f64", 8 },
	[C_STATE_DURATION] = { "state_duration", "u32", 4 },
	[C_STATE_DURATION_LATE] = { "state_duration_late", "f64", 8 },
	[C_STATE_THREAD] = { "state_thread", "u32", 4 },
	[C_STATE] = { "state_state", "u8", 1 },
};

struct html_spans {
	struct html_threads *threads;
	struct html_strings names;
	struct slice	*slices;
	struct state	*states;
	size_t		 n_slices, n_states;
	uint32_t	*place;		/* of the n-th slice, after sorting */
	int64_t		 first;
};

struct html_spans *
html_spans_new(struct html_threads *threads)
{
	struct html_spans *s = tnf_xcalloc(1, sizeof(*s));

	s->threads = threads;
	html_strings_init(&s->names);
	return s;
}

void
html_spans_free(struct html_spans *s)
{
	html_strings_free(&s->names);
	free(s->slices);
	free(s->states);
	free(s->place);
	free(s);
}

void
html_spans_slice(struct html_spans *h, const struct pair_slice *s, uint32_t thread, uint32_t begin,
    uint32_t end)
{
	const char *name = pretty_slice_name(s);

	h->slices = tnf_xgrow(h->slices, h->n_slices, sizeof(*h->slices));
	h->slices[h->n_slices] = (struct slice){ s->start->time, s->duration, thread,
	    html_strings_number(&h->names, name, strlen(name)) - 1, begin, end,
	    (uint32_t)h->n_slices, s->rule->async, 0 };
	h->n_slices++;
}

void
html_spans_state(struct html_spans *h, const struct state_span *s)
{
	bool known = s->pid != 0 || s->lwpid != 0;

	h->states = tnf_xgrow(h->states, h->n_states, sizeof(*h->states));
	h->states[h->n_states++] = (struct state){ s->start, s->duration,
	    html_thread(h->threads, (struct html_thread_key){ s->pid, s->lwpid,
	    known ? 0 : s->tid, s->host }, NULL), (uint8_t)s->state };
}

static int
by_lane(const void *x, const void *y)
{
	const struct slice *a = x, *b = y;

	if (a->async != b->async)
		return a->async - b->async;
	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->duration != b->duration)
		return a->duration > b->duration ? -1 : 1;
	return a->nth > b->nth ? -1 : a->nth < b->nth;	/* what ends last is outside */
}

static int
by_thread(const void *x, const void *y)
{
	const struct state *a = x, *b = y;

	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	return a->start < b->start ? -1 : a->start > b->start;
}

/* A slice within another slice is drawn one row lower. */
static void
nest(struct html_spans *h)
{
	int64_t open[DEPTH_MAX];
	unsigned n = 0;

	for (size_t i = 0; i < h->n_slices; i++) {
		struct slice *s = &h->slices[i];
		int64_t end = s->start + s->duration;

		if (s->async)
			return;
		if (i > 0 && s[-1].thread != s->thread)
			n = 0;
		while (n > 0 && open[n - 1] <= s->start && open[n - 1] < end)
			n--;
		s->depth = (uint8_t)n;
		if (n < DEPTH_MAX - 1)
			open[n++] = end;
	}
}

void
html_spans_sort(struct html_spans *h, int64_t first)
{
	h->first = first;
	if (h->n_slices > 0)
		qsort(h->slices, h->n_slices, sizeof(*h->slices), by_lane);
	if (h->n_states > 0)
		qsort(h->states, h->n_states, sizeof(*h->states), by_thread);
	nest(h);
	h->place = tnf_xcalloc(h->n_slices + 1, sizeof(*h->place));
	for (size_t i = 0; i < h->n_slices; i++)
		h->place[h->slices[i].nth] = (uint32_t)i;
}

uint32_t
html_spans_place(const struct html_spans *h, size_t nth)
{
	return nth < h->n_slices ? h->place[nth] : HTML_NONE;
}

static void
fill_slices(const struct html_spans *h, struct html_column *c)
{
	int64_t last = h->first;

	for (size_t i = 0; i < h->n_slices; i++) {
		const struct slice *s = &h->slices[i];
		int32_t end = (int32_t)(s->end - s->begin);	/* HTML_NONE wraps around, too */

		html_time_add(&c[C_START], &c[C_START_LATE], s->start - h->first, last - h->first);
		html_time_add(&c[C_DURATION], &c[C_DURATION_LATE], s->duration, 0);
		last = s->start;
		html_column_add(&c[C_THREAD], &s->thread);
		html_column_add(&c[C_NAME], &s->name);
		html_column_add(&c[C_BEGIN], &s->begin);
		html_column_add(&c[C_END], &end);
		html_column_add(&c[C_ASYNC], &s->async);
		html_column_add(&c[C_DEPTH], &s->depth);
	}
}

static void
fill_states(const struct html_spans *h, struct html_column *c)
{
	int64_t last = h->first;

	for (size_t i = 0; i < h->n_states; i++) {
		const struct state *s = &h->states[i];

		html_time_add(&c[C_STATE_START], &c[C_STATE_START_LATE], s->start - h->first,
		    last - h->first);
		html_time_add(&c[C_STATE_DURATION], &c[C_STATE_DURATION_LATE], s->duration, 0);
		last = s->start + s->duration;
		html_column_add(&c[C_STATE_THREAD], &s->thread);
		html_column_add(&c[C_STATE], &s->state);
	}
}

void
html_spans_json(struct html_spans *h, struct out *o, html_put_fn *put, void *arg)
{
	struct html_column c[C_COUNT];

	html_columns_init(c, kinds, C_COUNT);
	fill_slices(h, c);
	fill_states(h, c);
	out_lit(o, "\"spans\":[");
	tnf_out_bytes(o, h->names.json.base, out_size(&h->names.json));
	out_lit(o, "],\"slices\":{");
	html_columns_json(c, kinds, C_COUNT, o, put, arg);
	out_char(o, '}');
	html_columns_free(c, C_COUNT);
}
