/*
 * calls.c - --calls: a line for each system call, with arguments, result and duration.
 *
 * A line is printed at the end of its call; calls that have no end in the trace follow at the
 * end of the output: exit(2) is one.
 */
#include <stdlib.h>
#include <string.h>

#include "common/map.h"
#include "common/xalloc.h"
#include "tnfdump/origin.h"
#include "tnfdump/text/pretty.h"
#include "tnfdump/to/formats.h"

/* The key of a thread; it has the file, as containers use the same numbers again. */
struct who {
	const struct tnf_file *file;
	uint64_t tid;
};

struct open_call {
	struct call call;		/* its texts are its own */
	struct tnf_event start;		/* of its probe only what tells the thread */
	bool	 open;
	bool	 kept;			/* by the filters */
	char	*comm;			/* or NULL */
};

struct calls {
	struct map open;		/* by struct who: struct open_call */
};

int
calls_begin(struct dump *d)
{
	struct calls *s = tnf_xcalloc(1, sizeof(*s));

	tnf_map_init(&s->open, sizeof(struct open_call));
	d->state = s;
	out_lit(&d->out, "    Elapsed (ms)   PID  LWPID Program         System call\n");
	return 0;
}

static struct open_call *
open_call_of(struct calls *s, const struct tnf_event *ev)
{
	struct who who;

	memset(&who, 0, sizeof(who));
	who.file = ev->file;
	who.tid = ev->tid;
	return tnf_xmap_put(&s->open, &who, sizeof(who), NULL);
}

static void
forget(struct open_call *c)
{
	for (unsigned i = 0; i < CALL_ARGUMENTS; i++)
		free((char *)c->call.text[i].chars);
	free(c->comm);
	memset(c, 0, sizeof(*c));
}

/* Prints a call; took < 0: it has no end. */
static void
put_call(struct dump *d, const struct open_call *c, int64_t value, int64_t error, int64_t took)
{
	struct out *o = &d->out;
	const char *comm = c->comm != NULL ? c->comm : "-";
	size_t n = strlen(comm);

	tnf_out_ms(o, c->start.time - d->first, 16);
	tnf_out_format(o, " %5d %6u ", c->start.pid, c->start.lwpid);
	print_name(o, comm);
	tnf_out_pad(o, n < 15 ? 16 - (unsigned)n : 1);
	call_put(o, &c->call);
	out_lit(o, " = ");
	if (took < 0) {
		out_lit(o, "?\n");
		return;
	}
	call_put_result(o, &c->call, value, error);
	tnf_out_format(o, " <%lld.%09lld>\n", (long long)(took / 1000000000),
	    (long long)(took % 1000000000));
}

/* The call that the thread was in has no end in the trace. */
static void
leave(struct dump *d, struct open_call *c)
{
	if (c->open && c->kept)
		put_call(d, c, 0, 0, -1);
	forget(c);
}

static void
begin_call(struct dump *d, const struct tnf_event *ev, const struct call *read)
{
	struct open_call *c = open_call_of(d->state, ev);
	const char *comm;
	bool kept = d->keep == KEEP_ALL;

	/* syscall_start and syscall_args of one call come one after the other. */
	if (c->open && (c->call.number != read->number || c->call.known == read->known))
		leave(d, c);
	kept |= c->open && c->kept;
	if (!c->open || read->known) {
		struct tnf_event start = c->open ? c->start : *ev;

		forget(c);
		c->call = *read;
		c->start = start;
		for (unsigned i = 0; i < CALL_ARGUMENTS; i++)
			if (read->text[i].chars != NULL)
				c->call.text[i].chars = tnf_xstrndup(read->text[i].chars,
				    read->text[i].len);
		comm = origin_comm(d, ev);
		c->comm = comm != NULL ? tnf_xstrdup(comm) : NULL;
	}
	c->open = true;
	c->kept = kept;
}

static void
end_call(struct dump *d, const struct tnf_event *ev)
{
	struct open_call *c = open_call_of(d->state, ev);
	int64_t value = 0, error = 0;
	struct tnf_value v;

	if (!c->open)
		return;
	for (unsigned i = 0; tnf_event_value(ev, i, &v); i++) {
		if (strcmp(ev->probe->members[i].name, "rval1") == 0)
			value = v.u.i;
		else if (strcmp(ev->probe->members[i].name, "errno") == 0)
			error = v.u.i;
	}
	if (c->kept)
		put_call(d, c, value, error, ev->time - c->start.time);
	forget(c);
}

int
calls_event(struct dump *d, const struct tnf_event *ev)
{
	struct call call;

	if (call_read(ev, &call))
		begin_call(d, ev, &call);
	else if (ev->kernel && strcmp(ev->probe->name, "syscall_end") == 0)
		end_call(d, ev);
	return 0;
}

static int
compare_starts(const void *a, const void *b)
{
	const struct open_call *const *x = a, *const *y = b;

	return (*x)->start.time < (*y)->start.time ? -1 : (*x)->start.time > (*y)->start.time;
}

int
calls_end(struct dump *d)
{
	struct calls *s = d->state;
	struct open_call **list = tnf_xcalloc(s->open.n + 1, sizeof(struct open_call *)), *c;
	size_t at = 0, n = 0;

	while ((c = tnf_map_next(&s->open, &at, NULL, NULL)) != NULL)
		list[n++] = c;
	qsort(list, n, sizeof(struct open_call *), compare_starts);
	for (size_t i = 0; i < n; i++)
		leave(d, list[i]);
	free(list);
	tnf_map_free(&s->open);
	free(s);
	return 0;
}
