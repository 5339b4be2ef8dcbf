/*
 * current.h - the span of OpenTelemetry in which each thread is: what its probes recorded with
 * otel_context (libtnfprobe/span.h).
 *
 * The kernel's events of the thread are in the same span.  A thread's span is known from
 * the last probe that it hit: until it hits the next one, it may have left the span.
 */
#ifndef TNFDUMP_CURRENT_H
#define TNFDUMP_CURRENT_H

#include <stdint.h>

#include "tnfdump/tnfdump.h"

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
