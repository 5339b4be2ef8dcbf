/*
 * info.c - the files in figures (--info), for people and as JSON.
 */
#include "analysis/json.h"
#include "analysis/names.h"
#include "tnfdump/report/report.h"

#define INFO_CPUS_MAX	8192	/* higher numbers have no figures of their own */

/* The events of one CPU in one file. */
struct info_cpu {
	uint64_t events;		/* 0: nothing */
	int64_t	 first, last;
	uint32_t pos;			/* of the first event, which comes first among those of its time */
	uint32_t block;			/* its block's number, or 0 */
};

/* One file. */
struct info {
	const struct input *in;
	const struct tnf_ext *ext;	/* NULL: written by an original writer */
	tnf_context_t	*context;	/* or NULL */
	struct tnf_summary sum;
	uint64_t	 events;	/* kept by the filters */
	int64_t		 first, last;	/* of these */
	struct idset	 threads, pids, cpus;
	uint64_t	 tid;		/* of the event before, which is among them */
	uint32_t	 lwpid;
	int32_t		 pid, on;
	struct info_cpu	*cpu;		/* by its number */
	unsigned	 n_cpu;
};

struct info_all {
	struct info	*files;
	unsigned	 n;
	bool		 begun;		/* put_begin() has printed */
	struct perprobe	 counts;	/* uint64_t: events */
};

static const struct output info_text, info_json;

static uint64_t
info_lost(const struct info *f)
{
	uint64_t n = 0;

	for (unsigned i = 0; f->ext != NULL && i < TNF_LOST_REASONS; i++)
		n += f->ext->lost[i];
	return n;
}

/* NULL: not known. */
static const char *
info_ended(const struct info *f)
{
	if (f->ext == NULL || f->ext->kind != TNF_EXT_PROCESS)
		return NULL;
	return f->ext->ended >= f->ext->attached ? "yes" : "no";
}

/* "N of M blocks": how many blocks a memory image lacked; NULL: none. */
static const char *
info_missing(const struct info *f)
{
	return f->context == NULL ? NULL : tnf_context_fact(f->context, "missing");
}

static uint64_t
info_count(const struct info_all *all, unsigned probe)
{
	return probe < all->counts.n ?
	    ((const uint64_t *)(const void *)all->counts.base)[probe] : 0;
}

static bool
info_wall(const struct info *f, int64_t time, int64_t *wall)
{
	if (f->context != NULL && tnf_context_wall(f->context, time, wall))
		return true;
	if (f->ext == NULL || f->ext->start_wall == 0)
		return false;
	*wall = (int64_t)((uint64_t)f->ext->start_wall + (uint64_t)time -
	    (uint64_t)f->ext->start_mono);
	return true;
}

/* True if the blocks of all CPUs are numbered. */
static bool
info_numbered(const struct info *f)
{
	for (unsigned i = 0; i < f->n_cpu; i++)
		if (f->cpu[i].events > 0 && f->cpu[i].block == 0)
			return false;
	return f->n_cpu > 0;
}

/*
 * The time from which on no event has been overwritten.  A ring that has gone round keeps
 * the newest events of each CPU, and reaches back less far on a busy one: the latest of the
 * first events counts.  INT64_MIN: complete from the start; INT64_MAX: not known, for
 * example because blocks are missing.
 */
static int64_t
info_complete(const struct dump *d, const struct info *f)
{
	int64_t from = INT64_MAX;

	if (d->filters != NULL || f->events == 0 || info_missing(f) != NULL)
		return INT64_MAX;
	if (f->sum.generation <= 1 && f->sum.overwritten == 0 && !info_numbered(f))
		return INT64_MIN;
	/* A CPU whose block 1 is there is complete. */
	for (unsigned i = 0; i < f->n_cpu; i++)
		if (f->cpu[i].events > 0 && f->cpu[i].block != 1 &&
		    (from == INT64_MAX || f->cpu[i].first > from))
			from = f->cpu[i].first;
	return from == INT64_MAX && info_numbered(f) ? INT64_MIN : from;
}

static void
info_note_cpu(struct info *f, const struct tnf_event *ev)
{
	unsigned cpu = (unsigned)ev->cpu, n = f->n_cpu;

	if (cpu >= INFO_CPUS_MAX)
		return;
	if (cpu >= n) {
		f->n_cpu = cpu + 1;
		f->cpu = tnf_xreallocarray(f->cpu, f->n_cpu, sizeof(*f->cpu));
		memset(f->cpu + n, 0, (f->n_cpu - n) * sizeof(*f->cpu));
	}
	struct info_cpu *c = &f->cpu[cpu];
	if (c->events++ == 0 || ev->time < c->first ||
	    (ev->time == c->first && ev->pos < c->pos)) {
		c->first = ev->time;
		c->pos = ev->pos;
		c->block = ev->block;
	}
	if (c->events == 1 || ev->time > c->last)
		c->last = ev->time;
}

#define LARGE	((size_t)16 << 20)	/* counting the events of smaller files takes no time */

/* "label:    text" */
__attribute__((format(printf, 3, 4))) static void
put_row(struct dump *d, const char *label, const char *fmt, ...)
{
	char buf[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(buf, sizeof buf, fmt, ap);
	va_end(ap);
	/* A row without a label continues the row before. */
	tnf_out_format(&d->out, "  %s%s%*s", label, label[0] != '\0' ? ":" : " ",
	    strlen(label) < 12 ? 12 - (int)strlen(label) : 0, "");
	print_escaped(&d->out, buf, strlen(buf));
	out_char(&d->out, '\n');
}

static void
put_writer(struct dump *d, const struct info *f)
{
	const char *order = f->sum.swapped ==
	    (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) ? "big" : "little";

	if (f->ext == NULL)
		put_row(d, "writer", "original, %u bits, %s-endian",
		    f->sum.word_bits, order);
	else if (f->ext->kind == TNF_EXT_KERNEL)
		put_row(d, "writer", "kernel, %u bits, %s-endian",
		    f->sum.word_bits, order);
	else
		put_row(d, "writer", "process %" PRId32 ", %u bits, %s-endian",
		    f->ext->pid, f->sum.word_bits, order);
}

static void
put_size(struct dump *d, const struct info *f)
{
	const struct tnf_summary *s = &f->sum;

	put_row(d, "size", "%" PRIu64 " bytes, blocks of %" PRIu32
	    ": %" PRIu32 " definitions, %" PRIu32 " data, %" PRIu32 " unused",
	    s->size, s->block_size, s->blocks_tag, s->blocks_data,
	    s->blocks_free);
	if (s->size_real < s->size)
		put_row(d, "cut off", "after %" PRIu64 " bytes", s->size_real);
	if (s->blocks_held > 0)
		put_row(d, "held", "%" PRIu32 " blocks, by threads that "
		    "write, or were killed", s->blocks_held);
	put_row(d, "laps", "%" PRIu32, s->generation);
}

static void
put_wall(struct dump *d, const struct info *f)
{
	char a[64], b[64], zone[16];
	int64_t first, last;
	struct tm tm;

	if (!info_wall(f, f->first, &first) || !info_wall(f, f->last, &last))
		return;
	time_t t = (time_t)(first / 1000000000);
	time_t u = (time_t)(last / 1000000000);
	strftime(a, sizeof a, "%Y-%m-%d %H:%M:%S", localtime_r(&t, &tm));
	strftime(b, sizeof b, "%Y-%m-%d %H:%M:%S", localtime_r(&u, &tm));
	strftime(zone, sizeof zone, "%z", &tm);
	put_row(d, "wall clock", "%s.%06u to %s.%06u %s", a,
	    (unsigned)(first % 1000000000 / 1000), b,
	    (unsigned)(last % 1000000000 / 1000), zone);
}

static void
put_time(struct dump *d, const struct info *f)
{
	if (f->events == 0)
		return;
	put_row(d, "time", "%.6f s: monotonic %.6f to %.6f",
	    (double)(f->last - f->first) / 1e9, (double)f->first / 1e9,
	    (double)f->last / 1e9);
	put_wall(d, f);
}

static void
put_events(struct dump *d, const struct info *f)
{
	put_row(d, "events", "%" PRIu64, f->events);
	if (f->sum.overwritten > 0)
		put_row(d, "half gone", "%" PRIu64 " events without their time: "
		    "the schedule was overwritten", f->sum.overwritten);
	put_row(d, "threads", "%zu in %zu processes", idset_count(&f->threads),
	    idset_count(&f->pids));
	if (idset_count(&f->cpus) > 0)
		put_row(d, "cpus seen", "%zu", idset_count(&f->cpus));
}

/* Seconds since the file's first event. */
static double
since_first(const struct info *f, int64_t time)
{
	return (double)(time - f->first) / 1e9;
}

static void
put_coverage(struct dump *d, const struct info *f)
{
	int64_t from = info_complete(d, f);
	char label[32];

	for (unsigned i = 0; i < f->n_cpu; i++) {
		const struct info_cpu *c = &f->cpu[i];

		if (c->events == 0)
			continue;
		snprintf(label, sizeof label, "cpu %u", i);
		put_row(d, label, "%" PRIu64 " events, %.6f s to %.6f s", c->events,
		    since_first(f, c->first), since_first(f, c->last));
	}
	if (info_missing(f) != NULL)
		put_row(d, "complete", "no: %s were not in the image of memory",
		    info_missing(f));
	else if (from == INT64_MIN)
		put_row(d, "complete", "from the start");
	else if (from != INT64_MAX)
		put_row(d, "complete", "from %.6f s: earlier events were "
		    "overwritten, not on all CPUs as far", since_first(f, from));
	else if (d->filters == NULL && f->events > 0)
		put_row(d, "complete", "no: earlier events were overwritten");
}

static void
put_lost(struct dump *d, const struct info *f)
{
	if (f->ext == NULL) {
		put_row(d, "dropped", "the writer did not count");
		return;
	}
	put_row(d, "dropped", "%" PRIu64, info_lost(f));
	for (unsigned i = 0; i < TNF_LOST_REASONS; i++)
		if (f->ext->lost[i] > 0) {
			const char *name = loss_name(i);
			put_row(d, "", "%" PRIu64 " %s", f->ext->lost[i],
			    name != NULL ? name : "for another reason");
		}
	if (f->ext->shortened > 0)
		put_row(d, "shortened", "%" PRIu64 " values, whose events had no "
		    "room for more", f->ext->shortened);
}

static void
put_end(struct dump *d, const struct info *f)
{
	const char *ended = info_ended(f);

	if (ended == NULL)
		return;
	if (ended[0] == 'y')
		put_row(d, "ended", "in order");
	else
		put_row(d, "ended", "no: %" PRIu32 " of %" PRIu32 " writers still "
		    "run or were killed", f->ext->attached - f->ext->ended,
		    f->ext->attached);
}

static void
put_context(struct dump *d, const struct info *f)
{
	static const char *const facts[] = { "host", "system", "release",
	    "machine", "cpus", "boot", "crashed" };
	const char *text;
	size_t n;

	if (f->context == NULL)
		return;
	for (unsigned i = 0; i < sizeof facts / sizeof facts[0]; i++)
		if ((text = tnf_context_fact(f->context, facts[i])) != NULL)
			put_row(d, facts[i], "%s", text);
	tnf_context_tasks(f->context, &n);
	put_row(d, "tasks known", "%zu", n);
	tnf_context_symbols(f->context, &n);
	put_row(d, "symbols", "%zu", n);
}

/* Finds when and why somebody froze the trace; false: nobody did. */
static bool
info_frozen(const struct info *f, int64_t *time, const char **why)
{
	const char *text = f->context == NULL ? NULL : tnf_context_fact(f->context, "frozen");
	char *end;

	if (text == NULL)
		return false;
	*time = strtoll(text, &end, 10);
	*why = *end == ' ' ? end + 1 : end;
	return true;
}

static void
put_frozen(struct dump *d, const struct info *f)
{
	int64_t time;
	const char *why;

	if (!info_frozen(f, &time, &why))
		return;
	put_row(d, "frozen", "at %.6f s: %s", since_first(f, time), why);
}

/* Prints the kernel's last log lines, for a machine that crashed. */
static void
put_printk(struct dump *d, const struct info *f)
{
	const char *text = f->context == NULL ? NULL : tnf_context_fact(f->context, "printk");
	size_t n;

	if (text == NULL)
		return;
	out_lit(&d->out, "  printed last:\n");
	for (; *text != '\0'; text += n + (text[n] == '\n')) {
		n = strcspn(text, "\n");
		out_lit(&d->out, "    ");
		print_escaped(&d->out, text, n);
		out_char(&d->out, '\n');
	}
}

static void
put_probes(struct dump *d, const struct info_all *all, const struct info *f)
{
	put_row(d, "probes", "%u", f->sum.probes);
	for (unsigned i = 0; i < tnf_stream_probes(d->stream); i++) {
		const struct tnf_probe *p = tnf_stream_probe(d->stream, i);
		if (p->file != f->in->file)
			continue;
		tnf_out_format(&d->out, "  %12" PRIu64 "  ", info_count(all, i));
		print_escaped(&d->out, p->name, strlen(p->name));
		if (p->keys[0] != '\0') {
			out_lit(&d->out, " (");
			print_escaped(&d->out, p->keys, strlen(p->keys));
			out_char(&d->out, ')');
		}
		out_char(&d->out, '\n');
	}
}

static void
put_head(struct dump *d, const struct info *f)
{
	print_escaped(&d->out, f->in->path, strlen(f->in->path));
	out_lit(&d->out, ":\n");
	put_writer(d, f);
	put_size(d, f);
}

/* Counting the events of a large file takes time: the facts that need no count come first. */
static void
put_begin(struct dump *d)
{
	struct info_all *all = d->state;

	if (all->n != 1 || d->filters != NULL || all->files->in->size < LARGE)
		return;
	struct info f = all->files[0];
	f.events = 1;
	tnf_file_summary(f.in->file, &f.sum);
	if (tnf_file_span(f.in->file, &f.first, &f.last) != 0 || f.sum.damaged > 0)
		return;
	put_head(d, &f);
	put_time(d, &f);
	tnf_out_flush(&d->out);
	all->begun = true;
}

static void
put_text(struct dump *d, const struct info_all *all, const struct info *f)
{
	if (!all->begun)
		put_head(d, f);
	if (f->sum.damaged > 0)
		put_row(d, "damaged", "%" PRIu64 " blocks", f->sum.damaged);
	if (!all->begun)
		put_time(d, f);
	put_events(d, f);
	put_coverage(d, f);
	put_lost(d, f);
	put_end(d, f);
	put_frozen(d, f);
	put_context(d, f);
	put_probes(d, all, f);
	put_printk(d, f);
}

static void
json_u64(struct out *o, const char *key, uint64_t v)
{
	json_key(o, key);
	tnf_out_u64(o, v);
}

static void
json_i64(struct out *o, const char *key, int64_t v)
{
	json_key(o, key);
	tnf_out_i64(o, v);
}

static void
json_sizes(struct out *o, const struct tnf_summary *s)
{
	json_u64(o, "size", s->size);
	json_u64(o, "size_real", s->size_real);
	json_member(o, "byte_order", s->swapped ==
	    (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) ? "big" : "little");
	json_u64(o, "word_bits", s->word_bits);
	json_u64(o, "block_size", s->block_size);
	json_u64(o, "blocks_tag", s->blocks_tag);
	json_u64(o, "blocks_data", s->blocks_data);
	json_u64(o, "blocks_free", s->blocks_free);
	json_u64(o, "blocks_held", s->blocks_held);
	json_u64(o, "laps", s->generation);
	json_u64(o, "damaged", s->damaged);
	json_u64(o, "overwritten", s->overwritten);
}

static void
json_times(struct out *o, const struct info *f)
{
	int64_t wall;

	if (f->events == 0)
		return;
	json_i64(o, "first_ns", f->first);
	json_i64(o, "last_ns", f->last);
	if (info_wall(f, f->first, &wall))
		json_i64(o, "first_wall_ns", wall);
	if (info_wall(f, f->last, &wall))
		json_i64(o, "last_wall_ns", wall);
}

static void
json_coverage(struct dump *d, const struct info *f)
{
	int64_t from = info_complete(d, f);
	struct out *o = &d->out;
	bool comma = false;

	json_key(o, "by_cpu");
	out_char(o, '[');
	for (unsigned i = 0; i < f->n_cpu; i++) {
		if (f->cpu[i].events == 0)
			continue;
		out_str(o, comma ? ",{\"cpu\":" : "{\"cpu\":");
		comma = true;
		tnf_out_u64(o, i);
		json_u64(o, "events", f->cpu[i].events);
		json_i64(o, "first_ns", f->cpu[i].first);
		json_i64(o, "last_ns", f->cpu[i].last);
		out_char(o, '}');
	}
	out_char(o, ']');
	if (from != INT64_MAX)
		json_i64(o, "complete_from_ns",
		    from == INT64_MIN ? f->first : from);
}

static void
json_ext(struct out *o, const struct info *f)
{
	const char *ended = info_ended(f), *name;
	unsigned i;
	bool comma = false;

	json_member(o, "writer", f->ext == NULL ? "original" :
	    f->ext->kind == TNF_EXT_KERNEL ? "kernel" : "process");
	if (f->ext == NULL)
		return;
	json_i64(o, "pid", f->ext->pid);
	json_u64(o, "dropped", info_lost(f));
	json_u64(o, "shortened", f->ext->shortened);
	json_key(o, "dropped_by_reason");
	out_char(o, '{');
	for (i = 0; (name = loss_name(i)) != NULL; i++) {
		if (comma)
			out_char(o, ',');
		comma = true;
		json_name(o, name);
		out_char(o, ':');
		tnf_out_u64(o, f->ext->lost[i]);
	}
	out_char(o, '}');
	if (ended != NULL) {
		json_key(o, "ended");
		out_str(o, ended[0] == 'y' ? "true" : "false");
	}
}

static void
json_context(struct out *o, const struct info *f)
{
	static const char *const facts[] = { "host", "system", "release",
	    "version", "machine", "cpus", "boot", "zone", "crashed",
	    "missing", "printk" };
	const char *text, *why;
	int64_t time;

	if (info_frozen(f, &time, &why)) {
		json_i64(o, "frozen_ns", time);
		json_member(o, "frozen", why);
	}
	for (unsigned i = 0; f->context != NULL && i < sizeof facts / sizeof facts[0];
	    i++)
		if ((text = tnf_context_fact(f->context, facts[i])) != NULL)
			json_member(o, facts[i], text);
}

static void
json_probes(struct dump *d, const struct info_all *all, const struct info *f)
{
	struct out *o = &d->out;
	bool comma = false;

	json_key(o, "probes");
	out_char(o, '[');
	for (unsigned i = 0; i < tnf_stream_probes(d->stream); i++) {
		const struct tnf_probe *p = tnf_stream_probe(d->stream, i);
		if (p->file != f->in->file)
			continue;
		if (comma)
			out_char(o, ',');
		comma = true;
		out_lit(o, "{\"name\":");
		json_name(o, p->name);
		json_member(o, "keys", p->keys);
		json_u64(o, "events", info_count(all, i));
		out_char(o, '}');
	}
	out_char(o, ']');
}

static void
put_json(struct dump *d, const struct info_all *all, const struct info *f)
{
	struct out *o = &d->out;

	out_lit(o, "{\"file\":");
	json_name(o, f->in->path);
	json_sizes(o, &f->sum);
	json_times(o, f);
	json_u64(o, "events", f->events);
	json_u64(o, "threads", idset_count(&f->threads));
	json_u64(o, "processes", idset_count(&f->pids));
	json_u64(o, "cpus_seen", idset_count(&f->cpus));
	json_coverage(d, f);
	json_ext(o, f);
	json_context(o, f);
	json_probes(d, all, f);
	out_lit(o, "}\n");
}

static int
info_begin(struct dump *d)
{
	struct info_all *all = tnf_xcalloc(1, sizeof *all);

	all->n = d->n_inputs;
	all->files = tnf_xcalloc(all->n, sizeof *all->files);
	for (unsigned i = 0; i < all->n; i++) {
		struct info *f = &all->files[i];
		f->in = &d->inputs[i];
		f->ext = tnf_file_ext(f->in->file);
		if (tnf_context_open_mem(f->in->base, f->in->size,
		    &f->context) != 0)
			f->context = NULL;
	}
	d->state = all;
	if (d->output == &info_text)
		put_begin(d);
	return 0;
}

/* Apart from info_event(), as most events have the writer of the one before. */
static void __attribute__((noinline))
info_note_writer(struct info *f, const struct tnf_event *ev)
{
	idset_add(&f->threads, (uint64_t)(uint32_t)ev->pid << 32 | ev->lwpid, ev->tid);
	idset_add(&f->pids, (uint32_t)ev->pid, 1);
	if (ev->cpu >= 0)
		idset_add(&f->cpus, (uint32_t)ev->cpu, 1);
	f->tid = ev->tid;
	f->lwpid = ev->lwpid;
	f->pid = ev->pid;
	f->on = ev->cpu;
}

static int
info_event(struct dump *d, const struct tnf_event *ev)
{
	struct info_all *all = d->state;
	struct info *f = all->files;

	while (f->in->file != ev->file)
		f++;
	if (f->events++ == 0)
		f->first = f->last = ev->time;
	else if (ev->time < f->first)
		f->first = ev->time;
	else if (ev->time > f->last)
		f->last = ev->time;
	if (f->events == 1 || ev->tid != f->tid || ev->lwpid != f->lwpid || ev->pid != f->pid ||
	    ev->cpu != f->on)
		info_note_writer(f, ev);
	/* A process has one ring, whatever CPUs it runs on. */
	if (ev->kernel && ev->cpu >= 0)
		info_note_cpu(f, ev);
	++*(uint64_t *)perprobe(&all->counts, ev->probe, sizeof(uint64_t));
	return 0;
}

static void
info_release(struct info_all *all)
{
	for (unsigned i = 0; i < all->n; i++) {
		tnf_context_close(all->files[i].context);
		idset_free(&all->files[i].threads);
		idset_free(&all->files[i].pids);
		idset_free(&all->files[i].cpus);
		free(all->files[i].cpu);
	}
	free(all->files);
	free(all->counts.base);
	free(all);
}

static int
info_end(struct dump *d)
{
	struct info_all *all = d->state;

	for (unsigned i = 0; i < all->n; i++) {
		struct info *f = &all->files[i];

		tnf_file_summary(f->in->file, &f->sum);
		if (d->output == &info_text)
			put_text(d, all, f);
		else
			put_json(d, all, f);
	}
	info_release(all);
	return 0;
}

static const struct output info_text = {
	.name = "info", .begin = info_begin, .event = info_event, .end = info_end, .sums = true
}, info_json = {
	.name = "info=json", .begin = info_begin, .event = info_event, .end = info_end, .sums = true
};

int
info_set(struct dump *d, const char *arg)
{
	if (arg == NULL || strcmp(arg, "text") == 0)
		return output_choose(d, "info", &info_text);
	if (strcmp(arg, "json") == 0)
		return output_choose(d, "info", &info_json);
	return options_wrong("info", "no form \"%s\": it is text or json", arg);
}

bool
info_chosen(const struct dump *d)
{
	return d->output == &info_text || d->output == &info_json;
}
