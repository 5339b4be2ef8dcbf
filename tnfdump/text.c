/*
 * text.c - the output format that Solaris had, byte for byte.
 */
#include <stdio.h>

#include "tnfdump/print.h"
#include "tnfdump/text.h"

#define LINE16	"----------------"
#define LINE	LINE16 " " LINE16 " ----- ----- ---------- --- "	\
		"------------------------- ------------------------\n"

static const char header[] =
    LINE
    "    Elapsed (ms)       Delta (ms)   PID LWPID    TID     CPU "
    "Probe Name                Data / Description . . .\n"
    LINE;

/* Up to here integers give the digits that the original's doubles gave. */
#define EXACT_NS	4000000000000000LL

static void
put_ms(struct out *o, int64_t ns)
{
	char buf[40];

	if (ns > -EXACT_NS && ns < EXACT_NS)
		out_ms(o, ns, 16);
	else {
		snprintf(buf, sizeof buf, "%16.6f", (double)ns / 1000000.0);
		out_str(o, buf);
	}
}

static void
put_string(struct dump *d, const char *s)
{
	if (s == NULL)
		print_null(&d->out);
	else
		print_quoted(d, s, strlen(s));
}

int
text_begin(struct dump *d)
{
	const struct tnf_probe *p;
	unsigned i, n = tnf_stream_probes(d->stream);

	for (i = 0; i < n; i++) {
		p = tnf_stream_probe(d->stream, i);
		if (!p->defined)
			continue;
		out_lit(&d->out, "probe\t tnf_name: ");
		put_string(d, p->name);
		out_lit(&d->out, " tnf_string: ");
		put_string(d, p->attrs);
		out_char(&d->out, '\n');
	}
	return 0;
}

static void
put_thread(struct out *o, const struct tnf_event *ev)
{
	out_char(o, ' ');
	out_u64_width(o, (uint32_t)ev->pid, 5);
	out_char(o, ' ');
	out_u64_width(o, ev->lwpid, 5);
	out_char(o, ' ');
	if (!ev->kernel) {
		out_u64_width(o, ev->tid, 10);
		out_lit(o, "   - ");
		return;
	}
	print_hex_left(o, ev->tid, 8);
	out_char(o, ' ');
	if (ev->cpu >= 0)
		out_u64_width(o, (uint64_t)ev->cpu, 3);
	else {
		if (ev->cpu > -10)
			out_char(o, ' ');
		out_i64(o, ev->cpu);
	}
	out_char(o, ' ');
}

int
text_event(struct dump *d, const struct tnf_event *ev)
{
	struct out *o = &d->out;
	struct tnf_value v;
	unsigned i;
	size_t n;

	if (d->events == 0)
		out_lit(o, header);
	put_ms(o, ev->time - d->first);
	out_char(o, ' ');
	put_ms(o, ev->time - d->previous);
	put_thread(o, ev);
	n = strlen(ev->probe->name);
	print_chars(d, ev->probe->name, n);
	if (n < 25)
		out_pad(o, 25 - (unsigned)n);
	for (i = 0; tnf_event_value(ev, i, &v); i++) {
		const char *name = ev->probe->members[i].name;

		out_char(o, ' ');
		print_chars(d, name, strlen(name));
		out_lit(o, ": ");
		print_value(d, ev->file, &v);
	}
	out_char(o, '\n');
	return 0;
}

int
text_end(struct dump *d)
{
	return 0;
}
