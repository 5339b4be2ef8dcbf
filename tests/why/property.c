/*
 * property.c - whatever a trace says, an explanation tiles its stretch exactly.
 *
 * Random events of the kernel's probes, most of them senseless, are fed; then random stretches
 * of random threads are explained.  The children of each node must tile it without a gap, the
 * leaves must add up to the whole, and the causes as well.  The seed is printed; WHY_SEED and
 * WHY_ROUNDS repeat a run.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analysis/why.h"
#include "tests/reader/mkfile.h"

#define THREADS	9
#define CPUS	3
#define EVENTS	400

static uint64_t seed;
static unsigned failures;

static unsigned
any(unsigned n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(seed >> 33) % n;
}

enum { OUT, OF, BLOCK, CREATE, EXIT, WAKE, WAKE_BY, THROTTLE, SIGNAL, OWNER, STRATEGY, BIODONE,
    PROBES };

static const struct { const char *name, *slots; } probes[PROBES] = {
	[OUT] = { "thread_state", "state:tnf_microstate" },
	[OF] = { "thread_state", "tid:tnf_kthread_id state:tnf_microstate" },
	[BLOCK] = { "thread_block", "reason:tnf_opaque" },
	[CREATE] = { "thread_create", "tid:tnf_kthread_id pid:tnf_pid start_pc:tnf_symbol" },
	[EXIT] = { "thread_exit", "" },
	[WAKE] = { "thread_wakeup", "tid:tnf_kthread_id" },
	[WAKE_BY] = { "thread_wakeup", "tid:tnf_kthread_id by:tnf_long source:tnf_opaque" },
	[THROTTLE] = { "thread_throttle", "tid:tnf_kthread_id group:tnf_ulong" },
	[SIGNAL] = { "thread_signal", "tid:tnf_kthread_id pid:tnf_pid signo:tnf_long code:tnf_long" },
	[OWNER] = { "lock_owner", "reason:tnf_opaque owner:tnf_lwpid" },
	[STRATEGY] = { "strategy", "device:tnf_device block:tnf_diskaddr size:tnf_size "
	    "buf:tnf_opaque flags:tnf_bioflags" },
	[BIODONE] = { "biodone", "device:tnf_device block:tnf_diskaddr buf:tnf_opaque" },
};

static const struct { const char *name, *base; } types[] = {
	{ "tnf_microstate", "tnf_int32" }, { "tnf_kthread_id", "tnf_uint64" },
	{ "tnf_opaque", "tnf_uint64" }, { "tnf_pid", "tnf_int32" }, { "tnf_symbol", "tnf_uint64" },
	{ "tnf_long", "tnf_int64" }, { "tnf_ulong", "tnf_uint64" }, { "tnf_lwpid", "tnf_uint32" },
	{ "tnf_device", "tnf_uint64" }, { "tnf_diskaddr", "tnf_uint64" },
	{ "tnf_size", "tnf_uint64" }, { "tnf_bioflags", "tnf_int32" },
};

static struct mk_thread writers[THREADS][CPUS];

static int64_t
task(unsigned t)
{
	return 0x1000 + 0x100 * (int64_t)t;
}

static void
put(struct mk *mk, const unsigned *ids, unsigned what, int64_t time)
{
	struct mk_thread *w = &writers[any(THREADS)][any(CPUS)];
	int64_t of = task(any(THREADS + 1));
	unsigned id = ids[what];

	switch (what) {
	case OUT:
		mk_event(mk, w, id, time, (int64_t)any(10));
		break;
	case OF:
		mk_event(mk, w, id, time, of, (int64_t)(any(2) ? 8 : any(10)));
		break;
	case WAKE_BY:
		mk_event(mk, w, id, time, of, (int64_t)any(7), (int64_t)any(12));
		break;
	case CREATE:
		mk_event(mk, w, id, time, of, (int64_t)any(5), (int64_t)0);
		break;
	case EXIT:
		mk_event(mk, w, id, time);
		break;
	case SIGNAL:
		mk_event(mk, w, id, time, of, (int64_t)1, (int64_t)(17 + any(5)), (int64_t)0);
		break;
	case THROTTLE:
		mk_event(mk, w, id, time, of, (int64_t)1);
		break;
	case OWNER:
		mk_event(mk, w, id, time, (int64_t)7, (int64_t)(100 + any(THREADS)));
		break;
	case STRATEGY:
		mk_event(mk, w, id, time, (int64_t)any(2), (int64_t)any(99), (int64_t)512,
		    (int64_t)any(12), (int64_t)64);
		break;
	case BIODONE:
		mk_event(mk, w, id, time, (int64_t)any(2), (int64_t)any(99), (int64_t)any(12));
		break;
	default:	/* one address */
		mk_event(mk, w, id, time, of);
	}
}

static struct mk *
random_trace(unsigned events)
{
	struct mk_opts opts = { .kernel = true, .block_size = 4096,
	    .data_blocks = events / 20 + 32 };
	struct mk *mk = mk_new(&opts);
	unsigned ids[PROBES];
	int64_t time = 1000;

	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
		mk_derived_type(mk, types[i].name, types[i].base);
	for (unsigned i = 0; i < PROBES; i++)
		ids[i] = mk_probe(mk, probes[i].name, "keys k;file f;line 1;", probes[i].slots);
	for (unsigned t = 0; t < THREADS; t++)
		for (int c = 0; c < CPUS; c++)
			writers[t][c] = (struct mk_thread){ .pid = 1, .lwpid = t == 0 ? 0 : 100 + t,
			    .tid = (uint64_t)task(t), .cpu = c };
	for (unsigned i = 0; i < events; i++) {
		time += any(3) ? any(1000) : 0;
		put(mk, ids, any(3) ? any(2) : any(PROBES), time);
	}
	return mk;
}

static void
wrong(const char *what, const struct why_node *n)
{
	printf("# %s: %lld to %lld, kind %d\n", what, (long long)n->from, (long long)n->to,
	    (int)n->kind);
	failures++;
}

static unsigned
check_node(const struct why_node *n)
{
	int64_t at = n->from;
	unsigned count = 1;

	if (n->to < n->from)
		wrong("a node ends before it begins", n);
	for (const struct why_node *c = n->child; c != NULL; c = c->next) {
		if (c->from != at)
			wrong("a gap before", c);
		at = c->to;
		count += check_node(c);
	}
	if (n->child != NULL && at != n->to)
		wrong("children do not reach the end", n);
	return count;
}

static void
add_up(void *arg, const struct why_node *const *path, unsigned n)
{
	*(int64_t *)arg += path[n - 1]->to - path[n - 1]->from;
}

static void
check_tree(struct why *w, const struct why_tree *t)
{
	int64_t took = t->root->to - t->root->from, sum = 0, causes = 0;
	struct why_sums sums = { 0 };
	struct out text;

	if (check_node(t->root) != t->nodes)
		wrong("nodes that are not in the tree", t->root);
	why_leaves(t, add_up, &sum);
	if (sum != took)
		wrong("the leaves do not add up", t->root);
	why_sums_add(&sums, w, t);
	for (const struct why_sum *s = sums.first; s != NULL; s = s->next)
		causes += s->ns;
	if (causes != took)
		wrong("the causes do not add up", t->root);
	why_sums_free(&sums);
	tnf_out_memory(&text);
	why_put_verdict(w, &text, t, NULL);
	why_put_tree(w, &text, t, t->root->from);
	why_put_json(w, &text, t);
	tnf_out_close(&text);
}

/* Explains stretches; returns when the whole trace lasted. */
static void
explain(struct why *w, uint32_t *threads, unsigned n, int64_t first, int64_t last, unsigned times)
{
	for (unsigned i = 0; i < times && n > 0; i++) {
		int64_t from = first + any((unsigned)(last - first) + 1);
		int64_t to = from + any((unsigned)(last - from) + 1);
		struct why_step steps[3] = { { from, threads[any(n)] },
		    { from + any((unsigned)(to - from) + 1), threads[any(n)] },
		    { to, threads[any(n)] } };
		struct why_tree t = why_explain_steps(w, steps, 1 + any(3), to);
		check_tree(w, &t);
		why_tree_free(&t);
	}
}

static double
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void
run(unsigned events, unsigned times, bool told)
{
	const struct why_source none = { 0 };
	struct mk *mk = random_trace(events);
	struct why *w = why_new(&none);
	uint32_t threads[64], n = 0;
	int64_t first = 0, last = 0;
	tnf_stream_t *s;
	struct tnf_event ev;
	size_t size;

	void *base = mk_bytes(mk, &size);
	if (tnf_stream_new(&s) != 0 || tnf_stream_add_mem(s, base, size, "random", NULL) != 0) {
		printf("Bail out! the trace cannot be read\n");
		exit(1);
	}
	double begun = now();
	uint64_t fed = 0;
	while (tnf_stream_next(s, &ev) == 1) {
		why_feed(w, &ev);
		first = first == 0 ? ev.time : first;
		last = ev.time;
		uint32_t id = why_writer(w, &ev);
		if (id != 0 && n < 64 && any(8) == 0)
			threads[n++] = id;
		if (any(50) == 0)
			(any(2) ? why_sent : why_received)(w, &ev, &"a\0b"[any(3)], 1);
		fed++;
	}
	double fed_at = now();
	explain(w, threads, n, first, last, times);
	if (told)
		printf("# %llu events: index %.3f s, %u explanations %.3f s\n",
		    (unsigned long long)fed, fed_at - begun, times, now() - fed_at);
	why_free(w);
	tnf_stream_close(s);
	mk_free(mk);
}

int
main(int argc, char **argv)
{
	const char *s = getenv("WHY_SEED"), *r = getenv("WHY_ROUNDS");
	unsigned rounds = r != NULL ? (unsigned)atoi(r) : 300;

	seed = s != NULL ? strtoull(s, NULL, 0) : (uint64_t)time(NULL);
	printf("# WHY_SEED=%llu\n", (unsigned long long)seed);
	if (argc == 2)		/* how long it takes: property EVENTS */
		run((unsigned)atoi(argv[1]), 1000, true);
	else
		for (unsigned i = 0; i < rounds && failures < 10; i++)
			run(20 + any(EVENTS), 20, false);
	printf("1..1\n%s 1 - explanations tile their stretch\n", failures == 0 ? "ok" : "not ok");
	return failures > 0;
}
