/*
 * timespec.h - points in time, as people write them.
 */
#ifndef ANALYSIS_TIMESPEC_H
#define ANALYSIS_TIMESPEC_H

#include "common/out.h"

enum timespec_kind {
	TIMESPEC_NONE,
	TIMESPEC_ELAPSED,	/* ns since the first event */
	TIMESPEC_MONO,		/* ns, the trace's own clock */
	TIMESPEC_WALL,		/* ns since 1970 */
	TIMESPEC_DAY		/* ns since midnight of the trace's day */
};

struct timespec_arg {
	enum timespec_kind kind;
	int64_t		   ns;
};

/* The clock of the trace. */
struct timespec_clock {
	int64_t	first;		/* time of the first event */
	bool	wall;		/* mono_to_wall is known */
	int64_t	mono_to_wall;	/* add to an event's time: ns since 1970 */
};

/*
 * Reads "1.5s", "200ms", "12" (seconds) as elapsed; "@123456789" as the trace's own
 * nanoseconds; "03:12:20.5" as a local time of the trace's first day;
 * "2026-11-21T03:12:20Z", "...+01:00", "2026-11-21 03:12" (local) as wall clock time.
 * Returns NULL, or a text that says what is wrong.
 */
const char *timespec_parse(const char *, struct timespec_arg *);

/* Converts to the trace's own clock.  Returns NULL, or a text that says what is wrong. */
const char *timespec_resolve(const struct timespec_arg *,
    const struct timespec_clock *, int64_t *time);

/* Writes "2026-11-21T03:12:20.000000000+01:00" from ns since 1970, as local time or UTC
   ("Z"); returns the length.  It remembers the last second, so a sequence of times is
   cheap. */
#define WALL_SIZE 48
unsigned wall_format(char buf[WALL_SIZE], int64_t ns, bool utc);

void wall_utc(struct out *, int64_t ns);

#endif
