/*
 * calls.h - a system call as strace(1) prints it.
 */
#ifndef TNFDUMP_TEXT_CALLS_H
#define TNFDUMP_TEXT_CALLS_H

#include "analysis/pretty-names.h"
#include "tnfdump/tnfdump.h"

/* A system call with the arguments of a syscall_args event. */
struct call {
	uint64_t number;
	int64_t  abi;		/* PRETTY_ABI_* */
	bool	 known;		/* the arguments were recorded */
	uint64_t arg[CALL_ARGUMENTS];
	struct call_text {
		const char *chars;	/* what the argument refers to; NULL: not recorded */
		size_t	    len;
	} text[CALL_ARGUMENTS];
};

/* Reads a syscall_start, syscall_start_other or syscall_args; the texts are the event's.  false:
   it is none of them. */
bool call_read(const struct tnf_event *, struct call *ret);
/* Prints the argument of a syscall_args that this member is; false: it is none that the call has,
   and nothing is printed. */
bool call_put_member(struct out *, const struct tnf_event *, const char *member);
/* Prints the call's name and its arguments in parentheses. */
void call_put(struct out *, const struct call *);
/* Prints an errno's result, or a value as this call returns it. */
void call_put_result(struct out *, const struct call *, int64_t value, int64_t error);

#endif
