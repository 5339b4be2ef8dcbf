/*
 * why-verdict.c - one sentence for each cause by which an instance is above typical.
 */
#include <inttypes.h>
#include <string.h>

#include "analysis/why-text.h"

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

/* Has a wait of this kind details, which are told behind its words? */
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
