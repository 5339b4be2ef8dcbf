/*
 * why-table.c - an instance with what is typical, and the table of causes.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "analysis/json.h"
#include "analysis/why-pairs.h"

#define SLOW_MAX	1000u	/* explained of the slow ones */
#define ROWS_MAX	20u
#define CAUSE_WIDTH	52

static void
put_remarks(struct why_pairs *p, struct why *w, struct out *o)
{
	if (why_pairs_left_out(p) > 0)
		tnf_out_format(o, "%" PRIu64 " instances began before the trace is complete, and "
		    "are left out.\n", why_pairs_left_out(p));
	if (why_gaps(w) > 0)
		tnf_out_format(o, "Events are missing in %" PRIu64 " places of the trace.\n",
		    why_gaps(w));
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
