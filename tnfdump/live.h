/*
 * live.h - facts of this machine about a target that is being followed.
 *
 * A finished file tells the names of its threads in its context.  A target that is being
 * followed is asked while it lives: for the name of a thread when the thread is first seen,
 * and again from time to time, since exec() changes names; for the kernel's symbols when
 * the first one is needed.
 */
#ifndef TNFDUMP_LIVE_H
#define TNFDUMP_LIVE_H

#include <sys/types.h>

#include <tnf/context.h>

struct kp;
struct live;

/* For a process, 'inner' is its pid in its own namespace.  For the kernel both pids are 0,
   and its session is borrowed. */
struct live *live_new(pid_t pid, pid_t inner, struct kp *);
void live_free(struct live *);

/* Facts of the machine, its devices, tasks and mapped objects when following began; or NULL. */
const tnf_context_t *live_context(const struct live *);
/* The name of a thread, or of a process by its leader; 'tid' as in the trace.  NULL: not
   known.  The memory stays; a later call may change the text. */
const char *live_comm(struct live *, int32_t tid);
/* The function of a kernel address, with its start; or NULL. */
const struct tnf_context_symbol *live_symbol(struct live *, uint64_t addr);
/* The names of a tracepoint member's values, in the form of the fact "values:PROBE:MEMBER"
   of a context (tnf(5)); or NULL.  The text stays. */
const char *live_value_names(struct live *, const char *probe, const char *member);

#endif
