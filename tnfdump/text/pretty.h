/*
 * pretty.h - prints values as people read them (--pretty).
 */
#ifndef TNFDUMP_TEXT_PRETTY_H
#define TNFDUMP_TEXT_PRETTY_H

#include "analysis/pairs.h"
#include "tnfdump/text/print.h"

/* Prints a member's value as names, major:minor, sizes or symbols; otherwise as
   print_value() does.  'name' is the member's name, or NULL. */
void pretty_value(struct dump *, const struct tnf_event *,
    const struct tnf_value *, const char *name);
void pretty_value_to(const struct printer *, const struct tnf_event *,
    const struct tnf_value *, const char *name);

/* True if pretty_value() prints more than the number, a size or a thread. */
bool pretty_differs(struct dump *, const struct tnf_event *, const struct tnf_value *,
    const char *name);
/* Prints a member, or all members as "name":value,... without braces, as JSON; with
   --pretty numbers that have names become those names, and sizes stay numbers. */
void print_json_value(struct dump *, struct out *, const struct tnf_event *,
    const struct tnf_value *, const char *name);
void print_json_args(struct dump *, struct out *, const struct tnf_event *);

/* The name of a slice; a system call is named by its own name. */
const char *pretty_slice_name(const struct pair_slice *);

/* Splits a device number as the event's writer packs it; 'type' may be NULL. */
void device_split(const struct tnf_event *, const struct tnf_type *,
    uint64_t device, uint32_t *major, uint32_t *minor);

#endif
