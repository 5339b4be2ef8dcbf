/*
 * follow.h - --follow FILE|PID|kernel: events as they are committed.
 */
#ifndef TNFDUMP_FOLLOW_H
#define TNFDUMP_FOLLOW_H

#include "tnfdump/tnfdump.h"

/* How long an event may be on its way from its time to the file; also the
   longest delay of the output. */
#define FOLLOW_DELAY_NS		100000000

int follow_set(struct dump *, const char *what);	/* the option */

/* Finds what is to be followed and waits until it has its first record.
   false: told why; or it ended without any. */
bool follow_open(struct dump *);
/* Waits for more; false: the target has ended and everything is read. */
bool follow_wait(struct dump *);
void follow_close(struct dump *);

/* follow-kernel.c: maps the kernel's buffer; an errno, told why. */
int follow_map_kernel(struct dump *, const void **base, size_t *size);

#endif
