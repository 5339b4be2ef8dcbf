/*
 * pretty.h - values as people read them (--pretty).
 */
#ifndef TNFDUMP_PRETTY_H
#define TNFDUMP_PRETTY_H

#include "tnfdump/tnfdump.h"

int pretty_set(struct dump *, const char *);	/* the option */

/* A member of an event: names, major:minor, sizes, symbols; what has no such
   form as print_value() prints it.  'name' of the member, or NULL. */
void pretty_value(struct dump *, const struct tnf_event *,
    const struct tnf_value *, const char *name);

/* The two numbers of a device, as the event's writer packs them; type or NULL. */
void device_split(const struct tnf_event *, const struct tnf_type *,
    uint64_t device, uint32_t *major, uint32_t *minor);

#endif
