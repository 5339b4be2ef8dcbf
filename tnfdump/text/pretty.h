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

/* With --pretty, before the filters: remembers which thread the event's address belongs to,
   until that thread ends. */
void labels_see_thread(struct dump *, const struct tnf_event *);
/* The name of that thread; NULL: it has written no event yet, or the trace has no names. */
const char *labels_thread_name(struct dump *, const struct tnf_event *, uint64_t address);
void labels_free(struct dump *);

/* Prints the argument of a syscall_args that this member is; false: it is none that the call has,
   and nothing is printed. */
bool call_put_member(struct out *, const struct tnf_event *, const char *member);

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
