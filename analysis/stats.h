/*
 * stats.h - counts and durations in groups.
 *
 * Every event counts in the row of its group; each pair counts with its duration in a row
 * of its own.  A group is the probe (or pair) and the values of some expressions, for a
 * pair those of its start.
 */
#ifndef ANALYSIS_STATS_H
#define ANALYSIS_STATS_H

#include "analysis/expr/expr.h"
#include "analysis/histogram.h"
#include "analysis/pairs.h"
#include "common/out.h"

#define STATS_ROWS_MAX	(1u << 20)

struct stats_row {
	bool		 pair;
	size_t		 nth;		/* order of first sight, from 0 */
	uint64_t	 count;
	struct histogram took;		/* of pairs */
	size_t		 len;
	const char	*text;		/* "syscall comm=sh sysnum=0(read)", no '\0' */
};

struct stats;

struct stats_of {
	const char	   *by;		/* expressions separated by commas; NULL: none */
	struct expr_source *source;	/* for the expressions */
	struct pairs	   *pairs;	/* the matcher of pairs */
	bool		    normalize;	/* texts without their literals (normalize.h) */
	/* Appends an expression's value as the client shows it; false: the client has no
	   form of its own for it.  May be NULL. */
	bool	(*show)(void *arg, struct out *, const struct val *, const struct tnf_event *);
	/* Returns the operations around the event at hand, if an expression asks for them; recall()
	   gives those of a pair's start back while its row is found.  May be NULL. */
	const void *(*around)(void *arg);
	void	(*recall)(void *arg, const void *around);
	void	*arg;
};

/* The objects in 'of' must outlive the statistics.  NULL: an expression is wrong, and 'why'
   says what; 'size' is the size of 'why', 512 is plenty. */
struct stats *stats_new(const struct stats_of *of, char *why, size_t size);
void stats_free(struct stats *);
void stats_event(struct stats *, const struct tnf_event *, unsigned keep);	/* pairs.h */

/* Rows in order: pairs by total time, then events by count, the largest first; equal rows
   in order of first sight.  Valid until the next call. */
struct stats_row **stats_rows(struct stats *, size_t *ret_n);
/* The row with the group of 'like', which may be of another trace; NULL: there is none. */
struct stats_row *stats_find(struct stats *, const struct stats_row *like);
double stats_seconds(const struct stats *);	/* first to last event */
/* The i-th expression; NULL: there are no more. */
const struct expr *stats_by(const struct stats *, unsigned i);
uint64_t stats_events(const struct stats *);
uint64_t stats_ungrouped(const struct stats *);	/* beyond STATS_ROWS_MAX */

#endif
