/*
 * why-cause.c - the words for a node, and for the cause that the path to a leaf shows.
 */
#include <inttypes.h>

#include "analysis/pretty-names.h"
#include "analysis/why.h"

/* The things that threads wait for, as in "waits for a pipe"; short_things[] names them without
   an article, as in "pipe of PROCESS". */
static const char *const things[WHY_CAUSES] = {
	[WHY_OTHER] = "an event", [WHY_FUTEX] = "a lock (futex)",
	[WHY_LOCK] = "a lock of the kernel", [WHY_PIPE] = "a pipe", [WHY_SOCKET] = "a socket",
	[WHY_NETWORK] = "the network", [WHY_POLL] = "a file that is ready (poll, epoll)",
	[WHY_CHILD] = "a child process", [WHY_TIMER] = "a timer", [WHY_DISK] = "a disk",
	[WHY_FILE_FAULT] = "a page of a file", [WHY_SWAP] = "a page from swap",
	[WHY_RECLAIM] = "free memory (reclaim)", [WHY_STOPPED] = "SIGCONT",
	[WHY_TRACED] = "its tracer", [WHY_FROZEN] = "the end of a freeze",
	[WHY_URING] = "io_uring", [WHY_WORK] = "work", [WHY_MESSAGE] = "a message",
	[WHY_FAULT] = "a page (page fault)",
	[WHY_DIRTY] = "dirty pages that are to be written first", [WHY_SIGNAL] = "a signal",
	[WHY_IPC] = "a message queue or a semaphore", [WHY_TTY] = "a terminal",
	[WHY_FUSE] = "a file system in a process (FUSE)",
	[WHY_NETFS] = "a file system of another machine", [WHY_RCU] = "all CPUs (RCU)",
};

static const char *const short_things[WHY_CAUSES] = {
	[WHY_OTHER] = "wait", [WHY_FUTEX] = "futex", [WHY_LOCK] = "lock of the kernel",
	[WHY_PIPE] = "pipe", [WHY_SOCKET] = "socket", [WHY_NETWORK] = "network",
	[WHY_POLL] = "poll", [WHY_CHILD] = "child", [WHY_TIMER] = "timer", [WHY_DISK] = "disk",
	[WHY_FILE_FAULT] = "page of a file", [WHY_SWAP] = "page from swap",
	[WHY_RECLAIM] = "memory reclaim", [WHY_STOPPED] = "stopped", [WHY_URING] = "io_uring",
	[WHY_TRACED] = "traced", [WHY_FROZEN] = "frozen", [WHY_WORK] = "work",
	[WHY_MESSAGE] = "message", [WHY_FAULT] = "page fault", [WHY_DIRTY] = "dirty pages",
	[WHY_SIGNAL] = "signal", [WHY_IPC] = "message queue", [WHY_TTY] = "terminal",
	[WHY_FUSE] = "FUSE", [WHY_NETFS] = "network file system", [WHY_RCU] = "RCU",
	[WHY_EXIT] = "exit",
};

const char *
why_thing(const struct why_node *n)
{
	return things[n->cause] != NULL ? things[n->cause] : things[WHY_OTHER];
}

const char *
why_kind_name(enum why_kind kind)
{
	static const char *const name[] = { "whole", "running", "runnable", "taken", "asleep",
	    "queued", "unknown", "absent", "cut" };

	return name[kind];
}

const char *
why_waker_name(enum why_waker by)
{
	static const char *const name[] = { NULL, "thread", "interrupt", "timer", "disk",
	    "network", "signal" };

	return name[by];
}

const char *
why_reason_name(const struct why_node *n)
{
	if (n->cause == WHY_THROTTLED)
		return "throttled";
	if (n->kind == WHY_RUN)
		return n->cause == WHY_OTHER ? NULL : short_things[n->cause];
	return n->kind == WHY_ASLEEP ? short_things[n->cause] : NULL;
}

void
why_put_thread(struct why *w, struct out *o, uint32_t id, int64_t time, bool number)
{
	const struct why_thread *t = why_thread(w, id);

	if (t == NULL) {
		out_lit(o, "nobody");
		return;
	}
	out_str(o, why_name(w, id, time));
	if (number && t->lwpid != 0)
		tnf_out_format(o, " %" PRIu32, t->lwpid);
}

/* "disk vda", "disk vda behind 9 requests of large.sh" */
static void
put_disk(struct why *w, struct out *o, const struct why_node *n, bool numbers)
{
	const char *name = why_disk(w, n);
	uint32_t most;
	unsigned ahead = why_ahead(w, n, &most);
	int64_t held;

	out_lit(o, "disk");
	if (name != NULL) {
		out_char(o, ' ');
		out_str(o, name);
	}
	if ((held = why_held_back(w, n)) > 0) {
		out_lit(o, ", held back ");
		if (numbers)
			tnf_out_format(o, "%.3f ms ", (double)held / 1e6);
		out_lit(o, "before the device (a limit of its control group?)");
		return;
	}
	if (ahead == 0)
		return;
	out_lit(o, " behind ");
	if (numbers)
		tnf_out_format(o, ahead == 1 ? "%u request" : "%u requests", ahead);
	else
		out_lit(o, "requests");
	if (most != 0) {
		out_lit(o, " of ");
		why_put_thread(w, o, most, n->from, numbers);
	}
}

/* "stopped by debugger 812" */
static void
put_stop(struct why *w, struct out *o, const struct why_node *n, bool numbers)
{
	out_str(o, n->cause == WHY_FROZEN ? "frozen by its control group" :
	    n->cause == WHY_TRACED ? "stopped by its tracer" : "stopped");
	if (n->waker == 0)
		return;
	out_str(o, n->cause == WHY_FROZEN ? ", until " : n->cause == WHY_TRACED ? " " :
	    n->by == WHY_BY_SIGNAL ? " by " : ", until ");
	why_put_thread(w, o, n->waker, n->to, numbers);
	out_str(o, n->cause == WHY_FROZEN ? " thawed it" :
	    n->cause == WHY_STOPPED && n->by != WHY_BY_SIGNAL ? " continued it" : "");
}

static void
put_asleep(struct why *w, struct out *o, const struct why_node *n, bool numbers)
{
	bool timed = n->by == WHY_BY_TIMER && n->cause != WHY_TIMER && n->cause != WHY_OTHER &&
	    n->cause != WHY_DIRTY;

	if (why_is_stop(n->cause)) {
		put_stop(w, o, n, numbers);
		return;
	}
	if (n->cause == WHY_DIRTY) {
		out_lit(o, "may not write on before dirty pages are on their disk");
		return;
	}
	if (n->by == WHY_BY_TIMER && !timed) {
		out_lit(o, "sleep until a timer");
		if (n->refused != 0) {
			out_lit(o, ", as it was refused a lock of a file, which ");
			why_put_thread(w, o, n->refused, n->from, numbers);
			out_lit(o, " had");
		}
		return;
	}
	if (n->by == WHY_BY_DISK || n->cause == WHY_DISK) {
		if (n->cause != WHY_DISK) {
			out_str(o, short_things[n->cause]);
			out_lit(o, ", ");
		}
		put_disk(w, o, n, numbers);
		return;
	}
	out_str(o, short_things[n->cause]);
	if (timed)
		out_lit(o, ", timed wait that ran out");
	else if (n->by == WHY_BY_NETWORK && n->cause != WHY_NETWORK)
		out_lit(o, ", until a packet came");
	else if (n->by == WHY_BY_NONE && n->cause != WHY_NETWORK)
		out_lit(o, " that did not end in the trace");
	else if (n->by == WHY_BY_INTERRUPT)
		out_lit(o, ", ended by an interrupt");
	else if (n->waker != 0) {
		out_lit(o, ", woken by ");
		why_put_thread(w, o, n->waker, n->to, numbers);
	}
}

void
why_put_leaf(struct why *w, struct out *o, const struct why_node *n, bool numbers)
{
	const char *call, *hot;
	bool spins;

	switch (n->kind) {
	case WHY_RUN:
		out_str(o, n->cause == WHY_FAULT ? "on the CPU, in a page fault" :
		    n->cause == WHY_RECLAIM ? "on the CPU, looking for free memory (reclaim)" :
		    n->cause == WHY_EXIT ? "on the CPU, as it exits" :
		    "on the CPU");
		if (n->call >= 0 && (call = pretty_call_name((uint64_t)n->call, 0)) != NULL)
			tnf_out_format(o, ", in %s()", call);
		if (numbers && (hot = why_hot(w, n, &spins)) != NULL)
			tnf_out_format(o, ", %s %s", spins ? "spins in" : "in", hot);
		break;
	case WHY_READY:
		out_str(o, n->cause == WHY_THROTTLED ? "throttled: its control group has used up "
		    "its CPU time" : "runnable");
		break;
	case WHY_TAKEN:
		if (n->thread == 0)
			out_lit(o, "runnable, CPU: idle or not told");
		else {
			out_lit(o, "runnable, CPU: ");
			why_put_thread(w, o, n->thread, n->from, numbers);
		}
		break;
	case WHY_ASLEEP:
		put_asleep(w, o, n, numbers);
		break;
	case WHY_ABSENT:
		out_lit(o, "not in the trace");
		break;
	case WHY_NOT_FOLLOWED:
		out_lit(o, "not followed further");
		break;
	case WHY_QUEUED:
		out_lit(o, "queued");
		break;
	default:
		out_lit(o, "unknown");
	}
}

/* "futex of holder: ", "child make: " */
static void
put_step(struct why *w, struct out *o, const struct why_node *n, bool numbers)
{
	if (n->kind == WHY_READY)
		return;
	out_str(o, n->kind == WHY_QUEUED ? "queued for" : short_things[n->cause]);
	out_str(o, n->kind == WHY_QUEUED || n->cause == WHY_CHILD ? " " : " of ");
	why_put_thread(w, o, n->waker, n->to, numbers);
	out_lit(o, ": ");
}

void
why_put_cause(struct why *w, struct out *o, const struct why_node *const *path, unsigned n,
    bool numbers)
{
	for (unsigned i = 0; i + 1 < n; i++) {
		if (i == 2 && n > 6) {	/* of a long chain only the two ends are shown */
			out_lit(o, "... ");
			i = n - 3;
		}
		put_step(w, o, path[i], numbers);
	}
	if (n > 1 && (path[n - 1]->kind == WHY_RUN || path[n - 1]->kind == WHY_READY))
		out_lit(o, "it was ");
	why_put_leaf(w, o, path[n - 1], numbers);
}

struct adding {
	struct why *w;
	struct why_sums *sums;
	struct out text;
};

static void
add_leaf(void *arg, const struct why_node *const *path, unsigned n)
{
	struct adding *a = arg;

	a->text.p = a->text.base;
	why_put_cause(a->w, &a->text, path, n, false);
	struct why_sum *s = why_sum_of(a->sums, a->text.base, (size_t)(a->text.p - a->text.base));
	s->ns += path[n - 1]->to - path[n - 1]->from;
	s->now += path[n - 1]->to - path[n - 1]->from;
}

void
why_sums_add(struct why_sums *sums, struct why *w, const struct why_tree *t)
{
	struct adding a = { .w = w, .sums = sums };
	int64_t took = t->root->to - t->root->from;

	tnf_out_memory(&a.text);
	why_leaves(t, add_leaf, &a);
	tnf_out_close(&a.text);
	for (struct why_sum *s = sums->first; s != NULL; s = s->next) {
		s->in += s->now * 20 > took;
		s->now = 0;
	}
	sums->n++;
}

struct why_sum *
why_sum_of(struct why_sums *sums, const char *text, size_t len)
{
	bool fresh;

	if (sums->by_text.value_size == 0)
		tnf_map_init(&sums->by_text, sizeof(struct why_sum));
	struct why_sum *s = tnf_xmap_put(&sums->by_text, text, len, &fresh);
	if (fresh) {
		s->text = tnf_map_key(&sums->by_text, s);
		s->len = len;
		s->next = sums->first;
		sums->first = s;
	}
	return s;
}

void
why_sums_free(struct why_sums *sums)
{
	tnf_map_free(&sums->by_text);
	sums->first = NULL;
}
