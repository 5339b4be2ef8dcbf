/*
 * text.c - the output format that Solaris had, byte for byte, and fast.
 *
 * Text that is the same for each event of a probe (its name, the labels of its members) is
 * made once, and so is the thread's as long as it does not change.  The rest of a line goes
 * straight into the buffer.
 */
#include "tnfdump/text/columns.h"
#include "tnfdump/to/formats.h"

#define LINE16	"----------------"
#define LINE	LINE16 " " LINE16 " ----- ----- ---------- --- "	\
		"------------------------- ------------------------\n"

static const char header[] =
    LINE
    "    Elapsed (ms)       Delta (ms)   PID LWPID    TID     CPU "
    "Probe Name                Data / Description . . .\n"
    LINE;

/* Up to this time integers give the same digits as the original's doubles. */
#define EXACT_NS	4000000000000000LL

#define THREAD_MAX	96u	/* text of a thread and its CPU */

struct label {
	char	*text;
	size_t	 len;
};

struct line {			/* of a probe */
	struct label name;
	struct label *members;	/* " name: " */
};

struct state {
	struct perprobe lines;	/* struct line */
	char	     thread[THREAD_MAX];
	size_t	     thread_len;	/* 0: none yet */
	uint64_t     tid;
	uint32_t     lwpid;
	int32_t	     pid, cpu;
	bool	     kernel;
};

static void
text_put_string(struct dump *d, const char *s)
{
	if (s == NULL)
		print_null(&d->out);
	else
		print_quoted(&d->out, s, strlen(s));
}

static void
put_definitions(struct dump *d)
{
	unsigned i, n = tnf_stream_probes(d->stream);

	for (i = 0; i < n; i++) {
		const struct tnf_probe *p = tnf_stream_probe(d->stream, i);
		if (!p->defined)
			continue;
		out_lit(&d->out, "probe\t tnf_name: ");
		text_put_string(d, p->name);
		out_lit(&d->out, " tnf_string: ");
		text_put_string(d, p->attrs);
		out_char(&d->out, '\n');
	}
}

int
text_begin(struct dump *d)
{
	if (columns_definitions(d) && d->hosts != NULL)
		hosts_print(d);
	else if (columns_definitions(d))
		put_definitions(d);
	if (columns_wanted(d)) {
		d->output = &columns_output;
		return columns_begin(d);
	}
	d->state = tnf_xcalloc(1, sizeof(struct state));
	return 0;
}

/* Makes a label for out_made(): a name as print_chars() prints it, between two constants. */
static struct label
make_label(const struct dump *d, const char *before, const char *name,
    const char *behind)
{
	struct out m;
	struct label l;

	tnf_out_memory(&m);
	m.escape = d->out.escape;
	out_str(&m, before);
	print_name(&m, name);
	out_str(&m, behind);
	l.len = out_size(&m);
	l.text = tnf_xreallocarray(m.base, l.len + OUT_BEHIND, 1);
	return l;
}

static void
make_line(const struct dump *d, struct line *l, const struct tnf_probe *p)
{
	size_t n = strlen(p->name);

	l->name = make_label(d, "", p->name, n < 25 ?
	    &"                         "[n] : "");
	l->members = tnf_xcalloc(p->n_members, sizeof *l->members);
	for (unsigned i = 0; i < p->n_members; i++)
		l->members[i] = make_label(d, " ", p->members[i].name, ": ");
}

static const struct line *
text_line_of(const struct dump *d, const struct tnf_probe *p)
{
	struct line *l = perprobe(&((struct state *)d->state)->lines, p, sizeof(*l));

	if (l->name.text == NULL)
		make_line(d, l, p);
	return l;
}

static bool
same_thread(const struct state *s, const struct tnf_event *ev)
{
	return s->thread_len != 0 && s->tid == ev->tid &&
	    s->lwpid == ev->lwpid && s->pid == ev->pid &&
	    s->cpu == ev->cpu && s->kernel == ev->kernel;
}

static char *
put_hex(char *p, uint64_t v, unsigned width)
{
	unsigned n = 1, i;

	while (n < 16 && v >> 4 * n != 0)
		n++;
	for (i = n; i-- > 0;)
		*p++ = "0123456789abcdef"[v >> 4 * i & 15];
	for (; n < width; n++)
		*p++ = ' ';
	return p;
}

static char *
put_cpu(char *p, int32_t cpu)
{
	return cpu >= 0 ? digits_wide(p, (uint32_t)cpu, 3) :
	    p + sprintf(p, "%3d", cpu);
}

static void
set_thread(struct state *s, const struct tnf_event *ev)
{
	char *p = s->thread;

	*p++ = ' ';
	p = digits_wide(p, (uint32_t)ev->pid, 5);
	*p++ = ' ';
	p = digits_wide(p, ev->lwpid, 5);
	*p++ = ' ';
	if (ev->kernel) {
		*p++ = '0';
		*p++ = 'x';
		p = put_hex(p, ev->tid, 8);
		*p++ = ' ';
		p = put_cpu(p, ev->cpu);
	} else {
		p = digits_wide(p, ev->tid, 10);
		*p++ = ' ';
		p = ev->cpu >= 0 ? put_cpu(p, ev->cpu) : stpcpy(p, "  -");
	}
	*p++ = ' ';
	s->thread_len = (size_t)(p - s->thread);
	s->tid = ev->tid;
	s->lwpid = ev->lwpid;
	s->pid = ev->pid;
	s->cpu = ev->cpu;
	s->kernel = ev->kernel;
}

static char *
text_put_ms(char *p, int64_t ns)
{
	if (ns >= 0 && ns < EXACT_NS)
		return digits_ms16(p, (uint64_t)ns);
	return p + sprintf(p, "%16.6f", (double)ns / 1000000.0);
}

/* Prints the columns of fixed width. */
static void
put_columns(struct dump *d, const struct tnf_event *ev)
{
	struct state *s = d->state;

	if (!same_thread(s, ev))
		set_thread(s, ev);
	out_room(&d->out);
	char *p = text_put_ms(d->out.p, ev->time - d->first);
	*p++ = ' ';
	p = text_put_ms(p, ev->time - d->previous);
	memcpy(p, s->thread, THREAD_MAX);
	d->out.p = p + s->thread_len;
}

static void
text_put_member(struct dump *d, const struct tnf_event *ev,
    const struct tnf_value *v)
{
	struct out *o = &d->out;

	if (v->null) {
		print_null(o);
		return;
	}
	switch (v->kind) {
	case TNF_K_INT8: case TNF_K_INT16: case TNF_K_INT32: case TNF_K_INT64:
		out_room(o);
		if (v->u.i < 0)
			*o->p++ = '-';
		o->p = digits_u64(o->p, v->u.i < 0 ?
		    -(uint64_t)v->u.i : (uint64_t)v->u.i);
		break;
	case TNF_K_STRING:
		if (v->cut || v->type->blob)
			print_value(d, &d->out, ev, v);
		else
			print_quoted(&d->out, v->u.s.chars, v->u.s.len);
		break;
	default:
		print_value(d, &d->out, ev, v);
		break;
	}
}

int
text_event(struct dump *d, const struct tnf_event *ev)
{
	const struct line *l = text_line_of(d, ev->probe);
	struct tnf_value v;

	if (d->events == 0)
		out_lit(&d->out, header);
	put_columns(d, ev);
	out_made(&d->out, l->name.text, l->name.len);
	for (unsigned i = 0; tnf_event_value(ev, i, &v); i++) {
		out_made(&d->out, l->members[i].text, l->members[i].len);
		text_put_member(d, ev, &v);
	}
	out_char(&d->out, '\n');
	return 0;
}

static void
free_line(struct line *l, unsigned n_members)
{
	if (l->name.text == NULL)
		return;
	for (unsigned i = 0; i < n_members; i++)
		free(l->members[i].text);
	free(l->members);
	free(l->name.text);
}

int
text_end(struct dump *d)
{
	struct state *s = d->state;

	struct line *lines = (struct line *)(void *)s->lines.base;

	for (unsigned i = 0; i < s->lines.n && i < tnf_stream_probes(d->stream); i++)
		free_line(&lines[i], tnf_stream_probe(d->stream, i)->n_members);
	free(lines);
	free(s);
	return 0;
}
