/*
 * print.h - prints values as Solaris did.
 */
#ifndef TNFDUMP_TEXT_PRINT_H
#define TNFDUMP_TEXT_PRINT_H

#include "analysis/nest.h"
#include "tnfdump/tnfdump.h"

/* The destination of values: print_ functions write to the run's output, printer_ functions
   to 'o'. */
struct printer {
	struct dump	*d;		/* the run: its options, and its message about cut values */
	struct out	*o;
	bool		 escape;	/* the text goes to a terminal unchanged */
};

static inline struct printer
printer_of(struct dump *d)
{
	return (struct printer){ d, &d->out, d->escape };
}

void printer_chars(const struct printer *, const char *, size_t);
void printer_scalar(const struct printer *, const struct tnf_value *);
void printer_value(const struct printer *, const struct tnf_file *,
    const struct tnf_value *);

/* Characters that could control a terminal become \n, \xHH and so on. */
void print_escaped(struct out *, const char *, size_t);
/* Text from a trace: escaped if the output goes to a terminal. */
void print_chars_to(const struct dump *, struct out *, const char *, size_t);
void print_chars(struct dump *, const char *, size_t);
void print_quoted(struct dump *, const char *, size_t);
/* Prints time, process, thread and CPU, the head of indented lines. */
void print_when_and_who(const struct dump *, struct out *, const struct tnf_event *);
/* Prints hexadecimal as "0x%-8x" does, padded with blanks to 'width'. */
void print_hex_left(struct out *, uint64_t, unsigned width);
void print_null(struct out *);
/* Prints an integer, float or character; unsigned integers in hexadecimal with -x. */
void print_scalar(struct dump *, const struct tnf_value *);
/* The characters of a string value; a cut string ends in three dots, and its memory is
   valid until the next call. */
const char *print_marked(struct dump *, const struct tnf_value *,
    size_t *ret_len);
/* The limits on a value's nesting (nest.h). */
struct nest print_nest(struct dump *);
/* Says, once, that a value was not shown whole (nest.h). */
void print_cut(struct dump *, const struct tnf_file *);
/* Prints any member of an event; records are in braces. */
void print_value(struct dump *, const struct tnf_file *,
    const struct tnf_value *);

#endif
