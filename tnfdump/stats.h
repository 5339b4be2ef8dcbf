/*
 * stats.h - counts and durations in groups.
 *
 * Every event counts in the row of its group; what begins and ends also gives
 * a duration, in a row of its own.  A group is the probe (or pair) and the
 * values of some expressions; for a pair, of its start.
 */
#ifndef TNFDUMP_STATS_H
#define TNFDUMP_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tnfdump/report/histogram.h"
#include "tnfdump/tnfdump.h"

#define STATS_ROWS_MAX	(1u << 20)

struct stats_row {
	bool		 pair;
	size_t		 nth;		/* group that was seen, from 0 */
	uint64_t	 count;
	struct histogram took;		/* of pairs */
	size_t		 len;
	const char	*text;		/* "syscall comm=sh sysnum=0(read)", no '\0' */
};

struct stats;

/* By the expressions of dump->by, with the rules of dump->pairs.  NULL after a
   message on stderr. */
struct stats *stats_new(struct dump *);
void stats_free(struct stats *);
void stats_event(struct stats *, const struct tnf_event *);

/* Pairs first, most time first, then events by count; those that are equal as they
   were seen first.  Valid until the next call. */
struct stats_row **stats_rows(struct stats *, size_t *ret_n);
/* The row of that group, perhaps of another trace; NULL: there is none. */
struct stats_row *stats_find(struct stats *, const struct stats_row *like);
double stats_seconds(const struct stats *);	/* first to last event */
/* Tells which members no probe has. */
void stats_hint(const struct stats *);
uint64_t stats_ungrouped(const struct stats *);	/* beyond STATS_ROWS_MAX */

#endif
