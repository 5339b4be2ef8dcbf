/*
 * why-impl.h - what the files why*.c share: the index of an explanation.
 */
#ifndef ANALYSIS_WHY_IMPL_H
#define ANALYSIS_WHY_IMPL_H

#include "analysis/attrs.h"
#include "analysis/why.h"
#include "common/map.h"

#define CPUS_MAX	4096

/* States of a thread, beyond those of tnf_microstate: 0 USER .. 9 STOPPED.  TRAP does not occur
   on Linux: its number means here that the thread looks for free memory. */
enum { S_USER, S_SYSTEM, S_RECLAIM, S_TFAULT, S_DFAULT, S_KFAULT, S_USER_LOCK, S_SLEEP, S_WAIT_CPU,
    S_STOPPED, S_UNKNOWN, S_ENDED };

/* A thread enters a state. */
struct change {
	int64_t	 time;
	uint32_t waker;		/* WAIT_CPU after a sleep: the thread, or 0; STOPPED: the one whose
				   signal stops it, or 0 */
	uint32_t detail;	/* asleep: index of blocks[]; WAIT_CPU: of a request + 1; running:
				   the system call + 1; 0: none */
	int16_t	 cpu;		/* running: where; -1: not told */
	uint8_t	 state;
	uint8_t	 by;		/* enum why_waker, of WAIT_CPU */
	bool	 asleep : 1;	/* the thread is not on a CPU, and not ready */
	bool	 woke : 1;	/* it woke another thread then */
	bool	 throttled : 1;	/* WAIT_CPU: its control group has used up its time */
	bool	 interrupted : 1; /* running: an interrupt or softirq has the CPU */
	bool	 ending : 1;	/* it gives back what it has, its memory first */
};

/* An event with the reason and the stack of a sleep. */
struct block {
	struct tnf_probe *probe;
	uint32_t pos;
	uint32_t owner;		/* the thread that has the lock, or 0: not told */
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
	uint32_t same;		/* the number under which its changes are; 0: this one */
	bool	 ended;
	uint32_t n, n_receipts, n_samples;
	struct change *changes;
	struct receipt *receipts;
	struct sample *samples;
	/* Told at the wake-up, before the thread is put on a queue; 0: nothing. */
	uint32_t waker, request;
	uint8_t	 by;
	bool	 throttled;	/* told before the state */
	bool	 blocks;	/* thread_block was told before the state */
	bool	 reclaims;	/* it looks for free memory */
	uint32_t owner;		/* of the lock for which it goes to sleep, told before */
	uint32_t interrupts;	/* interrupts that have begun in it, one in the other */
};

/* A thread gets a CPU, or 0: nobody has it. */
struct turn {
	int64_t	 time;
	uint32_t thread;
};

struct cpu {
	struct turn *turns;
	uint32_t n;
	uint32_t block;		/* the highest number of an event's block */
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

struct message {
	int64_t	 time;
	uint32_t sender;
};

struct why {
	struct why_source source;
	struct thread	*threads;	/* [0] is nobody */
	uint32_t	 n_threads;
	struct map	 by_task;	/* uint32_t by host and address */
	struct map	 by_number;	/* uint32_t by host and lwpid */
	struct host	**hosts;
	unsigned	 n_hosts;
	struct block	*blocks;	/* [0] is none */
	uint32_t	 n_blocks;
	struct why_request *requests;
	uint32_t	 n_requests;
	uint32_t	 n_latest;	/* requests whose latest_end is known */
	struct map	 stoppers;	/* the thread that stopped a process: uint32_t by host
					   and pid; 0: it may run */
	struct map	 by_buf;	/* the last request + 1: uint32_t by host and buf */
	struct map	 messages;	/* struct message */
	struct map	 places;	/* struct place by the addresses of a stack */
	struct perprobe	 meanings;
	int64_t		 complete, last;
	uint64_t	 gaps;
	bool		 kernel;	/* a state was told */
	struct out	 name;		/* why_name() */
	char		 disk[32];	/* why_disk() */
};

/* The thread under whose number the changes are. */
static inline struct thread *
why_changes_of(const struct why *w, uint32_t id)
{
	struct thread *t = &w->threads[id < w->n_threads ? id : 0];

	while (t->same != 0)
		t = &w->threads[t->same];
	return t;
}

/* Makes room for one more element of a growing array. */
#define WHY_ROOM(array, n)						\
	((((n) & ((n) - 1)) == 0) ? (void)((array) = tnf_xreallocarray((array), \
	    (n) == 0 ? 1 : 2 * (size_t)(n), sizeof(*(array)))) : (void)0)

/* Returns who had this CPU of a machine; NULL: nothing is known about the CPU. */
const struct cpu *why_cpu(const struct why *, unsigned host, int cpu);

/* Returns the reason of the sleep that begins with this change (why-place.c). */
struct place why_place(struct why *, const struct thread *, const struct change *);
/* The address of what the sleep is for; 0: not told. */
uint64_t why_reason(struct why *, const struct thread *, const struct change *);

#endif
