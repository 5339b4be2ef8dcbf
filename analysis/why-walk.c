/*
 * why-walk.c - explains a stretch of a thread's time by a tree: the children of a node follow
 * each other without gaps and fill the node's time.
 *
 * A sleep that another thread ended is explained by all that the waker did during the sleep,
 * including the waker's own sleeps.  The waker runs at the end of this window, so each sleep of
 * the waker is shorter than the window, and the walk ends.  The owner of a lock, or the waker of a
 * later wake-up, need not run at the end of the window: where the walk follows one of these,
 * WHY_DEPTH_MAX ends it.
 */
#include "analysis/why-impl.h"

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
	int64_t		 longest;	/* ns of the longest call in 'run', after which the node is named */
	int64_t		 end;		/* of the time that why_explain() is to explain */
};

/* Appends a node to a list; *tail is the place of the link to the next node. */
static struct why_node *
node_add(struct walk *k, struct why_node ***tail, enum why_kind kind, uint32_t thread, int64_t from,
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
	**tail = n;
	*tail = &n->next;
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

/* Adds the threads that had the CPU while this thread waited for it. */
static void
add_takers(struct walk *k, struct why_node *ready, const struct cpu *c)
{
	struct why_node **tail = &ready->child;
	int64_t at = ready->from;

	if (c == NULL || c->n == 0)
		return;
	size_t i = LAST_UNTIL(c->occupants, c->n, at);
	if (i == c->n) {
		i = 0;
		int64_t first = c->occupants[0].time < ready->to ? c->occupants[0].time : ready->to;
		node_add(k, &tail, WHY_TAKEN, 0, at, first);
		at = first;
	}
	for (; i < c->n && at < ready->to && k->tree->nodes < WHY_NODES_MAX; i++) {
		int64_t to = i + 1 < c->n && c->occupants[i + 1].time < ready->to ?
		    c->occupants[i + 1].time : ready->to;
		if (to <= at)
			continue;
		uint32_t who = c->occupants[i].thread;
		node_add(k, &tail, WHY_TAKEN, who == ready->thread ? 0 : who, at, to);
		at = to;
	}
	if (at < ready->to)
		node_add(k, &tail, WHY_NOT_FOLLOWED, 0, at, ready->to);
}

static void walk(struct walk *, struct why_node ***tail, uint32_t thread,
    int64_t from, int64_t to, unsigned depth);

/* If the thread slept until it received a message, adds what the sender did until it sent the
   message, then the time for which the message was under way.  False: no message ended the
   sleep. */
static bool
explain_by_message(struct walk *k, struct why_node *asleep, const struct thread *t, int64_t woken_at,
    unsigned depth)
{
	struct why_node **tail = &asleep->child;
	size_t i = LAST_UNTIL(t->receipts, t->n_receipts, woken_at);

	i = i == t->n_receipts ? 0 : i + 1;
	if (i >= t->n_receipts)
		return false;
	const struct receipt *r = &t->receipts[i];
	/* If the thread woke up before the message was sent, and slept again before it received the
	   message, this sleep was not for the message.  If the message had been sent before the
	   thread woke up, its further sleeps were for the rest of the message: all count as one. */
	size_t c = LAST_UNTIL(t->changes, t->n, r->time);
	for (size_t j = LAST_UNTIL(t->changes, t->n, woken_at); j <= c && j < t->n; j++)
		if (t->changes[j].asleep && r->sent_at > woken_at)
			return false;
	int64_t sent = r->sent_at < asleep->to ? r->sent_at : asleep->to;
	if (sent <= asleep->from || r->sender == asleep->thread)
		return false;
	asleep->cause = WHY_MESSAGE;
	asleep->by = WHY_BY_THREAD;
	asleep->waker = r->sender;
	walk(k, &tail, r->sender, asleep->from, sent, depth + 1);
	if (sent < asleep->to)
		node_add(k, &tail, WHY_ASLEEP, asleep->thread, sent, asleep->to)->cause = WHY_NETWORK;
	return true;
}

/* True if the sleeps that begin with the changes 'a' and 'b' are for the same thing. */
static bool
same_wait(struct why *w, const struct thread *t, const struct change *a, const struct change *b,
    enum why_cause cause)
{
	uint64_t x = why_reason(w, t, a), y = why_reason(w, t, b);

	return x != 0 && (x == y || (cause == WHY_FUTEX && (x > y ? x - y : y - x) < SAME_LOCK)) &&
	    why_place(w, t, b).cause == cause;
}

/*
 * A thread that wakes up, finds nothing and sleeps for the same thing again has in fact waited
 * for its last wake-up.  This happens with timed waits in a loop, and where threads are woken for
 * nothing.  Returns the last wake-up in such a row of sleeps, which begins with sleep i.  The row
 * ends where the thread wakes another thread, is stopped, or runs for longer than LOOK_AGAIN: then
 * it perhaps got something done.
 */
static const struct change *
last_wake(struct walk *k, const struct thread *t, size_t i, enum why_cause cause)
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

/* Sets in the node who woke the thread from sleep i; the node's cause and time are set already. */
static void
explain_wake(struct walk *k, struct why_node *n, const struct thread *t, size_t i)
{
	const struct change *wake = &t->changes[i + 1];

	if ((wake->by == WHY_BY_TIMER && n->cause != WHY_TIMER && n->cause != WHY_OTHER &&
	    n->cause != WHY_DIRTY && !why_is_stop(n->cause)) ||
	    (wake->by == WHY_BY_THREAD && n->cause == WHY_FUTEX)) {
		const struct change *last = last_wake(k, t, i, n->cause);
		if (last->by == WHY_BY_THREAD && last->waker != 0)
			wake = last;
	}
	n->by = wake->by;
	n->waker = wake->waker;
	n->request = n->by == WHY_BY_DISK ? wake->detail : 0;
}

static void
explain_sleep(struct walk *k, struct why_node *n, const struct thread *t, size_t i, unsigned depth)
{
	const struct change *c = &t->changes[i], *wake = i + 1 < t->n ? c + 1 : NULL;
	struct place p = why_place(k->w, t, c);
	struct why_node **tail = &n->child;
	uint32_t follow;

	n->cause = p.cause;
	n->where = p.where;
	n->owner = c->detail != 0 ? k->w->sleeps[c->detail].owner : 0;
	n->refused = c->detail != 0 ? k->w->sleeps[c->detail].refused : 0;
	/* lock_owner told of the lock of a file by another address than the sleep has, so its owner
	   was noted as that of a lock that was refused. */
	if (n->cause == WHY_LOCK && n->owner == 0)
		n->owner = n->refused;
	if (wake != NULL && wake->state == S_WAIT_CPU)
		explain_wake(k, n, t, i);
	if (why_is_stop(n->cause)) {
		/* The thread that ends a stop (the tracer, or who sends SIGCONT or thaws the cgroup) is
		   named, and not followed: this thread did not wait for its work.  If a signal caused
		   the stop, the sender is named instead. */
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
	if (t->n_receipts > 0 && wake != NULL && explain_by_message(k, n, t, wake->time, depth))
		return;
	follow = n->waker != 0 ? n->waker : n->by == WHY_BY_NONE ? n->owner : 0;
	if (follow == 0 || why_changes_of(k->w, follow) == t)
		return;
	if (n->waker == 0) {
		n->waker = follow;
		n->by = WHY_BY_THREAD;
	}
	walk(k, &tail, follow, n->from, n->to, depth + 1);
}

/* Adds a call, or a time in user mode.  Short ones in a row become one node, named after the longest. */
static void
add_call(struct walk *k, struct why_node ***tail, uint32_t thread, const struct change *c, int64_t from,
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
	n = k->run = node_add(k, tail, WHY_RUN, thread, from, to);
	k->longest = to - from;
	n->cause = cause;
	n->call = call;
}

/* Adds a stretch on the CPU.  Interrupts are short and many and get no node: their time is added to
   the node that they interrupt. */
static void
add_running(struct walk *k, struct why_node ***tail, uint32_t thread, const struct change *c, int64_t from,
    int64_t to)
{
	if (!c->interrupted) {
		add_call(k, tail, thread, c, from, to);
		return;
	}
	if (k->run == NULL || k->run->thread != thread || k->run->to != from) {
		struct why_node *n = node_add(k, tail, WHY_RUN, thread, from, to);
		k->run = n;
		k->longest = 0;
	}
	k->run->interrupts += to - from;
	k->run->to = to;
}

/* Adds a piece of a thread's time in which its state did not change. */
static void
add_piece(struct walk *k, struct why_node ***tail, uint32_t thread, const struct thread *t, size_t i,
    int64_t from, int64_t to, unsigned depth)
{
	const struct change *c = &t->changes[i];
	struct why_node *n;

	if (c->asleep) {
		n = node_add(k, tail, WHY_ASLEEP, thread, from, to);
		explain_sleep(k, n, t, i, depth);
	} else if (c->state == S_WAIT_CPU) {
		n = node_add(k, tail, WHY_READY, thread, from, to);
		n->cause = c->throttled ? WHY_THROTTLED : WHY_OTHER;
		if (!c->throttled && i + 1 < t->n)
			add_takers(k, n, why_cpu(k->w, t->is.host, t->changes[i + 1].cpu));
	} else if (c->state >= S_UNKNOWN)
		node_add(k, tail, WHY_UNKNOWN, thread, from, to);
	else
		add_running(k, tail, thread, c, from, to);
}

static void
walk(struct walk *k, struct why_node ***tail, uint32_t thread,
    int64_t from, int64_t to, unsigned depth)
{
	const struct thread *t = why_changes_of(k->w, thread);
	int64_t at = from;

	if (t->n == 0) {
		node_add(k, tail, WHY_ABSENT, thread, from, to);
		return;
	}
	size_t i = LAST_UNTIL(t->changes, t->n, from);
	if (i == t->n) {
		i = 0;
		at = t->changes[0].time < to ? t->changes[0].time : to;
		if (at > from)
			node_add(k, tail, WHY_UNKNOWN, thread, from, at);
	}
	for (; at < to && i < t->n; i++) {
		int64_t until = i + 1 < t->n && t->changes[i + 1].time < to ?
		    t->changes[i + 1].time : to;
		if (until <= at)
			continue;
		if (depth >= WHY_DEPTH_MAX || k->tree->nodes >= WHY_NODES_MAX)
			break;
		add_piece(k, tail, thread, t, i, at, until, depth);
		at = until;
	}
	if (at < to)
		node_add(k, tail, WHY_NOT_FOLLOWED, thread, at, to);
	k->run = NULL;		/* the next piece belongs to another node */
}

/* Explains a request step by step.  Within one thread a step is that thread's time.  If the next step
   belongs to another thread, the request was queued for it, and the node shows what that thread
   did until it took the request. */
static void
walk_steps(struct walk *k, struct why_node ***tail, const struct why_step *s, size_t n, int64_t to)
{
	for (size_t i = 0; i < n; i++) {
		int64_t until = i + 1 < n && s[i + 1].at < to ? s[i + 1].at : to;
		uint32_t next = i + 1 < n ? s[i + 1].thread : s[i].thread;

		if (until <= s[i].at)
			continue;
		if (why_changes_of(k->w, next) == why_changes_of(k->w, s[i].thread)) {
			walk(k, tail, s[i].thread, s[i].at, until, 0);
			continue;
		}
		struct why_node *q = node_add(k, tail, WHY_QUEUED, s[i].thread, s[i].at, until);
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
	struct why_node **tail = &tree.root;

	struct why_node *root = node_add(&k, &tail, WHY_WHOLE, s[0].thread, s[0].at, to);
	tail = &root->child;
	walk_steps(&k, &tail, s, n, to);
	return tree;
}

struct why_tree
why_explain(struct why *w, uint32_t thread, int64_t from, int64_t to)
{
	const struct why_step step = { from, thread };

	return why_explain_steps(w, &step, 1, to);
}

static void
visit_leaves(const struct why_node **path, unsigned n, unsigned max, why_leaf_fn *leaf, void *arg)
{
	for (const struct why_node *c = path[n - 1]->child; c != NULL; c = c->next) {
		path[n] = c;
		if (c->child != NULL && n + 1 < max)
			visit_leaves(path, n + 1, max, leaf, arg);
		else if (c->to > c->from)
			leaf(arg, path + 1, n);
	}
}

void
why_leaves(const struct why_tree *t, why_leaf_fn *leaf, void *arg)
{
	const struct why_node *path[WHY_DEPTH_MAX + 4] = { t->root };

	visit_leaves(path, 1, sizeof(path) / sizeof(*path), leaf, arg);
}
