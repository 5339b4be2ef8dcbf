/*
 * origin.h - facts of a trace about the machine, processes and time of its making; the stack of
 * an event, and what its thread was doing.
 *
 * The answers come from the file alone (its context and the extension of its header), never
 * from this machine: the file may be old or from another machine.  Files of the original
 * writers have neither: NULL or false.  For a file that is being followed, the answers come
 * from this machine (live.c).
 */
#ifndef TNFDUMP_ORIGIN_H
#define TNFDUMP_ORIGIN_H

#include <tnf/context.h>

#include "common/proc.h"
#include "tnfdump/tnfdump.h"

/* The thread's name when it wrote the event; if unknown, the name of its process. */
const char *origin_comm(struct dump *, const struct tnf_event *);
/* The thread's last name, for outputs that show one name for all its events. */
const char *origin_comm_last(struct dump *, const struct tnf_event *);
/* The thread's own name when it wrote the event, or NULL. */
const char *origin_comm_own(struct dump *, const struct tnf_event *);
/* The name of the process is that of its leader, from the event's file or another file of
   the same boot. */
const char *origin_process(struct dump *, const struct tnf_event *);
const char *origin_process_last(struct dump *, const struct tnf_event *);
/* The program that the event's process, or another by the machine's pid, ran at the event's
   time, and its control group; NULL: not known. */
const char *origin_program(struct dump *, const struct tnf_event *);
const char *origin_program_of(struct dump *, const struct tnf_event *, int32_t pid);
const char *origin_cgroup(struct dump *, const struct tnf_event *);
/* The pid and thread id on the machine: those of the event, unless the file tells that the
   thread's pid namespace has others. */
void origin_host(struct dump *, const struct tnf_event *, int32_t *pid,
    uint32_t *lwpid);
/* The container and the pod of the event's process, with the names that the trace tells; NULL:
   it is in none. */
struct origin_container {
	struct container group;
	struct container_names names;	/* each "": not known */
};
const struct origin_container *origin_container(struct dump *, const struct tnf_event *);
bool origin_tells_names(struct dump *);		/* does any of the files? */
bool origin_names_stay(struct dump *);		/* has no thread had another name before? */
/* True if both are of the same boot, or if one of them does not tell its boot. */
bool origin_same_boot(const struct tnf_file *, const struct tnf_file *);
/* The number to add to the file's times to get ns since 1970; false: not known. */
bool origin_clock(struct dump *, const struct tnf_file *, int64_t *ret);
/* The same for the file's own times, before any shift by --hosts. */
bool origin_own_clock(struct dump *, const struct tnf_file *, int64_t *ret);
/* The function or mapped object of an address of the kernel or of the event's process, and
   the offset in it; or NULL. */
const char *origin_place(struct dump *, const struct tnf_event *, uint64_t addr,
    uint64_t *offset);
/* The file that is mapped at an address of the event's process, or NULL. */
const struct tnf_context_object *origin_object(struct dump *, const struct tnf_event *,
    uint64_t addr);
/* The names of the functions inlined at an address of a process, the innermost first, at
   most 'max'; returns how many. */
unsigned origin_inlined(struct dump *, const struct tnf_event *, uint64_t addr,
    const char **names, unsigned max);
/* Unwinds the stack of the event's process (analysis/usersym.h), which executed the code at the address. */
struct unwind_stack;
unsigned origin_unwind(struct dump *, const struct tnf_event *, const struct unwind_stack *,
    uint64_t addr, uint64_t *pc, unsigned max);
/* The value of a fact of the context ("host", "release", "machine", "cpus"...), or NULL. */
const char *origin_fact(struct dump *, const struct tnf_file *, const char *name);
/* The names of a member's values, as in a context's "values" fact (tnf(5)); NULL: none. */
const char *origin_value_names(struct dump *, const struct tnf_event *, const char *member);
/* The context itself, or NULL. */
const tnf_context_t *origin_context(struct dump *, const struct tnf_file *);

/* Makes copies of the run from now on share what is found out. */
void origins_begin(struct dump *);
/* Frees everything, including what was handed out. */
void origins_free(struct dump *);

/*
 * The stack of an event: where the kernel was, called from where the program was.
 *
 * A stack is an array of symbols.  If an event has several, each later member is further out:
 * the kernel's frames come first, then the program's.
 */

#define FRAMES_MAX	160u	/* of an event; what lies further out is left away */
#define FRAME_NAMES_MAX	16u	/* functions that are inlined in each other at one address */

struct frame {
	uint64_t pc;		/* as it was recorded */
	uint64_t at;		/* in the instruction under way: callers' pc are behind their calls */
	bool	 cut;		/* the kernel's outermost frame, whose callers were not recorded */
};

/* The frames of the event's stack, the outermost first; returns how many.  0: it has none. */
unsigned frames_of(struct dump *, const struct tnf_event *, struct frame ret[FRAMES_MAX]);

/* The frames of a program that keeps no frame pointers, from the words of its stack that a sample
   brings; 0: it brings none, or they lead nowhere. */
unsigned frames_unwound(struct dump *, const struct tnf_event *, struct frame ret[FRAMES_MAX]);

/* The functions at a frame: the one that was called, then those that are inlined there, each
   in the one before; returns how many.  0: not known. */
unsigned frame_names(struct dump *, const struct tnf_event *, const struct frame *,
    const char *ret[FRAME_NAMES_MAX]);

/*
 * The operation, the system call and the span of OpenTelemetry in which the thread of
 * each event is.
 *
 * An operation is a pair of a program's events that begins and ends in one thread, the innermost
 * one: the kernel's events of the thread are in it, too.  Begin and end of an operation are in
 * the operation around them; begin and end of a system call are in that call.
 */

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
 * otel_context (libtnfprobe/span.c).
 *
 * The kernel's events of the thread are in the same span.  A thread's span is known from
 * the last probe that it hit: until it hits the next one, it may have left the span.
 */
struct current_span {
	uint64_t trace[2], span;	/* as numbers: the first digit is the highest */
};

/* True if the event is an otel_context, which tells no more than in which span its thread is. */
bool current_is_told(const struct tnf_event *);
/* Shows such an event; each one, in order of time. */
void current_feed(struct dump *, const struct tnf_event *);
/* The span of the event's thread; NULL: in none, or unknown. */
const struct current_span *current_of(struct dump *, const struct tnf_event *);
/* The ids of 'trace' or 'span' as hexadecimal digits: the event's own members of these names, or
   of its thread's span; NULL: there are none.  Valid until the next call. */
const char *current_trace(struct dump *, const struct tnf_event *);
const char *current_id(struct dump *, const struct tnf_event *);
void current_free(struct dump *);

/*
 * live.c: facts of this machine about a target that is being followed.
 *
 * A finished file tells the names of its threads in its context.  A target that is being
 * followed is asked while it lives: for the name of a thread when the thread is first seen,
 * and again from time to time, since exec() changes names; for the kernel's symbols when
 * the first one is needed.
 */

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
