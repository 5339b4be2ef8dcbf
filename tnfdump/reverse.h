/*
 * reverse.h - --reverse: the latest event first.
 */
#ifndef TNFDUMP_REVERSE_H
#define TNFDUMP_REVERSE_H

#include "tnfdump/tnfdump.h"

int  reverse_set(struct dump *, const char *);	/* the option */
void reverse_add(struct dump *, const struct tnf_event *);
/* Takes the latest event that is left; d->previous becomes the time of the one before it. */
bool reverse_take(struct dump *, struct tnf_event *ret);
void reverse_free(struct dump *);

#endif
