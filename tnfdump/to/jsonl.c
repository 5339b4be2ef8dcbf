/*
 * jsonl.c - JSON lines: a line about the files, then one object an event.
 */
#include <inttypes.h>

#include "analysis/json.h"
#include "analysis/attrs.h"
#include "common/xalloc.h"
#include "format/core.h"
#include "tnfdump/hosts.h"
#include "tnfdump/tnfdump.h"
#include "tnfdump/origin.h"
#include "tnfdump/text/columns.h"
#include "tnfdump/text/pretty.h"
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
