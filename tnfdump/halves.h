/*
 * halves.h - one output, made by two processes.
 *
 * Where a format writes each event for itself, most of the time goes into that, and
 * little into reading.  So after a while tnfdump forks: both processes read all events, and
 * each formats every other few thousand of them; they write in turn (turns.h), so that the
 * bytes are those that one alone would write.  Messages come from the parent; what
 * formatting an event says, from who formats it.
 */
#ifndef TNFDUMP_HALVES_H
#define TNFDUMP_HALVES_H

#include "tnfdump/tnfdump.h"

/* After each event that was put out: forks when there have been enough of them, if that
   is possible here and with this output. */
void halves_begin(struct dump *);
/* The event into the output, by this process or by the other; as output->event(). */
int  halves_put(struct dump *, const struct tnf_event *);
/* After the last one.  The child does not come back from it. */
void halves_end(struct dump *);

#endif
