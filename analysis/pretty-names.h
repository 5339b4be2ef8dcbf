/*
 * pretty-names.h - values that have names: errors, system calls, states.
 */
#ifndef ANALYSIS_PRETTY_NAMES_H
#define ANALYSIS_PRETTY_NAMES_H

#include <tnf/stream.h>

enum pretty_kind {
	PRETTY_NONE,
	PRETTY_ERRNO,
	PRETTY_SYSCALL,
	PRETTY_MICROSTATE,
	PRETTY_FAULT_TYPE,
	PRETTY_SEG_ACCESS,
	/* The rest has no names of single values. */
	PRETTY_BIOFLAGS,
	PRETTY_DEVICE,
	PRETTY_SIZE,
	PRETTY_SYMBOL,
	PRETTY_THREAD
};

/* How values of a member are shown; 'member' may be NULL. */
enum pretty_kind pretty_kind(const struct tnf_type *, const char *member);

/* NULL: the kind does not name this value. */
const char *pretty_kind_name(enum pretty_kind, int64_t);
const char *pretty_name(const struct tnf_type *, const char *member, int64_t);

/* A system call of one of the tables that a kernel has: the member abi of
   syscall_start.  NULL: it has no name. */
enum { PRETTY_ABI_NATIVE, PRETTY_ABI_32, PRETTY_ABI_X32, PRETTY_ABIS };
const char *pretty_call_name(uint64_t number, int64_t abi);

/* The name of a number that a member of an event holds; NULL: it has none.  The member
   abi of an event says which table its member sysnum is of.  In files of the original
   writers the numbers are Solaris's, and only those that agree have names. */
const char *pretty_event_name(const struct tnf_event *, const struct tnf_type *,
    const char *member, int64_t);

/*
 * Whose table the numbers of system calls are from that are named from now on: the
 * machine by uname(2), NULL: the trace does not tell.  False: no such table is here,
 * and numbers stay numbers.
 */
bool pretty_machine_set(const char *machine);
const char *pretty_syscall(int64_t);

/* Generated: names by number, NULL for gaps. */
extern const char *const pretty_errnos[];
extern const size_t pretty_errnos_count;

#endif
