/*
 * around.h - the operation, the system call and the span of OpenTelemetry in which the thread of
 * each event is.
 *
 * An operation is a pair of a program's events that begins and ends in one thread, the innermost
 * one: the kernel's events of the thread are in it, too.  Begin and end of an operation are in
 * the operation around them; begin and end of a system call are in that call.
 */
#ifndef TNFDUMP_AROUND_H
#define TNFDUMP_AROUND_H

#include <stdint.h>

#include "tnfdump/tnfdump.h"

struct around {
	const char *operation, *syscall;	/* NULL: none, or it began before the trace */
};

/* An option asks for it: before the first event. */
void around_want(struct dump *);
/* Shows an event; each one, in order of time. */
void around_feed(struct dump *, const struct tnf_event *);
/* Around the event that was shown last; what is equal has one address. */
const struct around *around_now(const struct dump *);
/* Until the next event: what was around an earlier one. */
void around_recall(struct dump *, const struct around *);
void around_free(struct dump *);

/*
 * The span of OpenTelemetry in which each thread is: what its probes recorded with
 * otel_context (libtnfprobe/span.h).
 *
 * The kernel's events of the thread are in the same span.  A thread's span is known from
 * the last probe that it hit: until it hits the next one, it may have left the span.
 */
struct current_span {
	uint64_t trace[2], span;	/* as numbers: the first digit is the highest */
};

/* Is the event an otel_context, which tells no more than in which span its thread is? */
bool current_is_told(const struct tnf_event *);
/* Shows an event; each one, in order of time. */
void current_feed(struct dump *, const struct tnf_event *);
/* The span of the event's thread; NULL: in none, or unknown. */
const struct current_span *current_of(struct dump *, const struct tnf_event *);
/* The ids of 'trace' or 'span' as hexadecimal digits: the event's own members of these names, or
   of its thread's span; NULL: there are none.  Valid until the next call. */
const char *current_trace(struct dump *, const struct tnf_event *);
const char *current_id(struct dump *, const struct tnf_event *);
void current_free(struct dump *);

#endif
