/*
 * why-tree.c - an explanation as indented lines, and as JSON.
 */
#include <inttypes.h>

#include "analysis/json.h"
#include "analysis/why.h"

#define SHORT		200	/* pieces below one of so many parts are put together */
#define LEVELS		12	/* deeper ones are not printed */
#define RAN_MAX		16

struct printing {
	struct why *w;
	struct out *o;			/* the words of one line */
	int64_t	 least;
	why_line_fn *line;
	void	*arg;
};

/* Passes the words in p->o on. */
static void
emit(const struct printing *p, const struct why_node *n, int64_t ns, unsigned depth)
{
	const struct why_line line = { n, n->from, ns, depth, p->o->base,
	    (size_t)(p->o->p - p->o->base) };

	p->line(p->arg, &line);
	p->o->p = p->o->base;
}

struct ran {
	uint32_t thread;
	int64_t	 ns;
};

/* Adds up the children of READY by thread, the longest first; returns how many. */
static unsigned
ran_of(const struct why_node *n, struct ran ran[RAN_MAX])
{
	unsigned k, used = 0;

	for (const struct why_node *c = n->child; c != NULL; c = c->next) {
		for (k = 0; k < used && ran[k].thread != c->thread; k++)
			;
		if (k == RAN_MAX)
			continue;
		if (k == used)
			ran[used++] = (struct ran){ c->thread, 0 };
		ran[k].ns += c->to - c->from;
		for (; k > 0 && ran[k].ns > ran[k - 1].ns; k--) {
			struct ran swap = ran[k];
			ran[k] = ran[k - 1];
			ran[k - 1] = swap;
		}
	}
	return used;
}

static void
put_ready(const struct printing *p, const struct why_node *n)
{
	struct ran ran[RAN_MAX];
	unsigned used = ran_of(n, ran);

	if (n->child == NULL) {
		why_put_leaf(p->w, p->o, n, true);
		return;
	}
	out_lit(p->o, "runnable: CPU taken by");
	for (unsigned i = 0; i < used && i < 3; i++) {
		out_str(p->o, i > 0 ? ", " : " ");
		if (ran[i].thread == 0)
			out_lit(p->o, "nobody");
		else
			why_put_thread(p->w, p->o, ran[i].thread, n->from, true);
		if (used > 1)
			tnf_out_format(p->o, " %.3f ms", (double)ran[i].ns / 1e6);
	}
	if (used > 3)
		tnf_out_format(p->o, ", %u more", used - 3);
}

static void
put_node(const struct printing *p, const struct why_node *n)
{
	if (n->kind == WHY_READY)
		put_ready(p, n);
	else if (n->kind == WHY_ASLEEP && n->child != NULL && n->to - n->from >= p->least) {
		tnf_out_format(p->o, "waits for %s", why_thing(n));
		if (n->owner != 0 && n->owner != n->waker) {
			out_lit(p->o, " that ");
			why_put_thread(p->w, p->o, n->owner, n->from, true);
			out_lit(p->o, " has");
		}
		out_str(p->o, n->cause == WHY_MESSAGE ? ", sent by " : ", woken by ");
		why_put_thread(p->w, p->o, n->waker, n->to, true);
		out_lit(p->o, ", which");
	} else if (n->kind == WHY_QUEUED) {
		out_lit(p->o, "queued for ");
		why_put_thread(p->w, p->o, n->waker, n->to, true);
		out_lit(p->o, ", which");
	} else
		why_put_leaf(p->w, p->o, n, true);
	if (n->interrupts > 0)
		tnf_out_format(p->o, ", %.3f ms of it taken by interrupts", (double)n->interrupts / 1e6);
	if (n->where != NULL)
		tnf_out_format(p->o, " (%s)", n->where);
}

/* Short pieces in a row, up to *n, are one line. */
static const struct why_node *
put_short(const struct printing *p, const struct why_node *n, unsigned depth)
{
	const struct why_node *first = n;
	int64_t by[4] = { 0 }, to = n->from;
	static const char *const name[] = { "on the CPU", "runnable", "asleep", "other" };
	unsigned count = 0;
	const char *between = ": ";

	for (; n != NULL && n->to - n->from < p->least; n = n->next, count++) {
		by[n->kind == WHY_RUN ? 0 : n->kind == WHY_READY ? 1 : n->kind == WHY_ASLEEP ? 2 : 3]
		    += n->to - n->from;
		to = n->to;
	}
	tnf_out_format(p->o, "%u short pieces", count);
	for (unsigned i = 0; i < 4; i++)
		if (by[i] > 0) {
			tnf_out_format(p->o, "%s%s %.3f ms", between, name[i], (double)by[i] / 1e6);
			between = ", ";
		}
	emit(p, first, to - first->from, depth);
	return n;
}

static void
put_children(const struct printing *p, const struct why_node *n, unsigned depth)
{
	while (n != NULL) {
		if (n->to - n->from < p->least && n->next != NULL &&
		    n->next->to - n->next->from < p->least) {
			n = put_short(p, n, depth);
			continue;
		}
		put_node(p, n);
		emit(p, n, n->to - n->from, depth);
		if (n->kind != WHY_READY && n->child != NULL && depth < LEVELS &&
		    n->to - n->from >= p->least)
			put_children(p, n->child, depth + 1);
		n = n->next;
	}
}

void
why_lines(struct why *w, const struct why_tree *t, why_line_fn *line, void *arg)
{
	struct out words;
	const struct printing p = { w, &words, (t->root->to - t->root->from) / SHORT, line, arg };

	tnf_out_memory(&words);
	put_children(&p, t->root->child, 0);
	tnf_out_close(&words);
}

struct text {
	struct out *o;
	int64_t	 zero;
};

static void
put_line(void *arg, const struct why_line *l)
{
	const struct text *t = arg;

	tnf_out_format(t->o, "%8.3f %8.3f ", (double)(l->from - t->zero) / 1e6, (double)l->ns / 1e6);
	tnf_out_pad(t->o, 2 * l->depth);
	tnf_out_bytes(t->o, l->text, l->len);
	out_char(t->o, '\n');
}

void
why_put_tree(struct why *w, struct out *o, const struct why_tree *t, int64_t zero)
{
	struct text text = { o, zero };

	out_lit(o, "   at ms       ms\n");
	why_lines(w, t, put_line, &text);
}

static void
json_thread(struct why *w, struct out *o, const char *name, uint32_t id, int64_t time)
{
	const struct why_thread *t = why_thread(w, id);

	if (t == NULL)
		return;
	tnf_out_format(o, "\"%s\":{\"pid\":%" PRId32 ",\"lwpid\":%" PRIu32 ",\"name\":", name,
	    t->pid, t->lwpid);
	json_name(o, why_name(w, id, time));
	out_lit(o, "},");
}

static void
json_io(struct why *w, struct out *o, const struct why_node *n)
{
	const struct why_request *r = why_request(w, n);
	uint32_t most;

	if (r == NULL)
		return;
	out_lit(o, "\"io\":{\"disk\":");
	json_name(o, why_disk(w, n));
	tnf_out_format(o, ",\"block\":%" PRIu64 ",\"size\":%" PRIu32 ",\"ahead\":%u,", r->block,
	    r->size, why_ahead(w, n, &most));
	json_thread(w, o, "most", most, n->from);
	json_thread(w, o, "by", r->thread, r->start);
	o->p--;			/* the last comma */
	out_lit(o, "},");
}

static void
json_ran(struct why *w, struct out *o, const struct why_node *n)
{
	struct ran ran[RAN_MAX];
	unsigned used = ran_of(n, ran);

	out_lit(o, "\"ran\":[");
	for (unsigned i = 0; i < used; i++) {
		out_str(o, i > 0 ? ",{" : "{");
		json_thread(w, o, "thread", ran[i].thread, n->from);
		tnf_out_format(o, "\"ns\":%" PRId64 "}", ran[i].ns);
	}
	out_lit(o, "],");
}

static void
json_node(struct why *w, struct out *o, const struct why_node *n)
{
	out_char(o, '{');
	json_thread(w, o, "thread", n->thread, n->from);
	tnf_out_format(o, "\"from\":%" PRId64 ",\"to\":%" PRId64 ",\"kind\":\"%s\",\"reason\":",
	    n->from, n->to, why_kind_name(n->kind));
	json_name(o, why_reason_name(n));
	out_lit(o, ",\"where\":");
	json_name(o, n->where);
	out_char(o, ',');
	json_thread(w, o, "waker", n->waker, n->to);
	json_thread(w, o, "owner", n->owner, n->from);
	json_io(w, o, n);
	if (n->kind == WHY_READY)
		json_ran(w, o, n);
	if (n->kind == WHY_RUN)
		tnf_out_format(o, "\"interrupts\":%" PRId64 ",", n->interrupts);
	out_lit(o, "\"children\":[");
	for (const struct why_node *c = n->kind == WHY_READY ? NULL : n->child; c != NULL; c = c->next) {
		json_node(w, o, c);
		out_str(o, c->next != NULL ? "," : "");
	}
	out_lit(o, "]}");
}

void
why_put_json(struct why *w, struct out *o, const struct why_tree *t)
{
	json_node(w, o, t->root);
}
