/*
 * around.h - the operation and the system call in which the thread of each event is.
 *
 * An operation is a pair of a program's events that begins and ends in one thread, the innermost
 * one: the kernel's events of the thread are in it, too.  Begin and end of an operation are in
 * the operation around them; begin and end of a system call are in that call.
 */
#ifndef TNFDUMP_AROUND_H
#define TNFDUMP_AROUND_H

#include "tnfdump/tnfdump.h"

struct around {
	const char *operation, *syscall;	/* NULL: none, or it began before the trace */
};

/* An option asks for it: before the first event. */
void around_want(struct dump *);
/* Shows an event; each one, in order of time. */
void around_feed(struct dump *, const struct tnf_event *);
/* Around the event that was shown last; what is equal has one address. */
const struct around *around_now(const struct dump *);
/* Until the next event: what was around an earlier one. */
void around_recall(struct dump *, const struct around *);
void around_free(struct dump *);

#endif
