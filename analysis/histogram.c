/*
 * histogram.c - the distribution of durations.
 */
#include <math.h>
#include <stdlib.h>

#include "analysis/stats.h"
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

const uint32_t *
histogram_buckets(struct histogram *h)
{
	const int64_t *value = h->value;

	if (h->counted)
		return h->bucket;
	h->counted = true;
	h->bucket = tnf_xcalloc(HISTOGRAM_BUCKETS, sizeof(*h->bucket));
	for (uint64_t i = 0; i < h->count; i++)
		h->bucket[bucket_of(value[i])]++;
	free((void *)(uintptr_t)value);
	return h->bucket;
}

void
histogram_add(struct histogram *h, int64_t ns)
{
	if (h->count == 0)
		h->value = tnf_xcalloc(HISTOGRAM_EXACT, sizeof(*h->value));
	if (h->count == HISTOGRAM_EXACT)
		histogram_buckets(h);
	if (h->count == 0 || ns < h->min)
		h->min = ns;
	if (h->count == 0 || ns > h->max)
		h->max = ns;
	/* By Welford: sums of squares would lose what small distances of large values add. */
	double from = h->count == 0 ? 0 : (double)ns - h->total / (double)h->count;
	h->total += (double)ns;
	h->spread += from * ((double)ns - h->total / (double)(h->count + 1));
	if (h->counted)
		h->bucket[bucket_of(ns)]++;
	else
		h->value[h->count] = ns;
	h->count++;
}

void
histogram_free(struct histogram *h)
{
	free(h->value);
	h->value = NULL;
}

int64_t
histogram_mean(const struct histogram *h)
{
	double mean = h->count == 0 ? 0 : h->total / (double)h->count;

	return (int64_t)(mean < 0 ? mean - 0.5 : mean + 0.5);
}

double
histogram_deviation(const struct histogram *h)
{
	return h->count < 2 ? 0 : sqrt(h->spread / (double)(h->count - 1));
}

static int64_t
histogram_clamp(const struct histogram *h, int64_t v)
{
	return v < h->min ? h->min : v > h->max ? h->max : v;
}

static int
histogram_compare(const void *x, const void *y)
{
	int64_t a = *(const int64_t *)x, b = *(const int64_t *)y;

	return (a > b) - (a < b);
}

int64_t
histogram_percentile(const struct histogram *h, double p)
{
	double wanted = (double)h->count * p / 100;
	uint64_t seen = 0;

	if (h->count == 0)
		return 0;
	if (!h->counted) {
		qsort(h->value, h->count, sizeof(*h->value), histogram_compare);
		while (seen + 1 < h->count && (double)(seen + 1) < wanted)
			seen++;
		return h->value[seen];
	}
	for (unsigned b = 0; b < HISTOGRAM_BUCKETS; b++) {
		seen += h->bucket[b];
		if (seen > 0 && (double)seen >= wanted)
			return histogram_clamp(h, histogram_value(b));
	}
	return h->max;
}
