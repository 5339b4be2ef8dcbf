/*
 * csv.c - comma-separated values (RFC 4180), one row an event.
 *
 * The columns are fixed, so that rows of different probes go into one table; the last
 * column has the arguments as one JSON object.
 */

#include "analysis/json.h"
#include "analysis/timespec.h"
#include "common/text.h"
#include "common/xalloc.h"
#include "tnfdump/hosts.h"
#include "tnfdump/origin.h"
#include "tnfdump/text/columns.h"
#include "tnfdump/text/pretty.h"
#include "tnfdump/text/print.h"
#include "tnfdump/to/formats.h"

struct csv {
	struct dump	*d;
	struct out	*o;
	struct out	 args;		/* the JSON of one row, before quoting */
};

int
csv_begin(struct dump *d)
{
	struct csv *c = tnf_xcalloc(1, sizeof(*c));

	tnf_out_memory(&c->args);
	c->d = d;
	c->o = &d->out;
	if (!columns_no_header(d))
		out_str(c->o, d->hosts == NULL ?
		    "time_ns,elapsed_ns,wall,pid,lwpid,tid,cpu,comm,probe,keys,args,cgroup\r\n" :
		    "time_ns,elapsed_ns,wall,pid,lwpid,tid,cpu,comm,probe,keys,args,cgroup,host,unordered\r\n");
	d->state = c;
	return 0;
}

/* Writes a field, quoted if it holds separators, quotes or line ends. */
static void
csv_field(struct csv *c, const char *s, size_t n)
{
	struct out *o = c->o;
	const char *end = s + n, *part;
	bool quote = false;

	for (size_t i = 0; i < n && !quote; i++)
		quote = s[i] == '"' || s[i] == ',' || s[i] == '\n' || s[i] == '\r';
	if (!quote) {
		print_chars(c->o, s, n);
		return;
	}
	out_char(o, '"');
	/* A fast path for the usual case: no terminal and a short text. */
	if (!o->escape && n <= OUT_MARGIN / 4) {
		for (; s < end; s++) {
			*o->p++ = *s;
			if (*s == '"')
				*o->p++ = '"';
		}
		out_char(o, '"');
		return;
	}
	for (; s < end; s = part + 1) {
		if ((part = memchr(s, '"', (size_t)(end - s))) == NULL)
			part = end;
		print_chars(c->o, s, (size_t)(part - s));
		if (part < end)
			out_lit(o, "\"\"");
		else
			break;
	}
	out_char(o, '"');
}

static void
csv_args(struct csv *c, const struct tnf_event *ev)
{
	c->args.p = c->args.base;
	out_char(&c->args, '{');
	print_json(c->d, &c->args, ev, NULL, NULL);
	out_char(&c->args, '}');
	csv_field(c, c->args.base, out_size(&c->args));
}

/* Writes a text that is not UTF-8 with each byte as a character, so that the whole file is
   UTF-8. */
static void
csv_bytes(struct csv *c, const char *s)
{
	struct out *o = &c->args;

	o->p = o->base;
	for (; *s != '\0'; s++) {
		unsigned char b = (unsigned char)*s;

		if (b >= 0x80)
			out_char(o, (char)(0xc0 | b >> 6));
		out_char(o, (char)(b >= 0x80 ? 0x80 | (b & 0x3f) : b));
	}
	csv_field(c, o->base, out_size(o));
}

static void
csv_text(struct csv *c, const char *s)
{
	if (s != NULL && tnf_utf8_is_valid(s, strlen(s)))
		csv_field(c, s, strlen(s));
	else if (s != NULL)
		csv_bytes(c, s);
	out_char(c->o, ',');
}

static void
csv_times(struct csv *c, const struct tnf_event *ev)
{
	int64_t wall;

	tnf_out_i64(c->o, ev->time);
	out_char(c->o, ',');
	tnf_out_i64(c->o, ev->time - c->d->first);
	out_char(c->o, ',');
	if (origin_clock(c->d, ev->file, &wall))
		wall_utc(c->o, wall + ev->time);
	out_char(c->o, ',');
}

int
csv_event(struct dump *d, const struct tnf_event *ev)
{
	struct csv *c = d->state;
	struct out *o = c->o;
	const char *cgroup;

	csv_times(c, ev);
	tnf_out_i64(o, ev->pid);
	out_char(o, ',');
	tnf_out_u64(o, ev->lwpid);
	out_char(o, ',');
	if (ev->kernel) {
		tnf_out_0x(o, ev->tid);
	} else
		tnf_out_u64(o, ev->tid);
	out_char(o, ',');
	if (ev->cpu >= 0)
		tnf_out_i64(o, ev->cpu);
	out_char(o, ',');
	csv_text(c, origin_comm(c->d, ev));
	csv_text(c, ev->probe->name);
	csv_text(c, ev->probe->keys);
	csv_args(c, ev);
	out_char(o, ',');
	if ((cgroup = origin_cgroup(c->d, ev)) != NULL)
		csv_field(c, cgroup, strlen(cgroup));
	if (d->hosts != NULL) {
		out_char(o, ',');
		csv_text(c, host_name(d, ev));
		out_char(o, d->unordered ? '1' : '0');
	}
	out_lit(o, "\r\n");
	return o->error != 0 || c->args.error != 0 ? -1 : 0;
}

int
csv_end(struct dump *d)
{
	struct csv *c = d->state;

	tnf_out_close(&c->args);
	free(c);
	return 0;
}
