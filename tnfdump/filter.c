/*
 * filter.c - filters by expression, process, thread and CPU.
 */
#include <stdlib.h>
#include <string.h>

#include "tnfdump/filter.h"
#include "tnfdump/hint.h"
#include "tnfdump/match.h"
#include "tnfdump/options.h"
#include "tnfdump/origin.h"
#include "tnfdump/pipeline.h"
#include "tnfdump/ranges.h"
#include "tnfdump/xalloc.h"

/* --- expressions --- */

static const char *
comm_of(void *arg, const struct tnf_event *ev)
{
	return origin_comm(arg, ev);
}

struct expr_source *
dump_expr_source(struct dump *d)
{
	static struct expr_source source;

	source.member = tnf_event_value;
	source.item = tnf_value_item;
	source.comm = comm_of;
	source.arg = d;
	source.first = d->first;
	return &source;
}

static bool
where_keep(void *arg, const struct tnf_event *ev)
{
	return expr_true(arg, ev);
}

static void
where_free(void *arg)
{
	expr_free(arg);
}

static int
where_start(void *arg, struct dump *d)
{
	dump_expr_source(d);
	expr_forget(arg);
	return 0;
}

static void
where_end(void *arg, struct dump *d)
{
	hint_members(d, "where", arg);
}

int
where_set(struct dump *d, const char *text)
{
	struct expr_error error;
	struct filter f = { .keep = where_keep, .start = where_start,
		.end = where_end, .free = where_free };
	char message[512];

	f.arg = expr_new(text, dump_expr_source(d), &error);
	if (f.arg == NULL) {
		expr_error_format(&error, text, message, sizeof(message));
		return options_wrong("where", "%s", message);
	}
	pipeline_add_filter(d, &f);
	return 0;
}

/* --- processes: numbers and names --- */

static struct {
	struct dump	*dump;
	struct ranges	 pids;
	char		**comms;	/* shell patterns */
	unsigned	 n_comms;
} processes;

static bool
process_keep(void *arg, const struct tnf_event *ev)
{
	const char *comm;
	unsigned i;

	if (ev->pid >= 0 && ranges_has(&processes.pids, (uint64_t)ev->pid))
		return true;
	if (processes.n_comms == 0 ||
	    (comm = origin_comm(processes.dump, ev)) == NULL)
		return false;
	for (i = 0; i < processes.n_comms; i++) {
		if (match_glob(processes.comms[i], comm))
			return true;
	}
	return false;
}

/* A name is of no use when no file tells names. */
static int
process_start(void *arg, struct dump *d)
{
	unsigned i;
	size_t n;

	processes.dump = d;
	for (i = 0; i < tnf_stream_probes(d->stream); i++) {
		const tnf_context_t *c = origin_context(d,
		    tnf_stream_probe(d->stream, i)->file);

		if (c != NULL && tnf_context_tasks(c, &n) != NULL && n > 0)
			return 0;
	}
	if (processes.n_comms == 0 || i == 0)
		return 0;
	dump_error(d, "-p %s: the trace does not tell names of processes: "
	    "use a process id", processes.comms[0]);
	return -1;
}

int
process_set(struct dump *d, const char *list)
{
	struct filter f = { .keep = process_keep, .start = process_start,
		.writer = true };
	char *copy = xstrdup(list), *next = copy, *word;

	while ((word = strsep(&next, ",")) != NULL) {
		if (*word == '\0')
			return options_wrong("process",
			    "process id or name expected");
		if (ranges_add(&processes.pids, word))
			continue;
		processes.comms = xreallocarray(processes.comms,
		    processes.n_comms + 1, sizeof(char *));
		processes.comms[processes.n_comms++] = xstrdup(word);
	}
	free(copy);
	if (processes.dump == NULL)
		pipeline_add_filter(d, &f);
	processes.dump = d;
	return 0;
}

/* --- CPUs and threads --- */

static struct ranges cpus, tids;

static bool
cpu_keep(void *arg, const struct tnf_event *ev)
{
	return ev->cpu >= 0 && ranges_has(&cpus, (uint64_t)ev->cpu);
}

static bool
tid_keep(void *arg, const struct tnf_event *ev)
{
	return ranges_has(&tids, ev->lwpid) || ranges_has(&tids, ev->tid);
}

static int
set_ranges(struct dump *d, const char *name, const char *list,
    struct ranges *set, bool (*keep)(void *, const struct tnf_event *))
{
	struct filter f = { .keep = keep, .writer = set == &tids };
	bool again = set->n > 0;

	if (!ranges_add(set, list))
		return options_wrong(name, "list of numbers expected, "
		    "as 0-3,8: \"%s\"", list);
	if (!again)
		pipeline_add_filter(d, &f);
	return 0;
}

int
cpu_set(struct dump *d, const char *list)
{
	return set_ranges(d, "cpu", list, &cpus, cpu_keep);
}

int
tid_set(struct dump *d, const char *list)
{
	return set_ranges(d, "tid", list, &tids, tid_keep);
}
