/*
 * labels.h - values that the trace itself has names for.
 */
#ifndef TNFDUMP_TEXT_LABELS_H
#define TNFDUMP_TEXT_LABELS_H

#include "tnfdump/text/print.h"

/* Prints a member's value by its names, if the file's context has some (tnf(5),
   "Context": values), or the kernel that is being followed; false: it has none, and nothing is printed. */
bool labels_put(const struct printer *, const struct tnf_event *,
    const struct tnf_value *, const char *member);
/* Would that print a name? */
bool labels_has(struct dump *, const struct tnf_event *, const struct tnf_value *,
    const char *member);

#endif
