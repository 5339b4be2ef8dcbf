/*
 * event-hit.h - the common case of a hit, from alloc to commit, straight through: the thread has
 * a block with room and a schedule record, is on the CPU of that record, the probe has a word in
 * the directory, the anchor of the clock is fresh.  All else is event.c's.
 *
 * Probes in sources call it as functions (event.c); fast probes have it inline (fast.c).
 */
#ifndef LIBTNFPROBE_EVENT_HIT_H
#define LIBTNFPROBE_EVENT_HIT_H

#include "libtnfprobe/internal.h"

/* event.c.  May the hit go on that finds the thread busy?  Then what was in progress is
   forgotten. */
bool tnf_event_busy(struct thread *, struct tnf_probe_setup *, uintptr_t frame);
/* The rest of what follows, in other cases than the common one. */
void *tnf_event_alloc(struct tnf_probe_control *, struct tnf_probe_setup *);
void tnf_event_commit(struct thread *, struct tnf_probe_setup *);

static inline uint32_t
event_round8(uint32_t size)
{
	return (size + 7) & ~7u;
}

/* Low half of the event's first word: the way to the schedule record, or to
   a word that forwards to it. */
static inline uint32_t
pair_low(const char *event, const char *target)
{
	return ((uint32_t)(target - event) & 0xfffcu) | TNF_REF32_T_PAIR;
}

static inline uint64_t
first_byte_high(uint64_t v)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	return __builtin_bswap64(v);
#else
	return v;
#endif
}

static inline void
event_put32(char *at, uint32_t value)
{
	*(uint32_t *)(void *)at = value;
}

/* The kernel changes it whenever the thread comes back from there: of a thread that moves in
   the middle of a hit either CPU is told. */
static inline int32_t
cpu_now(const struct thread *t)
{
	return __atomic_load_n(t->cpu_at, __ATOMIC_RELAXED);
}

/* The thread is busy from now on.  frame: of the caller, as tnf_hit_left() compares it; setup tells the
   hit from others. */
static inline void
event_begin(struct thread *t, const void *setup, uintptr_t frame, bool fast)
{
	t->busy = frame;
	signal_fence();
	t->setup = setup;
	t->fast = fast;
}

/* The common case of alloc; NULL: it is none, and nothing has changed. */
static inline __attribute__((always_inline)) char *
event_common(struct thread *t, const struct tnf_probe_control *probe)
{
	uint32_t size, index, last;
	const struct guard *guard;
	uint64_t since;
	char *event;

	index = __atomic_load_n(&probe->index, __ATOMIC_ACQUIRE);
	size = event_round8(probe->event_size);
	event = t->pos;
	/* A thread without a block has no room and takes the slow path.  The counter is
	   read only behind this test: reading it kills a thread that is not allowed to read it,
	   and such a thread has no block. */
	guard = __atomic_load_n(&tnf_p.guard, __ATOMIC_ACQUIRE);
	if (unlikely(__atomic_load_n(&guard->live, __ATOMIC_RELAXED) != t->epoch ||
	    (size_t)(t->end - event) < size || index - 1 >= DIRECTORY_SIZE - 1))
		return NULL;
	/* The span is looked at behind the counter: what is loaded for it is there when the
	   counter has been read. */
	since = ticks() - t->tsc;
	if (unlikely(since >= t->tsc_limit || cpu_now(t) != t->cpu || span_is_new(t)))
		return NULL;
	last = (uint32_t)(t->ns + (int64_t)scaled(since, t->mult));
	t->last = last;
	t->next = event + size;
	event_put32(event + size - 4, 0);
	event_put32(event, (index | TNF_TAG16_ABS) << 16 | pair_low(event, t->sched));
	event_put32(event + 4, last);
	return event;
}

static inline __attribute__((always_inline)) void *
event_alloc(struct tnf_probe_control *probe, struct tnf_probe_setup *setup, uintptr_t frame, bool fast)
{
	struct thread *t = &tnf_t;
	char *event;

	if (unlikely(t->busy != 0) && !tnf_event_busy(t, fast ? NULL : setup, frame))
		return NULL;
	event_begin(t, setup, frame, fast);
	if (unlikely((event = event_common(t, probe)) == NULL))
		return tnf_event_alloc(probe, setup);
	setup->buffer = event;
	setup->probe = probe;
	return event;
}

static inline void
event_publish(char *block, uint32_t end)
{
	struct tnf_block_header *b = header_of(block);

	__atomic_store_n(&b->bytes_valid, (uint16_t)end, __ATOMIC_RELEASE);
}

/* The common case of commit. */
static inline void
event_end(struct thread *t)
{
	char *next = t->next;

	event_publish(t->block, (uint32_t)(next - t->block));
	t->pos = next;
	t->new_sched = 0;
	signal_fence();
	t->busy = 0;
}

static inline __attribute__((always_inline)) void
event_commit(struct tnf_probe_setup *setup)
{
	struct thread *t = &tnf_t;
	const struct tnf_probe_control *probe = setup->probe;

	if (unlikely(t->setup != setup))
		return;
	if (unlikely(probe->chain != NULL || !probe->traced || t->odd || setup->buffer == NULL))
		tnf_event_commit(t, setup);
	else
		event_end(t);
}

#endif
