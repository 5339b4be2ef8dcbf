/*
 * why-walk.c - explains a stretch of a thread's time: a tree whose nodes tile it.
 *
 * A sleep that another thread ended is explained by what that one did in the same window.
 * Windows only shrink, and the waker was running when the sleep ended, so the walk ends.
 */
#include <string.h>

#include "analysis/why-impl.h"
#include "common/xalloc.h"

#define CHUNK		256u
#define SHORT_CALL	20000	/* ns */
#define LOOK_AGAIN	500000	/* ns */
#define AGAIN_MAX	1000u
#define SAME_LOCK	64u	/* bytes: the words of one condition variable */

struct why_chunk {
	struct why_chunk *next;
	unsigned	  n;
	struct why_node	  node[CHUNK];
};

struct walk {
	struct why	*w;
	struct why_tree	*tree;
	struct why_node	*run;		/* the last node, if it is RUN */
	int64_t		 longest;	/* piece of it */
	int64_t		 end;		/* of what is explained */
};

/* Appends a node to the children, whose end *end is. */
static struct why_node *
add(struct walk *k, struct why_node ***end, enum why_kind kind, uint32_t thread, int64_t from,
    int64_t to)
{
	struct why_tree *t = k->tree;

	if (t->chunks == NULL || t->chunks->n == CHUNK) {
		struct why_chunk *c = tnf_xcalloc(1, sizeof(*c));
		c->next = t->chunks;
		t->chunks = c;
	}
	struct why_node *n = &t->chunks->node[t->chunks->n++];
	n->kind = kind;
	n->thread = thread;
	n->from = from;
	n->to = to;
	n->call = -1;
	k->run = NULL;
	t->nodes++;
	**end = n;
	*end = &n->next;
	return n;
}

void
why_tree_free(struct why_tree *t)
{
	struct why_chunk *c;

	while ((c = t->chunks) != NULL) {
		t->chunks = c->next;
		free(c);
	}
	*t = (struct why_tree){ 0 };
}

/* The index of the last element whose time is not after 'at'; n: there is none. */
#define LAST_BEFORE(array, n, at) __extension__ ({			\
	size_t low_ = 0, high_ = (n);					\
	while (low_ < high_) {						\
		size_t mid_ = low_ + (high_ - low_) / 2;		\
		if ((array)[mid_].time <= (at))				\
			low_ = mid_ + 1;				\
		else							\
			high_ = mid_;					\
	}								\
	low_ == 0 ? (size_t)(n) : low_ - 1;				\
})

/* Adds the threads that had the CPU while this thread waited for it. */
static void
taken(struct walk *k, struct why_node *ready, const struct cpu *c)
{
	struct why_node **end = &ready->child;
	int64_t at = ready->from;

	if (c == NULL || c->n == 0)
		return;
	size_t i = LAST_BEFORE(c->turns, c->n, at);
	if (i == c->n) {
		i = 0;
		int64_t first = c->turns[0].time < ready->to ? c->turns[0].time : ready->to;
		add(k, &end, WHY_TAKEN, 0, at, first);
		at = first;
	}
	for (; i < c->n && at < ready->to && k->tree->nodes < WHY_NODES_MAX; i++) {
		int64_t to = i + 1 < c->n && c->turns[i + 1].time < ready->to ?
		    c->turns[i + 1].time : ready->to;
		if (to <= at)
			continue;
		uint32_t who = c->turns[i].thread;
		add(k, &end, WHY_TAKEN, who == ready->thread ? 0 : who, at, to);
		at = to;
	}
	if (at < ready->to)
		add(k, &end, WHY_CUT, 0, at, ready->to);
}

static void walk(struct walk *, struct why_node ***end, uint32_t thread,
    int64_t from, int64_t to, unsigned depth);

/* The thread slept until it received a message: what the sender did until it sent, and then
   the way of the message. */
static bool
message(struct walk *k, struct why_node *asleep, const struct thread *t, int64_t woken_at,
    unsigned depth)
{
	struct why_node **end = &asleep->child;
	size_t i = LAST_BEFORE(t->receipts, t->n_receipts, woken_at);

	i = i == t->n_receipts ? 0 : i + 1;
	if (i >= t->n_receipts)
		return false;
	const struct receipt *r = &t->receipts[i];
	/* It may have slept again for the rest of the message.  What it had before the message was
	   sent was something else, unless its clock is late. */
	size_t c = LAST_BEFORE(t->changes, t->n, r->time);
	for (size_t j = LAST_BEFORE(t->changes, t->n, woken_at); j <= c && j < t->n; j++)
		if (t->changes[j].asleep && r->sent_at > woken_at)
			return false;
	int64_t sent = r->sent_at < asleep->to ? r->sent_at : asleep->to;
	if (sent <= asleep->from || r->sender == asleep->thread)
		return false;
	asleep->cause = WHY_MESSAGE;
	asleep->by = WHY_BY_THREAD;
	asleep->waker = r->sender;
	walk(k, &end, r->sender, asleep->from, sent, depth + 1);
	if (sent < asleep->to)
		add(k, &end, WHY_ASLEEP, asleep->thread, sent, asleep->to)->cause = WHY_NETWORK;
	return true;
}

/* Is what begins with the change 'b' the same wait as that of 'a'? */
static bool
same_wait(struct why *w, const struct thread *t, const struct change *a, const struct change *b,
    enum why_cause cause)
{
	uint64_t x = why_reason(w, t, a), y = why_reason(w, t, b);

	return x != 0 && (x == y || (cause == WHY_FUTEX && (x > y ? x - y : y - x) < SAME_LOCK)) &&
	    why_place(w, t, b).cause == cause;
}

/*
 * A thread that wakes up, finds nothing, and goes to sleep for the same again, has waited for
 * the one that wakes it in the end: timed waits in a loop, and wake-ups for nothing.  If it
 * wakes another meanwhile it may have got something done.  Returns the last such wake-up, or
 * that of sleep i.
 */
static const struct change *
in_the_end(struct walk *k, const struct thread *t, size_t i, enum why_cause cause)
{
	const struct change *first = &t->changes[i], *wake = first + 1;
	int64_t ran = 0;

	for (size_t j = i + 1, n = 0; j + 1 < t->n && n < AGAIN_MAX; j++, n++) {
		const struct change *c = &t->changes[j];

		if (c->time >= k->end || c->woke || c->state >= S_STOPPED || ran > LOOK_AGAIN)
			break;
		if (!c->asleep)
			ran += c->state == S_WAIT_CPU ? 0 : c[1].time - c->time;
		else if (same_wait(k->w, t, first, c, cause) && c[1].state == S_WAIT_CPU) {
			wake = c + 1;
			ran = 0;
		}
	}
	return wake;
}

/* Explains who woke the thread from sleep i; the node has the sleep's cause and end already. */
static void
ended_by(struct walk *k, struct why_node *n, const struct thread *t, size_t i)
{
	const struct change *wake = &t->changes[i + 1];

	if ((wake->by == WHY_BY_TIMER && n->cause != WHY_TIMER && n->cause != WHY_OTHER &&
	    n->cause != WHY_DIRTY && !why_is_stop(n->cause)) ||
	    (wake->by == WHY_BY_THREAD && n->cause == WHY_FUTEX)) {
		const struct change *last = in_the_end(k, t, i, n->cause);
		if (last->by == WHY_BY_THREAD && last->waker != 0)
			wake = last;
	}
	n->by = wake->by;
	n->waker = wake->waker;
	n->request = n->by == WHY_BY_DISK ? wake->detail : 0;
}

static void
asleep(struct walk *k, struct why_node *n, const struct thread *t, size_t i, unsigned depth)
{
	const struct change *c = &t->changes[i], *wake = i + 1 < t->n ? c + 1 : NULL;
	struct place p = why_place(k->w, t, c);
	struct why_node **end = &n->child;
	uint32_t follow;

	n->cause = p.cause;
	n->where = p.where;
	n->owner = c->detail != 0 ? k->w->blocks[c->detail].owner : 0;
	if (wake != NULL && wake->state == S_WAIT_CPU)
		ended_by(k, n, t, i);
	if (why_is_stop(n->cause)) {
		/* The tracer, or the thread that thaws the cgroup, also lets the thread go on.  A signal
		   stops a traced thread by way of the tracer. */
		if (c->waker != 0 && n->cause != WHY_FROZEN) {
			n->cause = WHY_STOPPED;
			n->by = WHY_BY_SIGNAL;
			n->waker = c->waker;
		}
		return;
	}
	if (n->by == WHY_BY_DISK || n->by == WHY_BY_TIMER) {
		if (n->by == WHY_BY_DISK && (n->cause == WHY_OTHER || n->cause == WHY_WORK))
			n->cause = WHY_DISK;
		return;
	}
	if (t->n_receipts > 0 && wake != NULL && message(k, n, t, wake->time, depth))
		return;
	follow = n->waker != 0 ? n->waker : n->by == WHY_BY_NONE ? n->owner : 0;
	if (follow == 0 || why_changes_of(k->w, follow) == t)
		return;
	if (n->waker == 0) {
		n->waker = follow;
		n->by = WHY_BY_THREAD;
	}
	walk(k, &end, follow, n->from, n->to, depth + 1);
}

/* The thread is on a CPU.  Short calls in a row are one node, which names the longest. */
static void
computes(struct walk *k, struct why_node ***end, uint32_t thread, const struct change *c, int64_t from,
    int64_t to)
{
	enum why_cause cause = c->ending ? WHY_EXIT : c->state == S_TFAULT || c->state == S_DFAULT ? WHY_FAULT :
	    c->state == S_RECLAIM ? WHY_RECLAIM : WHY_OTHER;
	int32_t call = c->state == S_SYSTEM ? (int32_t)c->detail - 1 : -1;
	struct why_node *n = k->run;

	if (n != NULL && n->thread == thread && n->to == from &&
	    ((n->call == call && n->cause == cause) || to - from < SHORT_CALL ||
	    k->longest < SHORT_CALL)) {
		if (to - from > k->longest) {
			n->call = call;
			n->cause = cause;
			k->longest = to - from;
		}
		n->to = to;
		return;
	}
	n = k->run = add(k, end, WHY_RUN, thread, from, to);
	k->longest = to - from;
	n->cause = cause;
	n->call = call;
}

/* Interrupts are in the node that they interrupt, as a sum: they are short, and many. */
static void
runs(struct walk *k, struct why_node ***end, uint32_t thread, const struct change *c, int64_t from,
    int64_t to)
{
	if (!c->interrupted) {
		computes(k, end, thread, c, from, to);
		return;
	}
	if (k->run == NULL || k->run->thread != thread || k->run->to != from) {
		struct why_node *n = add(k, end, WHY_RUN, thread, from, to);
		k->run = n;
		k->longest = 0;
	}
	k->run->interrupts += to - from;
	k->run->to = to;
}

/* One piece of a thread's time, which is of one state. */
static void
piece(struct walk *k, struct why_node ***end, uint32_t thread, const struct thread *t, size_t i,
    int64_t from, int64_t to, unsigned depth)
{
	const struct change *c = &t->changes[i];
	struct why_node *n;

	if (c->asleep) {
		n = add(k, end, WHY_ASLEEP, thread, from, to);
		asleep(k, n, t, i, depth);
	} else if (c->state == S_WAIT_CPU) {
		n = add(k, end, WHY_READY, thread, from, to);
		n->cause = c->throttled ? WHY_THROTTLED : WHY_OTHER;
		if (!c->throttled && i + 1 < t->n)
			taken(k, n, why_cpu(k->w, t->is.host, t->changes[i + 1].cpu));
	} else if (c->state >= S_UNKNOWN)
		add(k, end, WHY_UNKNOWN, thread, from, to);
	else
		runs(k, end, thread, c, from, to);
}

static void
walk(struct walk *k, struct why_node ***end, uint32_t thread,
    int64_t from, int64_t to, unsigned depth)
{
	const struct thread *t = why_changes_of(k->w, thread);
	int64_t at = from;

	if (t->n == 0) {
		add(k, end, WHY_ABSENT, thread, from, to);
		return;
	}
	size_t i = LAST_BEFORE(t->changes, t->n, from);
	if (i == t->n) {
		i = 0;
		at = t->changes[0].time < to ? t->changes[0].time : to;
		if (at > from)
			add(k, end, WHY_UNKNOWN, thread, from, at);
	}
	for (; at < to && i < t->n; i++) {
		int64_t until = i + 1 < t->n && t->changes[i + 1].time < to ?
		    t->changes[i + 1].time : to;
		if (until <= at)
			continue;
		if (depth >= WHY_DEPTH_MAX || k->tree->nodes >= WHY_NODES_MAX)
			break;
		piece(k, end, thread, t, i, at, until, depth);
		at = until;
	}
	if (at < to)
		add(k, end, WHY_CUT, thread, at, to);
	k->run = NULL;		/* what follows belongs to another node */
}

/* The steps of a request: its thread's own time, or, before another thread takes it, what
   that one did meanwhile. */
static void
walk_steps(struct walk *k, struct why_node ***end, const struct why_step *s, size_t n, int64_t to)
{
	for (size_t i = 0; i < n; i++) {
		int64_t until = i + 1 < n && s[i + 1].at < to ? s[i + 1].at : to;
		uint32_t next = i + 1 < n ? s[i + 1].thread : s[i].thread;

		if (until <= s[i].at)
			continue;
		if (why_changes_of(k->w, next) == why_changes_of(k->w, s[i].thread)) {
			walk(k, end, s[i].thread, s[i].at, until, 0);
			continue;
		}
		struct why_node *q = add(k, end, WHY_QUEUED, s[i].thread, s[i].at, until);
		struct why_node **in = &q->child;
		q->waker = next;
		walk(k, &in, next, s[i].at, until, 1);
	}
}

struct why_tree
why_explain_steps(struct why *w, const struct why_step *s, size_t n, int64_t to)
{
	struct why_tree tree = { 0 };
	struct walk k = { .w = w, .tree = &tree, .end = to };
	struct why_node **end = &tree.root;

	struct why_node *root = add(&k, &end, WHY_WHOLE, s[0].thread, s[0].at, to);
	end = &root->child;
	walk_steps(&k, &end, s, n, to);
	return tree;
}

struct why_tree
why_explain(struct why *w, uint32_t thread, int64_t from, int64_t to)
{
	const struct why_step step = { from, thread };

	return why_explain_steps(w, &step, 1, to);
}

static void
leaves(const struct why_node **path, unsigned n, unsigned max, why_leaf_fn *leaf, void *arg)
{
	for (const struct why_node *c = path[n - 1]->child; c != NULL; c = c->next) {
		path[n] = c;
		if (c->child != NULL && n + 1 < max)
			leaves(path, n + 1, max, leaf, arg);
		else if (c->to > c->from)
			leaf(arg, path + 1, n);
	}
}

void
why_leaves(const struct why_tree *t, why_leaf_fn *leaf, void *arg)
{
	const struct why_node *path[WHY_DEPTH_MAX + 4] = { t->root };

	leaves(path, 1, sizeof(path) / sizeof(*path), leaf, arg);
}
