/*
 * print.h - prints values as Solaris did.
 */
#ifndef TNFDUMP_TEXT_PRINT_H
#define TNFDUMP_TEXT_PRINT_H

#include "analysis/nest.h"
#include "tnfdump/tnfdump.h"

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
/* The limits on a value's nesting (nest.h). */
struct nest print_nest(struct dump *);
/* Says, once, that a value was not shown whole (nest.h). */
void tell_partial(struct dump *, const struct tnf_file *);
/* Prints any member of an event; records are in braces. */
void print_value(struct dump *, struct out *, const struct tnf_event *,
    const struct tnf_value *);
/* Prints a record in braces; put() prints each item. */
void print_record(struct dump *, struct out *, const struct tnf_event *,
    const struct tnf_value *, struct nest *, print_item_fn *put);

#endif
