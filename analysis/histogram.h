/*
 * histogram.h - the distribution of durations: single values, or many in buckets, and their
 * statistics.
 *
 * Buckets are powers of two, each split in 32: a percentile is at most 1.6 %
 * off.  Count, total, minimum and maximum are exact, and so are percentiles of
 * HISTOGRAM_EXACT values and fewer.
 */
#ifndef ANALYSIS_HISTOGRAM_H
#define ANALYSIS_HISTOGRAM_H

#include <stdbool.h>
#include <stdint.h>

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

void histogram_add(struct histogram *, int64_t ns);
void histogram_free(struct histogram *);
int64_t histogram_mean(const struct histogram *);	/* rounded */
/* The standard deviation of the values as a sample of others; 0 for less than two. */
double histogram_deviation(const struct histogram *);
/* The smallest value that p percent of the values do not exceed; p from 0 to 100. */
int64_t histogram_percentile(const struct histogram *, double p);
/* The counts of the buckets.  From this call on percentiles are computed from buckets. */
const uint32_t *histogram_buckets(struct histogram *);
/* The middle of a bucket. */
int64_t histogram_value(unsigned bucket);

#endif
