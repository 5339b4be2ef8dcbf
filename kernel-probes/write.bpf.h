/*
 * write.bpf.h - how a program writes a committed record into the buffer.
 *
 * README says what the verifier asks of all programs here, and how we meet it.
 *
 * Each CPU fills blocks of its own.  It holds KP_CPU_HOLDS of them: the one that it writes,
 * KP_CPU_AHEAD empty ones that it will write next, and the ones that it wrote before, so that
 * other CPUs do not overwrite the latest events of an idle one.  All other blocks are in a pool,
 * from which CPUs take the oldest block first, whichever CPU wrote it (buffer.bpf.c).
 *
 * The kernel calls the programs of tracepoints and software events with preemption
 * disabled.  So the writers of a CPU nest (a thread, an interrupt in it, ...), and
 * each one ends before the one that it interrupted goes on.  Only the move of the
 * cursor must therefore be atomic.  The outermost writer alone commits: it moves
 * bytes_valid over what all of them wrote, and takes new blocks for those that
 * were filled.  A reader up to bytes_valid sees whole records only.
 *
 * A kernel with PREEMPT_RT may preempt programs.  A writer that finds at its end another depth
 * than it set at its beginning has overlapped with another writer of the CPU, and neither was
 * nested in the other.  writer_leave() counts this as TNF_LOST_PREEMPTED, because a reader may
 * have seen a record that was not whole.
 *
 * An event refers to a schedule record in its own block.  The position of the
 * latest one is a single word, which is stored when the record is complete.
 */
#ifndef KERNEL_PROBES_WRITE_BPF_H
#define KERNEL_PROBES_WRITE_BPF_H

#include <tnf/com.h>

#include "kernel-probes/kernel_compat.h"
#include "kernel-probes/record.h"
#include "kernel-probes/stack-ask.bpf.h"

struct kp_block {
	struct tnf_block_header h;
	u8 data[KP_BLOCK_SIZE - KP_BLOCK_HEADER];
};

struct kp_map_buf {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct kp_block);
};

struct kp_map_cpu {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct kp_cpu);
};

struct kp_map_pool {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u64);
};

extern struct kp_map_buf tnf_buf SEC(".maps");
extern struct kp_map_cpu tnf_cpu SEC(".maps");
extern struct kp_map_pool tnf_pool SEC(".maps");
extern volatile struct kp_shared state;
extern volatile unsigned char filter_set[KP_FILTER_MAX];	/* by process: enum kp_filter_value */

u64 write_slowly(struct kp_cpu *cpu, u64 time, u64 who, u32 size, u32 room);
int publish(struct kp_cpu *cpu, u64 to);
int publish_rest(struct kp_cpu *cpu);
int lose_event(u32 reason);	/* an event that was never begun; enum tnf_lost */

struct hit {			/* an event under way */
	struct kp_cpu *cpu;
	struct kp_block *block;
	u64 tid;		/* the current thread: its address, ... */
	u32 pid;		/* ... and its number */
	u64 time;
	u64 pos;
	u32 depth;		/* of nested writers, with this one */
	u32 number;		/* of the CPU */
	u32 ref, rec;		/* bytes from the event's beginning to the references to its stacks,
				   and to the records of these; 0: it has none */
};

#define SCHED_SIZE	((u32)sizeof(struct tnf_kernel_schedule))

static __always_inline struct kp_cpu *cpu_at(u32 number)
{
	return bpf_map_lookup_elem(&tnf_cpu, &number);
}

static __always_inline struct kp_block *block_at(const struct kp_cpu *cpu, u64 pos)
{
	u32 n = cpu->held[KP_BLOCK_OF(pos) & (KP_CPU_HOLDS - 1)];

	return bpf_map_lookup_elem(&tnf_buf, &n);
}

/* Returns the byte with the reasons for which a process is in the filter's set (enum
   kp_filter_value).  The byte is 0 if the process is not in the set. */
static __always_inline volatile u8 *filter_reasons(u32 pid)
{
	return &filter_set[pid & (KP_FILTER_MAX - 1)];
}

/* True if a mode of the filter lets a process with this key through. */
static __always_inline bool set_holds(u32 mode, u32 key)
{
	return mode == KP_FILTER_OFF ||
	    (*filter_reasons(key) != 0) != (mode == KP_FILTER_EXCEPT);
}

/* state.filter is not 0: does it let events about this process through, on this CPU?  In mode
   KP_FILTER_OFF the CPUs alone decide. */
static __always_inline bool filter_holds(u32 pid)
{
	u32 filter = state.filter, mode = filter & KP_FILTER_MODE, cpu;

	if (filter & KP_FILTER_CPUS) {
		cpu = bpf_get_smp_processor_id();
		if (!(state.cpus[cpu / 64 & (KP_CPUS_WORDS - 1)] >> (cpu & 63) & 1))
			return false;
	}
	return set_holds(mode, pid);
}

/* A thread's key in the set: its process, or 0 for the kernel's own threads. */
static __always_inline u32 filter_key(struct task_struct *t)
{
	return t->flags & PF_KTHREAD ? 0 : t->tgid;
}

static __always_inline bool passes(struct task_struct *writer)
{
	return likely(!state.filter) || filter_holds(filter_key(writer));
}

/* True if the filter, in mode KP_FILTER_ONLY on all CPUs, leaves out whoever has these reasons, and
   the kernel's threads. */
static __always_inline bool surely_out(u32 reasons)
{
	return (reasons | *filter_reasons(0)) == 0;
}

/*
 * True if the filter surely leaves out two threads.  A hook that each thread of the machine
 * comes through asks this first, because the answer costs a byte for each thread.  False is no
 * more than a hint: passes() knows the other modes, and the kernel's threads.
 */
static __always_inline bool left_out(struct task_struct *a, struct task_struct *b)
{
	return state.filter == KP_FILTER_ONLY &&
	    surely_out(*filter_reasons(a->tgid) | *filter_reasons(b->tgid));
}

/* True if an event of one of these probes has stacks. */
static __always_inline bool have_stacks(u64 probes)
{
	return with_stacks && (state.stacks & probes) != 0;
}

/* True if a probe is on, whoever writes. */
static __always_inline bool probe_is_on(u64 probes)
{
	return (state.on & probes) != 0;
}

/*
 * ... and does the filter let events through that the current thread writes?
 *
 * Each call of a helper costs some 9 ns where the kernel guards returns, and to ask for the
 * current thread is such a call.  A program that writes several events, or has
 * the thread as an argument of its hook, hands the thread over: is_on_by(), EVENT_BY().
 */
static __always_inline bool is_on_by(struct task_struct *writer, u64 probes)
{
	return probe_is_on(probes) && passes(writer);
}

static __always_inline bool is_on(u64 probes)
{
	if (!probe_is_on(probes))
		return false;
	return likely(!state.filter) || filter_holds(filter_key(bpf_get_current_task_btf()));
}

/* The same for an event about another process: it is enough that the filter lets the subject or
   the writer through. */
static __always_inline bool is_on_about(u64 probes, u32 subject)
{
	return probe_is_on(probes) && (likely(!state.filter) || filter_holds(subject) ||
	    filter_holds(filter_key(bpf_get_current_task_btf())));
}

/*
 * The common case: the thread is the one of the latest schedule record, which
 * is in the block that we are about to write to.  Returns the offset of the
 * event, 0: not the common case.  The kernel uses a task's address again, so the
 * thread's number is compared as well.
 */
static __always_inline u32 write_quickly(struct hit *hit, u64 pos, u32 size,
    u32 room, u32 *distance, u32 *delta)
{
	u64 last = hit->cpu->sched, d;
	u32 off = KP_OFFSET_OF(pos), at = KP_OFFSET_OF(last);
	struct tnf_kernel_schedule *s;

	if (unlikely(!KP_SAME_BLOCK(pos, last) || off > KP_BLOCK_END - room ||
	    at > KP_BLOCK_SIZE - sizeof *s))
		return 0;
	s = (void *)hit->block + at;
	d = hit->time - (u64)s->time_base;
	if (unlikely(s->tid != hit->tid || s->lwpid != hit->pid ||
	    d > 0xffffffffull))
		return 0;
	if (unlikely(__sync_val_compare_and_swap(&hit->cpu->cursor, pos, pos + size) != pos))
		return 0;
	*distance = at - off;
	*delta = d;
	return off;
}

static __always_inline void writer_leave(struct hit *);

/*
 * Takes the stacks for an event that has 'size' bytes without them; returns its size with them.
 * The records of stacks begin at a multiple of 8, behind the event (its size is such a multiple)
 * or behind its two references (8 bytes), whichever ends later.
 */
static __always_inline u32 stack_begin(struct hit *hit, const struct stack_ask *ask, u32 size)
{
	u32 depth = (hit->depth - 1) & (STACK_DEPTHS - 1), bytes;
	struct frames *f = my_frames(depth);
	long got = 0;

	hit->ref = ask->of.at;
	hit->rec = (size > hit->ref + 8u ? size : hit->ref + 8u + 7) & ~7u;
	if (f == NULL)
		return hit->rec;
	f->kernel = f->user = 0;
	/* stack_look() gets ctx by way of the map: the verifier refuses a pointer as the argument
	   of a function that takes a number. */
	write_once(f->base, (u64)ask->ctx);
	bytes = ask->of.kernel == 0 ? 0 :
	    stack_look(depth, ask->key, ask->of.kernel, ask->tracepoint);
	if (bytes == 0 && ask->of.user == 0)
		return hit->rec + record_size(f->kernel);
	/* bpf_get_stack(), since bpf_get_task_stack() finds nothing of an idle thread. */
	if (ask->ctx != NULL && bytes != 0) {
		barrier_var(bytes);	/* 5.15 takes the bound from a comparison of it alone */
		if (bytes <= FRAMES * sizeof f->pc[0])
			got = bpf_get_stack(ask->ctx, f->pc, bytes, 0);
	}
	stack_take(depth, ask->key, ask->of.kernel, ask->of.user, got < 0 ? 0 : got);
	return hit->rec + record_size(f->kernel) + record_size(f->user);
}

/*
 * Returns space for an event of 'size' bytes, with the numbers for its two head words, or
 * NULL: the event is lost, and counted.  The caller fills every byte and ends with
 * event_end().  'room' is the most that such an event takes.  If it is a constant, the verifier
 * lets the caller write all of it; otherwise only the head, and the caller compares the rest
 * with the block's end.  'tid' (the address), 'pid' and 'tgid' are the current thread's.  This
 * very program has read 'time', and has not slept since.  'ask' is NULL: the event has no stacks.
 */
static __always_inline struct kp_event *event_place_as(struct hit *hit, u64 time,
    u64 tid, u32 pid, u32 tgid, u32 size, u32 room, const struct stack_ask *ask,
    u32 *distance, u32 *delta)
{
	struct kp_cpu *cpu;
	u32 off, fixed = room;
	u64 pos;

	hit->time = time;		/* no nested writer reads an earlier one */
	hit->tid = tid;
	hit->pid = pid;
	hit->number = bpf_get_smp_processor_id();
	hit->cpu = cpu = cpu_at(hit->number);
	if (unlikely(cpu == NULL))
		return NULL;
	hit->depth = cpu->nest + 1;
	write_once(cpu->nest, hit->depth);
	hit->ref = hit->rec = 0;	/* both: 5.15 refuses to read what clang may read early */
	if (with_stacks && ask != NULL && unlikely(ask->of.at != 0))
		size = room = stack_begin(hit, ask, size);
	pos = read_once(cpu->cursor);
	hit->block = block_at(cpu, pos);
	if (unlikely(hit->block == NULL))
		goto lost;
	off = write_quickly(hit, pos, size, room, distance, delta);
	if (unlikely(off == 0)) {
		/* write_slowly() gets the thread by way of memory: the verifier lets no kernel
		   pointer be passed as a number.  One word for each CPU is enough, as all
		   writers that nest there have the same current thread. */
		write_once(cpu->thread, tid);
		pos = write_slowly(cpu, hit->time, (u64)tgid << 32 | pid, size, room);
		if (pos == 0 || (hit->block = block_at(cpu, pos)) == NULL)
			goto lost;
		off = KP_OFFSET_OF(pos);
		*distance = -SCHED_SIZE;
		*delta = 0;
	}
	hit->pos = pos;
	/* For the verifier; never true. */
	if (unlikely(off > KP_BLOCK_END - fixed || off > KP_BLOCK_END - sizeof(struct kp_event)))
		goto lost;
	return (void *)hit->block + off;
lost:
	writer_leave(hit);
	return NULL;
}

static __always_inline void *event_begin_at(struct hit *hit, u64 time,
    struct task_struct *writer, u32 probe, u32 size, u32 room, const struct stack_ask *ask)
{
	u32 distance, delta;
	struct kp_event *e = event_place_as(hit, time, (u64)writer, writer->pid, writer->tgid, size,
	    room, ask, &distance, &delta);

	if (unlikely(e == NULL))
		return NULL;
	e->tag = KP_TAG(probe) | (distance & 0xfffc);
	e->time_delta = delta;
	return e;
}

/* An event of the catalogue, with its stacks if somebody has asked for them. */
static __always_inline void *event_begin(void *ctx, struct hit *hit,
    struct task_struct *writer, u32 probe, u32 size)
{
	struct stack_ask ask = { .ctx = ctx, .key = probe };
	u32 stacks = 0;

	/* One load: the loader replaces all of it at once. */
	if (with_stacks)
		stacks = *(volatile u32 *)&state.stack[probe & (KP_STACKS_MAX - 1)];
	__builtin_memcpy(&ask.of, &stacks, sizeof ask.of);
	return event_begin_at(hit, bpf_ktime_get_ns(), writer,
	    unlikely(stacks != 0) ? KP_STACKED(probe) : probe, size, size, &ask);
}

/* 'ctx' is the program's, or NULL in a function that does not have it. */
#define EVENT_SIZE(type)	((u32)(sizeof(struct type) + 7) & ~7u)
#define EVENT_BY(ctx, hit, writer, name, type) \
	((struct type *)event_begin(ctx, hit, writer, KP_##name, EVENT_SIZE(type)))
#define EVENT(ctx, hit, name, type) \
	EVENT_BY(ctx, hit, bpf_get_current_task_btf(), name, type)

/*
 * Ends what event_place_as() began.  event_place_as() calls this by itself where it fails, so a
 * caller that got NULL must not end the event again.  An interrupt that writes after we have
 * read the cursor, but before we set the depth to 0, is not the outermost writer and commits
 * nothing.  So the cursor is read once more at the end, and what such an interrupt wrote is
 * committed here.
 */
static __always_inline void writer_leave(struct hit *hit)
{
	struct kp_cpu *cpu = hit->cpu;
	u32 nest = cpu->nest;
	u64 pos;

	store_barrier();
	if (unlikely(nest != hit->depth))
		lose_event(TNF_LOST_PREEMPTED);
	if (unlikely(nest > 1)) {
		write_once(cpu->nest, nest - 1);
		return;
	}
	pos = read_once(cpu->cursor);
	if (likely(KP_SAME_BLOCK(pos, cpu->published) && hit->block != NULL)) {
		write_once(hit->block->h.bytes_valid, KP_OFFSET_OF(pos));
		write_once(cpu->published, pos);
	} else
		publish(cpu, pos);
	write_once(cpu->nest, 0);
	if (unlikely(read_once(cpu->cursor) != pos))
		publish_rest(cpu);
}

static __always_inline void event_end(struct hit *hit)
{
	if (with_stacks && unlikely(hit->ref != 0))
		stack_write(hit->block, (hit->depth - 1) & (STACK_DEPTHS - 1),
		    KP_OFFSET_OF(hit->pos), hit->ref, hit->rec);
	writer_leave(hit);
}

/* Switches all probes off.  After this only programs that have already looked at state.on write
   events: those of other CPUs, or one that this program has interrupted.  If the buffer is
   frozen already, the earlier time and reason stay. */
static __always_inline void freeze(u64 by, u64 time)
{
	if (__sync_val_compare_and_swap(&state.frozen, 0, time) != 0)
		return;
	write_once(state.frozen_by, by);
	store_barrier();
	write_once(state.on, 0);
}

/*
 * Events that one hook writes at once share one look at the clock and one piece of the
 * buffer.  The piece begins at 'first'; each event is 'at' bytes behind that.
 */
struct batch {
	struct hit hit;
	struct kp_event *first;
	u32 distance;		/* from it to the schedule record */
	u32 delta;
};

static __always_inline bool batch_begin_as(struct batch *b, u64 tid, u32 pid, u32 tgid,
    u32 size, u32 room)
{
	b->first = event_place_as(&b->hit, bpf_ktime_get_ns(), tid, pid, tgid, size, room,
	    NULL, &b->distance, &b->delta);
	return likely(b->first != NULL);
}

static __always_inline bool batch_begin(struct batch *b, struct task_struct *writer,
    u32 size, u32 room)
{
	return batch_begin_as(b, (u64)writer, writer->pid, writer->tgid, size, room);
}

/* Writes the head of an event, which refers to the same schedule record. */
static __always_inline void *batch_event(struct batch *b, u32 at, u32 probe)
{
	struct kp_event *e = (void *)b->first + at;

	e->tag = KP_TAG(probe) | ((b->distance - at) & 0xfffc);
	e->time_delta = b->delta;
	return e;
}

/*
 * Writes a schedule record behind the events, of the thread that runs next on this CPU: its
 * events find that record, without a call of write_slowly().  An interrupt that writes before
 * the switch still has the old thread as its current one: the record does not fit, and the
 * interrupt writes another.
 */
static __always_inline void batch_schedule(struct batch *b, u32 at, u64 tid, u32 pid,
    u32 tgid)
{
	struct tnf_kernel_schedule *s = (void *)b->first + at;
	u64 pos = b->hit.pos + at;

	s->tag = state.sched_tag;
	s->pad0 = 0;
	s->tid = tid;
	s->lwpid = pid;
	s->pid = tgid;
	s->time_base = b->hit.time;
	s->cpuid = b->hit.number;
	s->number = KP_BLOCK_OF(pos);
	store_barrier();
	write_once(b->hit.cpu->sched, pos);
}

#define BATCH_EVENT(b, at, name)	batch_event(b, at, KP_##name)

/* Which processes the filter's rules ask for (filter.bpf.c). */

#define KP_GROUP_DEPTH	16	/* groups in groups, at most */

struct kp_map_rules {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, KP_RULES_MAX);
	__type(key, struct kp_rule_key);
	__type(value, struct kp_rule);
};

extern struct kp_map_rules tnf_rules SEC(".maps");

int group_is_asked_for(u64 group);

#endif /* KERNEL_PROBES_WRITE_BPF_H */
