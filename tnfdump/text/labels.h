/*
 * labels.h - prints values by names from the trace itself.
 */
#ifndef TNFDUMP_TEXT_LABELS_H
#define TNFDUMP_TEXT_LABELS_H

#include "tnfdump/text/print.h"

/* Prints the names of a member's value, from the file's context (tnf(5), "Context": values)
   or from the kernel that is being followed; false: there are none, and nothing is printed. */
bool labels_put(const struct printer *, const struct tnf_event *,
    const struct tnf_value *, const char *member);
/* True if labels_put() would print a name. */
bool labels_has(struct dump *, const struct tnf_event *, const struct tnf_value *,
    const char *member);

/* With --pretty, before the filters: remembers which thread the event's address belongs to,
   until that thread ends. */
void labels_see_thread(struct dump *, const struct tnf_event *);
/* Prints the number and the name of the thread at this address; false: that thread has
   written no event yet, and nothing is printed. */
bool labels_put_thread(const struct printer *, const struct tnf_event *, uint64_t address);
void labels_free(struct dump *);

#endif
