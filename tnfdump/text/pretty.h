/*
 * pretty.h - values as people read them (--pretty).
 */
#ifndef TNFDUMP_TEXT_PRETTY_H
#define TNFDUMP_TEXT_PRETTY_H

#include "analysis/pairs.h"
#include "tnfdump/text/print.h"

/* A member of an event: names, major:minor, sizes, symbols; what has no such
   form as print_value() prints it.  'name' of the member, or NULL. */
void pretty_value(struct dump *, const struct tnf_event *,
    const struct tnf_value *, const char *name);
void pretty_value_to(const struct printer *, const struct tnf_event *,
    const struct tnf_value *, const char *name);

/* Does that print something else than the number, a size or a thread apart? */
bool pretty_differs(struct dump *, const struct tnf_event *, const struct tnf_value *,
    const char *name);
/* A member of an event, or all of them as "name":value,... without braces, as JSON; with
   --pretty numbers that have names are these names, and sizes stay numbers. */
void print_json_value(struct dump *, struct out *, const struct tnf_event *,
    const struct tnf_value *, const char *name);
void print_json_args(struct dump *, struct out *, const struct tnf_event *);

/* What lies between start and end; a system call goes by its own name. */
const char *pretty_slice_name(const struct pair_slice *);

/* The two numbers of a device, as the event's writer packs them; type or NULL. */
void device_split(const struct tnf_event *, const struct tnf_type *,
    uint64_t device, uint32_t *major, uint32_t *minor);

#endif
