/*
 * histogram.c - how long things took: counts in buckets, and what follows.
 */
#include <stdbool.h>
#include <stdlib.h>

#include "tnfdump/report/histogram.h"
#include "common/xalloc.h"

#define SPLIT_BITS	5u
#define BAR_WIDTH	40u

_Static_assert(HISTOGRAM_SPLIT == 1u << SPLIT_BITS, "bucket_of");

static unsigned
bucket_of(int64_t ns)
{
	uint64_t v = ns < 0 ? 0 : (uint64_t)ns;
	unsigned shift;

	if (v < HISTOGRAM_SPLIT)
		return (unsigned)v;
	shift = 63u - (unsigned)__builtin_clzll(v) - SPLIT_BITS;
	return (shift + 1) * HISTOGRAM_SPLIT + (unsigned)(v >> shift) - HISTOGRAM_SPLIT;
}

/* The middle of a bucket. */
static int64_t
bucket_value(unsigned b)
{
	unsigned shift;
	uint64_t v;

	if (b < HISTOGRAM_SPLIT)
		return b;
	shift = b / HISTOGRAM_SPLIT - 1;
	v = ((uint64_t)(HISTOGRAM_SPLIT + b % HISTOGRAM_SPLIT) << shift) +
	    ((uint64_t)1 << shift) / 2;
	return v < INT64_MAX ? (int64_t)v : INT64_MAX;
}

void
histogram_add(struct histogram *h, int64_t ns)
{
	if (h->bucket == NULL)
		h->bucket = xcalloc(HISTOGRAM_BUCKETS, sizeof(*h->bucket));
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
			return histogram_clamp(h, bucket_value(b));
	}
	return h->max;
}

/* Which line of the drawing a bucket is in: its power of two. */
static unsigned
histogram_line_of(unsigned b)
{
	return 64u - (unsigned)__builtin_clzll((uint64_t)bucket_value(b) | 1);
}

static void
histogram_bar(struct out *o, uint64_t n, uint64_t most)
{
	unsigned len = (unsigned)((n * BAR_WIDTH + most - 1) / most);

	out_char(o, '|');
	for (unsigned i = 0; i < BAR_WIDTH; i++)
		out_char(o, i < len ? '#' : ' ');
	out_lit(o, "|\n");
}

void
histogram_draw(const struct histogram *h, struct out *o)
{
	uint64_t line[65] = { 0 }, most = 0;
	unsigned first = 65, last = 0;

	if (h->count == 0)
		return;
	for (unsigned b = 0; b < HISTOGRAM_BUCKETS; b++)
		line[histogram_line_of(b)] += h->bucket[b];
	for (unsigned i = 0; i < 65; i++) {
		if (line[i] == 0)
			continue;
		if (first == 65)
			first = i;
		last = i;
		if (line[i] > most)
			most = line[i];
	}
	out_lit(o, "         from ns              to ns       count\n");
	for (unsigned i = first; i <= last; i++) {
		out_u64_width(o, i <= 1 ? 0 : 1ull << (i - 1), 16);
		out_u64_width(o, i >= 63 ? INT64_MAX : (1ull << i) - 1, 19);
		out_u64_width(o, line[i], 12);
		out_char(o, ' ');
		histogram_bar(o, line[i], most);
	}
}
