/*
 * print.h - values as Solaris printed them.
 */
#ifndef TNFDUMP_TEXT_PRINT_H
#define TNFDUMP_TEXT_PRINT_H

#include "analysis/nest.h"
#include "tnfdump/tnfdump.h"

/* Where values go, and how: print_ functions go to the run's output, printer_
   functions to this one. */
struct printer {
	struct dump	*d;		/* whose options count, and who is told of
					   what was cut */
	struct out	*o;
	bool		 escape;	/* it will be on a terminal as it is */
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

/* What could control a terminal becomes \n, \xHH and so on. */
void print_escaped(struct out *, const char *, size_t);
/* Text from a trace: escaped if the output goes to a terminal. */
void print_chars_to(const struct dump *, struct out *, const char *, size_t);
void print_chars(struct dump *, const char *, size_t);
void print_quoted(struct dump *, const char *, size_t);
/* Time, process, thread and CPU, as lines with an indentation begin. */
void print_when_and_who(const struct dump *, struct out *, const struct tnf_event *);
/* "0x%-8x" and the like: hexadecimal, blanks up to 'width' behind it. */
void print_hex_left(struct out *, uint64_t, unsigned width);
void print_null(struct out *);
/* An integer, float or character; unsigned ones in hexadecimal with -x. */
void print_scalar(struct dump *, const struct tnf_value *);
/* The characters of a string value; three dots are behind one that has been cut, in
   memory that serves until the next such call. */
const char *print_marked(struct dump *, const struct tnf_value *,
    size_t *ret_len);
/* What a value may hold. */
struct nest print_nest(struct dump *);
/* Says, once, that a value was not shown whole (nest.h). */
void print_cut(struct dump *, const struct tnf_file *);
/* Any member of an event; records in braces. */
void print_value(struct dump *, const struct tnf_file *,
    const struct tnf_value *);

#endif
