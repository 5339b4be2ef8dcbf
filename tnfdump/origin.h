/*
 * origin.h - facts of a trace about the machine, processes and time of its making.
 *
 * The answers come from the file alone (its context and the extension of its header), never
 * from this machine: the file may be old or from another machine.  Files of the original
 * writers have neither: NULL or false.  For a file that is being followed, the answers come
 * from follow.h.
 */
#ifndef TNFDUMP_ORIGIN_H
#define TNFDUMP_ORIGIN_H

#include <tnf/context.h>

#include "common/container.h"
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

#endif
