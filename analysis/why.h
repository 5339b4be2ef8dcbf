/*
 * why.h - why a thread, or a request, took as long as it did.
 *
 * All events are fed once, in order of time.  The index keeps 24 bytes for each change of a
 * thread's state, and some 40 for each block request.  After the last event any stretch of a
 * thread's time can be explained, by a tree: the children of a node follow each other without
 * gaps and fill the node's time.  If the thread slept and another thread woke it, the children
 * of the sleep say what the waker did meanwhile.
 *
 * One index serves one thread at a time.  The stream that was fed must outlive it, since
 * stacks are read from the files when they are asked for.
 */
#ifndef ANALYSIS_WHY_H
#define ANALYSIS_WHY_H

#include <tnf/stream.h>

#include "common/out.h"

enum why_kind {
	WHY_WHOLE,	/* the root: the stretch that was asked for */
	WHY_RUN,	/* on a CPU */
	WHY_READY,	/* ready to run; children: the threads that had the CPU meanwhile */
	WHY_TAKEN,	/* below READY: this thread ran on the CPU; thread 0: no thread did */
	WHY_ASLEEP,	/* waits; children: what its waker did meanwhile */
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

/* From this time on the trace has all events of each CPU; INT64_MIN: from its beginning. */
int64_t why_complete_from(const struct why *);
bool why_has_kernel(const struct why *);	/* a state of any thread was told */
uint64_t why_gaps(const struct why *);		/* places where blocks of a CPU are missing */

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

#endif
