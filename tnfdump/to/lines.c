/*
 * lines.c - an event a line: JSON lines, and comma-separated values (RFC 4180).
 *
 * The first JSON line is about the files.  The columns of CSV are fixed, so that rows of different
 * probes go into one table; the last column has the arguments as one JSON object.
 */
#include "analysis/timespec.h"
#include "common/text.h"
#include "format/core.h"
#include "tnfdump/text/columns.h"
#include "tnfdump/to/formats.h"

struct jsonl {
	struct dump	*d;
	struct out	*o;
	struct perthread who;		/* formats_thread(): ,"pid":... */
	struct perprobe	 middle;	/* formats_once(): ,"probe":...,"args":{ */
	bool		 started;
};

int
jsonl_begin(struct dump *d)
{
	struct jsonl *j = tnf_xcalloc(1, sizeof(*j));

	j->d = d;
	j->o = &d->out;
	d->state = j;
	return 0;
}

static void
jsonl_fact(struct jsonl *j, const struct tnf_file *f, const char *name)
{
	const char *s = origin_fact(j->d, f, name);

	if (s == NULL)
		return;
	json_key(j->o, name);
	json_cstring(j->o, s);
}

/* Writes the machines of --hosts with the offsets and errors of their clocks. */
static void
jsonl_hosts(struct jsonl *j)
{
	unsigned n;

	const struct host *h = hosts_list(j->d, &n);
	out_lit(j->o, ",\"hosts\":[");
	for (unsigned i = 0; i < n; i++) {
		out_str(j->o, i > 0 ? ",{\"host\":" : "{\"host\":");
		json_cstring(j->o, h[i].name);
		tnf_out_format(j->o, ",\"offset_ns\":%" PRId64 ",\"error_ns\":%" PRId64
		    ",\"clock\":", h[i].offset, h[i].error);
		json_cstring(j->o, h[i].source);
		tnf_out_format(j->o, ",\"moved_ns\":%" PRId64 "}", h[i].moved);
	}
	out_char(j->o, ']');
}

/* Writes {"tnf":1,"file":...} with facts of the first file. */
static void
jsonl_header(struct jsonl *j, const struct tnf_file *f)
{
	const struct tnf_ext *x = tnf_file_ext(f);
	char boot[TNF_BOOT_ID_TEXT];

	out_lit(j->o, "{\"tnf\":1,\"file\":");
	json_cstring(j->o, tnf_file_name(f));
	if (x != NULL) {
		tnf_boot_id_text(x->boot_id, boot);
		out_lit(j->o, ",\"boot_id\":");
		json_cstring(j->o, boot);
	}
	jsonl_fact(j, f, "host");
	jsonl_fact(j, f, "release");
	jsonl_fact(j, f, "machine");
	jsonl_fact(j, f, "cpus");
	if (j->d->hosts != NULL)
		jsonl_hosts(j);
	out_lit(j->o, "}\n");
}

static void
make_middle(struct out *o, const struct tnf_probe *p)
{
	json_probe(o, p);
	out_lit(o, ",\"args\":{");
}

static void
jsonl_host(struct dump *d, struct out *o, const struct tnf_event *ev)
{
	uint32_t lwpid;
	int32_t pid;

	origin_host(d, ev, &pid, &lwpid);
	if (pid == ev->pid && lwpid == ev->lwpid)
		return;
	out_lit(o, ",\"host_pid\":");
	tnf_out_i64(o, pid);
	out_lit(o, ",\"host_lwpid\":");
	tnf_out_u64(o, lwpid);
}

static void
make_who(struct dump *d, struct out *o, const struct tnf_event *ev)
{
	const char *comm, *cgroup;

	json_who(o, ev);
	if (!ev->kernel)
		jsonl_host(d, o, ev);
	if ((comm = origin_comm(d, ev)) != NULL) {
		out_lit(o, ",\"comm\":");
		json_cstring(o, comm);
	}
	if ((cgroup = origin_cgroup(d, ev)) != NULL) {
		out_lit(o, ",\"cgroup\":");
		json_cstring(o, cgroup);
	}
}

int
jsonl_event(struct dump *d, const struct tnf_event *ev)
{
	struct jsonl *j = d->state;
	struct out *o = j->o;
	int64_t wall;

	if (!j->started) {
		if (!columns_no_header(d))
			jsonl_header(j, d->inputs[0].file);
		j->started = true;
	}
	out_lit(o, "{\"time\":");
	tnf_out_i64(o, ev->time);
	if (origin_clock(j->d, ev->file, &wall)) {
		out_lit(o, ",\"wall\":");
		json_wall(o, wall + ev->time);
	}
	if (d->hosts != NULL) {
		out_lit(o, ",\"host\":");
		json_cstring(o, host_name(d, ev));
		if (d->unordered)
			out_lit(o, ",\"unordered\":true");
	}
	formats_thread(d, &j->who, ev, make_who);
	formats_once(o, &j->middle, ev->probe, make_middle);
	print_json(d, o, ev, NULL, NULL);
	out_lit(o, "}}\n");
	return o->error != 0 ? -1 : 0;
}

int
jsonl_end(struct dump *d)
{
	struct jsonl *j = d->state;

	formats_thread_free(&j->who);
	formats_once_free(&j->middle);
	free(j);
	return 0;
}

struct csv {
	struct dump	*d;
	struct out	*o;
	struct out	 args;		/* the JSON of one row, before quoting */
	struct perthread who, groups;	/* formats_thread() */
	struct perprobe	 probes;	/* formats_once() */
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

static void
csv_quoted(struct out *o, const char *s, size_t n)
{
	const char *end = s + n, *part;

	out_char(o, '"');
	/* A fast path for the usual case: no terminal and a short text. */
	if (!o->escape && n <= OUT_MARGIN / 4) {
		out_room(o);
		char *p = o->p;
		for (; s < end; s++) {
			p[0] = *s;
			p[1] = '"';
			p += 1 + (*s == '"');
		}
		*p++ = '"';
		o->p = p;
		return;
	}
	for (; s < end; s = part + 1) {
		if ((part = memchr(s, '"', (size_t)(end - s))) == NULL)
			part = end;
		print_chars(o, s, (size_t)(part - s));
		if (part < end)
			out_lit(o, "\"\"");
		else
			break;
	}
	out_char(o, '"');
}

/* Writes a field, quoted if it holds separators, quotes or line ends. */
static void
csv_field(struct out *o, const char *s, size_t n)
{
	bool quote = false;

	for (size_t i = 0; i < n && !quote; i++)
		quote = s[i] == '"' || s[i] == ',' || s[i] == '\n' || s[i] == '\r';
	if (quote)
		csv_quoted(o, s, n);
	else
		print_chars(o, s, n);
}

static void
csv_args(struct csv *c, const struct tnf_event *ev)
{
	c->args.p = c->args.base;
	out_char(&c->args, '{');
	print_json(c->d, &c->args, ev, NULL, NULL);
	out_char(&c->args, '}');
	csv_field(c->o, c->args.base, out_size(&c->args));
}

/* Writes a text that is not UTF-8 with each byte as a character, so that the whole file is
   UTF-8. */
static void
csv_bytes(struct out *o, const char *s)
{
	struct out chars;

	tnf_out_memory(&chars);
	for (; *s != '\0'; s++) {
		unsigned char b = (unsigned char)*s;

		if (b >= 0x80)
			out_char(&chars, (char)(0xc0 | b >> 6));
		out_char(&chars, (char)(b >= 0x80 ? 0x80 | (b & 0x3f) : b));
	}
	csv_field(o, chars.base, out_size(&chars));
	tnf_out_close(&chars);
}

static void
csv_text(struct out *o, const char *s)
{
	if (s != NULL && tnf_utf8_is_valid(s, strlen(s)))
		csv_field(o, s, strlen(s));
	else if (s != NULL)
		csv_bytes(o, s);
	out_char(o, ',');
}

static void
csv_who(struct dump *d, struct out *o, const struct tnf_event *ev)
{
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
	csv_text(o, origin_comm(d, ev));
}

static void
csv_probe(struct out *o, const struct tnf_probe *p)
{
	csv_text(o, p->name);
	csv_text(o, p->keys);
}

static void
csv_group(struct dump *d, struct out *o, const struct tnf_event *ev)
{
	const char *cgroup = origin_cgroup(d, ev);

	out_char(o, ',');
	if (cgroup != NULL)
		csv_field(o, cgroup, strlen(cgroup));
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

	csv_times(c, ev);
	formats_thread(d, &c->who, ev, csv_who);
	formats_once(o, &c->probes, ev->probe, csv_probe);
	csv_args(c, ev);
	formats_thread(d, &c->groups, ev, csv_group);
	if (d->hosts != NULL) {
		out_char(o, ',');
		csv_text(o, host_name(d, ev));
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
	formats_thread_free(&c->who);
	formats_thread_free(&c->groups);
	formats_once_free(&c->probes);
	free(c);
	return 0;
}
