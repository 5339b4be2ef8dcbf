/*
 * pretty-names.h - values that have names: errors, system calls, states.
 */
#ifndef ANALYSIS_PRETTY_NAMES_H
#define ANALYSIS_PRETTY_NAMES_H

#include <tnf/stream.h>

#include "common/call-kinds.h"
#include "common/out.h"

enum pretty_kind {
	PRETTY_NONE,
	PRETTY_ERRNO,
	PRETTY_SYSCALL,
	PRETTY_MICROSTATE,
	PRETTY_FAULT_TYPE,
	PRETTY_SEG_ACCESS,
	/* The following kinds have no names of single values. */
	PRETTY_BIOFLAGS,
	PRETTY_DEVICE,
	PRETTY_SIZE,
	PRETTY_SYMBOL,
	PRETTY_THREAD
};

/* The kind of a member's values; 'member' may be NULL. */
enum pretty_kind pretty_kind(const struct tnf_type *, const char *member);

/* The name of a value; NULL: its kind does not name it. */
const char *pretty_kind_name(enum pretty_kind, int64_t);
const char *pretty_name(const struct tnf_type *, const char *member, int64_t);

/* The name of a system call in one of a kernel's tables ('abi' of syscall_start); NULL: none. */
enum { PRETTY_ABI_NATIVE, PRETTY_ABI_32, PRETTY_ABI_X32, PRETTY_ABIS };
const char *pretty_call_name(uint64_t number, int64_t abi);
struct pretty_call {
	const char *name;
	uint8_t	    kind[CALL_ARGUMENTS];	/* enum call_kind; CALL_END: no more */
};
const struct pretty_call *pretty_call(uint64_t number, int64_t abi);

/* The names that an argument of this kind can have, by their values; n is 0 for other kinds.
   The bits of 'mask' are one value, each other bit is a flag. */
struct call_set {
	uint32_t mask;
	uint32_t n;
	const struct call_name {
		const char *name;
		uint32_t    value;
	} *names;
};
const struct call_set *pretty_call_set(enum call_kind);

/* The name of a number in a member of an event; NULL: none.  The member abi of the event
   selects the table of its member sysnum.  Files of the original writers have Solaris's
   numbers, of which only those that agree with Linux's have names. */
const char *pretty_event_name(const struct tnf_event *, const struct tnf_type *,
    const char *member, int64_t);

/*
 * Selects the machine, as uname(2) names it, whose table names system calls from now on;
 * NULL: not known.  false: there is no such table, and numbers stay numbers.
 */
bool pretty_machine_set(const char *machine);
const char *pretty_syscall(int64_t);
bool pretty_machine_is_arm(void);

/* Generated: names by number, NULL for gaps. */
extern const char *const pretty_errnos[];
extern const size_t pretty_errnos_count;
extern const struct call_set pretty_call_sets[];	/* by kind, from CALL_NAMES + 1 on */

/*
 * Names of values that a trace brings with it: of members of tracepoints, in
 * the context (tnf(5), "Context": values).
 */
typedef void value_names_fn(struct out *, const char *, size_t);
/* Writes the names of a value by 'put', as the fact tells them: "symbolic 0xff 0x1=READ,...".
   false: there are none, and nothing is written; a fact of NULL has none.  If the output is
   NULL, the call only tells whether there are names. */
bool value_names_put(struct out *, const char *fact, uint64_t value, value_names_fn *put);

#endif
