/*
 * starting.h - a program that may be making its ring itself just now.
 *
 * A program that was told so (start.h) makes it before main().  Attached to meanwhile, it
 * would be given another one, and leave its probes to who has attached.
 */
#ifndef TNFWATCH_STARTING_H
#define TNFWATCH_STARTING_H

#include <sys/types.h>

/* Waits until it has its ring in that directory with its probes on, or does not get one:
   it lacks the library, or has gone on without.  A twentieth of a second at most. */
void starting_wait(pid_t, const char *rings);

#endif /* TNFWATCH_STARTING_H */
