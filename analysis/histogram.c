/*
 * histogram.c - how long things took: counts in buckets, and what follows.
 */
#include "analysis/histogram.h"
#include "common/xalloc.h"

#define SPLIT_BITS	5u

_Static_assert(HISTOGRAM_SPLIT == 1u << SPLIT_BITS, "bucket_of");

static unsigned
bucket_of(int64_t ns)
{
	uint64_t v = ns < 0 ? 0 : (uint64_t)ns;

	if (v < HISTOGRAM_SPLIT)
		return (unsigned)v;
	unsigned shift = 63u - (unsigned)__builtin_clzll(v) - SPLIT_BITS;
	return (shift + 1) * HISTOGRAM_SPLIT + (unsigned)(v >> shift) - HISTOGRAM_SPLIT;
}

int64_t
histogram_value(unsigned b)
{
	if (b < HISTOGRAM_SPLIT)
		return b;
	unsigned shift = b / HISTOGRAM_SPLIT - 1;
	uint64_t v = ((uint64_t)(HISTOGRAM_SPLIT + b % HISTOGRAM_SPLIT) << shift) +
	    ((uint64_t)1 << shift) / 2;
	return v < INT64_MAX ? (int64_t)v : INT64_MAX;
}

void
histogram_add(struct histogram *h, int64_t ns)
{
	if (h->bucket == NULL)
		h->bucket = tnf_xcalloc(HISTOGRAM_BUCKETS, sizeof(*h->bucket));
	if (h->count == 0 || ns < h->min)
		h->min = ns;
	if (h->count == 0 || ns > h->max)
		h->max = ns;
	h->count++;
	h->total += (double)ns;
	h->bucket[bucket_of(ns)]++;
}

void
histogram_free(struct histogram *h)
{
	free(h->bucket);
	h->bucket = NULL;
}

double
histogram_mean(const struct histogram *h)
{
	return h->count == 0 ? 0 : h->total / (double)h->count;
}

static int64_t
histogram_clamp(const struct histogram *h, int64_t v)
{
	return v < h->min ? h->min : v > h->max ? h->max : v;
}

int64_t
histogram_percentile(const struct histogram *h, double p)
{
	double wanted = (double)h->count * p / 100;
	uint64_t seen = 0;

	if (h->count == 0)
		return 0;
	for (unsigned b = 0; b < HISTOGRAM_BUCKETS; b++) {
		seen += h->bucket[b];
		if (seen > 0 && (double)seen >= wanted)
			return histogram_clamp(h, histogram_value(b));
	}
	return h->max;
}
