/*
 * columns-list.c - the columns: one row each.
 */
#include "tnfdump/hosts.h"
#include "tnfdump/text/columns.h"
#include "tnfdump/pipeline.h"
#include "tnfdump/origin.h"
#include "tnfdump/text/pretty.h"
#include "analysis/timespec.h"

#define MS_WIDTH	16

static void
columns_list_put_ms(struct columns *c, int64_t ns)
{
	columns_color(c, COLOR_TIME);
	tnf_out_ms(c->o, ns, column_width(c, c->list[c->at]));
	columns_color(c, COLOR_OFF);
}

/* Pads a column after 'len' bytes of text, unless the column ends the line. */
static void
columns_list_pad(struct columns *c, size_t len)
{
	unsigned width = column_width(c, c->list[c->at]);

	if (len < width && c->at + 1 < c->n)
		tnf_out_pad(c->o, width - (unsigned)len);
}

/* NULL: not known. */
static void
columns_list_put_text(struct columns *c, const char *s)
{
	if (s == NULL)
		s = "-";
	print_name(c->o, s);
	columns_list_pad(c, strlen(s));
}

static void
put_number(struct columns *c, int64_t v)
{
	unsigned width = column_width(c, c->list[c->at]);

	if (v >= 0)
		tnf_out_u64_width(c->o, (uint64_t)v, width);
	else
		tnf_out_i64(c->o, v);
}

static void
put_dash(struct columns *c)
{
	tnf_out_pad(c->o, column_width(c, c->list[c->at]) - 1);
	out_char(c->o, '-');
}

/* The time of the last line of each thread and of each probe. */
struct times {
	struct map	threads;	/* by thread and host: int64_t */
	struct perprobe probes;		/* struct probe_time */
};

struct probe_time {
	bool	seen;
	int64_t	time;
};

static struct times *
times_of(struct columns *c)
{
	if (c->times == NULL) {
		c->times = tnf_xcalloc(1, sizeof(*c->times));
		tnf_map_init(&c->times->threads, sizeof(int64_t));
	}
	return c->times;
}

void
columns_times_free(struct columns *c)
{
	if (c->times == NULL)
		return;
	tnf_map_free(&c->times->threads);
	free(c->times->probes.base);
	free(c->times);
	c->times = NULL;
}

static void
print_delta_thread(struct columns *c, const struct tnf_event *ev)
{
	uint64_t who[] = { ev->kernel, (uint32_t)ev->pid, ev->lwpid, ev->tid,
	    tnf_file_host(ev->file) };
	bool fresh;
	int64_t *time = tnf_xmap_put(&times_of(c)->threads, who, sizeof(who), &fresh);

	columns_list_put_ms(c, fresh ? 0 : ev->time - *time);
	*time = ev->time;
}

static void
print_delta_probe(struct columns *c, const struct tnf_event *ev)
{
	struct probe_time *p = perprobe(&times_of(c)->probes, ev->probe,
	    sizeof(*p));

	columns_list_put_ms(c, p->seen ? ev->time - p->time : 0);
	p->seen = true;
	p->time = ev->time;
}

static void
print_elapsed(struct columns *c, const struct tnf_event *ev)
{
	columns_list_put_ms(c, ev->time - c->d->first);
}

static void
print_delta(struct columns *c, const struct tnf_event *ev)
{
	columns_list_put_ms(c, ev->time - c->d->previous);
}

static void
columns_list_put_wall(struct columns *c, const struct tnf_event *ev, bool utc)
{
	char buf[WALL_SIZE];
	int64_t offset;

	if (!origin_clock(c->d, ev->file, &offset)) {
		put_dash(c);
		return;
	}
	unsigned n = wall_format(buf, (int64_t)((uint64_t)ev->time +
	    (uint64_t)offset), utc);
	columns_color(c, COLOR_TIME);
	tnf_out_bytes(c->o, buf, n);
	columns_color(c, COLOR_OFF);
}

static void
print_wall(struct columns *c, const struct tnf_event *ev)
{
	columns_list_put_wall(c, ev, false);
}

static void
print_utc(struct columns *c, const struct tnf_event *ev)
{
	columns_list_put_wall(c, ev, true);
}

static void
print_mono(struct columns *c, const struct tnf_event *ev)
{
	put_number(c, ev->time);
}

/* Without --hosts there is one machine, whose name the context tells. */
static const char *
fact_host(void *dump, const struct tnf_event *ev)
{
	struct dump *d = dump;

	return d->hosts != NULL ? host_name(d, ev) : origin_fact(d, ev->file, "host");
}

static const char *
fact_order(void *dump, const struct tnf_event *ev)
{
	return ((struct dump *)dump)->unordered ? "~" : " ";
}

static void
print_pid(struct columns *c, const struct tnf_event *ev)
{
	put_number(c, (uint32_t)ev->pid);
}

static void
print_lwpid(struct columns *c, const struct tnf_event *ev)
{
	put_number(c, ev->lwpid);
}

static void
print_host_pid(struct columns *c, const struct tnf_event *ev)
{
	uint32_t lwpid;
	int32_t pid;

	origin_host(c->d, ev, &pid, &lwpid);
	put_number(c, (uint32_t)pid);
}

static void
print_host_lwpid(struct columns *c, const struct tnf_event *ev)
{
	uint32_t lwpid;
	int32_t pid;

	origin_host(c->d, ev, &pid, &lwpid);
	put_number(c, lwpid);
}

static void
print_tid(struct columns *c, const struct tnf_event *ev)
{
	if (ev->kernel)
		print_hex_left(c->o, ev->tid, 8);
	else
		tnf_out_u64_width(c->o, ev->tid, 10);
}

static void
print_cpu(struct columns *c, const struct tnf_event *ev)
{
	if (ev->kernel || ev->cpu >= 0)
		put_number(c, ev->cpu);
	else
		put_dash(c);
}

static void
columns_list_print_probe(struct columns *c, const struct tnf_event *ev)
{
	columns_color(c, COLOR_PROBE);
	print_name(c->o, ev->probe->name);
	columns_color(c, COLOR_OFF);
	columns_list_pad(c, strlen(ev->probe->name));
}

/* The name that people gave, or else the number. */
static const char *
fact_container(void *dump, const struct tnf_event *ev)
{
	const struct origin_container *in = origin_container(dump, ev);

	return in == NULL || *in->group.id == '\0' ? NULL : *in->names.name != '\0' ? in->names.name : in->group.id;
}

static const char *
fact_pod(void *dump, const struct tnf_event *ev)
{
	const struct origin_container *in = origin_container(dump, ev);

	return in == NULL || *in->group.pod == '\0' ? NULL : *in->names.pod != '\0' ? in->names.pod : in->group.pod;
}

static const char *
fact_namespace(void *dump, const struct tnf_event *ev)
{
	const struct origin_container *in = origin_container(dump, ev);

	return in != NULL && *in->names.pod_namespace != '\0' ? in->names.pod_namespace : NULL;
}

static const char *
fact_keys(void *dump, const struct tnf_event *ev)
{
	return ev->probe->keys != NULL && *ev->probe->keys != '\0' ? ev->probe->keys : NULL;
}

/* Where -r shows the record. */
static void
print_offset(struct columns *c, const struct tnf_event *ev)
{
	char text[16];

	snprintf(text, sizeof(text), "0x%x", ev->pos);
	columns_list_put_text(c, text);
}

static void
print_src(struct columns *c, const struct tnf_event *ev)
{
	size_t n, m = 0;
	const char *file = attrs_find(ev->probe->attrs, "file", &n);
	const char *line = attrs_find(ev->probe->attrs, "line", &m);

	if (file == NULL) {
		columns_list_put_text(c, NULL);
		return;
	}
	print_chars(c->o, file, n);
	out_char(c->o, ':');
	if (line != NULL)
		print_chars(c->o, line, m);
	columns_list_pad(c, n + 1 + m);
}

static bool
is_error(const char *name, const struct tnf_value *v)
{
	return strcmp(name, "errno") == 0 && v->kind != TNF_K_STRING &&
	    v->u.i != 0;
}

static void
columns_list_put_member(struct columns *c, const struct tnf_event *ev, unsigned i,
    const struct tnf_value *v)
{
	const char *name = ev->probe->members[i].name;
	bool error = c->color && is_error(name, v);

	columns_color(c, error ? COLOR_ERROR : COLOR_MEMBER);
	print_name(c->o, name);
	out_char(c->o, ':');
	if (!error)
		columns_color(c, COLOR_OFF);
	out_char(c->o, ' ');
	if (c->d->pretty)
		pretty_value(c->d, c->o, ev, v, name);
	else
		print_value(c->d, c->o, ev, v);
	if (error)
		columns_color(c, COLOR_OFF);
}

static void
print_args(struct columns *c, const struct tnf_event *ev)
{
	struct tnf_value v;

	for (unsigned i = 0; tnf_event_value(ev, i, &v); i++) {
		if (i > 0)
			out_char(c->o, ' ');
		columns_list_put_member(c, ev, i, &v);
	}
}

void
column_print(struct columns *c, const struct tnf_event *ev)
{
	const struct column *this = c->list[c->at];

	if (this->print != NULL)
		this->print(c, ev);
	else
		columns_list_put_text(c, this->text(c->d, ev));
}

bool
column_asks_around(const struct column *c)
{
	return c->text == fact_operation || c->text == fact_syscall;
}

const struct column column_rows[] = {
	{ "elapsed", "Elapsed (ms)", MS_WIDTH, false, print_elapsed,
	  "since the first event of the trace", NULL },
	{ "delta", "Delta (ms)", MS_WIDTH, false, print_delta,
	  "since the line before", NULL },
	{ "delta-thread", "Thread (ms)", MS_WIDTH, false, print_delta_thread,
	  "since the thread's line before", NULL },
	{ "delta-probe", "Probe (ms)", MS_WIDTH, false, print_delta_probe,
	  "since the probe's line before", NULL },
	{ "wall", "Time", 35, true, print_wall,
	  "local date and time with zone", NULL },
	{ "utc", "Time (UTC)", 30, true, print_utc, "date and time in UTC", NULL },
	{ "mono", "Clock (ns)", 18, false, print_mono,
	  "the trace's own clock", NULL },
	{ "order", "~", 1, true, NULL,
	  "--hosts: '~' if one above, of another host, may have come later", fact_order },
	{ "host", "Host", 12, true, NULL, "name of the machine", fact_host },
	{ "pid", "PID", 5, false, print_pid, "process", NULL },
	{ "lwpid", "LWPID", 5, false, print_lwpid, "thread, as Linux counts", NULL },
	{ "host-pid", "Host", 7, false, print_host_pid,
	  "process, as the machine counts: not as its container does", NULL },
	{ "host-lwpid", "HostLWP", 7, false, print_host_lwpid,
	  "thread, the same", NULL },
	{ "tid", "  TID    ", 10, false, print_tid,
	  "thread; kernel: address of the task", NULL },
	{ "cpu", "CPU", 3, false, print_cpu, "processor, where the writer tells it", NULL },
	{ "comm", "Command", 15, true, NULL, "name of the thread", fact_comm },
	{ "program", "Program", 24, true, NULL, "path of the program of the process", fact_program },
	{ "cgroup", "Control Group", 24, true, NULL, "control group of the process", fact_cgroup },
	{ "container", "Container", 16, true, NULL, "container of the process: its name, or its id", fact_container },
	{ "pod", "Pod", 24, true, NULL, "pod of Kubernetes: its name, or its uid", fact_pod },
	{ "namespace", "Namespace", 12, true, NULL, "namespace of the pod", fact_namespace },
	{ "trace", "Trace", 32, true, NULL, "of OpenTelemetry: the event's, or its thread's", fact_trace },
	{ "span", "Span", 16, true, NULL, "the same", fact_span },
	{ "operation", "Operation", 16, true, NULL,
	  "what the thread does: the innermost pair of the program", fact_operation },
	{ "syscall", "System Call", 16, true, NULL, "in which the thread is", fact_syscall },
	{ "probe", "Probe Name", 25, true, columns_list_print_probe, "name of the probe", NULL },
	{ "keys", "Keys", 16, true, NULL, "keys of the probe", fact_keys },
	{ "src", "Source", 24, true, print_src, "file and line of the probe", NULL },
	{ "offset", "Offset", 10, true, print_offset, "of the record in its file, as -r has it", NULL },
	{ "args", "Data / Description . . .", 0, true, print_args,
	  "members with names", NULL },
	{ 0 }
};
