/*
 * pretty.h - prints values as people read them (--pretty).
 */
#ifndef TNFDUMP_TEXT_PRETTY_H
#define TNFDUMP_TEXT_PRETTY_H

#include "analysis/pairs.h"
#include "analysis/pretty-names.h"
#include "tnfdump/text/print.h"
#include "tnfdump/tnfdump.h"

/* Prints a member's value as names, major:minor, sizes or symbols; otherwise as
   print_value() does.  'name' is the member's name, or NULL. */
void pretty_value(struct dump *, struct out *, const struct tnf_event *,
    const struct tnf_value *, const char *name);
/* True if pretty_value() prints more than the number, a size or a thread. */
bool pretty_differs(struct dump *, const struct tnf_event *, const struct tnf_value *,
    const char *name);
/* False if pretty_differs() is false for all values of the probe's member. */
bool pretty_can_differ(const struct tnf_probe *, const struct tnf_member *);
/* Prints a member as JSON, or if 'v' is NULL all members as "name":value,... without braces;
   with --pretty numbers that have names become those names, and sizes stay numbers. */
void print_json(struct dump *, struct out *, const struct tnf_event *,
    const struct tnf_value *v, const char *name);

/* The name of a slice; a system call is named by its own name. */
const char *pretty_slice_name(const struct pair_slice *);

/* Splits a device number as the event's writer packs it; 'type' may be NULL. */
void device_split(const struct tnf_event *, const struct tnf_type *,
    uint64_t device, uint32_t *major, uint32_t *minor);

/*
 * labels.c: names from the trace itself.
 *
 * Prints the names of a member's value, from the file's context (tnf(5), "Context": values)
 * or from the kernel that is being followed; false: there are none, and nothing is printed.
 * If the output is NULL, the call only tells whether there are names.
 */
bool labels_put(struct dump *, struct out *, const struct tnf_event *,
    const struct tnf_value *, const char *member);
/* Only tracepoints have named values, and only their names have a dot. */
bool labels_possible(const struct tnf_probe *);

/* With --pretty, before the filters: remembers which thread the event's address belongs to,
   until that thread ends. */
void labels_see_thread(struct dump *, const struct tnf_event *);
/* Prints the number and the name of the thread at this address; false: that thread has
   written no event yet, and nothing is printed. */
bool labels_put_thread(struct dump *, struct out *, const struct tnf_event *, uint64_t address);
/* The name of that thread; NULL: it has written no event yet, or the trace has no names. */
const char *labels_thread_name(struct dump *, const struct tnf_event *, uint64_t address);
void labels_free(struct dump *);

/*
 * calls.c and call-args.c: a system call as strace(1) prints it, with the arguments of a
 * syscall_args event.
 */
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
