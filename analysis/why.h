/*
 * why.h - why a thread, or a request, took as long as it did.
 *
 * All events are fed once, in order of time.  The index keeps 24 bytes for each change of a
 * thread's state, and some 40 for each block request.  After the last event any stretch of a
 * thread's time can be explained, by a tree: the children of a node follow each other without
 * gaps and fill the node's time.  If the thread slept and another thread woke it, the children
 * of the sleep say what the waker did during the sleep.
 *
 * One index serves one thread at a time.  The stream that was fed must outlive it, since
 * stacks are read from the files when they are asked for.
 *
 * tnfdump, the page, tnfwatch and Python all print the words of an explanation by these functions,
 * so that the answer is the same everywhere.
 */
#ifndef ANALYSIS_WHY_H
#define ANALYSIS_WHY_H

#include "analysis/pairs.h"
#include "common/map.h"
#include "common/out.h"
#include "common/xalloc.h"

enum why_kind {
	WHY_WHOLE,	/* the root: the stretch that was asked for */
	WHY_RUN,	/* on a CPU */
	WHY_READY,	/* ready to run; children: the threads that had the CPU instead */
	WHY_TAKEN,	/* below READY: this thread ran on the CPU; thread 0: no thread did */
	WHY_ASLEEP,	/* waits; children: what its waker did until the wake-up */
	WHY_QUEUED,	/* a request between two threads; children: what the taker did */
	WHY_UNKNOWN,	/* the trace does not tell */
	WHY_ABSENT,	/* no event of the kernel tells of this thread */
	WHY_NOT_FOLLOWED	/* too deep, or too many nodes */
};

/* The reason of a sleep; of READY and RUN the circumstances, WHY_OTHER: nothing special. */
enum why_cause {
	WHY_OTHER, WHY_FUTEX, WHY_LOCK, WHY_PIPE, WHY_SOCKET, WHY_NETWORK, WHY_POLL, WHY_CHILD,
	WHY_TIMER, WHY_DISK, WHY_FILE_FAULT, WHY_SWAP, WHY_RECLAIM, WHY_STOPPED, WHY_TRACED,
	WHY_FROZEN, WHY_URING, WHY_WORK, WHY_MESSAGE, WHY_THROTTLED, WHY_FAULT, WHY_DIRTY,
	WHY_SIGNAL, WHY_IPC, WHY_TTY, WHY_FUSE, WHY_NETFS, WHY_RCU, WHY_EXIT,
	WHY_CAUSES
};

/* True if others order the thread to sleep: such a sleep says nothing of what the thread waits for. */
static inline bool
why_is_stop(enum why_cause cause)
{
	return cause == WHY_STOPPED || cause == WHY_TRACED || cause == WHY_FROZEN;
}

/* The kind of waker that ended a sleep. */
enum why_waker {
	WHY_BY_NONE,		/* the sleep has no end in the trace, or its end tells nothing */
	WHY_BY_THREAD, WHY_BY_INTERRUPT, WHY_BY_TIMER, WHY_BY_DISK, WHY_BY_NETWORK, WHY_BY_SIGNAL
};

struct why_node {
	enum why_kind	kind;
	enum why_cause	cause;
	enum why_waker	by;
	uint32_t	thread;		/* the thread whose time this is; 0: none */
	uint32_t	waker;		/* ASLEEP: the thread that ended it, or 0; BY_SIGNAL: that began it */
	uint32_t	owner;		/* ASLEEP for a lock: who had it at first, or 0 */
	uint32_t	refused;	/* ASLEEP until a timer: who had the lock of a file that was refused
				   right before, or 0 */
	uint32_t	request;	/* ASLEEP on a disk: the block request + 1, or 0 */
	int32_t		call;		/* its system call; -1: none, or not told */
	int64_t		from, to;	/* ns; children tile this exactly, or there are none */
	int64_t		interrupts;	/* ns of RUN that interrupts and softirqs took */
	const char	*where;		/* function of the kernel that tells the cause, or NULL */
	struct why_node	*child, *next;
};

struct why_tree {
	struct why_node *root;
	size_t		 nodes;
	struct why_chunk *chunks;
};

#define WHY_NODES_MAX	20000u		/* of a tree; then WHY_NOT_FOLLOWED */
#define WHY_DEPTH_MAX	24u		/* sleeps within sleeps */

/* How names are found; every function may be NULL, and may return NULL. */
struct why_source {
	const char *(*comm)(void *arg, const struct tnf_event *);
	const char *(*symbol)(void *arg, const struct tnf_event *, uint64_t addr);
	const char *(*device)(void *arg, const struct tnf_file *, uint64_t device);
	const char *(*cgroup)(void *arg, const struct tnf_event *);
	void	*arg;
};

/* A thread of the trace. */
struct why_thread {
	unsigned host;			/* tnf_file_host() */
	int32_t	 pid;			/* 0 and 0: it never wrote an event */
	uint32_t lwpid;
	uint64_t tid;			/* address of the task; 0: not known */
	const struct tnf_file *file;
};

/* A block request. */
struct why_request {
	uint64_t device, block, buf;
	int64_t	 start, end;		/* end: INT64_MAX: it did not end in the trace */
	int64_t	 latest_end;		/* of this one and those before: why_ahead() */
	uint32_t thread;		/* that submitted it */
	uint32_t size, flags;
	const struct tnf_file *file;
};

struct why;

struct why *why_new(const struct why_source *);
void why_free(struct why *);

/* Feeds the next event.  The event of a process in a container has the numbers of the
   machine. */
void why_feed(struct why *, const struct tnf_event *);

/* The number of the thread that wrote the event, from 1.  It may be asked for before the
   kernel's events tell of the thread, and stays right. */
uint32_t why_writer(struct why *, const struct tnf_event *);
/* The thread's facts; NULL: no such number. */
const struct why_thread *why_thread(const struct why *, uint32_t);
/* The thread's name at this time: valid until the next call; never NULL. */
const char *why_name(struct why *, uint32_t thread, int64_t time);

/* A message, told apart by its key: the thread that wrote the event has sent it, or has
   received it.  A sleep that ends in a receipt is explained by the sender's time. */
void why_sent(struct why *, const struct tnf_event *, const void *key, size_t size);
void why_received(struct why *, const struct tnf_event *, const void *key, size_t size);

bool why_has_kernel(const struct why *);	/* a state of any thread was told */

/* Steps of a request: from 'at' on it belongs to 'thread'. */
struct why_step {
	int64_t	 at;
	uint32_t thread;
};

/* A sleep that has ended. */
struct why_sleep {
	uint32_t thread;
	uint32_t waker;		/* the thread that ended it, or 0 */
	uint32_t owner;		/* of the lock that it was for, or 0 */
	enum why_waker by;
	enum why_cause cause;
	int64_t	 from;		/* INT64_MIN: before the trace */
	int64_t	 woken, runs;	/* 'runs': it has a CPU again, or nothing else is known */
	const char *where;	/* function of the kernel that tells the cause, or NULL */
};

typedef void why_sleep_fn(void *arg, const struct why_sleep *);
/* Calls 'fn' for each sleep, thread by thread, in order of time. */
void why_sleeps(struct why *, why_sleep_fn *, void *arg);

/* Explains the thread's time from 'from' to 'to'; free the tree with why_tree_free(). */
struct why_tree why_explain(struct why *, uint32_t thread, int64_t from, int64_t to);
/* The same for a request that goes through several threads: n > 0 steps in order of time, the
   first at 'from'.  From a thread's last step to another thread's first it is queued. */
struct why_tree why_explain_steps(struct why *, const struct why_step *, size_t n, int64_t to);
void why_tree_free(struct why_tree *);

const struct why_request *why_request(const struct why *, const struct why_node *);
/* ns of the node's sleep before its request went to the disk, if those are most of it and somebody
   else held the request back: the limit of a control group; otherwise 0. */
int64_t why_held_back(struct why *, const struct why_node *);
/* How many requests to the same device had been begun before the node's and were open in its
   time; *most gets the thread that had submitted most of them, or 0. */
unsigned why_ahead(struct why *, const struct why_node *, uint32_t *most);

/* Appends the cause of a leaf and of the nodes above it, as "futex of holder: runnable, CPU:
   hog".  path[0] is below the root, path[n - 1] is the leaf.  'numbers': threads also by
   their number. */
void why_put_cause(struct why *, struct out *, const struct why_node *const *path, unsigned n,
    bool numbers);

/* Calls 'leaf' for each leaf of positive length, in order of time. */
typedef void why_leaf_fn(void *arg, const struct why_node *const *path, unsigned n);
void why_leaves(const struct why_tree *, why_leaf_fn *, void *arg);

/* The time of each cause over some trees; zeroed: none. */
struct why_sum {
	struct why_sum *next;
	const char *text;		/* not ended by a NUL */
	size_t	 len;
	int64_t	 ns;			/* of all trees together */
	uint64_t in;			/* trees in which it takes more than 5 % */
	int64_t	 now;			/* of the tree that is being added */
};

struct why_sums {
	struct map by_text;
	struct why_sum *first;
	uint64_t n;			/* trees */
};

void why_sums_add(struct why_sums *, struct why *, const struct why_tree *);
struct why_sum *why_sum_of(struct why_sums *, const char *text, size_t len);	/* made if new */
void why_sums_free(struct why_sums *);

/* The typical instances that the verdict compares with; NULL, or one without trees: there are none. */
void why_put_verdict(struct why *, struct out *, const struct why_tree *,
    struct why_sums *typical);
/* A line of an explanation: one node, or short pieces in a row from that node on. */
struct why_line {
	const struct why_node *node;
	int64_t	 from, ns;
	unsigned depth;			/* from 0 */
	const char *text;		/* not ended by a NUL */
	size_t	 len;
};

typedef void why_line_fn(void *arg, const struct why_line *);
/* Calls 'line' for each line of the tree, from top to bottom; short pieces are put together. */
void why_lines(struct why *, const struct why_tree *, why_line_fn *line, void *arg);
/* Lines with the time from 'zero' on and the duration in ms, as wide as a terminal. */
void why_put_tree(struct why *, struct out *, const struct why_tree *, int64_t zero);
/* The tree as an object: {"thread":...,"from":...,"to":...,"kind":...,...,"children":[...]} */
void why_put_json(struct why *, struct out *, const struct why_tree *);

/* One node: its words, and the threads and disks in it. */
void why_put_leaf(struct why *, struct out *, const struct why_node *, bool numbers);
void why_put_thread(struct why *, struct out *, uint32_t thread, int64_t time, bool number);
const char *why_thing(const struct why_node *);		/* "a lock (futex)" */
const char *why_kind_name(enum why_kind);
const char *why_reason_name(const struct why_node *);	/* NULL: none */
const char *why_waker_name(enum why_waker);		/* "timer"; NULL: not told */

/* The name of the disk of a node's request, valid until the next call; NULL: not known. */
const char *why_disk(struct why *, const struct why_node *);

/* The function in which half of the samples of the node's time, or more, were taken; NULL: there
   is none.  *spins: nearly all are within a few instructions, as of a loop that waits. */
const char *why_hot(struct why *, const struct why_node *, bool *spins);

#define WHY_FEW		10u	/* fewer slow ones are an anecdote */

struct why_instance {
	const char *name;		/* of the slice; equal names share one address */
	struct tnf_event start;
	int64_t	 took;			/* ns */
	uint32_t thread;		/* that began it */
	uint32_t key;			/* of its members; 0: a pair within one thread */
};

struct why_pairs;

struct why_pairs *why_pairs_new(struct why *);
void why_pairs_free(struct why_pairs *);
struct why *why_pairs_index(const struct why_pairs *);

/* Called for each event after why_feed(), with what pairs_feed() has told about it.  The
   event has the numbers of the machine. */
void why_pairs_feed(struct why_pairs *, const struct tnf_event *, enum pair_role,
    const struct pair_slice *);

/*
 * Chooses a pair after the last event: by the name of its slices, or by that without its
 * ending ("_start", and underscores at the end).  NULL: the pair of a process with the
 * longest total time, or if there is none of the kernel.  Returns its name, or NULL: there is
 * no such pair.  Instances that began before the trace was complete are left out.
 */
const char *why_pairs_choose(struct why_pairs *, const char *name);
/* The names that could be chosen, i from 0; NULL: no more. */
const char *why_pairs_name(struct why_pairs *, unsigned i);

/* The length of a pair's name without "_start" and the like, and underscores before. */
size_t why_bare_name(const char *);

/* The chosen ones, from the shortest to the longest. */
struct why_instance *const *why_pairs_all(const struct why_pairs *, size_t *n);
/* How many instances had ended before, of all pairs that are kept. */
size_t why_instance_nth(const struct why_pairs *, const struct why_instance *);
uint64_t why_pairs_left_out(const struct why_pairs *);

/* True if a member of the instance's start has this value, as text. */
bool why_instance_has(const struct why_instance *, const char *value);

struct why_tree why_pairs_explain(struct why_pairs *, const struct why_instance *);

/* The causes of the typical instances: those of the 40th to 60th percentile, at most 200. */
struct why_sums *why_pairs_typical(struct why_pairs *);
int64_t why_pairs_typical_took(struct why_pairs *);	/* their mean, ns */
/* The slowest hundredth, at least 3: index of the first of them in why_pairs_all(). */
size_t why_pairs_slow(const struct why_pairs *);

/* Head ("request 5.1 ms, server 812; typical 0.2 ms (20 seen)"), verdict and what is to be
   said about the trace. */
void why_put_instance(struct why_pairs *, struct out *, const struct why_instance *,
    const struct why_tree *);
/* The table of causes, typical against slow; as one line of JSON if asked for. */
void why_put_table(struct why_pairs *, struct out *, bool json);

#endif
