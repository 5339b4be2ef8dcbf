/*
 * live.h - what this machine tells of a target that is being followed.
 *
 * A file that is finished tells by its context who its threads were.  What is
 * being followed is asked for while it lives: names of threads when they are
 * first seen, and again from time to time, since exec() changes them; symbols of
 * the kernel when the first one is asked for.
 */
#ifndef TNFDUMP_LIVE_H
#define TNFDUMP_LIVE_H

#include <sys/types.h>

#include <tnf/context.h>

struct kp;
struct live;

/* Of a process, which may have another number in its own namespace; or of the
   kernel: both 0, and its session, which is borrowed. */
struct live *live_new(pid_t pid, pid_t inner, struct kp *);
void live_free(struct live *);

/* The machine, its devices, the tasks and objects of the start; or NULL. */
const tnf_context_t *live_context(const struct live *);
/* Name of a thread, by its number in the trace, or of a process by its leader; NULL: not known.  The memory
   stays; the text may change at a later call. */
const char *live_comm(struct live *, int32_t tid);
/* A kernel address: its function, and where that begins; or NULL. */
const struct tnf_context_symbol *live_symbol(struct live *, uint64_t addr);
/* The names that a tracepoint's values have, as the fact "values:PROBE:MEMBER" of a
   context tells them (tnf(5)); or NULL.  The text stays. */
const char *live_value_names(struct live *, const char *probe, const char *member);

#endif
