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
#include "analysis/pairs.h"

/*
 * The distribution of durations, single values, or many in buckets, and their
 * statistics.
 *
 * Buckets are powers of two, each split in 32: a percentile is at most 1.6 %
 * off.  Count, total, minimum and maximum are exact, and so are percentiles of
 * HISTOGRAM_EXACT values and fewer.
 */
#define HISTOGRAM_SPLIT		32u
#define HISTOGRAM_BUCKETS	(60u * HISTOGRAM_SPLIT)
#define HISTOGRAM_EXACT		(HISTOGRAM_BUCKETS / 2)	/* values in the room of the buckets */

struct histogram {
	uint64_t count;
	double	 total;
	double	 spread;	/* sum of the squared distances from the mean */
	int64_t	 min, max;
	bool	 counted;	/* there are buckets, not values */
	union {			/* made by the first value */
		int64_t	 *value;
		uint32_t *bucket;
	};
};

int64_t histogram_mean(const struct histogram *);	/* rounded */
/* The standard deviation of the values as a sample of others; 0 for less than two. */
double histogram_deviation(const struct histogram *);
/* The smallest value that p percent of the values do not exceed; p from 0 to 100. */
int64_t histogram_percentile(const struct histogram *, double p);
/* The counts of the buckets.  From this call on percentiles are computed from buckets. */
const uint32_t *histogram_buckets(struct histogram *);
/* The middle of a bucket. */
int64_t histogram_value(unsigned bucket);

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
	bool		    normalize;	/* texts without their literals (text_normalize()) */
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

/*
 * Queries and paths without their literals, so that equal ones group together.
 *
 * Appends the text with '?' for what differs between uses of the same query or path: text in
 * single quotes, numbers, digits of three or more within a word, and long hexadecimal words (a
 * UUID, a hash).  Lists of them become "?, ...", and blanks in a row one blank.  Names in double
 * quotes stay, and so does what begins with '$'.
 */
void text_normalize(struct out *, const char *, size_t);

#endif
