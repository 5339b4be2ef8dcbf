/*
 * walltime.h - wall clock time as RFC 3339 text with nanoseconds.
 */
#ifndef ANALYSIS_WALLTIME_H
#define ANALYSIS_WALLTIME_H

#include "common/out.h"

/* "2026-11-21T03:12:20.000000000+01:00" from ns since 1970; local time, or UTC
   ("Z").  The length.  Remembers the last second: cheap in a row. */
#define WALL_SIZE 48
unsigned wall_format(char buf[WALL_SIZE], int64_t ns, bool utc);

void wall_utc(struct out *, int64_t ns);

#endif
