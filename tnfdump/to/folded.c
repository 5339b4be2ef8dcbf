/*
 * folded.c - folded stacks, for flame graphs: "frame;frame;frame count".
 *
 * An event with a stack counts under its frames, the outermost first, between the process and the
 * probe.  Other events count as process;probe.
 */

#include "common/map.h"
#include "common/xalloc.h"
#include "tnfdump/hosts.h"
#include "tnfdump/origin.h"
#include "tnfdump/text/pretty.h"
#include "tnfdump/to/formats.h"

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

static void
folded_frames(struct folded *f, const struct tnf_event *ev)
{
	const char *names[FRAME_NAMES_MAX];
	struct frame frames[FRAMES_MAX];
	unsigned count = frames_of(f->d, ev, frames);

	for (unsigned i = 0; i < count; i++) {
		unsigned n = frame_names(f->d, ev, &frames[i], names);

		if (frames[i].cut)
			out_lit(&f->line, ";[more]");
		if (n == 0) {
			out_char(&f->line, ';');
			tnf_out_0x(&f->line, frames[i].pc);
		}
		for (unsigned k = 0; k < n; k++) {
			out_char(&f->line, ';');
			folded_frame(&f->line, names[k]);
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
	folded_frames(f, ev);
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
