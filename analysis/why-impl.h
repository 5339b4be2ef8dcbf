/*
 * why-impl.h - the index of an explanation, which the files why*.c share.
 */
#ifndef ANALYSIS_WHY_IMPL_H
#define ANALYSIS_WHY_IMPL_H

#include "analysis/attrs.h"
#include "analysis/gaps.h"
#include "analysis/why.h"

#define CPUS_MAX	4096

/* States of a thread, beyond those of tnf_microstate: 0 USER .. 9 STOPPED.  TRAP does not occur
   on Linux: its number means here that the thread looks for free memory. */
enum { S_USER, S_SYSTEM, S_RECLAIM, S_TFAULT, S_DFAULT, S_KFAULT, S_USER_LOCK, S_SLEEP, S_WAIT_CPU,
    S_STOPPED, S_UNKNOWN, S_ENDED };

/* A thread enters a state. */
struct change {
	int64_t	 time;
	uint32_t waker;		/* WAIT_CPU after a sleep: the thread that ended the sleep, or 0;
				   STOPPED: the thread whose signal stops this one, or 0 */
	uint32_t detail;	/* asleep: index of sleeps[]; WAIT_CPU: of a request + 1; running:
				   the system call + 1; 0: none */
	int16_t	 cpu;		/* running: where; -1: not told */
	uint8_t	 state;
	uint8_t	 by;		/* enum why_waker, of WAIT_CPU */
	bool	 asleep : 1;	/* the thread is not on a CPU, and not ready */
	bool	 woke : 1;	/* the thread woke another while it was in this state */
	bool	 throttled : 1;	/* WAIT_CPU: its control group has used up its time */
	bool	 interrupted : 1; /* running: an interrupt or softirq has the CPU */
	bool	 ending : 1;	/* the thread exits: the kernel frees its memory, closes its files */
};

/* The event that tells the reason and the stack of a sleep. */
struct sleep_event {
	struct tnf_probe *probe;
	uint32_t pos;
	uint32_t owner;		/* the thread that has the lock, or 0: not told */
	uint32_t refused;	/* the thread that has the lock of a file which was refused to this one
				   just before, or 0 */
};

/* An event that says where the thread was on its CPU. */
struct sample {
	int64_t	 time;
	struct tnf_probe *probe;
	uint32_t pos;
};

struct receipt {		/* of a message by a thread */
	int64_t	 time, sent_at;
	uint32_t sender;
};

struct thread {
	struct why_thread is;
	uint32_t same;		/* the index of the element that has its changes; 0: this one */
	bool	 ended;
	uint32_t n, n_receipts, n_samples;
	struct change *changes;
	struct receipt *receipts;
	struct sample *samples;
	/* From an event at the wake-up, until the thread is put on a queue; 0: none. */
	uint32_t waker, request;
	uint8_t	 by;
	bool	 throttled;	/* its event came, that of the state has not */
	bool	 block_told;	/* thread_block came, the event of the state has not */
	bool	 reclaims;	/* it looks for free memory */
	uint32_t owner;		/* of the lock for which the thread is about to sleep ... */
	uint64_t lock;		/* ... and that lock */
	uint32_t interrupts;	/* nested interrupts that have stopped the thread */
};

/* From 'time' on the thread has the CPU; thread 0: no thread has it. */
struct occupant {
	int64_t	 time;
	uint32_t thread;
};

struct cpu {
	struct occupant *occupants;
	uint32_t n;
	uint32_t done;		/* a request that ended here just now + 1, or 0 */
};

struct host {
	struct cpu *cpus[CPUS_MAX];
};

/* The meaning of a stack, which is decoded once for each different stack. */
struct place {
	const char *where;
	enum why_cause cause;
	bool	 known;
};

struct sending {		/* of a message */
	int64_t	 time;
	uint32_t sender;
};

struct why {
	struct why_source source;
	struct thread	*threads;	/* [0] stands for no thread */
	uint32_t	 n_threads;
	struct map	 by_task;	/* uint32_t by host and address */
	struct map	 by_number;	/* uint32_t by host and lwpid */
	struct host	**hosts;
	unsigned	 n_hosts;
	struct sleep_event *sleeps;	/* [0]: no event tells of the sleep */
	uint32_t	 n_sleeps;
	struct why_request *requests;
	uint32_t	 n_requests;
	uint32_t	 n_latest;	/* requests whose latest_end is known */
	struct map	 stoppers;	/* the thread that stopped a process: uint32_t by host
					   and pid; 0: it may run */
	struct map	 by_buf;	/* the last request + 1: uint32_t by host and buf */
	struct map	 sendings;	/* struct sending, by the key of its message */
	struct map	 places;	/* struct place by the addresses of a stack */
	struct perprobe	 meanings;
	int64_t		 complete;	/* from then on the trace has all events of each CPU;
					   INT64_MIN: from its beginning */
	int64_t		 last;
	struct gaps	 blocks;
	uint64_t	 gaps;		/* places where blocks of a CPU are missing */
	bool		 kernel;	/* a state was told */
	struct out	 name;		/* why_name() */
	char		 disk[32];	/* why_disk() */
};

/* Returns the element that has the changes of thread 'id'. */
static inline struct thread *
why_changes_of(const struct why *w, uint32_t id)
{
	struct thread *t = &w->threads[id < w->n_threads ? id : 0];

	while (t->same != 0)
		t = &w->threads[t->same];
	return t;
}

/* The index of the last element whose time is not after 'at'; n: there is none. */
#define LAST_UNTIL(array, n, at) __extension__ ({			\
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

/* Returns which threads had this CPU of a machine, and when; NULL: no event tells it. */
const struct cpu *why_cpu(const struct why *, unsigned host, int cpu);

#define WHY_FRAMES	32	/* of a stack, that are looked at */
/* The addresses of the event's stack, the innermost first; returns how many. */
unsigned why_stack(const struct tnf_event *, uint64_t pc[WHY_FRAMES]);
/* The event of this probe that the thread wrote at 'pos' of the probe's file. */
struct tnf_event why_event_at(const struct thread *, struct tnf_probe *, uint32_t pos, int64_t time);
/* Returns the reason of the sleep that begins with this change (why-place.c). */
struct place why_place(struct why *, const struct thread *, const struct change *);
/* Returns the address of the lock or queue for which the thread sleeps; 0: not told. */
uint64_t why_reason(struct why *, const struct thread *, const struct change *);

#endif
