/*
 * internal.h - declarations that the parts of libtnfprobe share.
 *
 * event-hit.h	a hit, from the site's call to the commit: no lock, no system call
 * event.c	the same in all but the common case
 * value.c	strings and records that an event refers to
 * long.c	texts and bytes of up to 64 KiB
 * runtime.c	probes that are made at run time
 * fast.c	hits of fast probes, from the trampoline (arch/) to the commit
 * vectors.c	keeps the vector registers over a call
 * block.c	data blocks: take, give back, take from the dead
 * tag.c	room in permanent blocks, and what is written there together
 * define.c	definitions of probes and of record types, or those that a related process
 *		has written
 * file.c	the trace file: open, check, set up, and what if it shrinks under us
 * clock.c	nanoseconds from the time stamp counter
 * process.c	state of the process: fork, enable, disable
 * names.c	names of the process and its threads, and their changes
 * span.c	the span of OpenTelemetry in which a thread is
 * thread.c	state of a thread: first hit, exit, enable, disable
 * auto.c	TNF_ENABLE, tnfwatch: a process that traces itself (auto-*.c)
 * debug.c	tnf_probe_debug and what connected functions may ask
 *
 * block.c, clock.c, event.c, fast.c, value.c and vectors.c use general registers alone (meson.build): a fast
 * hit is in code whose vector registers hold values.  A function that they call elsewhere, if it may use
 * others, goes through keep_vectors().
 *
 * The headers of the C library that most of these files need come with this one.
 *
 * The mapped file is shared with other processes and none of it is trusted:
 * every offset used comes from our own memory.
 */
#ifndef LIBTNFPROBE_INTERNAL_H
#define LIBTNFPROBE_INTERNAL_H

#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <tnf/writer.h>

#include "format/core.h"
#include "libtnfprobe/arch/arch.h"

#define TNF_API		__attribute__((visibility("default")))
#define likely(x)	__builtin_expect(!!(x), 1)
#define unlikely(x)	__builtin_expect(!!(x), 0)
/* Keeps the compiler, and thereby a signal handler of this thread, in order. */
#define signal_fence()	__atomic_signal_fence(__ATOMIC_SEQ_CST)

#define BLOCK_SIZE	512u
#define DIRECTORY_SIZE	0x10000u
#define TAG_START	0x10000u
#define DATA_START	0x18000u
#define TAG_RESERVE	((DATA_START - TAG_START) / BLOCK_SIZE)
#define FILE_MIN	131072u
#define FILE_MAX	(1u << 30)	/* what a permanent reference can name */
#define HEADER_SIZE	((uint32_t)sizeof(struct tnf_block_header))

#define REACH		((1 << 30) - (int)BLOCK_SIZE)	/* of a reference */

#define TEXTS		8	/* strings that later events may share */
#define HELD_MAX	32	/* blocks one event may reach into, ... */
#define HELD_LONG	16	/* ... long values with so many: what is left has
				   room for a string, or for the mark of what was
				   cut, of each other argument */
#define SPARE_MAX	4	/* empty ones kept for the next event */
#define CHAIN_PLACE	(BLOCK_SIZE - 8)	/* in a block that is full of pieces */

#define PERMANENT(offset)	(TNF_REF32_PERMANENT | (uint32_t)(offset))
#define TAG_OF(offset)		(PERMANENT(offset) | TNF_REF32_T_TAG)

/* The owner of a block is a number that is never 0; this one never dies. */
#define TAG_OWNER	UINT64_MAX

/* A page that a new process finds zeroed, however it was made. */
struct guard {
	uint32_t live;		/* the epoch, while this process may record */
	uint32_t phase;		/* enum phase */
	uint32_t tag_lock;	/* a definition is being written */
	int32_t	 pid;		/* of this process; 0: it is to be asked for */
};

enum phase { PHASE_NEW, PHASE_BUSY, PHASE_READY };

/*
 * A trace file, mapped.  A process may be given another one at any time, even
 * within a hit of its threads; so this does not change and is never unmapped.
 */
struct file {
	char		*base;
	uint32_t	 size;		/* multiple of BLOCK_SIZE */
	uint32_t	 shift;		/* log2 of size, rounded up */
	uint32_t	 data_blocks;
	bool		 fill;		/* TNF_EXT_FILL: no block is used twice */
	struct file	*older;		/* the file before this one */
};

struct process {
	struct guard	*guard;		/* never NULL */
	struct file	*file;
	/* In a child that was forked within a hit: the same trace file, mapped anew, which
	   replaces 'file' at the child's next hit (leave_hit()).  Else NULL. */
	struct file	*later;
	uint32_t	 epoch;		/* counts files, and processes down a
					   line of forks; never 0 */
	int32_t		 pid;
	uint32_t	 pidns;		/* 20 bits that tell name spaces apart */
	bool		 ask_tid;	/* the C library does not know them */
	bool		 quiet;		/* the program has asked for a filter */
	uint32_t	 string_tag;	/* tag words */
	uint32_t	 name_tag;
	uint32_t	 sched_tag;
	uint32_t	 text_tag;	/* 0: no probe needs it yet */
	uint32_t	 blob_tag;
	uint32_t	 bytes_tag;
	uint32_t	 padded_tag;
};

/* A string in the block of a thread. */
struct text {
	const char	*from;		/* what it is a copy of */
	const char	*at;		/* its record */
	uint64_t	 text_age;	/* the thread's, when the copy was written */
	uint32_t	 len;
};

/*
 * A thread.  Only the thread itself and its signal handlers touch it; while
 * 'busy' is set a handler leaves it alone.  A handler also compares 'busy' with
 * its own place on the stack, so that one store must say both.
 */
struct thread {
	/* A hit reads these. */
	uintptr_t	 busy;		/* stack pointer of the hit; 0: none */
	char		*pos;		/* first free byte of the block */
	char		*end;		/* behind the block */
	char		*sched;		/* schedule record in it */
	uint32_t	 epoch;		/* in which it was set up */
	int32_t		 cpu;		/* the CPU in 'sched'; negative: not known */
	uint64_t	 tsc;		/* the anchor: counter, ... */
	uint64_t	 tsc_limit;	/* ... for how long it will do, ... */
	int64_t		 ns;		/* ... and its time since 'base' */
	uint64_t	 mult;		/* ns = ticks * mult >> 32 */
	const struct span_record *const *context; /* the thread's current span, or NULL: span.c */
	uint64_t	 span;		/* the span recorded last */
	/* The CPU that the thread is on, which the kernel writes into the thread's struct rseq
	   (rseq(2)).  Where the C library has registered none, this is the address of 'cpu'. */
	const int32_t	*cpu_at;
	/* A hit writes these. */
	char		*block __attribute__((aligned(THREAD_ALIGN)));
	char		*next;		/* first free byte while busy */
	char		*lim;		/* of the block that next is in */
	const void	*setup;		/* tells the latest hit from others */
	uint32_t	 last;		/* delta of the latest event */
	uint8_t		 odd;		/* see commit: used or failed */
	uint8_t		 fast;		/* keep the vector registers */
	/* The rest. */
	uint8_t		 failed;	/* enum fail: do not commit this hit */
	uint8_t		 new_sched;	/* this hit has written 'sched' */
	uint8_t		 used;		/* how many of held[] this hit has written to */
	uint8_t		 nheld;		/* blocks in held[], beside 'block' */
	uint16_t	 nloose;	/* further blocks that values of this hit fill: a chain, */
	uint32_t	 loose;		/* offset of the chain's last block */
	uint8_t		 disabled;	/* tnf_thread_disable() */
	uint8_t		 shortened;	/* values of this hit without enough room */
	uint8_t		 gone;		/* the thread is ending */
	uint8_t		 at_work;	/* defining, or setting up the process */
	uint8_t		 crowd;		/* a level: CROWD_HELD more for each block found held, 1 less for each free one */
	uint32_t	 tid;
	int32_t		 pid;
	const struct file *file;	/* that its blocks are in */
	int64_t		 base;		/* time base of sched */
	int64_t		 abs;		/* the anchor's time */
	uint64_t	 good;		/* ticks until the anchor is too old */
	int64_t		 retry;		/* time before which we do not look for a block again */
	const struct file *run_file;
	uint64_t	 run, run_end;	/* numbers taken and not used yet */
	int64_t		 run_at;	/* time when they were taken */
	int64_t		 run_due;	/* if the next are taken before this time, twice as many are */
	unsigned	 run_size;	/* how many were taken */
	uint64_t	 text_age;	/* counts blocks, and hits that were given up: texts of another
					   age are not shared */
	struct text	 texts[TEXTS];
	char		 name[16];	/* if it has another one than the process */
	uint16_t	 fill[HELD_MAX]; /* 'block', then the held ones */
	char		*held[HELD_MAX];
};

/* In 'busy': no hit, but signal handlers have to stay away. */
#define BUSY_OTHERWISE	UINTPTR_MAX

enum fail { FAIL_NONE, FAIL_EVENT, FAIL_BLOCK /* give 'block' back too */ };

extern struct process tnf_p;

static inline struct file *
tnf_file(void)
{
	return __atomic_load_n(&tnf_p.file, __ATOMIC_ACQUIRE);
}

static inline struct tnf_ext *
tnf_ext(const struct file *f)
{
	return (struct tnf_ext *)(void *)(f->base + TNF_EXT_OFFSET);
}

static inline uint32_t
offset_of(const struct file *f, const void *at)
{
	return (uint32_t)((const char *)at - f->base);
}

static inline struct tnf_block_header *
header_of(const void *block)
{
	return (struct tnf_block_header *)(uintptr_t)block;
}

/* In memory images: which block this is, and of which file.  See <tnf/com.h>. */
static inline void
mark_block(const struct file *f, struct tnf_block_header *b)
{
	b->pad = (uint32_t)tnf_ext(f)->cookie + offset_of(f, b) / BLOCK_SIZE;
}

extern struct tnf_process_control _tnf_process_control;
extern const struct tnf_probe_ops _tnf_probe_ops;
extern __thread struct thread tnf_t __attribute__((tls_model("initial-exec")));

/* True if a filter may refuse a system call: the program has asked for a filter, or a controller that
   has come later says so. */
static inline bool
is_quiet(void)
{
	return tnf_p.quiet || _tnf_process_control.quiet != 0;
}

/* True if this process may record. */
static inline bool
is_live(void)
{
	return __atomic_load_n(&__atomic_load_n(&tnf_p.guard, __ATOMIC_ACQUIRE)->live,
	    __ATOMIC_ACQUIRE);
}

static inline void
work_begins(void)
{
	tnf_t.at_work++;
	signal_fence();
}

/* A handler may have given it all up. */
static inline void
work_ends(void)
{
	signal_fence();
	if (tnf_t.at_work > 0)
		tnf_t.at_work--;
}

/* block.c */
struct tnf_block_header *tnf_block_take(struct thread *, int64_t now);
void tnf_block_give(struct tnf_block_header *);
void tnf_block_drop_all(struct thread *, bool give);
/* Keeps a block that the hit has filled until the hit has ended. */
void tnf_block_chain(struct thread *, char *block);
void tnf_block_give_chain(struct thread *);
void tnf_block_valid(const struct file *, uint32_t offset);
bool tnf_block_is_far(const struct thread *);
void tnf_lost(enum tnf_lost);
/* Returns the reason why tnf_block_take() had none. */
enum tnf_lost tnf_block_why_none(void);
/* The process has its file now: adds to the file's losses those that were counted before. */
void tnf_lost_move_early(void);

/* clock.c: the counter that a hit reads, as time. */
#define ANCHOR_NS	10000000ull	/* an anchor is not used for longer */

static inline uint64_t
scaled(uint64_t t, uint64_t mult)
{
	return t * mult >> 32;
}

void tnf_clock_init(void);
void tnf_clock_unlock(void);
int64_t tnf_clock_now(void);
int64_t tnf_clock_read(struct thread *);

/* tag.c: definitions written between begin and end appear all together, or not at all. */
bool tnf_tag_begin(void);
bool tnf_tag_end(void (*done)(void));
void tnf_tag_reset(void);
/* A new file: no type has been written. */
void tnf_tag_forget(void);
/* Within a transaction: a permanent block for something that is no record, its offset
   or 0; and afterwards, if nothing came of it. */
uint32_t tnf_tag_block(void);
void tnf_tag_spare(uint32_t block);

/* define.c.  Definitions between tnf_tag_begin() and tnf_tag_end(): into the tag blocks of
   the process's file.  If there is no room they are written nowhere, and tnf_tag_end()
   returns false. */
extern struct tnf_definer tnf_definer;
bool tnf_define_probe(struct tnf_probe_control *);
uint32_t tnf_define_record(const struct tnf_tag_data *);

/* value.c: 'size' bytes behind what the hit has written, in a further block if
   there is no room, or NULL; and the reference to store in *cell. */
char *tnf_value_room(struct thread *, uint32_t size);
void tnf_value_shortened(struct thread *);
tnf_reference_t tnf_value_reference(struct thread *, const tnf_reference_t *cell, const char *to);
/* Puts an empty block in place of the last block that the hit has reached, which is
   complete. */
bool tnf_value_publish(struct thread *);

/* long.c */
tnf_reference_t tnf_long_put(struct thread *, const struct tnf_tag_data *,
    const char *, size_t len, tnf_reference_t *cell);

/* runtime.c: the child of a fork has no thread that is defining a probe. */
void tnf_runtime_unlock(void);
/* Returns the offset of a member of this type that follows the first 'at' bytes of an event. */
static inline uint32_t
member_place(const struct tnf_tag_data *type, uint32_t at)
{
	return (at + type->align - 1) & ~(type->align - 1u);
}

/* fast.c, and the trampolines that call it, which are NULL on other machines. */
struct tnf_fast_regs {
	uint64_t r[TNF_FAST_REGISTERS];
};
void tnf_fast_hit(struct tnf_fast_regs *, const struct tnf_fast_site *);
void tnf_fast_define(struct tnf_fast_area *);
void tnf_fast_entry(void);
void tnf_fast_inner(void);
void tnf_fast_record(struct tnf_fast_regs *, const struct tnf_fast_site *);
void tnf_fast_returned(struct tnf_fast_regs *);
void tnf_fast_calls_make(void);
void tnf_fast_return(void);

/* vectors.c: calls fn(arg) with room for the vector registers on the stack, and puts them
   back.  tnf_vectors_look() finds out which there are, before the first fast probe is on. */
uintptr_t tnf_vectors_keep(uintptr_t (*fn)(void *), void *arg);
void tnf_vectors_look(void);

static inline uintptr_t
keep_vectors(const struct thread *t, uintptr_t (*fn)(void *), void *arg)
{
#if defined(__x86_64__)
	if (unlikely(t->fast))
		return tnf_vectors_keep(fn, arg);
#endif
	return fn(arg);
}

/* debug.c */
const char *tnf_attribute(const char *attrs, const char *name, size_t *len);

/* file.c: 0 or an errno.  The first file of a process; another one; the same
   at another address. */
int tnf_file_open(const char *path, uint64_t size, int fd);
int tnf_file_switch(const char *path, uint64_t size, int fd);
int tnf_file_again(const struct file *, struct file **ret);
/* Puts memory in the place of a file's mapping. */
bool tnf_file_gone(const struct file *);

/* process.c */
bool tnf_wait(unsigned n);
void tnf_wait_over(void);
bool tnf_process_ready(void);
void tnf_process_broken(int error);
uint32_t tnf_tid_of(pthread_t);
uint32_t tnf_own_tid(void);
/* Gives the process this file, as the controller does.  0 or an errno.  give_way: EBUSY
   if a controller has given it a file. */
int tnf_process_give(const char *path, uint64_t size, int fd, bool give_way);

/* names.c */
void tnf_names_load(void);	/* before anything else of it */
void tnf_names_process(int32_t parent, bool child);
void tnf_names_thread(struct thread *);
int tnf_names_set(const char *);
void tnf_names_freeze(const char *why);

/* thread.c */
bool tnf_thread_ready(struct thread *);
void tnf_thread_key(void);
void tnf_thread_exit(void);

/* event.c: has longjmp() or an exception left the thread's hit?  'frame' is the caller's
   stack frame; false: the hit is in progress, and the caller is nested in it. */
bool tnf_hit_left(const struct thread *, const void *setup, uintptr_t frame);
/* Gives up the hit in progress. */
void tnf_roll_back(struct thread *);

/*
 * auto.c and its kin: a process that traces itself from its start, because of TNF_ENABLE
 * or of a tnfwatch that wants it.
 *
 * The file: a new one of the name, or that of a process which goes on with it and
 * from which this one comes by exec.  *size is what it has.  0 and a descriptor, or an
 * errno.  'path' is absolute.
 */
int tnf_auto_file(const char *path, uint64_t *size, int *fd);
/* The same, but always a new file: EEXIST if something has the name. */
int tnf_auto_file_new(const char *path, uint64_t size, int *fd);

/* A running tnfwatch wants this of the program. */
struct tnf_auto_watch {
	const char *rings;	/* the directory for the file */
	const char *name;	/* of the section: the file's name begins so */
	const char *enable;	/* selectors */
	uint64_t size;
};
/* True if this is the start of a program that a tnfwatch wants.  The strings are valid until the
   next call. */
bool tnf_auto_watch(struct tnf_auto_watch *);
/* Makes the ring.  Returns its path, which the caller frees, or NULL. */
char *tnf_auto_watch_file(const struct tnf_auto_watch *, uint64_t *size, int *fd);

/* Calls fn for each control block of each loaded object.  false: the file of some object
   cannot be read, or is not the one that was loaded. */
bool tnf_auto_probes(void (*fn)(void *arg, struct tnf_probe_control *, const char *object),
    void *arg);

/* At the start of the process. */
void tnf_auto_start(void);

/* Called for a probe that is made at run time, before it can be hit. */
void tnf_auto_defined(struct tnf_probe_control *);

/* Called by the constructors of objects with probes (<tnf/probe.h>). */
void _tnf_probe_object(void);

/* ops of a site (target.h) */
void *tnf_probe_alloc(struct tnf_probe_control *, struct tnf_probe_setup *);
void tnf_probe_commit(struct tnf_probe_setup *);
tnf_reference_t tnf_probe_string(struct tnf_probe_setup *, const char *, tnf_reference_t *);
tnf_reference_t tnf_probe_name(struct tnf_probe_setup *, const char *, tnf_reference_t *);
void *tnf_probe_record(struct tnf_probe_setup *, const struct tnf_tag_data *,
    size_t, tnf_reference_t *, tnf_reference_t *);

/*
 * The span of OpenTelemetry in which a thread is, as libraries publish it (OTEP 4947): span.c.
 *
 * An object of the process exports a variable of each thread, otel_thread_ctx_v1, which points
 * to a record: the ids of the trace and of the span.  A hit compares the span with the one that
 * the thread recorded last, and records otel_context{trace_high, trace_low, span} in front of
 * itself if they differ; so does the first hit in a block, unless there is no span.
 *
 * A thread whose C library gives it the variable when the thread first uses it is looked at again
 * with each block, and after 10 ms.  The object has to stay loaded.
 */
#define SPAN_UNKNOWN	UINT64_MAX	/* the span that the thread recorded last is perhaps not in its block */

/* As OTEP 4947 lays it out.  Attributes follow. */
struct span_record {
	uint64_t trace[2];	/* bytes in the order of the digits */
	uint64_t span;
	uint8_t	 valid;		/* 1: not being written */
	uint8_t	 flags;
	uint16_t attributes_size;
} __attribute__((packed));

/* The event otel_context. */
struct span_event {
	uint32_t tag, delta;
	uint64_t trace_high, trace_low, span;
};

extern struct tnf_probe_control tnf_span_probe;

/* Looks for the variable in the objects of the process, once for each of them.  The caller knows
   that no other thread loads or unloads an object meanwhile: it is a constructor, or called by a
   controller that has stopped all threads. */
void tnf_span_look(void);
/* The same, for callers that may wait for the dynamic linker's lock. */
void tnf_span_look_locked(void);
/* Called in the child of a fork(), where that lock is not waited for any more. */
void tnf_span_forked(void);
/* The variable of the calling thread; NULL: there is none, or none yet.  Takes no lock and
   allocates nothing. */
const struct span_record *const *tnf_span_variable(void);

/* The span in which the thread is, as the record has it; 0: in none. */
static inline uint64_t
span_now(const struct thread *t)
{
	const struct span_record *r = __atomic_load_n(t->context, __ATOMIC_RELAXED);

	if (__builtin_expect(r != NULL && __atomic_load_n(&r->valid, __ATOMIC_RELAXED) == 1, 1))
		return r->span;
	return 0;
}

static inline bool
span_is_new(const struct thread *t)
{
	return unlikely(t->context != NULL) && unlikely(span_now(t) != t->span);
}

/* True if spans can be recorded, now that the thread has that variable. */
static inline bool
span_is_defined(const struct thread *t)
{
	return t->context == NULL || __atomic_load_n(&tnf_span_probe.index, __ATOMIC_ACQUIRE) != 0;
}

#endif
