/*
 * report-tree.c - --tree: events indented by level and nesting.
 *
 * Levels are application, system call, kernel, interrupt.  Within a level, events between a
 * start and its end are one step further in, if the trace has the probe of such an end at all.
 * The line of an end has the duration in brackets.
 */
#include "tnfdump/report/report.h"
#include "tnfdump/to/formats.h"

#define DEPTH_MAX	40u
#define STEP		2u

/* The key of a thread's depth; it has the file, as containers use the same numbers again. */
struct who {
	const struct tnf_file *file;
	int32_t	 pid;
	uint32_t lwpid;
};

struct tree {
	struct dump	*d;
	struct map	 depths;	/* by struct who: unsigned */
	struct who	 last;		/* writer of the last event, and its depth */
	unsigned	*last_depth;
};

int
tree_begin(struct dump *d)
{
	struct tree *t = tnf_xcalloc(1, sizeof(*t));

	t->d = d;
	tnf_map_init(&t->depths, sizeof(unsigned));
	/* Functions are often traced without their returns: their entries are points. */
	if (d->follow == NULL)
		pairs_complete(reports_pairs(d));
	else
		reports_pairs(d);
	out_lit(&d->out, "    Elapsed (ms)    PID  LWPID CPU Event\n");
	d->state = t;
	return 0;
}

static unsigned *
depth_of(struct tree *t, const struct tnf_event *ev)
{
	struct who who = { ev->file, ev->pid, ev->lwpid };

	if (t->last_depth == NULL || memcmp(&who, &t->last, sizeof(who)) != 0) {
		t->last = who;
		t->last_depth = tnf_xmap_put(&t->depths, &who, sizeof(who), NULL);
	}
	return t->last_depth;
}

static void
pretty_args(struct dump *d, const struct tnf_event *ev)
{
	struct tnf_value v;

	for (unsigned i = 0; tnf_event_value(ev, i, &v); i++) {
		const char *name = ev->probe->members[i].name;
		out_char(&d->out, ' ');
		print_name(&d->out, name);
		out_lit(&d->out, ": ");
		pretty_value(d, &d->out, ev, &v, name);
	}
}

static void
put_args(struct dump *d, const struct tnf_event *ev)
{
	if (d->pretty) {
		pretty_args(d, ev);
	} else if (ev->probe->n_members > 0) {
		out_lit(&d->out, " {");
		print_json(d, &d->out, ev, NULL, NULL);
		out_char(&d->out, '}');
	}
}

static void
report_tree_line(struct tree *t, const struct tnf_event *ev, unsigned depth, int64_t took)
{
	struct out *o = &t->d->out;

	print_when_and_who(t->d, o, ev);
	tnf_out_pad(o, 1 + STEP * (attrs_level(ev) + (depth < DEPTH_MAX ? depth : DEPTH_MAX)));
	print_name(&t->d->out, ev->probe->name);
	put_args(t->d, ev);
	if (took >= 0) {
		out_lit(o, " [");
		tnf_out_us(o, took);
		out_lit(o, " usec]");
	}
	out_char(o, '\n');
}

int
tree_event(struct dump *d, const struct tnf_event *ev)
{
	struct tree *t = d->state;
	unsigned *depth = depth_of(t, ev);
	struct pair_slice s;
	enum pair_role role = pairs_feed(t->d->pairs, ev, d->keep, &s);
	bool ended = role == PAIR_END && s.rule != NULL;
	bool nests = role != PAIR_NONE && s.rule != NULL && !s.rule->async && s.start_kept;

	if (nests && ended && *depth > 0)
		--*depth;
	if (d->keep == KEEP_ALL)
		report_tree_line(t, ev, *depth, ended ? s.duration : -1);
	if (nests && role == PAIR_START)
		++*depth;
	return t->d->out.error != 0 ? -1 : 0;
}

int
tree_end(struct dump *d)
{
	struct tree *t = d->state;

	tnf_map_free(&t->depths);
	free(t);
	return 0;
}
