/*
 * histogram.h - how long things took: counts in buckets, and what follows.
 *
 * Buckets are powers of two, each split in 32: a percentile is at most 1.6 %
 * off.  Count, total, minimum and maximum are exact.
 */
#ifndef ANALYSIS_HISTOGRAM_H
#define ANALYSIS_HISTOGRAM_H

#include <stdint.h>

#define HISTOGRAM_SPLIT		32u
#define HISTOGRAM_BUCKETS	(60u * HISTOGRAM_SPLIT)

struct histogram {
	uint64_t count;
	double	 total;
	int64_t	 min, max;
	uint32_t *bucket;	/* made by the first value */
};

void histogram_add(struct histogram *, int64_t ns);
void histogram_free(struct histogram *);
double histogram_mean(const struct histogram *);
/* p from 0 to 100. */
int64_t histogram_percentile(const struct histogram *, double p);
/* The middle of a bucket. */
int64_t histogram_value(unsigned bucket);

#endif
