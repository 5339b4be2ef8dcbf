/*
 * why-table.c - compares instances with what is typical: the verdict on one of them, the table of
 * causes of all slow ones.
 */
#include <inttypes.h>

#include "analysis/json.h"
#include "analysis/why-impl.h"

#define CAUSES_MAX	3	/* that a verdict names */

/* The facts that a verdict tells about one kind of wait. */
struct group {
	struct group *next;
	const struct why_node *head;	/* the first such wait */
	bool	 several;	/* children of one name: more than one */
	bool	 chosen;	/* one of its causes makes up much of what is above typical */
	unsigned times;		/* leaves */
	int64_t	 ns;		/* of all its leaves, if its details are told */
	struct why_sums details;
};

struct verdict {
	struct why *w;
	struct why_sums causes;
	struct out text;
	struct map by_text;		/* struct group */
	struct group *first, **end;
	int64_t	 unknown;
};

static void
put_ms(struct out *o, int64_t ns)
{
	tnf_out_format(o, ns < 10000 ? "%.4f ms" : ns < 100000000 ? "%.3f ms" : "%.1f ms",
	    (double)ns / 1e6);
}

static double
excess(const struct why_sum *s, struct why_sums *typical)
{
	const struct why_sum *t = typical == NULL || typical->n == 0 ? NULL :
	    tnf_map_get(&typical->by_text, s->text, s->len);

	return (double)s->ns - (t != NULL ? (double)t->ns / (double)typical->n : 0);
}

/* Marks the causes that make up most of what is above typical ('in'). */
static void
choose(struct why_sums *causes, struct why_sums *typical)
{
	double all = 0, taken = 0;

	for (struct why_sum *s = causes->first; s != NULL; s = s->next) {
		double e = excess(s, typical);

		s->in = 0;
		all += e > 0 ? e : 0;
	}
	for (unsigned i = 0; i < CAUSES_MAX && taken < 0.9 * all; i++) {
		struct why_sum *best = NULL;

		for (struct why_sum *s = causes->first; s != NULL; s = s->next)
			if (!s->in && (best == NULL || excess(s, typical) > excess(best, typical)))
				best = s;
		if (best == NULL || excess(best, typical) < 0.05 * all)
			break;
		best->in = 1;
		taken += excess(best, typical);
	}
}

/* Prints the words that stand before the details.  'number': of a child, too. */
static void
put_group(struct verdict *v, struct out *o, const struct why_node *n, bool number)
{
	if (n->kind == WHY_ASLEEP && n->child != NULL) {
		out_str(o, "for ");
		why_put_thread(v->w, o, n->waker, n->to, number || n->cause != WHY_CHILD);
		tnf_out_format(o, " (%s", why_reason_name(n));
		if (n->owner != 0 && n->owner != n->waker) {
			out_lit(o, " that ");
			why_put_thread(v->w, o, n->owner, n->from, true);
			out_lit(o, " had");
		}
		out_char(o, ')');
	} else if (n->kind == WHY_QUEUED) {
		out_lit(o, "in the queue of ");
		why_put_thread(v->w, o, n->waker, n->to, true);
	} else if (n->kind == WHY_READY && n->cause != WHY_THROTTLED)
		out_lit(o, "for a CPU");
	else
		why_put_leaf(v->w, o, n, false);
}

static void
verdict_detail(struct verdict *v, struct group *g, const struct why_node *const *path, unsigned n)
{
	const struct why_node *leaf = path[n - 1];
	size_t from = (size_t)(v->text.p - v->text.base);

	if (n > 1)
		why_put_cause(v->w, &v->text, path + 1, n - 1, true);
	else
		why_put_leaf(v->w, &v->text, leaf, true);
	why_sum_of(&g->details, v->text.base + from,
	    (size_t)(v->text.p - v->text.base) - from)->ns += leaf->to - leaf->from;
}

/* True if a wait of this kind has details, which are told behind its words. */
static bool
has_details(const struct why_node *n)
{
	return n->kind == WHY_QUEUED || (n->kind == WHY_READY && n->cause != WHY_THROTTLED) ||
	    (n->kind == WHY_ASLEEP && n->child != NULL);
}

static void
verdict_leaf(void *arg, const struct why_node *const *path, unsigned n)
{
	struct verdict *v = arg;
	const struct why_node *leaf = path[n - 1];
	const struct why_sum *s;
	bool fresh;

	if (leaf->kind == WHY_UNKNOWN || leaf->kind == WHY_ABSENT || leaf->kind == WHY_NOT_FOLLOWED)
		v->unknown += leaf->to - leaf->from;
	v->text.p = v->text.base;
	why_put_cause(v->w, &v->text, path, n, false);
	s = tnf_map_get(&v->causes.by_text, v->text.base, (size_t)(v->text.p - v->text.base));
	bool chosen = s != NULL && s->in;
	if (!chosen && !has_details(path[0]))
		return;
	v->text.p = v->text.base;
	/* Children of one name are told together. */
	put_group(v, &v->text, path[0], false);
	size_t len = (size_t)(v->text.p - v->text.base);
	struct group *g = tnf_xmap_put(&v->by_text, v->text.base, len, &fresh);
	if (fresh) {
		g->head = path[0];
		*v->end = g;
		v->end = &g->next;
	}
	g->ns += leaf->to - leaf->from;
	g->times++;
	g->several |= path[0]->waker != g->head->waker;
	g->chosen |= chosen;
	if (chosen)
		verdict_detail(v, g, path, n);
}

static struct why_sum *
largest(struct why_sums *sums)
{
	struct why_sum *best = NULL;

	for (struct why_sum *s = sums->first; s != NULL; s = s->next)
		if (s->now == 0 && (best == NULL || s->ns > best->ns))
			best = s;
	if (best != NULL)
		best->now = 1;
	return best;
}

static void
put_group_line(struct verdict *v, struct out *o, struct group *g, int64_t took)
{
	bool waits = g->head->kind == WHY_ASLEEP || g->head->kind == WHY_READY;
	int64_t rest = g->ns;
	struct why_sum *s;

	out_str(o, g->head->kind == WHY_QUEUED ? "Was " : waits ? "Waited " : "Spent ");
	put_ms(o, g->ns);
	tnf_out_format(o, " (%.0f %%) ", took > 0 ? 100.0 * (double)g->ns / (double)took : 0);
	if (has_details(g->head)) {
		bool several = g->several && g->head->cause == WHY_CHILD;
		put_group(v, o, g->head, !several);
		out_str(o, several ? ", several of them" : "");
	} else {		/* the leaf itself, with its numbers */
		s = largest(&g->details);
		out_str(o, g->head->kind == WHY_ASLEEP ? "for: " : "");
		tnf_out_bytes(o, s->text, s->len);
		if (g->head->kind == WHY_ASLEEP && g->times > 1)
			tnf_out_format(o, ", %u times", g->times);
		out_lit(o, ".\n");
		return;
	}
	for (unsigned i = 0; i < CAUSES_MAX && (s = largest(&g->details)) != NULL; i++) {
		if (i > 0 && s->ns < g->ns / 100)
			break;
		out_str(o, i == 0 ? ": " : "; ");
		put_ms(o, s->ns);
		out_char(o, ' ');
		tnf_out_bytes(o, s->text, s->len);
		rest -= s->ns;
	}
	if (rest * 20 > g->ns) {
		out_str(o, rest < g->ns ? "; " : ": ");
		put_ms(o, rest);
		out_str(o, rest < g->ns ? " of others" : " of many small causes");
	}
	out_lit(o, ".\n");
}

/*
 * A wait may have many causes, each too small to be chosen: a crowd takes the holder's CPU in
 * turns.  A wait longer than this is told nevertheless: if all of a typical instance's time
 * were such a wait, it would still be half of this instance's duration above that.
 */
static int64_t
surely_above(const struct why_sums *typical, int64_t took)
{
	int64_t all = 0;

	for (const struct why_sum *s = typical != NULL ? typical->first : NULL; s != NULL; s = s->next)
		all += s->ns;
	return took / 2 + (all > 0 && typical->n > 0 ? all / (int64_t)typical->n : 0);
}

void
why_put_verdict(struct why *w, struct out *o, const struct why_tree *t, struct why_sums *typical)
{
	struct verdict v = { .w = w };
	int64_t took = t->root->to - t->root->from, above = surely_above(typical, took);

	v.end = &v.first;
	tnf_out_memory(&v.text);
	tnf_map_init(&v.by_text, sizeof(struct group));
	why_sums_add(&v.causes, w, t);
	choose(&v.causes, typical);
	why_leaves(t, verdict_leaf, &v);
	for (;;) {
		struct group *best = NULL;

		for (struct group *g = v.first; g != NULL; g = g->next)
			if ((g->chosen || g->ns > above) && g->ns > 0 &&
			    (best == NULL || g->ns > best->ns))
				best = g;
		if (best == NULL)
			break;
		put_group_line(&v, o, best, took);
		why_sums_free(&best->details);
		best->ns = 0;
	}
	if (v.unknown * 50 > took)
		tnf_out_format(o, "Not known are %.1f %% of its time.\n",
		    100.0 * (double)v.unknown / (double)took);
	why_sums_free(&v.causes);
	tnf_map_free(&v.by_text);
	tnf_out_close(&v.text);
}

#define SLOW_MAX	1000u	/* explained of the slow ones */
#define ROWS_MAX	20u
#define CAUSE_WIDTH	52

static void
put_remarks(struct why_pairs *p, struct why *w, struct out *o)
{
	if (why_pairs_left_out(p) > 0)
		tnf_out_format(o, "%" PRIu64 " instances began before the trace is complete, and "
		    "are left out.\n", why_pairs_left_out(p));
	if (w->gaps > 0)
		tnf_out_format(o, "Events are missing in %" PRIu64 " places of the trace.\n",
		    w->gaps);
}

void
why_put_instance(struct why_pairs *p, struct out *o, const struct why_instance *in,
    const struct why_tree *t)
{
	struct why *w = why_pairs_index(p);
	size_t n;

	why_pairs_all(p, &n);
	tnf_out_bytes(o, in->name, why_bare_name(in->name));
	tnf_out_format(o, " %.3f ms, ", (double)in->took / 1e6);
	why_put_thread(w, o, in->thread, in->start.time, true);
	if (n >= 5)
		tnf_out_format(o, "; typical %.3f ms (%zu seen)\n",
		    (double)why_pairs_typical_took(p) / 1e6, n);
	else
		tnf_out_format(o, " (%zu seen, too few to tell what is typical)\n", n);
	if (why_has_kernel(w))
		why_put_verdict(w, o, t, n >= 5 ? why_pairs_typical(p) : NULL);
	put_remarks(p, w, o);
}

struct row {
	const char *text;
	int	 len;
	double	 typical, slow;		/* ms */
	uint64_t in;
};

static int
by_more(const void *x, const void *y)
{
	const struct row *a = x, *b = y;
	double more_a = a->slow - a->typical, more_b = b->slow - b->typical;

	return more_a > more_b ? -1 : more_a < more_b;
}

static void
put_row(struct out *o, const struct row *r, uint64_t of)
{
	/* A long one has a line of its own. */
	tnf_out_format(o, r->len > CAUSE_WIDTH ? "%.*s\n" : "%.*s", r->len, r->text);
	tnf_out_pad(o, r->len > CAUSE_WIDTH ? CAUSE_WIDTH : CAUSE_WIDTH - (unsigned)r->len);
	tnf_out_format(o, " %9.3f %9.3f %9.3f  %" PRIu64 "/%" PRIu64 "\n", r->typical, r->slow,
	    r->slow - r->typical, r->in, of);
}

/* Each cause of either, with its mean time in both. */
static struct row *
rows_of(struct why_sums *typical, struct why_sums *slow, size_t *n)
{
	struct row *row;

	for (struct why_sum *s = typical->first; s != NULL; s = s->next)
		why_sum_of(slow, s->text, s->len);
	row = tnf_xcalloc(slow->by_text.n + 1, sizeof(*row));
	*n = 0;
	for (struct why_sum *s = slow->first; s != NULL; s = s->next) {
		const struct why_sum *t = tnf_map_get(&typical->by_text, s->text, s->len);
		row[(*n)++] = (struct row){ s->text, (int)s->len,
		    t != NULL && typical->n > 0 ? (double)t->ns / (double)typical->n / 1e6 : 0,
		    slow->n > 0 ? (double)s->ns / (double)slow->n / 1e6 : 0, s->in };
	}
	qsort(row, *n, sizeof(*row), by_more);
	return row;
}

static void
put_rows(struct out *o, const struct row *row, size_t n, uint64_t of)
{
	struct row rest = { "(the rest)", 10, 0, 0, 0 };
	double all = 0;

	for (size_t i = 0; i < n; i++)
		all += row[i].slow + row[i].typical;

	out_lit(o, "cause                                                  typical      slow      more  in\n");
	for (size_t i = 0; i < n; i++)
		if (i < ROWS_MAX && row[i].slow + row[i].typical >= 0.005 * all)
			put_row(o, &row[i], of);
		else {
			rest.typical += row[i].typical;
			rest.slow += row[i].slow;
		}
	if (rest.typical + rest.slow >= 0.0005)
		tnf_out_format(o, "%-52s %9.3f %9.3f %9.3f\n", rest.text, rest.typical, rest.slow,
		    rest.slow - rest.typical);
}

static void
rows_json(struct out *o, const struct row *row, size_t n, uint64_t of)
{
	out_lit(o, ",\"causes\":[");
	for (size_t i = 0; i < n; i++) {
		out_str(o, i > 0 ? ",{\"cause\":" : "{\"cause\":");
		json_text(o, row[i].text, (size_t)row[i].len);
		tnf_out_format(o, ",\"typical_ms\":%.6f,\"slow_ms\":%.6f,\"in\":%" PRIu64
		    ",\"of\":%" PRIu64 "}", row[i].typical, row[i].slow, row[i].in, of);
	}
	out_lit(o, "]}\n");
}

/* Explains the slow ones; returns their mean in ms. */
static double
slow_sums(struct why_pairs *p, struct why_sums *slow, size_t first, size_t count)
{
	size_t n, take = count < SLOW_MAX ? count : SLOW_MAX;
	struct why_instance *const *all = why_pairs_all(p, &n);
	double took = 0;

	for (size_t i = 0; i < take; i++) {
		const struct why_instance *in = all[first + i * count / take];
		struct why_tree t = why_pairs_explain(p, in);
		why_sums_add(slow, why_pairs_index(p), &t);
		why_tree_free(&t);
		took += (double)in->took / 1e6;
	}
	return take > 0 ? took / (double)take : 0;
}

void
why_put_table(struct why_pairs *p, struct out *o, bool json)
{
	struct why_sums *typical = why_pairs_typical(p), slow = { 0 };
	size_t n, n_rows, first = why_pairs_slow(p);
	struct why_instance *const *all = why_pairs_all(p, &n);
	double mean = slow_sums(p, &slow, first, n - first);
	double middle = (double)why_pairs_typical_took(p) / 1e6;
	bool few = n - first < WHY_FEW;

	struct row *row = rows_of(typical, &slow, &n_rows);
	if (json) {
		out_lit(o, "{\"pair\":");
		json_name(o, all[0]->name);
		tnf_out_format(o, ",\"seen\":%zu,\"typical\":%" PRIu64 ",\"typical_ms\":%.6f,"
		    "\"slow\":%" PRIu64 ",\"slow_ms\":%.6f,\"few\":%s", n, typical->n, middle,
		    slow.n, mean, few ? "true" : "false");
		rows_json(o, row, n_rows, slow.n);
	} else {
		tnf_out_bytes(o, all[0]->name, why_bare_name(all[0]->name));
		tnf_out_format(o, ": %zu seen, %" PRIu64 " typical %.3f ms, %" PRIu64 " slow %.3f "
		    "ms%s\n", n, typical->n, middle, slow.n, mean,
		    few ? " (few: an anecdote)" : "");
		put_remarks(p, why_pairs_index(p), o);
		put_rows(o, row, n_rows, slow.n);
	}
	free(row);
	why_sums_free(&slow);
}
