/*
 * origin.h - what a trace tells about where it was made.
 *
 * The answers come from the file alone (its context and the extension of its
 * header), never from this machine: the file may be old or from elsewhere.
 * Files of the original writers tell nothing: NULL or false.
 */
#ifndef TNFDUMP_ORIGIN_H
#define TNFDUMP_ORIGIN_H

#include <tnf/context.h>

#include "tnfdump/tnfdump.h"

/* The name that the thread had when it wrote the event; its process's if the thread's
   is not known. */
const char *origin_comm(struct dump *, const struct tnf_event *);
/* The last name that the thread had, for outputs that show one for all its events. */
const char *origin_comm_last(struct dump *, const struct tnf_event *);
/* The thread's own name, or NULL; never its process's. */
const char *origin_comm_own(struct dump *, const struct tnf_event *);
/* Of its process: that of its leader, from the event's file, or from another
   of the same boot. */
const char *origin_process(struct dump *, const struct tnf_event *);
const char *origin_process_last(struct dump *, const struct tnf_event *);
/* What the event's process ran last, and its control group; NULL: not told. */
const char *origin_program(struct dump *, const struct tnf_event *);
const char *origin_cgroup(struct dump *, const struct tnf_event *);
/* The numbers that the event's thread has on the machine: those of the event,
   unless it has others in a namespace of its own and the file tells. */
void origin_host(struct dump *, const struct tnf_event *, int32_t *pid,
    uint32_t *lwpid);
bool origin_tells_names(struct dump *);		/* does any of the files? */
/* Were they written without a boot between them?  True if one does not tell. */
bool origin_same_boot(const struct tnf_file *, const struct tnf_file *);
/* What to add to the times of a file to get ns since 1970. */
bool origin_clock(struct dump *, const struct tnf_file *, int64_t *ret);
/* The file's own, where --hosts has moved its times: before that. */
bool origin_own_clock(struct dump *, const struct tnf_file *, int64_t *ret);
/* A kernel address, or one of the event's process: the function or mapped object,
   and how far in. */
const char *origin_place(struct dump *, const struct tnf_event *, uint64_t addr,
    uint64_t *offset);
/* The functions of a process that the compiler has inlined at the address, the
   innermost first, at most 'max'; returns how many. */
unsigned origin_inlined(struct dump *, const struct tnf_event *, uint64_t addr,
    const char **names, unsigned max);
/* "host", "release", "machine", "cpus"... */
const char *origin_fact(struct dump *, const struct tnf_file *, const char *name);
/* The names that values of a member have, as tnf(5) writes them in a context ("values");
   NULL: none. */
const char *origin_value_names(struct dump *, const struct tnf_event *, const char *member);
/* The context itself, or NULL. */
const tnf_context_t *origin_context(struct dump *, const struct tnf_file *);

/* Copies of the run that are made from now on share what is found out. */
void origins_begin(struct dump *);
/* Forgets all; what was handed out is gone. */
void origins_free(struct dump *);

#endif
