/*
 * folded.c - folded stacks, for flame graphs: "frame;frame;frame count".
 *
 * An event with a stack (an array of symbols) counts under its frames, the outermost first,
 * below the process and the probe.  Other events count as process;probe.
 */

#include "analysis/pretty-names.h"
#include "common/map.h"
#include "common/xalloc.h"
#include "tnfdump/hosts.h"
#include "tnfdump/origin.h"
#include "tnfdump/text/print.h"
#include "tnfdump/to/formats.h"

#define FRAMES_MAX	128u

struct stack {
	struct stack	*next;		/* next in order of first sight */
	uint64_t	 count;
	size_t		 len;		/* of its text: the key */
};

struct folded {
	struct dump	*d;
	struct out	 line;		/* the stack of one event */
	struct map	 stacks;	/* by text: struct stack */
	struct stack	*first, **end;
};

int
folded_begin(struct dump *d)
{
	struct folded *f = tnf_xcalloc(1, sizeof(*f));

	tnf_out_memory(&f->line);
	tnf_map_init(&f->stacks, sizeof(struct stack));
	f->end = &f->first;
	f->d = d;
	d->state = f;
	return 0;
}

/* Writes a frame; ';', blanks and newlines become '_', since they are separators. */
static void
folded_frame(struct out *o, const char *s)
{
	for (; *s != '\0'; s++)
		out_char(o, *s == ';' || *s == ' ' || *s == '\n' ? '_' : *s);
}

/* True if kernel stacks begin at the function. */
static bool
is_root(const char *name)
{
	static const char *const roots[] = { "entry_", "asm_", "ret_from_fork",
	    "common_startup", "secondary_startup", "start_", "x86_64_start" };

	for (size_t i = 0; i < sizeof(roots) / sizeof(*roots); i++)
		if (strncmp(name, roots[i], strlen(roots[i])) == 0)
			return true;
	return false;
}

/* Writes "[more]" if a kernel stack was cut at the maximum depth: the callers of its
   outermost frame are not known. */
static void
mark_cut(struct folded *f, const struct tnf_event *ev, uint64_t outmost)
{
	uint64_t offset;

	if (!ev->kernel || outmost >> 63 == 0)
		return;
	const char *s = origin_place(f->d, ev, outmost, &offset);
	if (s != NULL && !is_root(s))
		out_lit(&f->line, ";[more]");
}

static void
folded_address(struct folded *f, const struct tnf_event *ev, uint64_t addr)
{
	uint64_t offset;
	const char *s = origin_place(f->d, ev, addr, &offset);

	out_char(&f->line, ';');
	if (s != NULL) {
		folded_frame(&f->line, s);
		return;
	}
	tnf_out_0x(&f->line, addr);
}

static void
stack_frames(struct folded *f, const struct tnf_event *ev)
{
	struct tnf_value v, item;
	bool first = true;

	for (unsigned i = 0; i < ev->probe->n_members; i++) {
		if (!tnf_event_value(ev, i, &v) || v.null ||
		    v.kind != TNF_K_ARRAY)
			continue;
		uint32_t n = v.u.r.count < FRAMES_MAX ? v.u.r.count : FRAMES_MAX;
		while (n-- > 0)
			if (tnf_value_item(ev->file, &v, n, &item) &&
			    pretty_kind(item.type, NULL) == PRETTY_SYMBOL &&
			    item.u.u != 0) {
				if (first)
					mark_cut(f, ev, item.u.u);
				first = false;
				folded_address(f, ev, item.u.u);
			}
	}
}

static void
folded_count(struct folded *f)
{
	size_t len = out_size(&f->line);
	bool fresh;
	struct stack *s = tnf_xmap_put(&f->stacks, f->line.base, len, &fresh);

	s->count++;
	if (!fresh)
		return;
	s->len = len;
	*f->end = s;
	f->end = &s->next;
}

int
folded_event(struct dump *d, const struct tnf_event *ev)
{
	struct folded *f = d->state;
	const char *comm = origin_process(f->d, ev);

	if (comm == NULL)
		comm = origin_comm(f->d, ev);
	f->line.p = f->line.base;
	if (d->hosts != NULL) {
		folded_frame(&f->line, host_name(d, ev));
		out_char(&f->line, ';');
	}
	if (comm != NULL)
		folded_frame(&f->line, comm);
	else {
		out_lit(&f->line, "pid_");
		tnf_out_i64(&f->line, ev->pid);
	}
	stack_frames(f, ev);
	out_char(&f->line, ';');
	folded_frame(&f->line, ev->probe->name);
	folded_count(f);
	return 0;
}

int
folded_end(struct dump *d)
{
	struct folded *f = d->state;
	struct out *o = &f->d->out;

	for (const struct stack *s = f->first; s != NULL; s = s->next) {
		print_chars(&f->d->out, tnf_map_key(&f->stacks, s), s->len);
		out_char(o, ' ');
		tnf_out_u64(o, s->count);
		out_char(o, '\n');
	}
	tnf_map_free(&f->stacks);
	tnf_out_close(&f->line);
	free(f);
	return 0;
}
