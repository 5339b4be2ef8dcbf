/*
 * walltime.h - wall clock time as RFC 3339 text with nanoseconds.
 */
#ifndef TNFDUMP_WALLTIME_H
#define TNFDUMP_WALLTIME_H

#include "tnfdump/out.h"

/* "2026-11-21T05:17:56.123456789Z" from ns since 1970. */
void wall_utc(struct out *, int64_t ns);

#endif
