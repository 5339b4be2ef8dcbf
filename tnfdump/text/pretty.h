/*
 * pretty.h - prints values as people read them (--pretty).
 */
#ifndef TNFDUMP_TEXT_PRETTY_H
#define TNFDUMP_TEXT_PRETTY_H

#include "analysis/pairs.h"
#include "analysis/pretty-names.h"
#include "analysis/value.h"
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

/*
 * Prints values as Solaris did.
 */

/* Prints a member in an event; 'name' is the member's name, or NULL. */
typedef void print_item_fn(struct dump *, struct out *, const struct tnf_event *,
    const struct tnf_value *, const char *name, struct nest *);

/* Characters that could control a terminal become \n, \xHH and so on. */
void print_escaped(struct out *, const char *, size_t);
/* Text from a trace: escaped if the output goes to a terminal. */
void print_chars(struct out *, const char *, size_t);
void print_name(struct out *, const char *);
void print_quoted(struct out *, const char *, size_t);
/* Prints time, process, thread and CPU, the head of indented lines. */
void print_when_and_who(const struct dump *, struct out *, const struct tnf_event *);
/* Prints hexadecimal as "0x%-8x" does, padded with blanks to 'width'. */
void print_hex_left(struct out *, uint64_t, unsigned width);
void print_null(struct out *);
/* Prints an integer, float or character; unsigned integers in hexadecimal with -x. */
void print_scalar(const struct dump *, struct out *, const struct tnf_value *);
/* The characters of a string value; a cut string ends in three dots, and its memory is
   valid until the next call. */
const char *print_marked(struct dump *, const struct tnf_value *,
    size_t *ret_len);
/* The limits on a value's nesting (analysis/value.h). */
struct nest print_nest(struct dump *);
/* Says, once, that a value was not shown whole (analysis/value.h). */
void tell_partial(struct dump *, const struct tnf_file *);
/* Prints any member of an event; records are in braces. */
void print_value(struct dump *, struct out *, const struct tnf_event *,
    const struct tnf_value *);
/* Prints a record in braces; put() prints each item. */
void print_record(struct dump *, struct out *, const struct tnf_event *,
    const struct tnf_value *, struct nest *, print_item_fn *put);

#endif
