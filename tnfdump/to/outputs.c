/*
 * outputs.c - the output formats, one row each, and code shared by several of them.
 */
#include "tnfdump/report/report.h"
#include "tnfdump/to/formats.h"

const struct output outputs[] = {
	{ "text", "a line for each event, as Solaris had it (default)",
	  text_begin, text_event, text_end, .pretty = true, .any_order = true },
	{ "jsonl", "JSON lines, one object an event, all types lossless",
	  jsonl_begin, jsonl_event, jsonl_end, .pretty = true,
	  .any_order = true },
	{ "csv", "comma-separated values, fixed columns, arguments as JSON",
	  csv_begin, csv_event, csv_end, .pretty = true,
	  .any_order = true },
	{ "chrome", "Chrome trace JSON: slices, thread states, I/O",
	  chrome_begin, chrome_event, chrome_end, .pretty = true, .all = true },
	{ "perfetto", "Perfetto protobuf trace",
	  perfetto_begin, perfetto_event, perfetto_end, .pretty = true, .all = true },
	{ "ctf", "Common Trace Format 1.8, a directory (--output)",
	  ctf_begin, ctf_event, ctf_end, .own_files = true,
	  .needs_path = "--to ctf: writes a directory: name it with --output" },
	{ "folded", "folded stacks with counts, for flame graphs",
	  folded_begin, folded_event, folded_end, .pretty = false },
	{ "pprof", "a profile of the stacks, for pprof (gzip)",
	  pprof_begin, pprof_event, pprof_end, .pretty = false },
	{ "tnf", "a trace file of its own, of the events that are kept",
	  slice_begin, slice_event, slice_end, .own_files = true },
#ifdef HAVE_SQLITE
	{ "sqlite", "an SQLite database (--output): events, pairs, states, sleeps",
	  sqlite_begin, sqlite_event, sqlite_end, .own_files = true, .all = true,
	  .needs_path = "--to sqlite: a database is a file: give --output FILE" },
#endif
	{ "html", "one page that shows the trace, without a network",
	  html_begin, html_event, html_end, .pretty = false, .all = true },
	{ "otlp", "OpenTelemetry's spans, JSON lines, for collectors",
	  otlp_begin, otlp_event, otlp_end, .pretty = true, .all = true },
	{ "otlp-pb", "the same as the protobuf of one request (port 4318)",
	  otlp_pb_begin, otlp_event, otlp_end, .pretty = true, .all = true },
	{ "otlp-logs-pb", "triggers of tnfwatch that fired, as records of a log",
	  otlp_logs_pb_begin, otlp_event, otlp_end, .pretty = true, .all = true },
	{ "stats", "counts, and durations of what begins and ends",
	  stats_report_begin, stats_report_event, stats_report_end, .pretty = true,
	  .all = true, .whole = true },
	{ "states", "time in each microstate, per thread",
	  states_report_begin, states_report_event, states_report_end,
	  .all = true, .whole = true },
	{ "tree", "events indented by level and nesting, with durations",
	  tree_begin, tree_event, tree_end, .pretty = true, .all = true, .whole = true },
	{ "link", "what belongs to one request: requests to disks, or equal values",
	  link_begin, link_event, link_end, .pretty = true },
	{ "calls", "a line for each system call: arguments, result, duration",
	  calls_begin, calls_event, calls_end, .pretty = false, .all = true },
	{ 0 }
};

const struct output *
output_find(const char *name)
{
	for (const struct output *o = outputs; o->name != NULL; o++)
		if (strcmp(o->name, name) == 0)
			return o;
	return NULL;
}

int
output_choose(struct dump *d, const char *option, const struct output *o)
{
	if (d->chosen_by != NULL && strcmp(d->chosen_by, option) != 0 &&
	    d->output != o)
		return options_wrong(option, "not with --%s: one format at a "
		    "time", d->chosen_by);
	d->chosen_by = option;
	d->output = o;
	return 0;
}

struct states *
formats_states(struct dump *d, state_span_fn *span, void *arg)
{
	struct states *s = states_new(span, arg);

	reports_pairs(d);
	if (d->filters != NULL)
		states_sieve(s);
	return s;
}

enum pair_role
formats_feed(struct dump *d, struct states *s, const struct tnf_event *ev, struct pair_slice *ret)
{
	states_feed(s, ev);
	if (d->keep == KEEP_ALL)
		states_choose(s, ev);
	return pairs_feed(d->pairs, ev, d->keep, ret);
}

struct tnf_event
formats_writer(struct dump *d, const struct tnf_event *ev)
{
	struct tnf_event who = *ev;

	origin_host(d, ev, &who.pid, &who.lwpid);
	who.pid = hosts_pid(d, tnf_file_host(ev->file), who.pid);
	return who;
}

char *
formats_process(struct dump *d, const struct tnf_event *ev)
{
	const char *comm = origin_process_last(d, ev);

	if (d->hosts != NULL)
		return tnf_xasprintf("%s: %s", host_name(d, ev), comm != NULL ? comm : "-");
	return comm != NULL ? tnf_xstrdup(comm) : NULL;
}

struct once {
	char	*text;
	size_t	 len;
};

static void
once_make(struct once *t, const struct out *to, const struct tnf_probe *p, void (*make)(struct out *, const struct tnf_probe *))
{
	struct out o;

	tnf_out_memory(&o);
	o.escape = to->escape;
	make(&o, p);
	t->len = out_size(&o);
	t->text = tnf_xreallocarray(o.base, t->len + OUT_BEHIND, 1);
}

void
formats_once(struct out *o, struct perprobe *all, const struct tnf_probe *p,
    void (*make)(struct out *, const struct tnf_probe *))
{
	struct once *t = perprobe(all, p, sizeof(*t));

	if (t->text == NULL)
		once_make(t, o, p, make);
	out_made(o, t->text, t->len);
}

void
formats_once_free(struct perprobe *all)
{
	struct once *t = (struct once *)(void *)all->base;

	for (size_t i = 0; i < all->n; i++)
		free(t[i].text);
	free(t);
}

bool
formats_same_thread(const struct tnf_event *a, const struct tnf_event *b)
{
	return a->lwpid == b->lwpid && a->pid == b->pid && a->tid == b->tid && a->file == b->file &&
	    a->cpu == b->cpu && a->kernel == b->kernel;
}

void
formats_thread(struct dump *d, struct perthread *all, const struct tnf_event *ev,
    void (*make)(struct dump *, struct out *, const struct tnf_event *))
{
	unsigned i = (ev->lwpid ^ (unsigned)ev->cpu) % THREAD_TEXTS;
	struct out *text = &all->last[i].text;
	const char *comm = origin_names_stay(d) ? NULL : origin_comm(d, ev);

	if (text->base == NULL || d->follow != NULL || comm != all->last[i].comm ||
	    !formats_same_thread(&all->last[i].of, ev)) {
		tnf_out_again(text);
		text->escape = d->out.escape;
		make(d, text, ev);
		out_room(text);		/* more than out_made() reads behind it */
		all->last[i].of = *ev;
		all->last[i].comm = comm;
	}
	out_made(&d->out, text->base, out_size(text));
}

void
formats_thread_free(struct perthread *all)
{
	for (unsigned i = 0; i < THREAD_TEXTS; i++)
		tnf_out_close(&all->last[i].text);
}
