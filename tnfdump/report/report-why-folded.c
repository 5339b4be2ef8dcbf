/*
 * report-why-folded.c - --why --to folded: a flame graph of the waits, and one of the CPU.
 */
#include "analysis/why-pairs.h"
#include "tnfdump/report/reports.h"
#include "tnfdump/text/print.h"

struct folding {
	struct why *w;
	struct why_sums sums;
	struct out line, frame;
	const char *pair;
};

/* Ends the frame: blanks and semicolons separate in this format. */
static void
put_frame(struct folding *f)
{
	out_char(&f->line, ';');
	for (const char *p = f->frame.base; p < f->frame.p; p++)
		out_char(&f->line, *p == ';' || *p == ' ' || *p == '\n' ? '_' : *p);
	f->frame.p = f->frame.base;
}

static void
fold_leaf(void *arg, const struct why_node *const *path, unsigned n)
{
	const struct why_node *leaf = path[n - 1];
	struct folding *f = arg;
	bool runs = leaf->kind == WHY_RUN;

	f->line.p = f->line.base;
	out_str(&f->line, f->pair);
	out_str(&f->frame, runs ? "on the CPU" : "waits");
	put_frame(f);
	for (unsigned i = 0; i < n; i++) {
		if (path[i]->kind == WHY_TAKEN)
			continue;
		why_put_thread(f->w, &f->frame, path[i]->thread, path[i]->from, false);
		put_frame(f);
		if (i + 1 < n && path[i]->kind != WHY_READY) {
			out_str(&f->frame, path[i]->kind == WHY_QUEUED ? "queued" :
			    why_reason_name(path[i]));
			put_frame(f);
		}
	}
	why_put_leaf(f->w, &f->frame, leaf, runs);
	put_frame(f);
	why_sum_of(&f->sums, f->line.base, (size_t)(f->line.p - f->line.base))->ns +=
	    leaf->to - leaf->from;
}

void
why_fold(struct why_pairs *p, struct dump *d, size_t max)
{
	struct folding f = { .w = why_pairs_index(p) };
	size_t n;

	struct why_instance *const *all = why_pairs_all(p, &n);
	tnf_out_memory(&f.line);
	tnf_out_memory(&f.frame);
	f.pair = all[0]->name;
	for (size_t i = 0, take = n < max ? n : max; i < take; i++) {
		struct why_tree t = why_pairs_explain(p, all[i * n / take]);
		why_leaves(&t, fold_leaf, &f);
		why_tree_free(&t);
	}
	for (const struct why_sum *s = f.sums.first; s != NULL; s = s->next) {
		print_chars(&d->out, s->text, s->len);
		out_char(&d->out, ' ');
		tnf_out_u64(&d->out, (uint64_t)s->ns);
		out_char(&d->out, '\n');
	}
	why_sums_free(&f.sums);
	tnf_out_close(&f.line);
	tnf_out_close(&f.frame);
}
