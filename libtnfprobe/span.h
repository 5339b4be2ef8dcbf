/*
 * span.h - the span of OpenTelemetry in which a thread is, as libraries publish it (OTEP 4947).
 *
 * An object of the process exports a variable of each thread, otel_thread_ctx_v1, which points
 * to a record: the ids of the trace and of the span.  A hit compares the span with the one that
 * the thread recorded last, and records otel_context{trace_high, trace_low, span} in front of
 * itself if they differ; so does the first hit in a block, unless there is no span.
 *
 * A thread whose C library gives it the variable when the thread first uses it is looked at again
 * with each block, and after 10 ms.  The object has to stay loaded.
 */
#ifndef LIBTNFPROBE_SPAN_H
#define LIBTNFPROBE_SPAN_H

#include "libtnfprobe/internal.h"

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

/* Can spans be recorded, now that the thread has that variable? */
static inline bool
span_is_defined(const struct thread *t)
{
	return t->context == NULL || __atomic_load_n(&tnf_span_probe.index, __ATOMIC_ACQUIRE) != 0;
}

#endif
