/*
 * follow.h - --follow FILE|PID|kernel: events as they are committed.
 */
#ifndef TNFDUMP_FOLLOW_H
#define TNFDUMP_FOLLOW_H

#include <sys/types.h>

#include <tnf/context.h>

#include "tnfdump/tnfdump.h"

/* The longest time from an event's time to its commit in the file; also the longest delay
   of the output. */
#define FOLLOW_DELAY_NS		100000000

struct kp;
struct live;

int follow_set(struct dump *, const char *what);	/* the option */

/* Finds the targets and waits until each has its first record.  false: a target was refused
   or ended without any record, and the reason was told. */
bool follow_open(struct dump *);
/* Waits for more; false: the targets have ended and everything is read. */
bool follow_wait(struct dump *);
void follow_close(struct dump *);

/* follow_what() names the targets: "kernel, 4711"; follow_missed() counts the blocks so far
   that were overwritten before they were read. */
void follow_what(const struct dump *, char *buf, size_t size);
uint64_t follow_missed(const struct dump *);

/* The live source for the target behind an input; NULL: the writer of the file has ended,
   or the input is not followed. */
struct live *follow_live(struct dump *, const struct tnf_file *);

/* live.c: maps the kernel's buffer; returns 0, or an errno after a message. */
int follow_map_kernel(struct dump *, struct kp **, const void **base, size_t *size);

/* --cursor: the file that tells where a later --follow goes on. */
int cursor_set(struct dump *, const char *path);

/*
 * live.c: facts of this machine about a target that is being followed.
 *
 * A finished file tells the names of its threads in its context.  A target that is being
 * followed is asked while it lives: for the name of a thread when the thread is first seen,
 * and again from time to time, since exec() changes names; for the kernel's symbols when
 * the first one is needed.
 */

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
