/*
 * filter-task.c - filters by process and thread: numbers and names.
 *
 * The name of a process is that of its leader, whatever its threads call
 * themselves; --tid asks for the names of threads.  Which name or number is asked is decided here;
 * selectors_name() and selectors_number() in analysis/match.c compare it.
 */
#include "analysis/names.h"
#include "tnfdump/origin.h"
#include "tnfdump/pipeline.h"

struct tasks_wanted {
	struct selectors list;
	struct dump	*d;
	bool		 threads;	/* --tid: threads, not processes */
	uint64_t	 unnamed;	/* events whose task has no known name */
	struct idset	 nobodies;	/* their processes or threads */
	int64_t		 some;		/* one of the nobodies */
	const char	*last;		/* name that was looked at, and ... */
	bool		 last_kept;
};

static bool
task_numbers_match(struct tasks_wanted *w, const struct tnf_event *ev)
{
	uint32_t lwpid;
	int32_t pid;

	if (w->threads) {
		/* Both numbers are tried: each marks the selectors that it matches. */
		bool by_lwpid = selectors_number(&w->list, ev->lwpid);

		if (selectors_number(&w->list, ev->tid) || by_lwpid)
			return true;
	} else if (ev->pid >= 0 && selectors_number(&w->list, (uint64_t)ev->pid))
		return true;
	if (ev->kernel || w->list.n_names == w->list.n)
		return false;
	origin_host(w->d, ev, &pid, &lwpid);
	if (pid == ev->pid && lwpid == ev->lwpid)
		return false;
	return selectors_number(&w->list, w->threads ? lwpid : (uint32_t)pid);
}

static const char *
task_name(struct tasks_wanted *w, const struct tnf_event *ev)
{
	return w->threads ? origin_comm_own(w->d, ev) : origin_process(w->d, ev);
}

/* Most events come from the same task as the one before, and its name is the same memory. */
static bool
task_name_matches(struct tasks_wanted *w, const char *name)
{
	if (name != w->last || w->list.n_hit < w->list.n) {
		w->last = name;
		w->last_kept = selectors_name(&w->list, name);
	}
	return w->last_kept;
}

static void
task_unnamed(struct tasks_wanted *w, const struct tnf_event *ev)
{
	/* The kernel's idle threads are no process: their events do not count as unnamed. */
	if (ev->pid == 0)
		return;
	w->some = w->threads ? (int64_t)ev->lwpid : ev->pid;
	w->unnamed++;
	idset_add(&w->nobodies, (uint64_t)w->some, 1);
}

static bool
task_keep(void *arg, const struct tnf_event *ev)
{
	struct tasks_wanted *w = arg;
	const char *name;

	if (task_numbers_match(w, ev))
		return true;
	if (w->list.n_names == 0)
		return false;
	if ((name = task_name(w, ev)) != NULL)
		return task_name_matches(w, name);
	task_unnamed(w, ev);
	return false;
}

static void
task_see(void *arg, const struct tnf_event *ev)
{
	struct tasks_wanted *w = arg;
	const char *name;

	if (w->list.n_hit == w->list.n)
		return;
	task_numbers_match(w, ev);
	if (w->list.n_names > 0 && (name = task_name(w, ev)) != NULL)
		task_name_matches(w, name);
}

static const char *
task_first_name(const struct tasks_wanted *w)
{
	unsigned i = 0;

	while (w->list.s[i].numbers.n > 0)
		i++;
	return w->list.s[i].text;
}

/* A name is of no use when no file tells names. */
static int
task_start(void *arg, struct dump *d)
{
	struct tasks_wanted *w = arg;

	w->d = d;
	w->last = NULL;
	w->unnamed = 0;
	idset_free(&w->nobodies);
	selectors_forget(&w->list);
	if (w->list.n_names == 0 || tnf_stream_probes(d->stream) == 0 ||
	    origin_tells_names(d))
		return 0;
	dump_error(d, "%s %s: the trace does not tell names of %s: "
	    "use %s", w->threads ? "--tid" : "-p", task_first_name(w),
	    w->threads ? "threads" : "processes",
	    w->threads ? "their numbers" : "a process id");
	return -1;
}

static void
task_end(void *arg, struct dump *d)
{
	struct tasks_wanted *w = arg;
	const char *option = w->threads ? "--tid" : "-p";
	size_t n = idset_count(&w->nobodies);

	hint_tasks(d, option, &w->list, w->threads);
	if (w->unnamed == 0)
		return;
	dump_note(d, "%s %s: %llu event%s of %zu %s whose name the trace does "
	    "not tell were left out: choose them by number%s %lld", option,
	    task_first_name(w), (unsigned long long)w->unnamed,
	    w->unnamed == 1 ? "" : "s", n,
	    w->threads ? n == 1 ? "thread" : "threads" :
	    n == 1 ? "process" : "processes", n == 1 ? ":" : ", for example",
	    (long long)w->some);
}

static void
task_free(void *arg)
{
	struct tasks_wanted *w = arg;

	selectors_free(&w->list);
	idset_free(&w->nobodies);
	free(w);
}

static struct tasks_wanted *
tasks_wanted_of(struct dump *d, const char *option)
{
	const struct filter f = { .option = option, .keep = task_keep, .see = task_see,
		.start = task_start, .end = task_end, .free = task_free,
		.asks = KEEP_WHO };

	return pipeline_filter_arg(d, &f, sizeof(struct tasks_wanted));
}

int
process_set(struct dump *d, const char *list)
{
	struct tasks_wanted *w = tasks_wanted_of(d, "process");

	return selectors_add(&w->list, list, true) ? 0 :
	    options_wrong("process", "process id or name expected");
}

int
tid_set(struct dump *d, const char *list)
{
	struct tasks_wanted *w = tasks_wanted_of(d, "tid");

	w->threads = true;
	return selectors_add(&w->list, list, true) ? 0 :
	    options_wrong("tid", "thread id or name expected");
}
