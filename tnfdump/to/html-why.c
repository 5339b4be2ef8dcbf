/*
 * html-why.c - who woke whom, and why slices took as long as they did: the answers of --why, for
 * the slowest slices of each name, and for all of them while there is room.
 */
#include "tnfdump/report/report.h"
#include "tnfdump/to/html.h"

#define LINES_MAX	150000u		/* of all explanations */
#define NODES_MAX	3000000u	/* that are looked at for them */
#define NAMES_MAX	200u		/* of pairs */

enum { C_SLEEP_THREAD, C_SLEEP_FROM, C_SLEEP_WOKEN, C_SLEEP_RUNS, C_SLEEP_BY, C_SLEEP_WAKER,
    C_SLEEP_OWNER, C_SLEEP_THING, C_WHY_SLICE, C_WHY_LINES, C_WHY_VERDICT, C_LINE_FROM, C_LINE_NS,
    C_LINE_DEPTH, C_LINE_KIND, C_LINE_THREAD, C_LINE_TEXT, C_COUNT };

static const struct html_kind kinds[] = {
	[C_SLEEP_THREAD] = { "sleep_thread", "u32", 4 },
	[C_SLEEP_FROM] = { "sleep_from", "f64", 8 },
	[C_SLEEP_WOKEN] = { "sleep_woken", "f64", 8 },
	[C_SLEEP_RUNS] = { "sleep_runs", "f64", 8 },
	[C_SLEEP_BY] = { "sleep_by", "u8", 1 },
	[C_SLEEP_WAKER] = { "sleep_waker", "u32", 4 },		/* thread + 1 */
	[C_SLEEP_OWNER] = { "sleep_owner", "u32", 4 },		/* thread + 1 */
	[C_SLEEP_THING] = { "sleep_thing", "u32", 4 },		/* a text */
	[C_WHY_SLICE] = { "why_slice", "u32", 4 },
	[C_WHY_LINES] = { "why_lines", "u32", 4 },		/* how many lines it has */
	[C_WHY_VERDICT] = { "why_verdict", "u32", 4 },
	[C_LINE_FROM] = { "line_from", "f64", 8 },
	[C_LINE_NS] = { "line_ns", "f64", 8 },
	[C_LINE_DEPTH] = { "line_depth", "u8", 1 },
	[C_LINE_KIND] = { "line_kind", "u8", 1 },
	[C_LINE_THREAD] = { "line_thread", "u32", 4 },		/* thread + 1 */
	[C_LINE_TEXT] = { "line_text", "u32", 4 },
};

struct html_why {
	struct dump	*d;
	struct why_input *input;
	struct html_column column[C_COUNT];
	struct html_strings texts;
	struct html_threads *threads;
	int64_t		 first;
	uint32_t	 lines;		/* written */
	uint32_t	 own;		/* of the explanation that is being written */
	size_t		 nodes;		/* looked at */
};

struct html_why *
html_why_new(struct dump *d)
{
	struct html_why *h = tnf_xcalloc(1, sizeof(*h));

	h->d = d;
	h->input = why_input_new(d);
	html_columns_init(h->column, kinds, C_COUNT);
	html_strings_init(&h->texts);
	return h;
}

void
html_why_free(struct html_why *h)
{
	why_input_free(h->input);
	html_columns_free(h->column, C_COUNT);
	html_strings_free(&h->texts);
	free(h);
}

void
html_why_event(struct html_why *h, const struct tnf_event *ev, enum pair_role role,
    const struct pair_slice *s)
{
	why_input_event(h->input, ev, role, s);
}

static void
add(struct html_why *h, unsigned column, uint32_t n)
{
	uint8_t small = (uint8_t)n;

	if (kinds[column].width == 1)
		html_column_add(&h->column[column], &small);
	else
		html_column_add(&h->column[column], &n);
}

static void
add_time(struct html_why *h, unsigned column, int64_t ns)
{
	double number = (double)ns;

	html_column_add(&h->column[column], &number);
}

/* The page's number of a thread, plus 1; 0: nobody. */
static uint32_t
thread_of(struct html_why *h, uint32_t id)
{
	const struct why_thread *t = why_thread(why_pairs_index(why_input_pairs(h->input)), id);

	if (t == NULL || (t->lwpid == 0 && t->tid == 0))
		return 0;
	return html_thread(h->threads, (struct html_thread_key){ t->pid, t->lwpid,
	    t->lwpid != 0 ? 0 : t->tid, t->host }, NULL) + 1;
}

static void
sleep_add(void *arg, const struct why_sleep *s)
{
	struct html_why *h = arg;
	const struct why_node node = { .kind = WHY_ASLEEP, .cause = s->cause };
	const char *thing = why_reason_name(&node);
	uint32_t thread = thread_of(h, s->thread);

	if (thread == 0 || s->woken < h->first)
		return;
	add(h, C_SLEEP_THREAD, thread - 1);
	add_time(h, C_SLEEP_FROM, s->from < h->first ? 0 : s->from - h->first);
	add_time(h, C_SLEEP_WOKEN, s->woken - h->first);
	add_time(h, C_SLEEP_RUNS, s->runs - h->first);
	add(h, C_SLEEP_BY, s->by);
	add(h, C_SLEEP_WAKER, thread_of(h, s->waker));
	add(h, C_SLEEP_OWNER, thread_of(h, s->owner));
	add(h, C_SLEEP_THING, html_strings_number(&h->texts, thing, strlen(thing)));
}

static void
line_add(void *arg, const struct why_line *l)
{
	struct html_why *h = arg;

	add_time(h, C_LINE_FROM, l->from - h->first);
	add_time(h, C_LINE_NS, l->ns);
	add(h, C_LINE_DEPTH, l->depth);
	add(h, C_LINE_KIND, l->node->kind);
	add(h, C_LINE_THREAD, thread_of(h, l->node->thread));
	add(h, C_LINE_TEXT, html_strings_number(&h->texts, l->text, l->len));
	h->own++;
}

static void
explain(struct html_why *h, const struct html_spans *spans, const struct why_instance *in)
{
	struct why_pairs *pairs = why_input_pairs(h->input);
	struct why_tree t = why_pairs_explain(pairs, in);
	struct out verdict;

	h->own = 0;
	why_lines(why_pairs_index(pairs), &t, line_add, h);
	h->lines += h->own;
	h->nodes += t.nodes;
	tnf_out_memory(&verdict);
	why_put_instance(pairs, &verdict, in, &t);
	add(h, C_WHY_SLICE, html_spans_place(spans, why_instance_nth(pairs, in)));
	add(h, C_WHY_LINES, h->own);
	add(h, C_WHY_VERDICT, html_strings_number(&h->texts, verdict.base, out_size(&verdict)));
	tnf_out_close(&verdict);
	why_tree_free(&t);
}

static int
by_name(const void *x, const void *y)
{
	return strcmp(*(const char *const *)x, *(const char *const *)y);
}

/* Each name has an equal part of the room that the names before have left.  The names are sorted,
   since the same trace should give the same page. */
static void
explain_all(struct html_why *h, const struct html_spans *spans)
{
	struct why_pairs *pairs = why_input_pairs(h->input);
	const char *names[NAMES_MAX];
	unsigned n_names = 0;

	while (n_names < NAMES_MAX && (names[n_names] = why_pairs_name(pairs, n_names)) != NULL)
		n_names++;
	qsort(names, n_names, sizeof(*names), by_name);
	for (unsigned i = 0; i < n_names; i++) {
		uint32_t lines = h->lines + (LINES_MAX - h->lines) / (n_names - i);
		size_t nodes = h->nodes + (NODES_MAX - h->nodes) / (n_names - i), n;

		why_pairs_choose(pairs, names[i]);
		struct why_instance *const *all = why_pairs_all(pairs, &n);
		while (n-- > 0 && h->lines < lines && h->nodes < nodes)
			explain(h, spans, all[n]);
	}
}

void
html_why_end(struct html_why *h, struct html_threads *threads, const struct html_spans *spans,
    int64_t first)
{
	struct why *why = why_pairs_index(why_input_pairs(h->input));

	h->threads = threads;
	h->first = first;
	why_sleeps(why, sleep_add, h);
	if (why_has_kernel(why))
		explain_all(h, spans);
}

void
html_why_json(struct html_why *h, struct out *o, html_put_fn *put, void *arg)
{
	struct why *why = why_pairs_index(why_input_pairs(h->input));

	tnf_out_format(o, "\"kernel\":%s,\"texts\":[", why_has_kernel(why) ? "true" : "false");
	tnf_out_bytes(o, h->texts.json.base, out_size(&h->texts.json));
	out_lit(o, "],\"why\":{");
	html_columns_json(h->column, kinds, C_COUNT, o, put, arg);
	out_char(o, '}');
}
