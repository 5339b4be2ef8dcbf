/*
 * sigbus.h - mapped files that somebody else may cut short.
 *
 * A process can make the trace file that it has mapped shorter, and so can whoever
 * may write to it.  What is read behind the new end reads as zeros then, and the
 * reader asks afterwards whether that has happened.
 */
#ifndef TNFWATCH_SIGBUS_H
#define TNFWATCH_SIGBUS_H

#include <stdbool.h>
#include <stddef.h>

void sigbus_catch(void);
/* Has it been so between these bytes since the last call?  Of one thread. */
bool sigbus_happened(const void *base, size_t size);

#endif /* TNFWATCH_SIGBUS_H */
